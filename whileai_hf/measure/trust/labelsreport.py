"""What became of the labels that were attached."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.rows import Report
from whileai_hf.score.gold import FEW_GOLD


@dataclasses.dataclass(frozen=True)
class LabelsReport(Report):
    """
    Counts of one [`attach_labels`].

    Args:
        n_rows (`int`): Rows.
        n_labels (`int`): Labels given.
        n_labelled (`int`): Rows that got one.
        kind (`str`): Who wrote these: `"human"` or `"model"`.
        random (`bool`, *optional*): Whether the labelled rows were drawn at random; `None` is not recorded.
        by_annotator (`dict[str, int]`): Labels placed, by who wrote them.
        n_gold (`int`): Rows with a person's gold now, earlier calls included.
        passes (`int`): Passes among them.
        n_other_gold (`int`): Rows whose gold is a model's or nobody's.
        conflicts (`int`): Labelled rows on which annotators disagree; their majority is gold.
        ties (`int`): Those with an even split: no gold.
        corrected (`int`): Labels a later one of the same annotator replaced.
        unsigned (`int`): Labelled rows whose earlier gold said not who wrote it, and was replaced.
        n_unknown (`int`): Labels that name no row.
        unknown (`list`): The first of their keys.
        n_ambiguous (`int`): Labels that fit several rollouts, left out.
        ambiguous (`list`): The first of their keys.
        blank (`int`): Keys without a label.
        warnings (`list[str]`): What to look at.
    """

    n_rows: int
    n_labels: int
    n_labelled: int
    kind: str
    random: bool | None
    by_annotator: dict[str, int]
    n_gold: int
    passes: int
    n_other_gold: int
    conflicts: int
    ties: int
    corrected: int
    unsigned: int
    n_unknown: int
    unknown: list[Any]
    n_ambiguous: int
    ambiguous: list[Any]
    blank: int
    warnings: list[str]

    def __str__(self) -> str:
        who = ", ".join(f"{name} {count}" for name, count in self.by_annotator.items()) or "nobody"
        lines = [
            f"{self.n_labelled} of {self.n_rows} rows labelled ({who}); gold on {self.n_gold} rows: {self.passes} "
            f"pass, {self.n_gold - self.passes} fail"
        ]
        if self.kind != "human":
            lines.append(f"these are a {self.kind}'s labels: no gold unless allow_model_gold=True")
        if self.conflicts:
            lines.append(f"annotators disagree on {self.conflicts} rows")
        if self.n_gold and not 0 < self.passes < self.n_gold:
            lines.append("gold has one class only; label rows of the other, too")
        if self.n_gold < FEW_GOLD:
            lines.append(f"{FEW_GOLD} rows are what measuring a judge takes")
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])
