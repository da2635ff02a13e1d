"""The person in a conversation after the first message: simulated, scripted, or both in turn.

[`make_user`] gives the person of one rollout, which `Agent.run(..., user=)` takes; [`as_user`] makes a simulated user
once for all rollouts: the template user (no model), a model, or anything with [`SimulatedUser`]'s two names.
[`user_faults`] says what a simulated user did wrong. What people ask first belongs to the situations.
"""

from whileai_hf.actors.users.checks import FAULTS, user_faults
from whileai_hf.actors.users.model import ModelUser
from whileai_hf.actors.users.script import read_script
from whileai_hf.actors.users.template import TemplateUser
from whileai_hf.actors.users.turns import DEFAULT_AVG_TURNS, UserTurns, as_user, make_user
from whileai_hf.actors.users.user import SimulatedUser, UserContext


__all__ = [
    "DEFAULT_AVG_TURNS",
    "FAULTS",
    "ModelUser",
    "SimulatedUser",
    "TemplateUser",
    "UserContext",
    "UserTurns",
    "as_user",
    "make_user",
    "read_script",
    "user_faults",
]
