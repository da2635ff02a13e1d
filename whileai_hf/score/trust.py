"""How far a judge agrees with people, in six values: the stamp every grading leaves on its rows.

What else can be wrong with a judge than disagreeing with people is for `measure.trust` to find out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError, JudgeError
from whileai_hf.rows import RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import (
    AGREEMENT_FLOOR,
    FEW_GOLD,
    KAPPA_FLOOR,
    PASS,
    Confusion,
    Gold,
    TrustStatus,
    confusion_of,
    read_gold,
)


TRUST_CHOICES = (None, "require", "off")
HOW_TO_LABEL = f"label {FEW_GOLD} rows by hand and attach them (attach_labels(rows, labels))"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def summary_of(counts: Confusion) -> dict[str, Any]:
    """The six values, plain JSON."""
    interval = counts.interval
    return {
        "agreement": _rounded(counts.agreement),
        "agreement_low": _rounded(None if interval is None else interval[0]),
        "kappa": _rounded(counts.kappa),
        "n_gold": counts.n,
        "ok": counts.status == TrustStatus.TRUSTED,
        "status": counts.status.value,
    }


def trust_of(
    data: Source | RowView,
    rewards: Sequence[Any] | None = None,
    *,
    threshold: float = PASS,
    allow_model_gold: bool = False,
) -> dict[str, Any]:
    """
    How far the verdicts of rows agree with people's labels.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with `gold_reward` and `gold_kind`.
        rewards (`Sequence`, *optional*):
            The verdicts, one per row; those on the rows otherwise.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.
        allow_model_gold (`bool`, *optional*, defaults to `False`):
            Count labels nobody is known to have written, too.

    Returns:
        `dict`: `agreement`, `agreement_low` (lower end of its Wilson 95% interval), `kappa`, `n_gold`, `ok` and
        `status`: `trusted`, `not_trusted` or `not_measured`. `ok` is measured and above both floors.

    Examples:
    ```python
    >>> rows = [{"reward": at % 2, "gold_reward": at % 2, "gold_kind": "human"} for at in range(60)]
    >>> trust_of(rows)
    {'agreement': 1.0, 'agreement_low': 0.9398, 'kappa': 1.0, 'n_gold': 60, 'ok': True, 'status': 'trusted'}

    ```
    """
    rows = view(data)
    gold = read_gold(rows, allow_model_gold)
    return summary_of(confusion_of(gold, rows.column("reward") if rewards is None else rewards, threshold))


def trust_words(summary: Mapping[str, Any]) -> str:
    """
    The numbers of a summary beside the floors.

    Examples:
    ```python
    >>> trust_words(trust_of([{"reward": at % 2, "gold_reward": at % 2, "gold_kind": "human"} for at in range(60)]))
    'agreement with people 1.00, lower bound 0.940 (floor 0.80), kappa 1.00 (floor 0.60), 60 labels'

    ```
    """
    if not summary["n_gold"]:
        return "agreement with people not measured"
    kappa = "undefined (one class only)" if summary["kappa"] is None else f"{summary['kappa']:.2f}"
    return (
        f"agreement with people {summary['agreement']:.2f}, lower bound {summary['agreement_low']:.3f} (floor "
        f"{AGREEMENT_FLOOR:.2f}), kappa {kappa} (floor {KAPPA_FLOOR:.2f}), {summary['n_gold']} labels"
    )


def trust_line(summary: Mapping[str, Any], gold: Gold) -> str | None:
    """One sentence about a judge that was not measured or falls short; `None` for one that passes."""
    if summary["status"] == TrustStatus.TRUSTED:
        return None
    if not summary["n_gold"]:
        others = f" ({gold.refused} labels are not known to be a person's and do not count)" if gold.refused else ""
        if gold.index.size:
            return f"the judge was not measured: it gave no verdict on the {gold.index.size} labelled rows"
        return f"the judge was not measured: no row has a human label{others}; {HOW_TO_LABEL}, then grade"
    said = trust_words(summary)
    if summary["status"] == TrustStatus.NOT_MEASURED:
        return f"the judge is half measured: {said}; label rows of the other class, too"
    more = "label more rows, or " if summary["agreement"] >= AGREEMENT_FLOOR else ""
    return f"the judge is not to be trusted: {said}; {more}read judge_trust(rows).queue and change the rubric"


def check_trust(trust: str | None) -> None:
    """
    Refuses a value of `grade(trust=)` that is none.

    Raises:
        [`ConfigurationError`]: Neither `None`, `"require"` nor `"off"`.
    """
    if trust not in TRUST_CHOICES:
        raise ConfigurationError(f"trust={trust!r} is not known; pass 'require', 'off', or leave it out")


def expect_gold(rows: RowView, trust: str | None) -> None:
    """
    Refuses, before a judge is asked, a grading that has to be measured and cannot be.

    Raises:
        [`JudgeError`]: `trust="require"` and no row has a human label.
    """
    if trust == "require":
        gold = read_gold(rows)
        if not gold.index.size:
            raise JudgeError(f"trust='require', but {trust_line(trust_of(rows, [None] * len(rows)), gold)}")


def stamp_trust(rows: RowView, values: dict[str, list[Any]], trust: str | None) -> str | None:
    """
    Puts the summary on the `judge_meta` of every row that got a verdict, where any row has a label.

    Args:
        rows ([`RowView`]):
            The rows as they were given, with their labels.
        values (`dict[str, list]`):
            The columns of the judgment; `judge_meta` is replaced.
        trust (`str`, *optional*):
            As in `grade`: `"off"` leaves everything as it is, `"require"` raises where the line would be returned.

    Returns:
        `str` or `None`: One line to show.

    Raises:
        [`JudgeError`]: `trust="require"`, and the judge is not measured or falls short.
    """
    if trust == "off":
        return None
    gold = read_gold(rows)
    summary = summary_of(confusion_of(gold, values["reward"]))
    line = trust_line(summary, gold)
    if trust == "require" and line is not None:
        raise JudgeError(f"trust='require', but {line}")
    if gold.by_kind:
        values["judge_meta"] = _stamped(values["judge_meta"], values["reward"], summary)
    return line


def _stamped(metas: Sequence[Any], rewards: Sequence[Any], summary: dict[str, Any]) -> list[Any]:
    """The metadata with the summary added; neighbours that are one object stay one, and are written once."""
    out: list[Any] = []
    last: Any = summary
    merged: Any = None
    for meta, reward in zip(metas, rewards, strict=True):
        if reward is None:
            out.append(meta)
            continue
        if meta is not last:
            last, merged = meta, {**(meta or {}), "trust": summary}
        out.append(merged)
    return out


def stamped_trust(metas: Sequence[Any]) -> dict[str, Any] | None:
    """The summary on graded rows, from their `judge_meta`; `None` when there is none, or several differ."""
    found: dict[str, Any] | None = None
    for meta in metas:
        stamp = meta.get("trust") if isinstance(meta, Mapping) else None
        if isinstance(stamp, dict):
            if found is not None and stamp is not found and stamp != found:
                return None
            found = stamp
    return found
