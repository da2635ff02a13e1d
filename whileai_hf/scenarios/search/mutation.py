"""The same trouble in other words: variants of tasks an agent failed, made by wrapping text around the ask."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from whileai_hf.rows.rng import digest, rng
from whileai_hf.scenarios.phrases import Phrase, data
from whileai_hf.scenarios.search.outcome import Task
from whileai_hf.scenarios.search.weights import FAILURE_MUTATION
from whileai_hf.scenarios.writer import Writer


@cache
def _wraps() -> tuple[tuple[str, tuple[Phrase, ...]], ...]:
    return tuple((name, tuple(map(Phrase, texts))) for name, texts in data("free")["mutations"].items())


def mutations(scenario_id: str) -> list[str]:
    """The names of the mutations, in an order that depends on the situation alone."""
    return rng(0, "mutations", scenario_id).shuffled([name for name, _ in _wraps()])


def mutated(task: Mapping[str, Any], name: str, writer: Writer, phrasing: int = 0, attempt: int = 0) -> Task:
    """
    A variant of a task: a situation of its own, with the calls, the world and the fault of the first one.

    Args:
        task (`Mapping`):
            The task, worded as it is to stand inside the new message.
        name (`str`):
            One of [`mutations`].
        writer ([`Writer`]):
            The agent's words.
        phrasing (`int`, *optional*, defaults to `0`):
            Which wording of the variant.
        attempt (`int`, *optional*, defaults to `0`):
            Above 0, another wording because the first was taken.
    """
    scenario_id = "sc-" + digest("mutation", task["scenario_id"], name)
    draws = rng(task["seed"], f"mutation {scenario_id} {phrasing} {attempt}")
    about = task["scenario_dimensions"]["tool"]
    known = writer.known(about if about in writer.phrases else "", draws)
    prompt = task["prompt"]
    known["prompt"] = prompt if prompt[-1] in ".?!:," else prompt + "."
    return {
        **task,
        "scenario_id": scenario_id,
        "prompt": draws.pick(dict(_wraps())[name]).fill(draws, known),
        "phrasing": phrasing,
        "arm": FAILURE_MUTATION,
    }
