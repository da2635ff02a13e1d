"""Is a reward worth training on? It is asked with replies whose worth is known, before any training.

[`check_reward`] takes plain reward functions of a trainer as well as judges and verifiers. `probes` holds the replies
that must not pay and the right ones that must, `structure` what can be wrong with the function itself; to add a probe,
write one small function and add it to `PROBES` there.
"""

from whileai_hf.score.checking.checking import check_reward
from whileai_hf.score.checking.probes import PROBES, Probe
from whileai_hf.score.checking.report import Cell, Finding, RewardCheck


__all__ = ["PROBES", "Cell", "Finding", "Probe", "RewardCheck", "check_reward"]
