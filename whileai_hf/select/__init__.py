"""Selection: which graded rows are worth training on, and what every gate dropped on the way.

`optimize` prunes for a group-relative update (mode "rl") or picks the best completions (mode "sft");
`build_preference_pairs` pairs them, `curriculum` sorts tasks by difficulty, and `publish_gate` says whether rows are
fit to be published. Nothing here grades or rewrites a rollout, and no row given is changed. The names load on first
use, so that the knobs (`select.config`) can be read without importing `datasets`. To add a gate, add it to
`select/gates.py`, to `GATES` in `select/report.py`, and to the order in `select/rl.py` or `select/sft.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from whileai_hf.select.config import SelectionConfig
    from whileai_hf.select.optimizing import optimize, select_for_rl, select_for_sft
    from whileai_hf.select.pairs import build_preference_pairs
    from whileai_hf.select.publishing import publish_gate
    from whileai_hf.select.ranking import rank
    from whileai_hf.select.report import SelectionReport
    from whileai_hf.select.rounds import next_round
    from whileai_hf.select.scheduling import curriculum, retire_solved
    from whileai_hf.select.stamping import calibrate
    from whileai_hf.select.trimming import filter_rl_rows, trim_out_of_band, trim_unanimous_groups

_WHERE = {
    "SelectionConfig": "config",
    "SelectionReport": "report",
    "build_preference_pairs": "pairs",
    "calibrate": "stamping",
    "curriculum": "scheduling",
    "filter_rl_rows": "trimming",
    "next_round": "rounds",
    "optimize": "optimizing",
    "publish_gate": "publishing",
    "rank": "ranking",
    "retire_solved": "scheduling",
    "select_for_rl": "optimizing",
    "select_for_sft": "optimizing",
    "trim_out_of_band": "trimming",
    "trim_unanimous_groups": "trimming",
}

__all__ = [
    "SelectionConfig",
    "SelectionReport",
    "build_preference_pairs",
    "calibrate",
    "curriculum",
    "filter_rl_rows",
    "next_round",
    "optimize",
    "publish_gate",
    "rank",
    "retire_solved",
    "select_for_rl",
    "select_for_sft",
    "trim_out_of_band",
    "trim_unanimous_groups",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
