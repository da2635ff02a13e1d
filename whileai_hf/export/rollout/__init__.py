"""Rollouts in which a simulated user answers the policy, as `rollout_func=` of `GRPOTrainer`.

An [`EnvironmentRollout`] plays an environment's tasks as `simulate` does, with the policy that is being trained, and
keeps every token: what the policy wrote stands as it was sampled, what it was told is masked. Tasks, worlds and
rewards come from `export.environment`; how tokens are sampled is the trainer's business (`sampling`).
"""

from whileai_hf.export.rollout.playing import EnvironmentRollout
from whileai_hf.export.rollout.sampling import Sampler, sample_with
from whileai_hf.export.rollout.tokens import TurnTokens


__all__ = ["EnvironmentRollout", "Sampler", "TurnTokens", "sample_with"]
