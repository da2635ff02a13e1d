"""How large a change an evaluation can see: power of comparing two pass rates over tasks.

The population: task pass rates with mean `base` and standard deviation `spread`; the change closes the same share of
every task's way to 1, `q = p + effect * (1 - p) / (1 - base)`, so that the mean rises by `effect` and no rate leaves
[0, 1]. Each side has `k` rollouts per task. Paired is the sign-flip test over task differences, unpaired the
comparison of two means over different tasks.
"""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.stats.signflip import MIN_PAIRS, sign_flip_rejections


FloatArray = NDArray[np.float64]
_NORMAL = NormalDist()
# Simulated samples behind a power; its standard error at 80% is 0.9 points.
SAMPLES = 2000
# Tasks up to which the test itself is simulated; beyond, the normal approximation is right to under a point.
MOST_SIMULATED = 200
# Halvings of the range of effects: to 0.1 points.
_HALVINGS = 10


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


@dataclasses.dataclass(frozen=True)
class Population:
    """
    Tasks and repeats an evaluation draws from.

    Args:
        base (`float`, *optional*, defaults to `0.6`):
            Mean pass rate before the change, within (0, 1).
        k (`int`, *optional*, defaults to `4`):
            Rollouts per task and side.
        spread (`float`, *optional*, defaults to `0.0`):
            Standard deviation of the tasks' pass rates. At 0 every task is as hard as the next: the most rollout
            noise there can be, so the cautious choice for paired comparisons.
    """

    base: float = 0.6
    k: int = 4
    spread: float = 0.0

    def __post_init__(self) -> None:
        if not _is_number(self.base) or not 0.0 < self.base < 1.0:
            raise ConfigurationError(f"base={self.base!r} is not a pass rate with room; pass a number within (0, 1)")
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise ConfigurationError(f"k={self.k!r} is not a number of rollouts per task; pass 1 or more")
        most = math.sqrt(self.base * (1.0 - self.base))
        if not _is_number(self.spread) or not 0.0 <= self.spread < most:
            raise ConfigurationError(
                f"spread={self.spread!r} is not a standard deviation of pass rates around {self.base:g}; pass a "
                f"number from 0 to below {most:.3f}"
            )

    def share(self, effect: float) -> float:
        """Share of its way to 1 that every task goes."""
        return effect / (1.0 - self.base)

    def paired_sd(self, effect: float) -> float:
        """Standard deviation of a task's difference."""
        share, room = self.share(effect), 1.0 - self.base
        squared = room * room + self.spread**2  # mean of (1 - p)^2
        before = room - squared
        after = (1.0 - share) * room - (1.0 - share) ** 2 * squared
        return math.sqrt(max(0.0, (before + after) / self.k + (share * self.spread) ** 2))

    def unpaired_sd(self, effect: float) -> float:
        """Standard deviation of the difference between one task of each side, drawn apart."""
        share, room = self.share(effect), 1.0 - self.base
        squared = room * room + self.spread**2
        noise = room - squared + (1.0 - share) * room - (1.0 - share) ** 2 * squared
        return math.sqrt(max(0.0, noise / self.k + self.spread**2 * (1.0 + (1.0 - share) ** 2)))

    def draw(self, n_tasks: int, samples: int, generator: np.random.Generator) -> FloatArray:
        """Pass rates of shape `(samples, n_tasks)`: beta distributed around `base`."""
        if self.spread == 0.0:
            return np.full((samples, n_tasks), self.base)
        total = self.base * (1.0 - self.base) / self.spread**2 - 1.0
        return generator.beta(self.base * total, (1.0 - self.base) * total, size=(samples, n_tasks))


def normal_power(effect: float, error: float, level: float = 0.95) -> float:
    """
    Power of a two-sided z test.

    Args:
        effect (`float`):
            The change.
        error (`float`):
            Standard error of its estimate.
        level (`float`, *optional*, defaults to `0.95`):
            Confidence level.

    Examples:
    ```python
    >>> round(normal_power(2.8, 1.0), 2)
    0.8

    ```
    """
    if error <= 0.0:
        return 1.0 if effect else 0.0
    z = _NORMAL.inv_cdf(0.5 + level / 2)
    return _NORMAL.cdf(abs(effect) / error - z) + _NORMAL.cdf(-abs(effect) / error - z)


