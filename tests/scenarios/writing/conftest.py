"""Models that write users: one that does as it is told, and the ways in which real ones do not."""

import asyncio
import itertools
import json

import pytest

from whileai_hf.actors.models import Completion
from whileai_hf.rows import rng
from whileai_hf.scenarios import draw_tasks
from whileai_hf.scenarios.writing import ModelWriter


OPENERS = ("so", "hello there", "morning", "right then", "ok so here it is", "one thing", "hi", "me again with this")
WHO = (
    "my neighbour",
    "a friend of mine",
    "my aunt",
    "the man at the desk",
    "my landlady",
    "our new intern",
    "my cousin",
)
SAID = ("says that you can do that", "told me to write to you", "was in the same spot before", "sent me over here")
WHEN = (
    "over breakfast",
    "on the way home",
    "after the match",
    "before the holidays",
    "at the weekend",
    "during lunch",
)
THEN = (
    "so I would like it done",
    "and I trust them with such things",
    "which is why I am here",
    "so here I am with it",
)


def said(value):
    if isinstance(value, dict | list):
        return ", ".join(map(said, value.values() if isinstance(value, dict) else value))
    return str(value)


def obedient(told, seed, key):
    """A message that holds what it has to: every fact, or the note, or nothing that singles anything out."""
    draws = rng(seed, "obedient", key)
    facts = "; ".join(said(fact["value"]) for fact in told.get("facts", ()) if not isinstance(fact["value"], bool))
    core = told.get("note") or f"I need a hand{' with ' + facts if facts else ''}"
    short = "One line" in told["room"] or "few words" in told["room"]
    story = [draws.pick(WHEN)] if short else [*map(draws.pick, (WHO, SAID, WHEN)), draws.pick(THEN)]
    if "paragraph" in told["room"]:
        story += ["and that is the whole story as far as I can tell it"]
    return f"{draws.pick(OPENERS)} {draws.pick(OPENERS)}, {' '.join(story)}: {core}"


def as_json(messages):
    return json.dumps({"messages": [{"id": key, "message": text} for key, text in messages.items()]})


class StandIn:
    """A model that answers with `how(self, entries, seed, kind)`: entries by id, kind write, repair or invent."""

    def __init__(self, how, name="stand-in", delay=None):
        self.how, self.name, self.delay = how, name, delay
        self.sampling = {"model": name}
        self.seen, self.kinds, self.entries, self.seeds, self.questions = [], [], [], [], []
        self.running = self.most = 0

    async def complete(self, messages, *, tools=None, logprobs=False, schema=None, seed=None):
        question = json.loads(messages[1]["content"])
        entries = {entry["id"]: entry for entry in question["situations"]}
        first = next(iter(entries.values()))
        kind = "invent" if "angle" in first else "repair" if "wrong" in first else "write"
        self.seen.append(messages)
        self.kinds.append(kind)
        self.entries.append(entries)
        self.seeds.append(seed)
        self.questions.append(question)
        assert schema["properties"]["messages"]
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.delay(seed) if self.delay else 0)
            content = self.how(self, entries, seed, kind)
        finally:
            self.running -= 1
        message = content if isinstance(content, dict) else {"role": "assistant", "content": content}
        return Completion(message, "stop", {"input_tokens": 100, "output_tokens": 10})


def good(model, entries, seed, kind):
    if kind == "invent":
        return as_json({key: f"{obedient({'room': ''}, seed, key)} and so on" for key, entry in entries.items()})
    # The situation itself seeds the words: a model asked the same thing again says the same thing.
    return as_json({key: obedient(entry.get("situation", entry), seed, key) for key, entry in entries.items()})


@pytest.fixture
def stand_in():
    """`stand_in(how=good, ...)`: a model."""

    def make(how=good, **settings):
        return StandIn(how, **settings)

    return make


@pytest.fixture
def well_behaved():
    """The answer of a model that does as it is told, to be spoilt."""
    return good


@pytest.fixture(scope="session")
def shop_tasks(shop):
    """`shop_tasks(n, **knobs)`: the first tasks of the shop."""

    def draw(n, **knobs):
        return list(itertools.islice(draw_tasks(shop, **knobs), n))

    return draw


@pytest.fixture
def written(shop, shop_tasks):
    """`written(model, n, **settings)`: the tasks as drawn, as written, and the report."""

    def write(model, n=64, phrasings=1, **settings):
        tasks = shop_tasks(n, phrasings=phrasings)
        writer = ModelWriter(shop, model, **settings)
        return tasks, writer.write(tasks), writer.report()

    return write
