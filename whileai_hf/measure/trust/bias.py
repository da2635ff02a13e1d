"""What labels alone show about a judge: whether it does as well on other tasks, and whether it reads length."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.trust.goldrows import BoolArray, FloatArray, GoldRows
from whileai_hf.rows import Report
from whileai_hf.rows.rng import digest
from whileai_hf.stats import Interval, wilson


# A gap between two shares is a finding from this size on, if chance does not give it more often than this.
GAP = 0.15
CHANCE = 0.025
# Rows a half, and a label, needs before anything is said about it.
_FEW_HALF, _FEW_LABEL = 10, 6


@dataclasses.dataclass(frozen=True)
class Half(Report):
    """The judge's agreement with people on one half of the tasks."""

    n: int
    agreement: float | None
    ci95: Interval | None

    def __str__(self) -> str:
        return "n/a" if self.agreement is None else f"{self.agreement:.2f} (n={self.n})"


@dataclasses.dataclass(frozen=True)
class Halves(Report):
    """
    Agreement on two halves of the tasks, split by a hash of the task: tune the rubric on `tune`, read it on `read`.

    Args:
        tune ([`Half`]): One half.
        read ([`Half`]): The other.
        gap (`float`, *optional*): Difference of the two; `None` where a half has fewer than 10 rows.
        p (`float`, *optional*): How often chance gives a gap this large.
        flagged (`bool`): A gap of 0.15 or more that chance does not explain.
    """

    tune: Half
    read: Half
    gap: float | None
    p: float | None
    flagged: bool

    def __str__(self) -> str:
        return f"halves of the tasks: {self.tune} to tune on, {self.read} to read"


@dataclasses.dataclass(frozen=True)
class LengthBias(Report):
    """
    How often the judge passes long replies and short ones that people labelled alike.

    Args:
        n (`int`): Rows compared.
        short (`float`): Share of short replies the judge passes, both labels standardised to the same weights.
        long (`float`): The same of long ones.
        gap (`float`): `long - short`.
        p (`float`): How often chance gives a gap this large (Cochran, Mantel and Haenszel).
        flagged (`bool`): A gap of 0.15 or more, either way, that chance does not explain.
    """

    n: int
    short: float
    long: float
    gap: float
    p: float
    flagged: bool

    def __str__(self) -> str:
        return (
            f"within the same label the judge passes {self.long:.2f} of long replies and {self.short:.2f} of short "
            f"ones ({f'p={self.p:.3f}' if self.p >= 0.001 else 'p<0.001'})"
        )


def half_of(key: object) -> int:
    """Which half a task belongs to, 0 or 1; the same in every process and whatever other rows there are."""
    return int(digest("half", key, length=1), 16) & 1


def two_sided(z: float) -> float:
    """How often a standard normal is at least this far from 0."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def halves_of(found: GoldRows) -> Halves:
    """The judge's agreement on each half of the labelled tasks."""
    index, label = found.compared
    agreed = found.passed[index] == label
    codes, inverse = np.unique(found.task[index], return_inverse=True)
    side = np.array([half_of(found.task_keys[code]) for code in codes.tolist()], dtype=np.int64)[inverse]
    tune, read = (_half(agreed[side == which]) for which in (0, 1))
    if min(tune.n, read.n) < _FEW_HALF or tune.agreement is None or read.agreement is None:
        return Halves(tune, read, None, None, False)
    gap = abs(tune.agreement - read.agreement)
    share = float(agreed.mean())
    spread = math.sqrt(share * (1 - share) * (1 / tune.n + 1 / read.n))
    p = two_sided(gap / spread) if spread else 1.0
    return Halves(tune, read, gap, p, gap >= GAP and p < CHANCE)


def _half(agreed: BoolArray) -> Half:
    n, k = int(agreed.size), int(np.count_nonzero(agreed))
    return Half(n, k / n if n else None, wilson(k, n))


def length_bias(found: GoldRows) -> LengthBias | None:
    """Whether long replies pass more easily than short ones of the same label; `None` where too few compare."""
    index, label = found.compared
    lengths = found.lengths(index)
    known = ~np.isnan(lengths)
    tables = []
    for value in (False, True):
        mine = known & (label == value)
        size = lengths[mine]
        if size.size < _FEW_LABEL:
            continue
        long = size > np.median(size)
        if not long.any():  # half of them or more are of one length, the longest
            continue
        tables.append(_table(long, found.passed[index][mine]))
    return compare_strata(np.array(tables)) if tables else None


def _table(long: BoolArray, passed: BoolArray) -> list[int]:
    return [
        int(np.count_nonzero(long & passed)),
        int(np.count_nonzero(long)),
        int(np.count_nonzero(~long & passed)),
        int(np.count_nonzero(~long)),
    ]


def compare_strata(tables: NDArray[np.int64]) -> LengthBias:
    """
    Two shares compared within strata: Mantel-Haenszel difference, test of Cochran, Mantel and Haenszel.

    Args:
        tables (`np.ndarray` of shape `(strata, 4)`):
            Long and passed, long, short and passed, short.

    Examples:
    ```python
    >>> import numpy as np
    >>> found = compare_strata(np.array([[9, 10, 1, 10]]))
    >>> round(found.gap, 2), found.flagged
    (0.8, True)

    ```
    """
    a, n_long, c, n_short = (tables[:, at].astype(np.float64) for at in range(4))
    n, passes = n_long + n_short, a + c
    weight: FloatArray = n_long * n_short / n
    long, short = (float((weight * share).sum() / weight.sum()) for share in (a / n_long, c / n_short))
    expected = n_long * passes / n
    variance = n_long * n_short * passes * (n - passes) / (n * n * np.maximum(n - 1, 1))
    spread = math.sqrt(float(variance.sum()))
    p = two_sided(float((a - expected).sum()) / spread) if spread else 1.0
    gap = long - short
    return LengthBias(int(n.sum()), short, long, gap, p, abs(gap) >= GAP and p < CHANCE)
