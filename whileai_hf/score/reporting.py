"""What became of a grading, read from the columns it wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.score.choosing import FLOOR
from whileai_hf.score.hollow import hollow_warnings
from whileai_hf.score.judges import same_model
from whileai_hf.score.trust import stamped_trust, trust_words
from whileai_hf.score.verdicts import JudgeStatus, as_number


@dataclass(frozen=True)
class GradeReport(Report):
    """How many rows got a verdict, and why the others did not."""

    n_rows: int
    judged: int
    unjudged: int
    by_status: dict[str, int]
    """Rows per `judge_status`; rows no judge has seen are left out."""
    mean_reward: float | None
    """Over the judged rows only; `None` when there are none."""
    judge_name: str | None
    """`None` when the rows name no judge, or several (see `warnings`)."""
    judge_version: str | None
    floor: bool
    """Whether there was neither judge nor rubric, so that only the conduct was graded."""
    self_judged: int
    """Rows judged by the model that made them, alone or as a member of a panel."""
    trust: dict[str, Any] | None
    """The judge beside people's labels, as stamped on `judge_meta["trust"]`; `None` when the rows have no label."""
    warnings: list[str]

    def __str__(self) -> str:
        mean = "none" if self.mean_reward is None else f"{self.mean_reward:.3f}"
        judge = self.judge_name or "unknown judge"
        version = f" {self.judge_version}" if self.judge_version else ""
        lines = [f"{self.judged} of {self.n_rows} rows judged by {judge}{version}, mean reward {mean}"]
        if self.trust is not None:
            lines.append(trust_words(self.trust))
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def unjudged_warning(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """
    One sentence about the rows without a verdict, `None` when there are none.

    Args:
        columns (`Mapping[str, Sequence]`):
            `reward`, `reason`, `judge_status` and `judge_meta` of all rows.
    """
    rewards = columns["reward"]
    unjudged = [index for index, reward in enumerate(rewards) if reward is None]
    if not unjudged:
        return None
    counts = Counter(str(columns["judge_status"][index] or "no verdict yet") for index in unjudged)
    share = ", ".join(f"{status} {count}" for status, count in counts.most_common())
    metas = (columns["judge_meta"][index] for index in unjudged)
    errors = (meta.get("error") if isinstance(meta, dict) else None for meta in metas)
    reasons = (columns["reason"][index] for index in unjudged)
    said = next((error or reason for error, reason in zip(errors, reasons, strict=True) if error or reason), None)
    detail = f"; first: {said}" if said else ""
    return f"{len(unjudged)} of {len(rewards)} rows are unjudged and count nowhere ({share}{detail})"


def _models(meta: Any) -> Iterator[str]:
    """The models that judged: of the judge, and of every member of a panel."""
    if isinstance(meta, dict):
        if meta.get("model"):
            yield str(meta["model"])
        members = meta.get("members")
        for member in members if isinstance(members, list) else ():
            yield from _models(member)


def self_judged(rows: RowView) -> int:
    """How many rows were judged by the model that made them, alone or among others."""
    pairs = zip(rows.column("judge_meta"), rows.column("model_version"), strict=True)
    judges = Counter((tuple(_models(meta)), str(policy)) for meta, policy in pairs if policy)
    return sum(
        count for (models, policy), count in judges.items() if any(same_model(model, policy) for model in models)
    )


def _only(values: Sequence[Any]) -> tuple[Any, int]:
    distinct = {value for value in values if value is not None}
    return (next(iter(distinct)) if len(distinct) == 1 else None), len(distinct)


def grade_report(data: Source) -> GradeReport:
    """
    The report on graded rows.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows a judge has seen.

    Returns:
        [`GradeReport`]: Counts, mean reward, warnings.

    Raises:
        [`MissingColumnError`]: The rows have no `reward`.

    Examples:
    ```python
    >>> from whileai_hf.score import grade, grade_report
    >>> rows = grade([{"final_text": "yes"}, {"final_text": "no"}], lambda row: row["final_text"] == "yes", name="yes")
    >>> print(grade_report(rows))
    2 of 2 rows judged by yes, mean reward 0.500

    ```
    """
    rows = view(data)
    rewards = [as_number(value) for value in rows.require("reward", "grade them first: grade(data, judge=...)")]
    statuses = rows.column("judge_status")
    known = [reward for reward in rewards if reward is not None]
    name, names = _only(rows.column("judge_name"))
    lineage = rows.column("lineage")
    version, _ = _only([item.get("judge_version") for item in lineage if isinstance(item, dict)])
    said = {name: rows.column(name) for name in ("reason", "judge_meta")}
    warning = unjudged_warning({"reward": rewards, "judge_status": statuses, **said})
    warnings = [warning] if warning else []
    floor = name == FLOOR
    if floor:
        warnings.append(
            "only the conduct floor is graded (nothing invented, nothing skipped, no success claimed after a "
            "failure); pass judge= or rubric= to grade whether the job was done"
        )
    own = self_judged(rows)
    if own:
        warnings.append(
            f"{own} rows were judged by the model that made them, and models prefer their own writing; "
            "pass another model as judge="
        )
    if any(isinstance(item, dict) and item.get("source") == "eval" for item in lineage):
        warnings.extend(hollow_warnings(rows))
    if names > 1:
        warnings.append(f"the rows come from {names} judges; their rewards may not be comparable")
    counts = Counter(str(status) for status in statuses if status is not None)
    return GradeReport(
        n_rows=len(rewards),
        judged=len(known),
        unjudged=len(rewards) - len(known),
        by_status={status.value: counts[status.value] for status in JudgeStatus},
        mean_reward=sum(known) / len(known) if known else None,
        judge_name=name,
        judge_version=version,
        floor=floor,
        self_judged=own,
        trust=stamped_trust(rows.column("judge_meta")),
        warnings=warnings,
    )
