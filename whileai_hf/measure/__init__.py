"""Measurement: what graded rows say about the agent, with intervals, and what they do not say.

Every function takes rows in any form, changes nothing and returns a report (or new rows and a report). Rows without a
verdict are left out and counted, never read as failures. Numbers come from `stats`; this room decides what is counted.

Packages, loaded on first use: `passes` (pass@1, pass^k, pass@k and the group signal), `summaries` (any metric, with
its interval), `compare` (two runs, before and after, how much an eval can see), `trust` (labels, and whether a judge
can be believed), `hacks` (what the reward pays for), `hygiene` (contamination, copies, splits, stages), `failures`
(where runs go wrong), `logprobs` (confidence, KL, staleness), `audit` (all of that in one call).
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from whileai_hf.measure.passes import GroupSignal, PassAt, group_signal, pass_at


_PACKAGES = ("audit", "compare", "failures", "hacks", "hygiene", "logprobs", "passes", "summaries", "trust", "users")

__all__ = ["GroupSignal", "PassAt", "group_signal", "pass_at"]


def __getattr__(name: str) -> ModuleType:
    if name not in _PACKAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_PACKAGES)}")
    return import_module(f"{__name__}.{name}")
