"""The environment a trainer holds: one simulated world at a time, its tools as methods.

An instance is made once and reset for every rollout, as TRL does it. What the model gets back is JSON text, never a
dict or a list: the trainer would show it the one as Python and read the other as images.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from whileai_hf.actors.played import tool_text
from whileai_hf.errors import WorldError
from whileai_hf.export.environment.names import ShownTool, show_tools
from whileai_hf.export.environment.rows import task_of_row
from whileai_hf.export.environment.signatures import make_method
from whileai_hf.export.environment.transcripts import restore_names
from whileai_hf.rows import task_key
from whileai_hf.sandbox import ActiveRollout, Session, activate
from whileai_hf.spec import Tool


Execute = Callable[[str, dict[str, Any]], Any]


class ToolMethod(dict[str, Any]):
    """
    A tool of one world: its schema, which can be called.

    Trainers hand tools on to a chat template, which takes a dict as the schema it is, and only of a function makes one
    of its own, without patterns, bounds and nested properties. So the model reads the tool's own words.
    """

    def __init__(self, world: SimulatedWorld, shown: ShownTool) -> None:
        super().__init__(shown.schema)
        self.__name__ = shown.name
        self._world, self._shown = world, shown

    def __call__(self, /, **arguments: Any) -> str:
        """Makes the call in the world."""
        return self._world._answer(self._shown, arguments)


class SimulatedWorld:
    """
    One environment instance. Made by an [`EnvironmentFactory`], which adds a method per tool.

    Names of its own begin with an underscore, so that they are no tools and no tool can take their place; use
    [`rollout_of`] to look at it from a reward function.
    """

    def __init__(self, factory: EnvironmentFactory) -> None:
        self._factory = factory
        self._rollout: ActiveRollout | None = None
        for shown in factory.shown:
            # In place of the function of the class for whoever asks the instance.
            self.__dict__[shown.name] = ToolMethod(self, shown)

    def reset(self, /, **row: Any) -> None:
        """Opens the world of a row; nothing is added to the prompt."""
        self._rollout = self._factory.open(row)

    def _answer(self, shown: ShownTool, arguments: Mapping[str, Any]) -> str:
        rollout = self._rollout
        if rollout is None:
            raise WorldError(f"the tool {shown.name!r} was called before reset(**row) opened a world")
        given = shown.restore(arguments)
        if self._factory.execute is None:
            return tool_text(rollout.session.call(shown.tool.name, given))
        with activate(rollout):
            return tool_text(rollout.session.call(shown.tool.name, given))


class EnvironmentFactory:
    """
    Makes environment instances: `environment_factory=` of `GRPOTrainer`. It can be pickled when `execute` can.

    Args:
        tools (`tuple[Tool, ...]`):
            The agent's tools.
        seed (`int`, *optional*, defaults to `0`):
            Seed of worlds whose row brings none.
        execute (`Callable`, *optional*):
            `(tool, arguments) -> result`: answers in place of the simulated world.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> environment = EnvironmentFactory((Tool("ping"),))()
    >>> environment.reset(prompt=[{"role": "user", "content": "Is it up?"}])
    >>> environment.ping()
    '{"status":"ok"}'

    ```
    """

    def __init__(self, tools: tuple[Tool, ...], *, seed: int = 0, execute: Execute | None = None) -> None:
        # The functions tools were read from are never called here, and may not be picklable.
        self.tools = tuple(dataclasses.replace(tool, function=None) for tool in tools)
        self.seed = seed
        self.execute = execute
        self.shown, self.renamed = show_tools(self.tools)
        self._seen: Counter[Any] = Counter()
        self._lock = threading.Lock()

    @cached_property
    def _class(self) -> type[SimulatedWorld]:
        methods = {shown.name: make_method(shown, SimulatedWorld._answer) for shown in self.shown}
        return type("SimulatedWorld", (SimulatedWorld,), methods)

    def __call__(self) -> SimulatedWorld:
        """A fresh instance, to be reset before use."""
        return self._class(self)

    def open(self, row: Mapping[str, Any]) -> ActiveRollout:
        """
        The world of a row, fresh.

        The row alone decides it, so all rollouts of a group meet the same world, as in `simulate`. Repeats of a task
        are counted (`rollout_index`), for an `execute` that is to tell them apart.
        """
        task = task_of_row(row)
        session = Session.of_task(self.tools, task, seed=self.seed, execute=self.execute)
        key = (task_key(task), task["prompt"])
        with self._lock:
            index = self._seen[key]
            self._seen[key] += 1
        return ActiveRollout(task, index, session.seed, session)

    def __getstate__(self) -> dict[str, Any]:
        return {"tools": self.tools, "seed": self.seed, "execute": self.execute}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["tools"], seed=state["seed"], execute=state["execute"])  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"EnvironmentFactory({', '.join(tool.name for tool in self.tools) or 'no tools'})"


def original_messages(environment: Any, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """
    Messages of a rollout with tools and parameters under their own names, where the model was shown others.

    Args:
        environment ([`SimulatedWorld`]):
            The instance it was played in; for one that is not of ours the messages stay as they are.
        messages (`Sequence[dict]`):
            As the trainer has them.

    Returns:
        `list[dict]`: New messages.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> environment = EnvironmentFactory((Tool("get-order"),))()
    >>> original_messages(environment, [{"role": "tool", "name": "get_order", "content": "{}"}])
    [{'role': 'tool', 'name': 'get-order', 'content': '{}'}]

    ```
    """
    if not isinstance(environment, SimulatedWorld):
        return [dict(message) for message in messages]
    return restore_names(messages, {shown.name: shown for shown in environment._factory.shown})


def rollout_of(environment: Any) -> ActiveRollout:
    """
    What an environment instance is playing, for reward functions of your own (`environments=`).

    Args:
        environment ([`SimulatedWorld`]):
            An instance the trainer holds.

    Returns:
        [`~whileai_hf.sandbox.ActiveRollout`]: With `.task` (the row), `.rollout_index` and `.session`, whose
        `state_digest()`, `writes` and `fired` say what became of the world. A call whose result did not fit into the
        completion has been made in it, although the transcript does not show it; the rewards of an
        [`EnvironmentSpec`] go by the transcript.

    Raises:
        [`~whileai_hf.errors.WorldError`]: It is no environment of ours, or was not reset yet.
    """
    if not isinstance(environment, SimulatedWorld) or environment._rollout is None:
        raise WorldError(f"{environment!r:.80} is no environment instance that has been reset")
    return environment._rollout
