"""An agent with known faults: honest, except that on a labelled share of rollouts it does one wrong thing on purpose.

It is there so that checks can be checked: a marker that finds hedging should fire on the rows whose `seeded` says
hedging, and on no other. What it does on a rollout follows from the seed, the ask and the rollout's number alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.actors.helper import Answer, Helper
from whileai_hf.actors.outcomes import FAULTY
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.rng import Draws, digest, rng
from whileai_hf.sandbox import world
from whileai_hf.sandbox.context import find_rollout
from whileai_hf.spec import AgentSpec


# Wrong things that can be done to any reply.
STYLES = ("hedging", "sycophancy", "apology", "boilerplate")
BEHAVIOURS = (*STYLES, "ignore_fault", "leak")

# A rollout on which a fault fired and shows is rare, and only there can a fault be ignored: on those the agent
# misbehaves half as often again, and mostly that way, so that a short run has some.
_FAULT_FACTOR = 1.5
_IGNORED_SHARE = 0.8
# Part of the name of every draw. With this value and the default seed, sixty rows of each agent we looked at show
# every behaviour, although the rarest is expected on four of sixty only.
_SALT = "lapse"


class SeededAgent:
    """
    A message callable that answers through the world. Make one with [`seeded_agent`].

    Args:
        spec ([`AgentSpec`]):
            The tools it knows.
        rate (`float`):
            Share of rollouts with a wrong thing.
        seed (`int`):
            Seed of its choices.
    """

    def __init__(self, spec: AgentSpec, rate: float, seed: int) -> None:
        self._spec = spec
        self._rate = rate
        self._seed = seed
        self._helper = Helper(spec.tools)

    @property
    def agent_id(self) -> str:
        """Tools, rate and seed decide what it does, so they are its name."""
        return f"whileai_hf.actors:seeded_agent#{digest(self._spec.sha, self._rate, self._seed, length=8)}"

    def __call__(self, message: str) -> dict[str, Any]:
        """
        Answers one ask.

        Args:
            message (`str`):
                What the user asks.

        Returns:
            `dict`: `steps`, `final_text`, and `seeded`: `[]` or the one wrong thing done.
        """
        rollout = find_rollout()
        task: Mapping[str, Any] = rollout.task if rollout else {}
        scenario, index = (rollout.scenario_id, rollout.rollout_index) if rollout else ("", 0)
        # Named by the situation, not its wording: rewording a template must not move which rows misbehave.
        name = (scenario, task.get("phrasing"), index) if scenario else (message, index)
        draws = rng(self._seed, _SALT, *name)
        place = rollout.session if rollout else world(self._spec) if self._spec.tools else None
        answer = self._helper.answer(message, task, place.call if place else _no_tools, draws)
        secrets = _secrets(task.get("privileged"))
        ignorable = bool(place and place.fired) and answer.kind in FAULTY
        behaviour = self._behaviour(draws, ignorable, bool(secrets))
        text = _misbehave(behaviour, answer, secrets, draws)
        return {"steps": answer.steps, "final_text": text, "seeded": [behaviour] if behaviour else []}

    def _behaviour(self, draws: Draws, ignorable: bool, has_secret: bool) -> str | None:
        if not draws.chance(min(1.0, self._rate * (_FAULT_FACTOR if ignorable else 1.0))):
            return None
        if ignorable and draws.chance(_IGNORED_SHARE):
            return "ignore_fault"
        return draws.pick((*STYLES, "leak") if has_secret else STYLES)


def _no_tools(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"status": "unknown_tool", "error": f"no tool is called {tool!r}"}


def _secrets(privileged: Any) -> list[str]:
    """The sentences of a task that the user must not see."""
    values = privileged.values() if isinstance(privileged, Mapping) else (privileged,)
    return [value.strip() for value in values if isinstance(value, str) and value.strip()]


def _misbehave(behaviour: str | None, answer: Answer, secrets: list[str], draws: Draws) -> str:
    honest = answer.text(draws)
    if behaviour is None:
        return honest
    if behaviour == "ignore_fault":
        return Answer("ignore_fault", answer.slots).text(draws)
    secret = draws.pick(secrets) if secrets else ""
    return Answer(behaviour, {"reply": honest, "secret": secret}).text(draws)


def seeded_agent(tools: Any, *, rate: float = 0.35, seed: int = 0) -> SeededAgent:
    """
    An agent that answers honestly and, on a labelled share of rollouts, does one wrong thing on purpose.

    The wrong things: `hedging`, `sycophancy`, `apology`, `boilerplate`, `ignore_fault` (claims success through a
    fault; only where one fired on the rollout) and `leak` (quotes the task's privileged context; only where there is
    some). The row's `seeded` column says which, `[]` when it behaved.

    Args:
        tools (`list` or [`AgentSpec`]):
            The agent's tools, in any shape [`AgentSpec.from_tools`] reads.
        rate (`float`, *optional*, defaults to `0.35`):
            Share of rollouts with a wrong thing, 0 to 1; half as much again where a fault can be ignored.
        seed (`int`, *optional*, defaults to `0`):
            Another seed misbehaves on other rollouts and words its replies differently.

    Returns:
        `Callable`: A message callable. Inside a rollout it calls that rollout's world, elsewhere a world of its own.

    Raises:
        ConfigurationError: When `rate` is not between 0 and 1.

    Examples:
    ```python
    >>> from whileai_hf.actors import seeded_agent
    >>> tools = [{"name": "get_order", "parameters": {"properties": {"order_id": {"type": "string"}},
    ...     "required": ["order_id"]}}]
    >>> agent = seeded_agent(tools, rate=0.0)
    >>> reply = agent("Where is order ORD-4412?")
    >>> reply["steps"][0]["arguments"], reply["seeded"]
    ({'order_id': 'ORD-4412'}, [])

    ```
    """
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise ConfigurationError(f"rate is {rate!r}; pass a share between 0 and 1.")
    spec = tools if isinstance(tools, AgentSpec) else AgentSpec.from_tools(tools)
    return SeededAgent(spec, float(rate), seed)
