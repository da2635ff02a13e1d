"""What an export wrote, and what it left out."""

from __future__ import annotations

import dataclasses

from whileai_hf.rows import Report


@dataclasses.dataclass(frozen=True)
class EnvironmentExport(Report):
    """
    What [`export_environment`] wrote.

    Args:
        path (`str`):
            The folder, to be installed with pip.
        name (`str`):
            The distribution, and the id of the environment.
        module (`str`):
            What it is imported as.
        reward (`str`):
            The reward by name.
        world (`str`, *optional*):
            The world by name; `None` for the simulated one.
        n_train (`int`):
            Training tasks.
        n_holdout (`int`):
            Tasks held out.
        graded_mixed (`int`, *optional*):
            Tasks whose rollouts had different rewards, those that carry an advantage; `None` where none was graded.
        band (`list[float]`, *optional*):
            Lowest and highest mean reward of a task kept.
        dropped (`dict[str, int]`):
            Tasks left out, by gate: `ungraded`, `too_easy`, `too_hard`, `unanimous`, `in_both` (held out as well),
            `near_copy` (of a task held out).
        commands (`list[str]`):
            How to install and evaluate it.
        notes (`list[str]`):
            What a reader has to know.
        warnings (`list[str]`):
            What speaks against training on it.
    """

    path: str
    name: str
    module: str
    reward: str
    world: str | None
    n_train: int
    n_holdout: int
    graded_mixed: int | None
    band: list[float] | None
    dropped: dict[str, int]
    commands: list[str]
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        mixed = "not measured" if self.graded_mixed is None else str(self.graded_mixed)
        lines = [
            f"{self.name}: {self.n_train} tasks to train on, {self.n_holdout} held out -> {self.path}",
            f"reward {self.reward}, world {self.world or 'simulated'}; tasks with an advantage: {mixed}",
        ]
        gone = [f"{count} {name.replace('_', ' ')}" for name, count in self.dropped.items() if count]
        lines += [f"left out: {', '.join(gone)}"] if gone else []
        lines += [f"warning: {text}" for text in self.warnings]
        lines += [f"note: {text}" for text in self.notes]
        return "\n".join([*lines, *(f"  {command}" for command in self.commands)])
