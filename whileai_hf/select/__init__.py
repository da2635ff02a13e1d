"""Selection: which graded rows are worth training on, and what every gate dropped on the way.

`optimize` prunes for a group-relative update (mode "rl") or picks the best completions (mode "sft"). Nothing here
grades or rewrites a rollout. The names load on first use, so that the knobs (`select.config`) can be read without
importing `datasets`. To add a gate, add it to `select/gates.py`, to `GATES` in `select/report.py`, and to the order in
`select/rl.py` or `select/sft.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from whileai_hf.select.config import SelectionConfig
    from whileai_hf.select.optimizing import optimize
    from whileai_hf.select.report import SelectionReport

_WHERE = {"SelectionConfig": "config", "SelectionReport": "report", "optimize": "optimizing"}

__all__ = ["SelectionConfig", "SelectionReport", "optimize"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
