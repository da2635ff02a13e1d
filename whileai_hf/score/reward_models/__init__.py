"""Reward models as judges: a sequence classifier with one output, trained on pairs, scores the rows.

[`reward_model`] loads one; what a row looks like to it is in `rendering`, what counts as one in `loading`. Language
models that are asked for an opinion are judges of another kind.
"""

from whileai_hf.score.reward_models.judge import RewardModel, reward_model


__all__ = ["RewardModel", "reward_model"]
