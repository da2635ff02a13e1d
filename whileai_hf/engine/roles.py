"""Who does which job in a run: the agent, the writer of the situations, the user in follow-up turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whileai_hf.actors.models import Model, ModelAgent, as_model
from whileai_hf.actors.users import SimulatedUser, as_user
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.errors import ConfigurationError


@dataclass(frozen=True)
class Roles:
    """
    The actors of a run.

    Args:
        agent (`Callable`):
            Plays.
        writer ([`Model`], *optional*):
            Writes the situations; templates do without one.
        user ([`SimulatedUser`]):
            Speaks for the person after the first message.
        degraded (`dict[str, str]`):
            What runs below its usual quality, each with a sentence and the fix.
    """

    agent: Any
    writer: Model | None
    user: SimulatedUser
    degraded: dict[str, str]


def resolve_roles(agent: Any, config: SimulationConfig) -> Roles:
    """
    The actors behind `agent=`, `simulator=` and `user_model=`.

    Args:
        agent (`Any`):
            A callable, a model or its spec string.
        config ([`SimulationConfig`]):
            `simulator`, `user_model` and `logprobs` are read.

    Raises:
        [`ConfigurationError`]: Something that is neither an agent nor a model.
    """
    agent = _agent(agent, config)
    own = agent.model if isinstance(agent, ModelAgent) else None
    simulator = config.simulator
    writer = own if simulator is None else None if simulator in (False, "template") else as_model(simulator)
    user = as_user(own if config.user_model is None else config.user_model)
    return Roles(agent, writer, user, _degraded(own, writer, user))


def _agent(agent: Any, config: SimulationConfig) -> Any:
    if isinstance(agent, str) or (isinstance(agent, Model) and not isinstance(agent, type)):
        agent = ModelAgent(as_model(agent))
    if isinstance(agent, ModelAgent):
        return agent.with_logprobs(config.logprobs) if config.logprobs else agent
    if config.logprobs:
        raise ConfigurationError(
            f"logprobs={config.logprobs!r} needs a model as the agent: only it knows the tokens it generates"
        )
    if not callable(agent):
        raise ConfigurationError(
            f"agent={agent!r} is not callable; pass a function from a message to a rollout, or a model such as "
            "'openai:<model>'"
        )
    return agent


def _degraded(own: Model | None, writer: Model | None, user: SimulatedUser) -> dict[str, str]:
    if own is None:
        return {}
    jobs = []
    fixes = []
    if writer is not None and writer.name == own.name:
        jobs.append("wrote the situations")
        fixes.append("simulator= for the writer")
    if user.name == own.name:
        jobs.append("played the user")
        fixes.append("user_model= for the user")
    if not jobs:
        return {}
    sentence = (
        f"{own.name} is the agent and also {' and '.join(jobs)}, so it answers people of its own making; pass "
        f"{' and '.join(fixes)} to put those jobs on another model"
    )
    return {"same_model": sentence}
