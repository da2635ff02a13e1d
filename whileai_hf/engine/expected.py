"""What a run in rl mode can be expected to cost and to give, from the share of prompts that split.

How many of k rollouts pass says more than whether they split, but the share that splits is what a short probe
measures. The rest is modelled: prompts either cannot split (always or never solved) or have pass rates spread evenly
between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from whileai_hf.engine.topology import Topology


# Halvings of the interval in which the spread of the pass rates is looked for: to 12 digits.
_HALVINGS = 60
_NARROWEST = 2.0**20  # of the beta distributions tried: by then every prompt is a coin toss


@dataclass(frozen=True)
class Expected:
    """
    Expectations for one prompt.

    Args:
        rollouts (`float`):
            Rollouts played.
        mixed (`float`):
            Chance that its rollouts end up disagreeing in a group of all k.
    """

    rollouts: float
    mixed: float


def split_rate(spread: float, n: int) -> float:
    """
    How often n rollouts of a prompt disagree when pass rates follow a symmetric beta distribution.

    Args:
        spread (`float`):
            Both parameters of the distribution: 1 is even, above 1 gathers around one half.
        n (`int`):
            Rollouts.

    Examples:
    ```python
    >>> split_rate(1.0, 2), split_rate(1.0, 3)  # doctest: +ELLIPSIS
    (0.333..., 0.5)

    ```
    """
    unanimous = 1.0
    for i in range(n):
        unanimous *= (spread + i) / (2 * spread + i)
    return 1.0 - 2.0 * unanimous


def seen_in_probe(mixed_rate: float, k: int, probe: int) -> float:
    """
    Of all prompts, the share whose first `probe` rollouts disagree, given the share whose k rollouts do.

    Args:
        mixed_rate (`float`):
            Share of prompts of which k rollouts disagree.
        k (`int`):
            Rollouts of a full group.
        probe (`int`):
            Rollouts looked at.
    """
    even = split_rate(1.0, k)
    if mixed_rate <= even:
        return mixed_rate * split_rate(1.0, probe) / even
    # More than evenly spread pass rates explain: every prompt can split, and they gather around one half.
    low, high = 1.0, _NARROWEST
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if split_rate(middle, k) < mixed_rate else (low, middle)
    return min(mixed_rate, split_rate(high, probe))


def expected(topology: Topology, mixed_rate: float) -> Expected:
    """
    What one prompt costs and gives under a topology.

    Args:
        topology ([`Topology`]):
            Repeats and policy.
        mixed_rate (`float`):
            Share of prompts of which all k rollouts would disagree.

    Returns:
        [`Expected`]: For `fixed` and `two_stage`; `successive` spends about as much as the latter.

    Examples:
    ```python
    >>> from whileai_hf.engine.config import SimulationConfig
    >>> fixed = SimulationConfig(mode="rl", repeat_policy="fixed").topology()
    >>> expected(fixed, 0.5)
    Expected(rollouts=8.0, mixed=0.5)

    ```
    """
    k, probe = topology.repeats, topology.probe
    if topology.policy == "fixed":
        return Expected(float(k), mixed_rate)
    seen = seen_in_probe(mixed_rate, k, probe)
    filled = seen + topology.explore_rate * (1.0 - seen)
    return Expected(probe + (k - probe) * filled, seen + topology.explore_rate * (mixed_rate - seen))
