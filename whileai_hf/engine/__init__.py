"""The engine: it plays an agent through situations and gives back a Dataset.

`simulate` does the whole of it; `Rollout` is its middle part as a map function over a task Dataset. The names load on
first use, so that the knobs (`engine.config`) can be read without importing `datasets`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from whileai_hf.engine.config import SimulationConfig, resolve_topology
    from whileai_hf.engine.report import RunReport, run_report
    from whileai_hf.engine.rollout import Rollout
    from whileai_hf.engine.run import simulate

_WHERE = {
    "Rollout": "rollout",
    "RunReport": "report",
    "SimulationConfig": "config",
    "resolve_topology": "config",
    "run_report": "report",
    "simulate": "run",
}

__all__ = ["Rollout", "RunReport", "SimulationConfig", "resolve_topology", "run_report", "simulate"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