def paired_power(effect: float, n_tasks: int, population: Population, *, seed: int = 0) -> float | None:
    """
    Chance that the sign-flip test over tasks sees a change.

    Args:
        effect (`float`):
            Rise of the mean pass rate, from 0 to `1 - base`.
        n_tasks (`int`):
            Tasks both sides share.
        population ([`Population`]):
            What they are drawn from.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the simulation.

    Returns:
        `float` or `None`: Simulated with this very test up to 200 tasks, by the normal approximation beyond; `None`
        below 6 tasks, where the test rejects nothing.

    Examples:
    ```python
    >>> paired_power(0.2, 5, Population()) is None
    True

    ```
    """
    if n_tasks < MIN_PAIRS:
        return None
    if n_tasks > MOST_SIMULATED:
        return normal_power(effect, population.paired_sd(effect) / math.sqrt(n_tasks))
    # The same generator for every effect, so that power rises with it.
    generator = np.random.default_rng(seed)
    rates = population.draw(n_tasks, SAMPLES, generator)
    before = generator.binomial(population.k, rates)
    more = np.minimum(rates + population.share(effect) * (1.0 - rates), 1.0)
    after = generator.binomial(population.k, more)
    return float(sign_flip_rejections((after - before).astype(np.float64), seed=seed).mean())


def unpaired_power(effect: float, n_tasks: int, population: Population) -> float | None:
    """
    Chance that two means over different tasks are told apart (normal approximation).

    Args:
        effect (`float`):
            Rise of the mean pass rate.
        n_tasks (`int`):
            Tasks of each side.
        population ([`Population`]):
            What they are drawn from.

    Returns:
        `float` or `None`: `None` below 6 tasks a side.
    """
    if n_tasks < MIN_PAIRS:
        return None
    return normal_power(effect, population.unpaired_sd(effect) / math.sqrt(n_tasks))


def _power(effect: float, n_tasks: int, population: Population, paired: bool, seed: int) -> float:
    found = (
        paired_power(effect, n_tasks, population, seed=seed) if paired else unpaired_power(effect, n_tasks, population)
    )
    return 0.0 if found is None else found


def smallest_effect(
    n_tasks: int, population: Population, *, power: float = 0.8, paired: bool = True, seed: int = 0
) -> float | None:
    """
    The smallest rise of the mean pass rate that is seen with the given chance.

    Args:
        n_tasks (`int`):
            Tasks (of each side, when unpaired).
        population ([`Population`]):
            What they are drawn from.
        power (`float`, *optional*, defaults to `0.8`):
            The chance.
        paired (`bool`, *optional*, defaults to `True`):
            Whether both sides have the same tasks.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the simulation.

    Returns:
        `float` or `None`: `None` where no rise is seen with that chance, not even one to a pass rate of 1.

    Examples:
    ```python
    >>> 0.1 < smallest_effect(100, Population()) < 0.15
    True
    >>> smallest_effect(6, Population()) is None
    True

    ```
    """
    check_level_of_power(power)
    low, high = 0.0, 1.0 - population.base
    if _power(high, n_tasks, population, paired, seed) < power:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, n_tasks, population, paired, seed) >= power else (middle, high)
    return high


def tasks_needed(
    effect: float, population: Population, *, power: float = 0.8, paired: bool = True, seed: int = 0
) -> int:
    """
    The fewest tasks (of each side, when unpaired) with which a rise is seen with the given chance.

    Args:
        effect (`float`):
            Rise of the mean pass rate, above 0 and at most `1 - base`.
        population ([`Population`]):
            What tasks are drawn from.
        power (`float`, *optional*, defaults to `0.8`):
            The chance.
        paired (`bool`, *optional*, defaults to `True`):
            Whether both sides have the same tasks.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the simulation.

    Returns:
        `int`: At least 6.

    Raises:
        [`ConfigurationError`]: An effect that does not fit between `base` and 1.

    Examples:
    ```python
    >>> apart = Population(spread=0.3)
    >>> tasks_needed(0.05, apart), tasks_needed(0.05, apart, paired=False)
    (247, 742)

    ```
    """
    check_level_of_power(power)
    if not _is_number(effect) or not 0.0 < effect <= 1.0 - population.base + 1e-12:
        shown = effect if _is_number(effect) or isinstance(effect, str) else type(effect).__name__
        raise ConfigurationError(
            f"effect={shown!r} is no rise from a pass rate of {population.base:g}; pass a number above 0 and at "
            f"most {1.0 - population.base:g}"
        )
    z = _NORMAL.inv_cdf(0.975) + _NORMAL.inv_cdf(power)
    sd = population.paired_sd(effect) if paired else population.unpaired_sd(effect)
    closed = max(MIN_PAIRS, math.ceil((z * sd / effect) ** 2))
    if not paired or closed > MOST_SIMULATED:
        return closed
    low, high = MIN_PAIRS - 1, closed
    while _power(effect, high, population, True, seed) < power:
        low, high = high, math.ceil(high * 1.25) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(effect, middle, population, True, seed) >= power else (middle, high)
    return high


def check_level_of_power(power: float) -> float:
    """The chance itself, or an error when it is none that can be asked for."""
    if not _is_number(power) or not 0.05 < power < 1.0:
        raise ConfigurationError(f"power={power!r} is not a chance to ask for; pass a number such as 0.8")
    return float(power)
