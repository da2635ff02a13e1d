"""The search for situations: which ones to draw next, given what the earlier ones brought to light.

`search` is the whole; `weights` shares the rows out among the arms, `grid_arm`, `free_arm` and `leads` draw, `rare`
puts rare faults in between, `drafts` keeps copies out, `planned` says when enough is enough. Families of asks and
mutations are text in `data/free.json`.
"""

from whileai_hf.scenarios.search.outcome import Outcome
from whileai_hf.scenarios.search.search import Search, SituationWriter


__all__ = ["Outcome", "Search", "SituationWriter"]
