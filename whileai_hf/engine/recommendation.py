"""What [`recommend`] says: the sizes of a run, and how they come about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whileai_hf.rows import Report


@dataclass(frozen=True)
class Recommendation(Report):
    """
    How much to simulate, see [`recommend`].

    Args:
        mode (`str`):
            `sft` or `rl`.
        target (`int`):
            Rows to be selected.
        cells (`int`):
            Cells of the agent's covering grid.
        situations (`int`):
            Situations to play.
        phrasings (`int`):
            Wordings of each.
        repeats (`int`):
            Rollouts of each wording, at most.
        rows (`int`):
            Rows to expect.
        budget (`int`):
            Rows at most.
        mixed_rate (`float`, *optional*):
            Share of prompts planned to have rollouts that disagree; `None` for sft.
        expected_mixed (`int`, *optional*):
            Groups of k to expect whose rollouts disagree; `None` for sft.
        measuring_tasks (`int`):
            Tasks it takes to know a rate to five points either way.
        reasoning (`list[str]`):
            How the numbers come about.
        simulate_kwargs (`dict`):
            Keywords for `simulate`.
    """

    mode: str
    target: int
    cells: int
    situations: int
    phrasings: int
    repeats: int
    rows: int
    budget: int
    mixed_rate: float | None
    expected_mixed: int | None
    measuring_tasks: int
    reasoning: list[str]
    simulate_kwargs: dict[str, Any]

    def __str__(self) -> str:
        return "\n".join(self.reasoning)
