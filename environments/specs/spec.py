"""One environment before it is exported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


Message = dict[str, Any]
Policy = Callable[[list[Message], list[dict[str, Any]]], Message]


@dataclass(frozen=True)
class EnvironmentSource:
    """
    Everything [`export_environment`] is given, and the policies the environment is tried with.

    Args:
        name (`str`):
            Name of the folder and the package.
        about (`str`):
            A paragraph for the README.
        tools (`list[dict]`):
            The agent's tools.
        system_prompt (`str`):
            What the agent is told.
        tasks (`Callable`):
            Makes the task rows.
        careful (`Callable`):
            A scripted policy that does the job as it should be done: `(messages, tools) -> message`.
        eager (`Callable`):
            One that does the first thing that looks right.
        reward (`Callable` or `type`):
            The judge, or the class of one.
        world (`Callable`, *optional*):
            `(tool, arguments) -> result` in place of the simulated world.
        include (`Sequence[Path]`):
            Files of these sources that become part of the package.
        requires (`Sequence[str]`):
            What world and reward need beside the library, as pip writes it.
        needs (`str`):
            The same for a reader of the README, as a sentence; empty for nothing.
    """

    name: str
    about: str
    tools: list[dict[str, Any]]
    system_prompt: str
    tasks: Callable[[], list[dict[str, Any]]]
    careful: Policy
    eager: Policy
    reward: Any
    world: Callable[[str, dict[str, Any]], Any] | None = None
    include: Sequence[Path] = ()
    requires: Sequence[str] = ()
    needs: str = ""
