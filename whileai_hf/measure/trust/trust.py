"""`judge_trust`: whether the numbers a judge gives can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.knobs import check_threshold
from whileai_hf.measure.passes.codes import column_codes
from whileai_hf.measure.trust.agreement import shares_of
from whileai_hf.measure.trust.altered import rows_to_judge
from whileai_hf.measure.trust.bias import halves_of, length_bias
from whileai_hf.measure.trust.drawing import drawn_rows
from whileai_hf.measure.trust.goldrows import GoldRows, read_gold_rows, why_not_measured
from whileai_hf.measure.trust.probing import ProbesReport, chosen_probes, judge_probes
from whileai_hf.measure.trust.queue import review_queue
from whileai_hf.measure.trust.rejudging import Flips, consistency_of, ready_judge
from whileai_hf.measure.trust.trustreport import TrustReport
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import AGREEMENT_FLOOR, FEW_GOLD, HUMAN, KAPPA_FLOOR, PASS, Confusion, TrustStatus


# Share of labelled rows the judge may leave without a verdict.
_UNJUDGED = 0.10
_SHARES = ("agreement", "ci95", "kappa", "confusion", "pass_when_gold_fail", "baseline")


def judge_trust(
    rows: Source,
    judge: Any = None,
    probes: str | Sequence[str] | None = None,
    *,
    rubric: Any = None,
    allow_model_gold: bool = False,
    backend_spec: str | None = None,
    sample: int = 40,
    threshold: float = PASS,
) -> TrustReport:
    """
    Measures a judge by people's labels, and, when it can be asked, by asking it again.

    Args:
        rows (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows, 50 to 100 of them with labels ([`attach_labels`]).
        judge (`Callable` or `str` or [`Model`], *optional*):
            The judge: `sample` rows are judged again as they are and with filler added.
        probes (`str` or `list[str]`, *optional*):
            `"all"` or names of [`judge_probes`] to try on it.
        rubric (`str`, `Path`, `list`, `dict` or `Rubric`, *optional*):
            What the judge goes by.
        allow_model_gold (`bool`, *optional*, defaults to `False`):
            Count labels that no person is known to have written.
        backend_spec (`str`, *optional*):
            The judge as a model to be asked (`"openai:<model>"`), in place of `judge`.
        sample (`int`, *optional*, defaults to `40`):
            Rows the judge is asked again about.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.

    Returns:
        [`TrustReport`]: `ok` is measured and clean. Without people's labels `status` is `not_measured`, which says
        nothing about the judge.

    Raises:
        [`MissingColumnError`]: The rows are not graded.
        [`ConfigurationError`]: Probes without a judge, or a judge that cannot be called.

    Examples:
    ```python
    >>> rows = [
    ...     {"task_id": at, "reward": at % 2, "gold_reward": at % 2 if at % 20 else 1, "gold_kind": "human"}
    ...     for at in range(80)
    ... ]
    >>> report = judge_trust(rows)
    >>> report.status, report.agreement, report.n_disagreements
    ('trusted', 0.95, 4)

    ```
    """
    asked = _who(judge, probes, backend_spec)
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
        raise ConfigurationError(f"sample={sample!r} is not a number of rows; pass 1 or more")
    if probes is not None:
        chosen_probes(probes)  # before anybody is asked
    threshold = check_threshold(threshold)
    found = read_gold_rows(rows, threshold, allow_model_gold, "final_text", "judge_name")
    counts = found.confusion
    told = shares_of(counts)
    halves, length = halves_of(found), None if counts.one_class else length_bias(found)
    again = None if asked is None else _ask_again(found, asked, rubric, sample)
    tried = None
    if probes is not None:
        tried = judge_probes(found.rows, asked, rubric, probes, sample=sample, threshold=threshold)
    flags = _floors(counts)
    flags += [name for name, bias in (("halves", halves), ("length", length)) if bias is not None and bias.flagged]
    flags += _holes(again, tried)
    status = TrustStatus.NOT_TRUSTED if flags and counts.n else counts.status
    queue, disagreements = review_queue(found)
    judges = [key for key in column_codes(found.fetched, "judge_name").keys if key is not None]
    return TrustReport(
        status=status.value,
        ok=status == TrustStatus.TRUSTED,
        n_rows=len(found.rows),
        n_gold=counts.n,
        by_kind=found.gold.by_kind,
        n_refused=found.gold.refused,
        n_unjudged=counts.unjudged,
        **{
            name: told[name] for name in ("agreement", "ci95", "kappa", "confusion", "pass_when_gold_fail", "baseline")
        },
        halves=halves,
        length=length,
        consistency=None if again is None else again[0],
        filler=None if again is None else again[1],
        probes=tried,
        exploitable_by=None if tried is None else tried.exploitable_by,
        flags=flags,
        queue=queue,
        n_disagreements=disagreements,
        judge_name=str(judges[0]) if len(judges) == 1 else None,
        notes=[*_notes(found, counts, length is None, asked is None), *_not_said(again)],
        warnings=_warnings(counts, flags),
    )


def _who(judge: Any, probes: Any, backend_spec: str | None) -> Any:
    """The judge that is to be asked, `None` for none."""
    if judge is not None and backend_spec is not None:
        raise ConfigurationError("judge= and backend_spec= both say whom to ask; pass one of them")
    asked = judge if backend_spec is None else backend_spec
    if probes is not None and asked is None:
        raise ConfigurationError("probes= are tried on a judge, and there is none; pass judge=, or backend_spec=")
    return asked


def _ask_again(found: GoldRows, judge: Any, rubric: Any, sample: int) -> tuple[Flips, Flips]:
    """Labelled rows first, since those are what the other numbers are about."""
    drawn = drawn_rows(found.rows, 0, "again")
    labelled = np.isin(drawn, found.gold.index)
    others = ~labelled & found.judged[drawn]
    index = [int(at) for at in np.concatenate([drawn[labelled], drawn[others]])[:sample]]
    asked = ready_judge(judge, rubric, found.rows)
    return consistency_of(asked, rows_to_judge(found.rows, index), index, found.rewards, found.threshold)


def _floors(counts: Confusion) -> list[str]:
    """Which floors a measured judge misses."""
    flags = []
    if counts.interval is not None and counts.interval[0] < AGREEMENT_FLOOR:
        flags.append("agreement")
    if counts.kappa is not None and counts.kappa < KAPPA_FLOOR:
        flags.append("kappa")
    if counts.n and counts.unjudged > _UNJUDGED * (counts.n + counts.unjudged):
        flags.append("unjudged")
    return flags


def _holes(again: tuple[Flips, Flips] | None, tried: ProbesReport | None) -> list[str]:
    """What asking the judge again showed."""
    flags = []
    if again is not None:
        flags += [name for name, flips in zip(("consistency", "filler"), again, strict=True) if flips.flagged]
    return flags + [f"probe:{name}" for name in ((tried.exploitable_by or ()) if tried else ())]


def _not_said(again: tuple[Flips, Flips] | None) -> list[str]:
    """What could not be measured because the judge said nothing."""
    names = ("consistency", "filler")
    silent = [name for name, flips in zip(names, again or (), strict=False) if not flips.n and flips.unjudged]
    if not silent:
        return []
    return [f"{' and '.join(silent)} could not be measured: asked again, the judge gave no verdict"]


def _notes(found: GoldRows, counts: Confusion, no_length: bool, not_asked: bool) -> list[str]:
    why = why_not_measured(found)
    notes = [why] if why else []
    if 0 < counts.n < FEW_GOLD:
        notes.append(f"{counts.n} labelled rows: {FEW_GOLD} are the floor for a number to go by")
    if counts.n and counts.one_class:
        kind = "passes" if counts.both_pass + counts.only_gold else "failures"
        notes.append(f"gold has {kind} only, so kappa and length bias say nothing; label rows of the other class, too")
    elif counts.n and no_length:
        notes.append("length bias is not measured: too few replies of one label, or none have a final_text")
    if found.gold.refused and not why:
        notes.append(f"{found.gold.refused} labels are not known to be a person's and do not count")
    trusted = found.gold.by_kind.get(HUMAN, 0)
    if counts.n and trusted < found.gold.index.size:
        notes.append("measured by labels that are not known to be a person's: two models may share a mistake")
    if found.gold.not_binary:
        notes.append(f"{found.gold.not_binary} values of gold_reward are neither 0 nor 1 and are left out")
    tasks = np.unique(found.task[found.compared[0]]).size
    if counts.n and tasks < 0.9 * counts.n:
        notes.append(
            f"{counts.n} labelled rows are of {tasks} tasks: rollouts of a task resemble each other, so the interval "
            "is narrower than it should be"
        )
    if not_asked:
        notes.append("consistency and filler were not tried; pass judge=")
    if found.spoilt:
        notes.append(f"{found.spoilt} rows failed by the simulated user (sim_ok is false); they are left out")
    return notes


def _warnings(counts: Confusion, flags: Sequence[str]) -> list[str]:
    warnings = []
    if "agreement" in flags and counts.agreement is not None and counts.agreement >= AGREEMENT_FLOOR:
        warnings.append("the agreement itself reaches the floor; with more labels its lower end may, too")
    elif "agreement" in flags or "kappa" in flags:
        warnings.append("read .queue, change the rubric on one half of the tasks and read the agreement on the other")
    if "length" in flags:
        warnings.append("the judge reads length: people label long and short replies alike and it does not")
    if "unjudged" in flags:
        warnings.append(f"{counts.unjudged} labelled rows have no verdict; judge_status says why")
    return warnings
