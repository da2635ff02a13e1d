"""Asks from outside the grid: what people send an agent that no axis thinks of. No model.

Families of messages (off topic, sums, keyboard mash, hidden instructions, false authority, other languages, three
things at once, ...) are read from `data/free.json` and filled with the agent's own tools and words. A situation is a
family, a text, the tools in it and a running number; values and wording follow from those and the seed.
"""

from __future__ import annotations

from dataclasses import dataclass

from whileai_hf.rows.rng import Draws, digest, rng, unit
from whileai_hf.scenarios.asks import Call, ToolPhrases
from whileai_hf.scenarios.axes import AXES, MULTI_TOOL, SUCCESS, UNRELATED, UNSPECIFIED, Cell, tier_of
from whileai_hf.scenarios.hidden import hidden_state
from whileai_hf.scenarios.people import Person, draw_person, typed
from whileai_hf.scenarios.phrases import Phrase, data
from whileai_hf.scenarios.search.outcome import Task
from whileai_hf.scenarios.search.weights import OPEN_ENDED
from whileai_hf.scenarios.tasks import TaskMaker
from whileai_hf.scenarios.writer import FRESH, Known


# Values are marks until the end (see `slots.py`); the marks of the second and third call are moved out of the way.
_SHIFT, _FIRST_MARK = 64, 0xE000
# Words up to which a message is short, and from which on it is long.
_SHORT, _LONG = 12, 45
_LETTERS = "asdfghjklqwertyuiopzxcvbnm"


@dataclass(frozen=True)
class Family:
    """
    Messages of one sort.

    Args:
        name (`str`):
            Its name, on the row as `scenario_dimensions["family"]`.
        stance (`str`):
            The stance nearest to it.
        asks (`int`):
            Requests in a message.
        expected (`int`):
            How many of them a right agent carries out; `-1`: the last one alone.
        dressed (`bool`):
            Whether a greeting, a farewell and the like may be put around it.
        reference (`str`):
            What a right run does.
        texts (`tuple[Phrase, ...]`):
            The messages.
    """

    name: str
    stance: str
    asks: int
    expected: int
    dressed: bool
    reference: str
    texts: tuple[Phrase, ...]


def families() -> tuple[Family, ...]:
    """All families, in the order of the data file."""
    return tuple(
        Family(name, **{**entry, "texts": tuple(map(Phrase, entry["texts"]))})
        for name, entry in data("free")["families"].items()
    )


@dataclass(frozen=True)
class FreeAsk:
    """A situation outside the grid: a family, which of its texts, the tools spoken of and a running number."""

    family: Family
    text: int
    tools: tuple[str, ...]
    number: int


