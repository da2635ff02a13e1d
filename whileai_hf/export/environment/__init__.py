"""Environments for trainers: the simulated world, its tasks and its rewards, in the shape TRL takes.

[`load_environment`] makes an [`EnvironmentSpec`] of tasks or rollouts; its world and its rewards are those of
`simulate`. Conversations with a simulated user are `export.rollout`; watching a run is `training`. To support another
trainer, give [`EnvironmentSpec`] a method that hands out the same entries in its shape.
"""

from whileai_hf.export.environment.config import EnvironmentConfig
from whileai_hf.export.environment.loading import load_environment
from whileai_hf.export.environment.names import Rename
from whileai_hf.export.environment.spec import EnvironmentSpec
from whileai_hf.export.environment.templates import check_tokenizer
from whileai_hf.export.environment.worlds import EnvironmentFactory, original_messages, rollout_of


__all__ = [
    "EnvironmentConfig",
    "EnvironmentFactory",
    "EnvironmentSpec",
    "Rename",
    "check_tokenizer",
    "load_environment",
    "original_messages",
    "rollout_of",
]
