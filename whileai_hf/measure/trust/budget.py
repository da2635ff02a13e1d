"""`label_budget`: how many rows people have to label for a rate as sharp as is wanted."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.trust.goldrows import GoldRows, read_gold_rows
from whileai_hf.rows import Report
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import KAPPA_FLOOR, PASS
from whileai_hf.stats.rectified import Precision


# Labels from which what the judge and people have in common is measured rather than assumed.
_PILOT = 20
_CURVE = (20, 30, 50, 60, 80, 100, 150, 200, 300, 500, 1000)
# Rows to be judged when nobody says how many there are.
_ROWS = 1000


@dataclasses.dataclass(frozen=True)
class LabelBudget(Report):
    """
    What [`label_budget`] returns.

    Args:
        labels (`int`, *optional*): Rows to label, drawn at random; `None` when labelling all of them is not enough.
        without_judge (`int`, *optional*): The same with no judge to help.
        half_width (`float`): What was asked for: half the width of the 95% interval.
        n_rows (`int`): Rows the judge grades.
        pass_rate (`float`): Share of passes it is worked out for.
        correlation (`float`): Between the judge's verdicts and people's labels.
        measured (`bool`): Whether both come from labels on the rows; otherwise they are assumed.
        curve (`dict[int, float]`): Half width by number of labels.
        notes (`list[str]`): What a reader has to know.
    """

    labels: int | None
    without_judge: int | None
    half_width: float
    n_rows: int
    pass_rate: float
    correlation: float
    measured: bool
    curve: dict[int, float]
    notes: list[str]

    def __str__(self) -> str:
        basis = "measured" if self.measured else "assumed"
        if self.labels is None:
            head = f"no number of labels among {self.n_rows} rows gives +-{self.half_width:.3f}; roll out more tasks"
        else:
            alone = "no number" if self.without_judge is None else str(self.without_judge)
            head = (
                f"{self.labels} labels of {self.n_rows} judged rows give +-{self.half_width:.3f} ({alone} without the "
                f"judge; pass rate {self.pass_rate:.2f}, correlation {self.correlation:.2f}, {basis})"
            )
        return "\n".join([head, *(f"note: {note}" for note in self.notes)])


def label_budget(
    data: Source | None = None,
    *,
    half_width: float = 0.05,
    n_rows: int | None = None,
    pass_rate: float | None = None,
    correlation: float | None = None,
    threshold: float = PASS,
) -> LabelBudget:
    """
    How many labels a corrected rate needs.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            Graded rows. With 20 labels or more on them, pass rate and correlation are measured.
        half_width (`float`, *optional*, defaults to `0.05`):
            Half the width the 95% interval of [`corrected_rate`] is to have.
        n_rows (`int`, *optional*):
            Rows the judge grades; those of `data`, else 1,000.
        pass_rate (`float`, *optional*):
            Share of rows people would pass; the judge's own rate, else one half, which takes most labels.
        correlation (`float`, *optional*):
            Between verdicts and labels, 0 to 1; 0.6 where nothing is known: about the kappa of a judge that just
            passes.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.

    Returns:
        [`LabelBudget`]: Labels to write, and the half width for other numbers of them.

    Raises:
        [`ConfigurationError`]: A number out of its range.

    Examples:
    ```python
    >>> plan = label_budget(half_width=0.08, n_rows=2000, pass_rate=0.6, correlation=0.8)
    >>> plan.labels < plan.without_judge
    True

    ```
    """
    for name, value in (("half_width", half_width), ("pass_rate", pass_rate), ("correlation", correlation)):
        _check_share(name, value)
    if n_rows is not None and (isinstance(n_rows, bool) or not isinstance(n_rows, int) or n_rows < 3):
        raise ConfigurationError(f"n_rows={n_rows!r} is not a number of rows; pass 3 or more")
    found = None if data is None else read_gold_rows(data, threshold, False)
    pilot = None if found is None else _pilot(found)
    judged = None if found is None else int(np.count_nonzero(found.judged))
    rows = n_rows or judged or _ROWS
    raw = float(found.passed[found.judged].mean()) if found is not None and judged else 0.5
    rate = pass_rate if pass_rate is not None else pilot[0] if pilot else raw
    tie = correlation if correlation is not None else pilot[1] if pilot else KAPPA_FLOOR
    # A pilot or a judge that passes everything does not show that there is nothing to learn.
    spread = math.sqrt(max(rate * (1 - rate), 1 / (rows + 2)))
    plan = Precision(spread, max(0.0, min(1.0, tie)), rows)
    measured = pilot is not None and pass_rate is None and correlation is None
    return LabelBudget(
        labels=plan.labels_for(half_width),
        without_judge=Precision(spread, 0.0, rows).labels_for(half_width),
        half_width=half_width,
        n_rows=rows,
        pass_rate=rate,
        correlation=plan.correlation,
        measured=measured,
        curve={n: plan.half_width(n) for n in _CURVE if n <= rows},
        notes=_notes(found, measured),
    )


def _check_share(name: str, value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigurationError(f"{name}={value!r} is not a share; pass a number from 0 to 1")
    if name == "half_width" and value == 0:
        raise ConfigurationError("half_width=0 takes more labels than there are rows; pass 0.05, or what you need")


def _pilot(found: GoldRows) -> tuple[float, float] | None:
    """Pass rate and correlation from labels there are already, `None` with too few."""
    index, label = found.compared
    if index.size < _PILOT:
        return None
    people, judge = label.astype(np.float64), found.passed[index].astype(np.float64)
    spread = float(people.std() * judge.std())
    covariance = float(np.mean((people - people.mean()) * (judge - judge.mean())))
    return float(people.mean()), covariance / spread if spread else 0.0


def _notes(found: GoldRows | None, measured: bool) -> list[str]:
    notes = []
    if not measured:
        notes.append(f"pass rate or correlation is assumed; {_PILOT} labels on the rows measure both")
    if found is not None and len(found.task_keys) < 0.9 * len(found.rows):
        notes.append("rollouts of a task resemble each other: label one a task, or count on a wider interval")
    return notes
