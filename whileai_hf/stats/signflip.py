"""The sign-flip test of a mean difference, and the interval that is the set of shifts it does not reject.

Under "no difference" each task's difference is as likely to have come out with the other sign, so all sign patterns of
the differences are equally likely (Fisher 1935, section 21). Flipping the signs of a set S of tasks keeps a mean
above `shift` at least as far from it exactly when the mean over S or over its complement lies at or below `shift`, so
every sign pattern has one number below the mean and one above from which on it counts. Sorted, these numbers answer
every question: the p-value of any shift is a count, the interval is an order statistic (Hartigan's typical values,
1969), and the two cannot contradict each other.

Up to 16 differences all patterns are enumerated. Beyond, patterns are drawn and the observed one is counted among
them, (1 + count) / (1 + draws) (Phipson and Smyth 2010), which keeps the false-positive rate at or below its level
for any number of draws.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.proportions import Interval, check_level


FloatArray = NDArray[np.float64]

# Fewer differences than this have no sign pattern rare enough for 5% two-sided: 2 / 2**5 is 6.25%.
MIN_PAIRS = 6
# Differences up to which all patterns are enumerated: 2**15 pairs of mirrored patterns.
EXACT_PAIRS = 16
# Patterns drawn beyond: with the observed one 10,000, so that 5% is a whole number of them.
DRAWS = 9999
# More differences than this are flipped in blocks of nearly equal size, which is as valid a group of flips and costs
# the same at any number of tasks.
_MOST_UNITS = 2048
# Distinct differences per difference below which it is cheaper to draw how many of each are flipped.
_LEVEL_SHARE = 0.25
# Digits kept, counted from the largest difference, and the most decimals that rounding can deal with.
_DIGITS, _MOST_DECIMALS = 12, 290
# Differences up to which simulations enumerate: many samples times all patterns cost more than drawing does.
_EXACT_SAMPLES = 12
# Flips held at a time, in numbers.
_BLOCK = 4_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class SignFlip:
    """
    One sign-flip test; what [`sign_flip_test`] returns.

    Args:
        delta (`float`):
            Mean difference.
        n (`int`):
            Differences.
        exact (`bool`):
            Whether all sign patterns were enumerated.
        below (`np.ndarray`):
            Per pair of mirrored patterns, sorted, the shift below the mean from which on it counts against rejection;
            `-inf` for the observed one.
        above (`np.ndarray`):
            The same above the mean, sorted; `inf` for the observed one.
        grid (`float`):
            Values closer than this are equal.
    """

    delta: float
    n: int
    exact: bool
    below: FloatArray
    above: FloatArray
    grid: float

    @property
    def patterns(self) -> int:
        """Pairs of mirrored sign patterns looked at, the observed one included."""
        return int(self.below.size)

    @property
    def method(self) -> str:
        """What was done, in words."""
        if self.exact:
            return f"sign-flip test over all {2 * self.patterns} sign patterns"
        return f"sign-flip test over {self.patterns - 1} drawn sign patterns"

    def _count(self, shift: float) -> int:
        if abs(shift - self.delta) <= self.grid / 2:
            return self.patterns
        if shift < self.delta:
            return int(np.searchsorted(self.below, shift + self.grid / 2, side="right"))
        return self.patterns - int(np.searchsorted(self.above, shift - self.grid / 2, side="left"))

    def p_value(self, shift: float = 0.0) -> float:
        """Two-sided p-value of the hypothesis that the mean difference is `shift`."""
        return self._count(shift) / self.patterns

    def rejects(self, shift: float = 0.0, level: float = 0.95) -> bool:
        """Whether `shift` lies outside [`interval`]: the same as a p-value of at most `1 - level`."""
        return self._count(shift) <= self._most(level)

    def interval(self, level: float = 0.95) -> Interval | None:
        """All shifts that are not rejected; `None` where there are too few differences to reject any."""
        last = self._most(level)
        if last < 1 or not math.isfinite(self.below[last]):
            return None
        return float(self.below[last]), float(self.above[self.patterns - 1 - last])

    def equivalence_p(self, margin: float) -> float:
        """
        p-value of the two one-sided tests that the mean difference lies outside `(-margin, margin)` (Schuirmann 1987).

        It is at most 0.05 exactly when the 90% [`interval`] lies within the margin.
        """
        if not abs(self.delta) < margin:
            return 1.0
        return max(self.p_value(-margin), self.p_value(margin)) / 2

    def _most(self, level: float) -> int:
        """The largest count that is still a rejection."""
        return math.floor(round((1.0 - check_level(level)) * self.patterns, 6))


def sign_flip_test(differences: ArrayLike, *, draws: int = DRAWS, seed: int = 0) -> SignFlip:
    """
    Two-sided sign-flip test of a mean difference, ready for any shift and level.

    The order of the differences does not matter, and turning all signs turns the interval and keeps the p-value.

    Args:
        differences (array of `float` of shape `(n,)`):
            One difference per independent unit (a task). `nan` and infinities are left out.
        draws (`int`, *optional*, defaults to `9999`):
            Sign patterns drawn where there are too many to enumerate.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the drawing.

    Returns:
        [`SignFlip`]: The test.

    Raises:
        [`ConfigurationError`]: No difference, or `draws < 1`.

    Examples:
    ```python
    >>> test = sign_flip_test([0.1, 0.2, 0.3, 0.1, 0.2, 0.4])
    >>> test.p_value(), test.interval()
    (0.03125, (0.1, 0.4))

    ```
    """
    values = np.asarray(differences, dtype=np.float64).ravel()
    values = np.sort(values[np.isfinite(values)])
    if not values.size:
        raise ConfigurationError("there is no difference to test; pass at least one finite number")
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise ConfigurationError(f"draws={draws!r} is not a number of sign patterns; pass 1 or more (9999 is usual)")
    decimals = _decimals(float(np.abs(values).max()))
    values = np.round(values, decimals)
    # One orientation for a set of differences and its mirror image, so that both see the same drawn patterns.
    mirrored = -values[::-1]
    unlike = np.flatnonzero(values != mirrored)
    turned = bool(unlike.size) and values[unlike[0]] < mirrored[unlike[0]]
    exact = values.size <= EXACT_PAIRS
    below, above = _thresholds(mirrored if turned else values, exact, int(draws), seed)
    if turned:
        below, above = -above[::-1], -below[::-1]
    delta = math.fsum(values.tolist()) / values.size
    # + 0.0 turns -0.0 into 0.0.
    below, above, mean = (np.round(part, decimals) + 0.0 for part in (below, above, np.array([delta])))
    return SignFlip(float(mean[0]), int(values.size), exact, below, above, 10.0**-decimals)


def _decimals(largest: float) -> int:
    """Decimals that are kept: sums of thirds and fifths are off by rounding, and ties have to stay ties."""
    return min(_DIGITS - math.ceil(math.log10(largest)), _MOST_DECIMALS) if largest > 0.0 else _DIGITS


def _thresholds(values: FloatArray, exact: bool, draws: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Sorted means of flipped sets or of their complements: of each pair the lower and the higher."""
    if exact:
        sums, sizes = _all_subsets(values)
    else:
        sums, sizes = _drawn_subsets(values, draws, np.random.default_rng(seed))
        sums, sizes = np.append(sums, 0.0), np.append(sizes, 0.0)  # the observed pattern flips nothing
    total, n = math.fsum(values.tolist()), values.size
    inner = (sizes > 0) & (sizes < n)
    one = sums[inner] / sizes[inner]
    other = (total - sums[inner]) / (n - sizes[inner])
    whole = np.full(sums.size - one.size, np.inf)
    below = np.concatenate([-whole, np.sort(np.minimum(one, other))])
    above = np.concatenate([np.sort(np.maximum(one, other)), whole])
    return below, above


