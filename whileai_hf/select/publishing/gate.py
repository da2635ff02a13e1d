"""`publish_gate`: whether rows may be published, and what a reader of them should know."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError, PublishGateError
from whileai_hf.measure.hacks import LengthReport, length_report
from whileai_hf.measure.hacks.sampling import ask_codes
from whileai_hf.measure.hacks.scan import check_patterns
from whileai_hf.measure.hygiene import Contamination, NearDuplicates, contamination_report, near_duplicate_prompts
from whileai_hf.measure.passes.codes import TASK_COLUMNS, task_codes
from whileai_hf.rows import RowView, view
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.privileged import PRIVILEGED_KEYS
from whileai_hf.rows.view import Source
from whileai_hf.score.trust import stamped_trust, trust_words
from whileai_hf.select.config import BAND, MODES, check_band
from whileai_hf.select.emitting import hidden_columns
from whileai_hf.select.publishing.grades import read_grades, read_scan
from whileai_hf.select.publishing.report import GateReport
from whileai_hf.select.summary import eval_codes, eval_warning


# Columns in which near copies of asks, and replies, are looked for.
_ASKS = ("prompt", "messages")
_REPLIES = ("final_text", "steps", "messages")


@dataclasses.dataclass
class _Findings:
    """What the rows say besides their rewards."""

    copies: NearDuplicates | None = None
    lengths: LengthReport | None = None
    contamination: Contamination | None = None
    trust: dict[str, Any] | None = None
    refusals: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)


@no_collection()
def publish_gate(
    data: Source | RowView,
    *,
    mode: str | None = None,
    endorsed: Sequence[str] = (),
    strict_hacks: bool = False,
    evals: Any = None,
    band: Sequence[float] = BAND,
    threshold: float = 1.0,
    strict: bool = True,
) -> GateReport:
    """
    Checks rows before they are published. No row is changed: stamps are what [`calibrate`] adds.

    Refused are rows for a grouped update that are ungraded or hold no group whose rewards differ, columns with what
    only a judge may see, with `strict_hacks` rewards that follow something not endorsed, and with `evals` rows those
    hold, too. Everything else is a warning.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The rows.
        mode (`str`, *optional*):
            "rl" or "sft"; left out, rows that repeat an ask are "rl".
        endorsed (`Sequence[str]`, *optional*, defaults to `()`):
            What the reward is meant to track, see [`~whileai_hf.measure.hacks.hack_scan`].
        strict_hacks (`bool`, *optional*, defaults to `False`):
            Refuse what would otherwise be a warning; needs `endorsed`.
        evals (`Dataset`, `list[dict]`, path, Hub dataset id, or a list of those, *optional*):
            What is or will be measured on.
        band (`Sequence[float]`, *optional*, defaults to `(0.2, 0.8)`):
            Lowest and highest mean reward of a group to train on.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a rollout counts as a pass.
        strict (`bool`, *optional*, defaults to `True`):
            Raise on a refusal; otherwise the report says it.

    Returns:
        [`GateReport`]: The report; `print` it.

    Raises:
        [`PublishGateError`]: The rows are refused; `error.report` is the report.
        [`ConfigurationError`]: An unknown mode, an impossible band, or `strict_hacks` with nothing endorsed.
        [`MissingColumnError`]: The rows have rewards and nothing that names their task.

    Examples:
    ```python
    >>> rows = [{"prompt": "a", "final_text": f"reply {i}", "reward": 1} for i in range(4)]
    >>> publish_gate(rows, strict=False).refusals[0][:42]
    'no group of the 1 has rewards that differ:'

    ```
    """
    patterns = check_patterns(endorsed)
    check_band(band)
    for name, switch in (("strict_hacks", strict_hacks), ("strict", strict)):
        if not isinstance(switch, bool):
            raise ConfigurationError(f"{name}={switch!r:.80} is neither true nor false; pass True or False")
    if strict_hacks and not patterns:
        raise ConfigurationError(
            "strict_hacks=True with nothing endorsed; pass endorsed=[what the reward should track]"
        )
    rows = view(data)
    shape = _mode(rows, mode)
    grades = read_grades(rows, shape, band, threshold)
    if grades.n_graded and shape == "rl":
        read_scan(rows, grades, patterns, strict_hacks)
    found = _findings(rows, evals, grades.n_graded > 0)
    hidden = [name for name in hidden_columns(rows) if name != "vector"]
    refusals = [*grades.refusals, *found.refusals]
    if hidden:
        refusals.append(
            f"{', '.join(hidden)} hold what only a judge may see ({', '.join(sorted(PRIVILEGED_KEYS))}): publishing "
            "them gives the answers away; whileai_hf.rows.scrub takes it out of a row"
        )
    eval_sourced = int(np.count_nonzero(eval_codes(rows)))
    report = GateReport(
        ok=not refusals,
        mode=shape,
        refusals=refusals,
        n_rows=len(rows),
        n_graded=grades.n_graded,
        privileged=hidden,
        signal=grades.signal,
        out_of_band=grades.out_of_band,
        pass_at=grades.passes,
        n_stamped=grades.n_stamped,
        hack_scan=grades.scan,
        near_duplicates=found.copies,
        lengths=found.lengths,
        contamination=found.contamination,
        trust=found.trust,
        eval_sourced=eval_sourced,
        warnings=[*grades.warnings, *found.warnings, *eval_warning(eval_sourced, "rows")],
        notes=grades.notes,
    )
    if refusals and strict:
        raise PublishGateError(f"the rows are not fit to be published: {'; '.join(refusals)}", report)
    return report


def _mode(rows: RowView, mode: str | None) -> str:
    if mode is not None:
        if mode not in MODES:
            raise ConfigurationError(f"mode={mode!r} is not one of {', '.join(map(repr, MODES))}; or leave it out")
        return mode
    if not any(rows.has(name) for name in TASK_COLUMNS):
        return "sft"
    asks = ask_codes(rows, task_codes(rows))
    return "rl" if int(np.bincount(asks).max()) > 1 else "sft"


def _findings(rows: RowView, evals: Any, graded: bool) -> _Findings:
    found = _Findings()
    if any(rows.has(name) for name in _ASKS):
        found.copies = near_duplicate_prompts(rows)
        if found.copies.n_prompts_involved:
            found.warnings.append(
                f"{found.copies.n_prompts_involved} of {found.copies.n_prompts} asks have a near copy: each counts as "
                "a prompt of its own"
            )
    if any(rows.has(name) for name in _REPLIES) and any(rows.has(name) for name in TASK_COLUMNS):
        found.lengths = length_report(rows)
        found.warnings += [f"lengths: {text}" for text in found.lengths.warnings]
    if evals is not None:
        found.contamination = contamination_report(rows, evals)
        if found.contamination.n_contaminated:
            found.refusals.append(
                f"{found.contamination.n_contaminated} rows are in the evaluation sets: what is trained on cannot be "
                "measured on; decontaminate(rows, evals) takes them out"
            )
        found.warnings += found.contamination.warnings
    if graded:
        _read_trust(rows, found)
    return found


def _read_trust(rows: RowView, found: _Findings) -> None:
    found.trust = stamped_trust(rows.column("judge_meta")) if rows.has("judge_meta") else None
    if found.trust is None:
        found.warnings.append(
            "the judge was not measured against people: attach labels before grading (attach_labels), or read "
            "judge_trust(rows)"
        )
    elif not found.trust.get("ok"):
        found.warnings.append(f"the judge falls short: {trust_words(found.trust)}")
