"""One situation as the writer is told it, and what its message will be held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from whileai_hf.rows.rng import Draws, rng
from whileai_hf.scenarios.asks import ToolPhrases
from whileai_hf.scenarios.axes import UNSPECIFIED, Cell
from whileai_hf.scenarios.writing.facts import marked_in, values_of
from whileai_hf.scenarios.writing.scene import Scene, cell_of
from whileai_hf.scenarios.writing.texts import circumstances


Task: TypeAlias = dict[str, Any]

# Chance that the person has a belief about the state of the record; otherwise only the world knows.
_BELIEF = 0.6
# Wordings that exist already which are shown; more teach nothing and fill the call.
_MOST_EARLIER = 3


# Values from which a message takes the room they need, whoever writes it.
_MANY_VALUES = 7


@dataclass(frozen=True)
class Brief:
    """
    One message to be written.

    Args:
        task (`dict`):
            The task row.
        told (`dict`):
            What the writer is told.
        values (`tuple[str, ...]`):
            What the message must hold, character by character.
        given (`str`):
            Everything the writer was given in which values stand; an id from elsewhere is made up.
        earlier (`tuple[str, ...]`):
            Wordings of the same situation.
        free (`bool`, *optional*, defaults to `False`):
            Whether values may be made up.
    """

    task: Task
    told: dict[str, Any]
    values: tuple[str, ...]
    given: str
    earlier: tuple[str, ...] = ()
    free: bool = False


def brief_of(task: Task, scene: Scene, seed: int, earlier: Sequence[str] = ()) -> Brief:
    """
    What the writer is told about a task.

    Args:
        task (`dict`):
            A drawn task.
        scene ([`Scene`]):
            The agent.
        seed (`int`):
            Seed of the circumstances.
        earlier (`Sequence[str]`, *optional*):
            Wordings of the same task that exist already.
    """
    cell, found = cell_of(task), scene.phrases(task)
    draws = rng(seed, "circumstances", task["scenario_id"], task.get("phrasing") or 0)
    calls = task.get("expected_calls") or []
    told: dict[str, Any] = {}
    if found:
        told["wants"] = " And then: ".join(scene.wants(phrase) for phrase in found)
    values, given = values_of(calls), ""
    if calls:
        told["facts"] = _facts(calls, found)
    elif cell.stance != "ambiguous":
        # Nobody kept what was asked for, or nothing is to be called: the drawn message is the only one to say it.
        told["note"] = given = task["prompt"]
        values = marked_in(given)
    # The matter is the situation and stays; the person is who they are for this wording.
    if calls or cell.stance == "ambiguous":
        told["matter"] = _matter(cell, found, scene, rng(seed, "matter", task["scenario_id"]))
    told |= _person(task, draws)
    if len(values) >= _MANY_VALUES and calls:
        told["room"] = draws.pick(circumstances("room", "many")).text
    if earlier:
        told["earlier"] = list(earlier[-_MOST_EARLIER:])
    told = {name: value for name, value in told.items() if value}
    return Brief(task, told, values, " ".join([given, *values]), tuple(earlier))


def _facts(calls: Sequence[Mapping[str, Any]], found: Sequence[ToolPhrases]) -> list[dict[str, Any]]:
    labels = {param.name: param.label for phrase in found for param in phrase.params}
    facts: list[dict[str, Any]] = []
    for name, value in (item for call in calls for item in (call.get("arguments") or {}).items()):
        fact = {"what": labels.get(name, name.replace("_", " ")), "value": value}
        if fact not in facts:
            facts.append(fact)
    return facts


def _matter(cell: Cell, found: Sequence[ToolPhrases], scene: Scene, draws: Draws) -> list[str]:
    known = {"thing": found[0].thing if found else "thing"}
    said = [circumstances("unrelated")] if not found and cell.tool != UNSPECIFIED else []
    said += [circumstances("stance", cell.stance), circumstances("history", cell.history)]
    if draws.chance(_BELIEF):
        said.append(circumstances("world_state", cell.world_state))
    topics = scene.topics(cell.rule)
    if topics:
        known["topic"] = draws.pick(topics)
        said.append(circumstances("topic", "boundary" if cell.stance == "boundary" else "ordinary"))
    return [_capital(draws.pick(options).fill(draws, known)) for options in said if options]


def _person(task: Mapping[str, Any], draws: Draws) -> dict[str, Any]:
    """Who writes, as circumstances: an adjective in an instruction turns into a caricature in the text."""
    said = [circumstances(name, str(task.get(name))) for name in ("persona", "tone")]
    typing, room = circumstances("typing", str(task.get("typing"))), circumstances("room", str(task.get("length")))
    return {
        "person": [draws.pick(options).text for options in said if options],
        "typing": draws.pick(typing).text if typing else "",
        "room": draws.pick(room or circumstances("room", "medium")).text,
    }


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
