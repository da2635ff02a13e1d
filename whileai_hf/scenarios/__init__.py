"""Scenarios: which situations an agent is put in, and what the person in each of them writes.

The grid (`axes`, `blocks`, `deeper`, `order`, `grid`) says which situations there are and in what order; the writer
(`descriptions`, `slots`, `tails`, `asks`, `people`, `topics`, `writer`) turns one into a message, without a model;
`tasks` makes rows of it. `search` decides what a run draws next and `diversity` keeps copies out; `writing` words
situations with a model. To add a wording, edit `data/lines.json`; to add a kind of value, `values.py`.
"""

from whileai_hf.scenarios.covered import CoverageReport, coverage
from whileai_hf.scenarios.dataset import situations
from whileai_hf.scenarios.search import Outcome, Search
from whileai_hf.scenarios.tasks import TaskMaker, draw_tasks


__all__ = ["CoverageReport", "Outcome", "Search", "TaskMaker", "coverage", "draw_tasks", "situations"]
