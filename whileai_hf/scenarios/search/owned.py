"""The owner's own asks: as they are, before everything else; further wordings of them, where wanted, after that."""

from __future__ import annotations

from collections.abc import Sequence

from whileai_hf.rows.rng import rng
from whileai_hf.scenarios.people import Person, draw_person
from whileai_hf.scenarios.search.drafts import Draft
from whileai_hf.scenarios.search.outcome import Task
from whileai_hf.scenarios.seeds import seed_row
from whileai_hf.scenarios.writer import Writer
from whileai_hf.spec import AgentSpec


def owned_drafts(spec: AgentSpec, asks: Sequence[str], writer: Writer, seed: int, phrasings: int) -> list[Draft]:
    """
    The owner's asks as tasks.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.
        asks (`Sequence[str]`):
            The asks, each once.
        writer ([`~whileai_hf.scenarios.writer.Writer`]):
            The agent's words.
        seed (`int`):
            Seed of the further wordings.
        phrasings (`int`):
            Wordings of each, the given one included. The others put a person around the ask and leave it whole.

    Returns:
        `list[Draft]`: None of them may change its words: what the owner asks for is never a copy too many.
    """
    given = [seed_row(spec, text, seed) for text in asks]
    return [
        Draft(task if phrasing == 0 else _said_by_somebody(task, writer, phrasing))
        for phrasing in range(phrasings)
        for task in given
    ]


def _said_by_somebody(task: Task, writer: Writer, phrasing: int) -> Task:
    draws = rng(task["seed"], f"seed {task['scenario_id']} {phrasing}")
    drawn = draw_person(draws, fresh=True)
    # Typing is left alone, since no value in the owner's text is known to survive it.
    person = Person(drawn.persona, drawn.tone, "standard", "medium" if drawn.length == "short" else drawn.length)
    tool = task["scenario_dimensions"]["tool"]
    known = writer.known(tool if tool in writer.phrases else "", draws)
    return {
        **task,
        "prompt": writer.joined(person, [task["prompt"]], known, draws),
        "phrasing": phrasing,
        "persona": person.persona,
        "tone": person.tone,
        "length": person.length,
        "writer_model": "template",
    }