class FreeAsks:
    """
    Draws asks from outside the grid for one agent.

    Args:
        maker ([`TaskMaker`]):
            The agent's tools, words and worlds.
        seed (`int`):
            Seed of values and wording.
        fault_rate (`float`):
            Share of asks with a planned fault among those that call for a tool.
    """

    def __init__(self, maker: TaskMaker, seed: int, fault_rate: float) -> None:
        self._maker = maker
        self._seed = seed
        self._rate = fault_rate
        self._names = tuple(maker.writer.phrases)
        self._families = {family.name: family for family in families() if self._names or not family.asks}
        self._turns = tuple(self._families)
        self._turn = -1
        self._drawn: dict[str, int] = {}

    def next(self) -> FreeAsk:
        """The next ask; the families take turns."""
        self._turn += 1
        return self.another(self._turns[self._turn % len(self._turns)])

    def another(self, family: str) -> FreeAsk:
        """The next ask of a family."""
        number = self._drawn.get(family, 0)
        self._drawn[family] = number + 1
        return self._of_family(self._families[family], number)

    def _of_family(self, family: Family, number: int) -> FreeAsk:
        """The `number`-th ask of a family: texts and tools each come round before one is used again."""
        size = len(family.texts)
        order = rng(0, "free", family.name, number // size).shuffled(range(size))
        wanted = max(family.asks, 1)
        names = self._names
        start = number + int(digest("free", family.name, length=8), 16)
        tools = tuple(names[(start + step) % len(names)] for step in range(wanted)) if names else ()
        return FreeAsk(family, order[number % size], tools, number)

    def row(self, ask: FreeAsk, phrasing: int = 0, attempt: int = 0) -> Task:
        """
        The task row of an ask.

        Args:
            ask ([`FreeAsk`]):
                The situation.
            phrasing (`int`, *optional*, defaults to `0`):
                Which wording of it; values stay the same.
            attempt (`int`, *optional*, defaults to `0`):
                Above 0, another wording because the first was taken.
        """
        family, axes = ask.family, self._maker.axes
        text = family.texts[ask.text]
        identities = [axes.identities[tool] for tool in ask.tools]
        scenario_id = "sc-" + digest("free", family.name, text.text, *identities, ask.number)
        values = rng(self._seed, "values " + scenario_id)
        calls = [
            (phrase, phrase.draw(values))
            for phrase in map(self._maker.writer.phrases.__getitem__, ask.tools[: family.asks])
        ]
        words = rng(self._seed, f"words {scenario_id} {phrasing} {attempt}") if phrasing or attempt else values
        expected = calls[family.expected :] if family.expected < 0 else calls[: family.expected]
        spoken_of = expected or calls
        cell = self._cell(family, spoken_of, scenario_id)
        prompt, person = self._prompt(family, text, calls, ask.tools, words)
        named = {"tools": " and then ".join(phrase.tool.name for phrase, _ in calls), "last": ""}
        if expected:
            named["last"] = expected[-1][0].tool.name
        return {
            "schema_version": "1",
            "scenario_id": scenario_id,
            "prompt": prompt,
            "phrasing": phrasing,
            "scenario_dimensions": {**dict(zip(AXES, cell, strict=True)), "family": family.name},
            "world_state": cell.world_state,
            "faults": self._maker.faults(cell.tool_condition, spoken_of[0][0].tool.name) if cell.faulted else None,
            "expected_calls": [{"tool": phrase.tool.name, "arguments": call.arguments} for phrase, call in expected],
            "privileged": {
                "hidden_state": hidden_state(cell, spoken_of),
                "reference": family.reference.format(**named),
            },
            "tier": tier_of(cell.stance),
            "persona": person.persona,
            "tone": person.tone,
            "typing": person.typing,
            "length": person.length,
            "arm": OPEN_ENDED,
            "writer_model": "template",
            "seed": self._seed,
        }

    def _cell(self, family: Family, calls: list[tuple[ToolPhrases, Call]], scenario_id: str) -> Cell:
        """The cell nearest to an ask, with a fault where one can be seen and chance wants it."""
        axes = self._maker.axes
        if not calls:
            return Cell(UNRELATED, UNSPECIFIED, family.stance, UNSPECIFIED, SUCCESS, FRESH)
        first = calls[0][0].tool.name
        several = len({phrase.tool.name for phrase, _ in calls}) > 1
        condition, state = SUCCESS, axes.world_states(first)[0]
        kinds = [kind for kind in axes.conditions(first, family.stance) if kind != SUCCESS]
        if kinds and unit(0, "free fault", scenario_id) < self._rate:
            condition = kinds[int(unit(0, "free kind", scenario_id) * len(kinds))]
        return Cell(MULTI_TOOL if several else first, UNSPECIFIED, family.stance, state, condition, FRESH)

    def _prompt(
        self,
        family: Family,
        text: Phrase,
        calls: list[tuple[ToolPhrases, Call]],
        tools: tuple[str, ...],
        words: Draws,
    ) -> tuple[str, Person]:
        writer = self._maker.writer
        known = writer.known(tools[0] if tools else "", words)
        spelled: dict[str, str] = {}
        extra: list[str] = []
        for turn, (phrase, call) in enumerate(calls):
            wording = words.pick(phrase.compact)
            moved = {ord(sign): chr(ord(sign) + turn * _SHIFT) for sign in call.spelled}
            request, slot = wording.text.translate(moved), "ask" if turn == 0 else f"ask{turn + 1}"
            known[slot], known[slot.capitalize()] = request, request[:1].upper() + request[1:]
            extra += [line.translate(moved) for line in writer.completions(wording, phrase, call, words)]
            spelled |= {moved[ord(sign)]: value for sign, value in call.spelled.items()}
        _fill_numbers(known, words)
        if not calls:
            known["other"] = writer.aside(known, words)
        said = text.fill(words, known)
        if family.dressed:
            person = draw_person(words, fresh=True)
            said = typed(writer.joined(person, [said, *extra], known, words), person.typing, words)
        else:
            said = " ".join([said, *extra])
        for sign, value in spelled.items():
            said = said.replace(sign, value)
        count = len(said.split())
        length = "short" if count <= _SHORT else "long" if count >= _LONG else "medium"
        if not family.dressed:
            person = Person("plain", "neutral", "standard", length)
        return said, Person(person.persona, person.tone, person.typing, length)


def _fill_numbers(known: Known, words: Draws) -> None:
    known.update(
        n1=str(words.integer(120, 9800)),
        n2=str(words.integer(12, 99)),
        n3=str(words.integer(3, 12)),
        n4=str(words.integer(13, 28)),
        n5=str(words.integer(15, 58)),
        mash=_mash(words),
        mash2=_mash(words),
    )


def _mash(words: Draws) -> str:
    return "".join(words.pick(_LETTERS) for _ in range(words.integer(4, 11)))
