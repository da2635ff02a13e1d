"""The knobs of a monitor beyond the main ones: one dataclass, whose fields are keywords of [`HackMonitor`]."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import field
from typing import Any, TypedDict

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.monitor.alarms import KINDS, AlarmKind


@dataclasses.dataclass(frozen=True)
class MonitorConfig:
    """
    Knobs of [`HackMonitor`]. Every field is also a keyword of it.

    Examples:
    ```python
    >>> MonitorConfig(delta=0.2).window
    8

    ```
    """

    delta: float = field(
        default=0.1, metadata={"help": "rise of the proxy, as a share of its range, from which the gold has to follow"}
    )
    window: int = field(default=8, metadata={"help": "evaluations a rise is measured over"})
    alpha: float = field(
        default=0.02, metadata={"help": "chance of a false divergence over a whole run, all looks together"}
    )
    lag: int = field(default=1, metadata={"help": "evaluations the gold may come behind the proxy"})
    follow: float = field(default=0.5, metadata={"help": "share of the proxy's rise that the gold has to make"})
    growth: float = field(
        default=0.25, metadata={"help": "growth of completions from which the gold has to follow, 0.25 for a quarter"}
    )
    kl_budget: float | None = field(
        default=None, metadata={"help": "KL per token from the policy at the start that may not be exceeded"}
    )
    batch: int = field(default=512, metadata={"help": "training completions kept for the scan of features"})
    isolate_rng: bool = field(
        default=True, metadata={"help": "give training the random numbers it would have had without evaluations"}
    )
    strict: bool = field(
        default=False, metadata={"help": "raise what goes wrong in the monitor; otherwise it is logged, once"}
    )
    allow_overlap: bool = field(
        default=False, metadata={"help": "accept a holdout that shares tasks with the training set"}
    )
    seed: int = field(default=0, metadata={"help": "seed of the evaluations, and of the scan's shuffles"})

    def __post_init__(self) -> None:
        for name in ("delta", "follow", "growth", "kl_budget"):
            value = getattr(self, name)
            if value is None and name == "kl_budget":
                continue
            if not _is_number(value) or not 0.0 < value < math.inf:
                raise ConfigurationError(f"{name}={value!r} is not a positive number")
        if not _is_number(self.alpha) or not 0.0 < self.alpha < 0.5:
            raise ConfigurationError(f"alpha={self.alpha!r} is not a chance of a false alarm; pass one such as 0.02")
        for name, least in (("window", 1), ("lag", 0), ("batch", 1), ("seed", 0)):
            check_whole(name, getattr(self, name), least)
        if self.lag >= self.window:
            raise ConfigurationError(
                f"lag={self.lag} leaves nothing of window={self.window} for the proxy to rise in; make it smaller"
            )
        for name in ("isolate_rng", "strict", "allow_overlap"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"{name}={getattr(self, name)!r} is neither true nor false")


class MonitorKnobs(TypedDict, total=False):
    """Keywords of [`HackMonitor`] beyond its own; see [`MonitorConfig`]."""

    delta: float
    window: int
    alpha: float
    lag: int
    follow: float
    growth: float
    kl_budget: float | None
    batch: int
    isolate_rng: bool
    strict: bool
    allow_overlap: bool
    seed: int


def check_whole(name: str, value: Any, least: int) -> int:
    """A whole number from `least` on, or a [`ConfigurationError`]."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{name}={value!r} is not a whole number from {least} on")
    return value


def check_stop_on(stop_on: Any) -> frozenset[AlarmKind]:
    """The alarms that stop training, or a [`ConfigurationError`]."""
    named = [stop_on] if isinstance(stop_on, str) else [] if stop_on is None else stop_on
    if not isinstance(named, Iterable):
        raise ConfigurationError(f"stop_on={stop_on!r:.80} names no alarms; pass any of {', '.join(KINDS)}, or 'any'")
    found: set[AlarmKind] = set()
    for name in named:
        if name == "any":
            found.update(KINDS)
        elif name in KINDS:
            found.add(name)
        else:
            raise ConfigurationError(f"stop_on has {name!r:.40}, which is no alarm; pass {', '.join(KINDS)} or 'any'")
    return frozenset(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
