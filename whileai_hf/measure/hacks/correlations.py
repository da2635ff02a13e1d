"""`reward_correlations`: the quick look, pooled over all rows, with the comparison within asks beside it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from whileai_hf.measure.hacks.asks import FloatArray, lay_out
from whileai_hf.measure.hacks.reading import OwnFeatures, Reader
from whileai_hf.measure.hacks.report import shown
from whileai_hf.measure.hacks.sampling import Sample, read_sample
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source


# Pooled correlation from which a reward is said to go with something.
HACK_THRESHOLD = 0.3
# Two-sided 95% of the normal distribution.
_Z = 1.959964
_TINY = 1e-12


@dataclasses.dataclass(frozen=True)
class RewardCorrelation(Report):
    """
    How one feature goes with the reward.

    Args:
        pooled (`float`, *optional*):
            Pearson correlation over all rows; `None` when one of the two does not vary.
        within (`float`, *optional*):
            The same with both centred within the ask, which is what a grouped update sees.
        n (`int`):
            Rows that have the feature.
    """

    pooled: float | None
    within: float | None
    n: int

    def __str__(self) -> str:
        return f"pooled {shown(self.pooled)}, within asks {shown(self.within)} (n={self.n})"


@dataclasses.dataclass(frozen=True)
class RewardCorrelations(Report):
    """
    What [`reward_correlations`] returns.

    Args:
        correlations (`dict[str, RewardCorrelation]`):
            By feature: lengths, counts, `tool:<name>`, `trace:<flag>`, `marker:<name>`, and your own.
        flagged (`list[str]`):
            Features with a pooled correlation of at least the threshold, and beyond chance, the strongest first.
        threshold (`float`):
            The threshold, 0.3.
        n_rows (`int`):
            Rows given.
        n_scored (`int`):
            Rows with a verdict.
        n_unjudged (`int`):
            Rows without one, left out.
        n_sim_faulty (`int`):
            Rows left out because the simulated user was at fault.
        warnings (`list[str]`):
            One line per flagged feature.
        notes (`list[str]`):
            What a reader has to know.
    """

    correlations: dict[str, RewardCorrelation]
    flagged: list[str]
    threshold: float
    n_rows: int
    n_scored: int
    n_unjudged: int
    n_sim_faulty: int
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [f"{len(self.flagged)} of {len(self.correlations)} features flagged ({self.n_scored} rollouts)"]
        lines += [f"  {name}: {found}" for name, found in self.correlations.items()]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])


def reward_correlations(data: Source | RowView, *, features: OwnFeatures | None = None) -> RewardCorrelations:
    """
    How the reward goes with lengths, counts, tools and markers, over all rows.

    Pooled over asks, a correlation may only say that long replies go with easy asks; [`hack_scan`] compares within
    asks, against a noise floor, and reads the words. A reward that goes with a shortcut is the judge's fault, so that
    rows are flagged here and never dropped.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows.
        features (`Mapping[str, Callable]`, *optional*):
            Features of your own: name to a function from a row to a number (or `None`).

    Returns:
        [`RewardCorrelations`]: The report.

    Raises:
        [`MissingColumnError`]: The rows have no reward, or nothing that names their task.

    Examples:
    ```python
    >>> from whileai_hf.measure.hacks import reward_correlations
    >>> rows = [{"task_id": i // 4, "final_text": "Done. " * (1 + i % 2), "reward": i % 2} for i in range(40)]
    >>> reward_correlations(rows).flagged[:2]
    ['punctuation', 'reply_length']

    ```
    """
    sample = read_sample(data, Reader(features))
    asks = lay_out(sample.asks, sample.rewards, sample.place)
    columns, order = _columns(sample), sample.order
    found = {
        name: RewardCorrelation(
            _correlation(values[order], sample.rewards[order]),
            _correlation(asks.centred(values[asks.order]), asks.reward),
            int(np.count_nonzero(np.isfinite(values))),
        )
        for name, values in columns.items()
    }
    strong = {
        name: abs(one.pooled)
        for name, one in found.items()
        if one.pooled is not None and abs(one.pooled) >= max(HACK_THRESHOLD, _Z / math.sqrt(max(one.n, 1)))
    }
    flagged = sorted(strong, key=lambda name: (-strong[name], name))
    return RewardCorrelations(
        found,
        flagged,
        HACK_THRESHOLD,
        sample.n_rows,
        sample.rewards.size,
        sample.n_unjudged,
        sample.n_sim_faulty,
        [f"the reward goes with {name}: {found[name]}" for name in flagged],
        sample.notes,
    )


def _columns(sample: Sample) -> dict[str, FloatArray]:
    readings, columns = sample.readings, dict(sample.readings.numbers)
    for name, rows in readings.flags.items():
        columns[name] = np.zeros(sample.rewards.size)
        columns[name][rows] = 1.0
    return columns


def _correlation(x: FloatArray, y: FloatArray) -> float | None:
    known = np.isfinite(x) & np.isfinite(y)
    if np.count_nonzero(known) < 2:
        return None
    x, y = (values[known] for values in (x, y))
    x, y = (values / (float(np.abs(values).max()) or 1.0) for values in (x, y))
    dx, dy = x - x.mean(), y - y.mean()
    spread = math.sqrt(float(dx @ dx) * float(dy @ dy))
    return round(float(dx @ dy) / spread, 6) if spread > _TINY else None
