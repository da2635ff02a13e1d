"""Judging by comparison: pairs both ways round, and the rollouts of a task against each other.

[`judge_pairs`] asks any judge of two rows in both orders and counts what survives; [`pairwise_judge`] is one made of a
model. [`groupwise_judge`] ranks the rollouts of one task, which gives rewards that are relative to the group.
"""

from whileai_hf.score.pairs.groupwise import GroupwiseJudge, groupwise_judge
from whileai_hf.score.pairs.judging import judge_pairs
from whileai_hf.score.pairs.pairwise import PairwiseJudge, pairwise_judge
from whileai_hf.score.pairs.report import Agreement, PairsReport


__all__ = [
    "Agreement",
    "GroupwiseJudge",
    "PairsReport",
    "PairwiseJudge",
    "groupwise_judge",
    "judge_pairs",
    "pairwise_judge",
]