def _all_subsets(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum and size of every set that leaves out the last value: one of each set and its complement."""
    sums, sizes = np.zeros(1), np.zeros(1)
    for value in values[:-1]:
        sums, sizes = np.concatenate([sums, sums + value]), np.concatenate([sizes, sizes + 1.0])
    return sums, sizes


def _drawn_subsets(values: FloatArray, draws: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Sum and size of sets into which every value goes with chance one half."""
    levels, counts = np.unique(values, return_counts=True)
    if levels.size <= _LEVEL_SHARE * values.size and levels.size <= _MOST_UNITS // 8:
        # One level at a time: a generator prepares a binomial of one size once.
        taken = np.stack([generator.binomial(int(count), 0.5, draws) for count in counts], axis=1).astype(np.float64)
        return taken @ levels, taken.sum(axis=1)
    units = np.stack([values, np.ones(values.size)], axis=1)
    if values.size > _MOST_UNITS:
        # Which tasks share a block is drawn, so that it has nothing to do with their values.
        block = generator.permutation(values.size) % _MOST_UNITS
        units = np.stack([np.bincount(block, weights=column) for column in units.T], axis=1)
    parts = [part @ units for part in _coins(draws, units.shape[0], generator)]
    drawn = np.concatenate(parts)
    return drawn[:, 0], np.round(drawn[:, 1])


def _coins(draws: int, units: int, generator: np.random.Generator) -> list[FloatArray]:
    """Rows of fair zeros and ones, in blocks."""
    rows = max(1, _BLOCK // units)
    blocks = []
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        bits = np.frombuffer(generator.bytes(count * ((units + 7) // 8)), np.uint8).reshape(count, -1)
        blocks.append(np.unpackbits(bits, axis=1, count=units).astype(np.float64))
    return blocks


def sign_flip_rejections(
    differences: ArrayLike, *, level: float = 0.95, draws: int = 1999, seed: int = 0
) -> NDArray[np.bool_]:
    """
    Whether the sign-flip test rejects "no difference", for many samples of one size at once.

    For simulations: all samples share the drawn sign patterns, which leaves the average over samples what it is.

    Args:
        differences (array of `float` of shape `(samples, n)`):
            One row of differences per sample.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level of the interval that zero lies outside of.
        draws (`int`, *optional*, defaults to `1999`):
            Sign patterns drawn where there are too many to enumerate.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the drawing.

    Returns:
        `np.ndarray` of `bool` of shape `(samples,)`.

    Examples:
    ```python
    >>> sign_flip_rejections([[0.1, 0.2, 0.3, 0.1, 0.2, 0.4], [0.1, 0.2, 0.3, 0.1, 0.2, 0.0]]).tolist()
    [True, False]

    ```
    """
    samples = np.asarray(differences, dtype=np.float64)
    n = samples.shape[1]
    if n > _MOST_UNITS:
        block = np.random.default_rng(seed).permutation(n) % _MOST_UNITS
        order = np.argsort(block, kind="stable")
        starts = np.searchsorted(block[order], np.arange(_MOST_UNITS))
        samples = np.add.reduceat(samples[:, order], starts, axis=1)
    units = samples.shape[1]
    if n <= _EXACT_SAMPLES:
        patterns = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
        signs, extra = 1.0 - 2.0 * patterns, 0
    else:
        signs, extra = 1.0 - 2.0 * np.concatenate(_coins(draws, units, np.random.default_rng(seed))), 1
    far = np.abs(samples.sum(axis=1))
    slack = 1e-9 * (np.abs(samples).max(axis=1, initial=0.0) + 1e-300)
    counts = np.empty(samples.shape[0])
    rows = max(1, _BLOCK // signs.shape[0])
    for start in range(0, samples.shape[0], rows):
        part = slice(start, start + rows)
        counts[part] = (np.abs(samples[part] @ signs.T) >= (far[part] - slack[part])[:, None]).sum(axis=1) + extra
    most = math.floor(round((1.0 - check_level(level)) * (signs.shape[0] + extra), 6))
    return np.asarray(counts <= most, dtype=np.bool_)
