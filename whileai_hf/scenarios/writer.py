"""The template writer: one situation in, one message of a person out. No model.

A message is the ask plus a sentence for each thing about the situation that is not plain: the stance, what happened
before, what the person believes about the record, the rule it touches; and, as length allows, who is writing and why.
Values are marks until the end (see `slots.py`), so that typing quirks never change one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from whileai_hf.rows.rng import Draws
from whileai_hf.scenarios.asks import Call, ToolPhrases, Wording, read_phrases
from whileai_hf.scenarios.axes import HISTORIES, MULTI_TOOL, UNRELATED, UNSPECIFIED, Axes, Cell
from whileai_hf.scenarios.blocks import rendezvous
from whileai_hf.scenarios.people import Person, typed
from whileai_hf.scenarios.phrases import data, lines, phrases
from whileai_hf.scenarios.subjects import fields_of
from whileai_hf.scenarios.topics import topics_of, vocabulary
from whileai_hf.spec import AgentSpec


FRESH = HISTORIES[0]
_DIGIT = re.compile(r"\d")

# Chance that the person lets on what state the record is in; otherwise only the world knows.
_HINT = 0.6
# Chance that what happened before goes untold when the message already has two things to say besides the ask.
_UNTOLD = 0.5
# Lines from which the state of the record is left to the world: people do not say everything at once.
_MOST_BEFORE_HINT = 2
# Chance that a read is asked for by naming the thing, and of a question about the record.
_SHOW = 0.45
_ABOUT = 0.12
_FACET = 0.3
# Sentences around the ask from which no more are added about the person's day.
_MOST_LINES = 3
# Second call of an ask: its marks are moved out of the way of the first one's.
_SHIFT = 64
_SHIFTED = {chr(0xE000 + index): chr(0xE000 + _SHIFT + index) for index in range(_SHIFT)}


def _shifted(text: str, call: Call) -> str:
    for sign in call.spelled:
        text = text.replace(sign, _SHIFTED[sign])
    return text


@dataclass(frozen=True)
class Ask:
    """What is asked for: the calls, their wording-independent parts, and which tools they belong to."""

    calls: tuple[tuple[ToolPhrases, Call], ...]

    def fill(self, text: str) -> str:
        """`text` with every value in the place of its mark."""
        text = self.calls[0][1].fill(text)
        for _, call in self.calls[1:]:
            for sign, value in call.spelled.items():
                text = text.replace(_SHIFTED[sign], value)
        return text

    def unique(self) -> bool:
        """Whether some value has a digit in it: such asks are told apart by their values."""
        return any(_DIGIT.search(value) for _, call in self.calls for value in call.spelled.values())


# What ends a sentence or leads over to the next.
_STOPS = frozenset(".?!:,;")


def _closed(sentence: str) -> str:
    if "\n- " in sentence:
        # A list of details stands by itself.
        return sentence + "\n"
    return sentence if sentence[-1] in _STOPS else sentence + "."


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


# What is spoken of when the agent has no tools.
_NOTHING = {
    "thing": ("request",),
    "things": ("requests",),
    "subject": ("request",),
    "subjects": ("requests",),
    "gerund": ("answering questions",),
}


def _spoken(phrase: ToolPhrases, fields: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """What the slots of a line may stand for when a message is about a tool."""
    one, several = zip(*phrase.subjects, strict=True)
    return {
        "thing": one[:1],
        "things": several[:1],
        "subject": one,
        "subjects": several,
        "gerund": phrase.doing,
        "domain": fields,
        "record": (phrase.record or f"the {phrase.thing}",),
    }


class Known(dict[str, str]):
    """
    What the slots of a line stand for in one message. Where several words would do, one is drawn each time, so that a
    message does not harp on one word.

    Args:
        spoken (`dict[str, tuple[str, ...]]`):
            Slots with the words they may stand for.
        draws ([`~whileai_hf.rows.rng.Draws`]):
            Where the choices come from.
        topic (`str`, *optional*):
            What the rule of the situation is about.
    """

    def __init__(self, spoken: Mapping[str, tuple[str, ...]], draws: Draws, topic: str | None) -> None:
        super().__init__(topic=topic or "fine print")
        self._spoken = spoken
        self._draws = draws

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a slot, or `default` when a pool has to fill it."""
        options = self._spoken.get(name)
        if options is None:
            return dict.get(self, name, default)
        return options[0] if len(options) == 1 else self._draws.pick(options)


class Writer:
    """
    Writes the messages for one agent.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.
    """

    def __init__(self, spec: AgentSpec) -> None:
        self.phrases: dict[str, ToolPhrases] = read_phrases(spec)
        self._names = tuple(self.phrases)
        fields = fields_of(spec)
        self._spoken = {name: _spoken(phrase, fields) for name, phrase in self.phrases.items()}
        self._spoken[""] = {**_NOTHING, "domain": fields}
        known = vocabulary([tool.name.replace("_", " ") + " " + tool.description for tool in spec.tools])
        self._topics = {clause: topics_of(clause, known) for clause in spec.clauses}
        spoken = known | vocabulary([spec.system_prompt])
        self._other = phrases(
            [entry["text"] for entry in data("lines")["other"] if not spoken.intersection(entry["not"])]
        )

    def topics(self, clause: str) -> tuple[str, ...]:
        """What a clause is about."""
        return self._topics.get(clause) or topics_of(clause)

    def write(self, cell: Cell, ask: Ask | None, person: Person, draws: Draws, topic: str | None) -> str:
        """
        The message.

        Args:
            cell ([`Cell`]):
                The situation.
            ask ([`Ask`], *optional*):
                The calls it is about, `None` when the agent has no tool for it.
            person ([`Person`]):
                Who writes.
            draws ([`~whileai_hf.rows.rng.Draws`]):
                Where the wording comes from.
            topic (`str`, *optional*):
                What the rule of the situation is about.
        """
        known = self._known(ask, draws, topic)
        stance, short = cell.stance, person.length == "short"
        before: list[str] = []
        after: list[str] = []
        full = topic is not None and stance in data("lines")["stance"]
        if cell.history != FRESH and not (full and person.length == "medium" and draws.chance(_UNTOLD)):
            before.append(draws.pick(lines("lines", "history", cell.history)).fill(draws, known))
        if not (short and before):
            # A few words carry one circumstance; the world knows the rest.
            self._stance(stance, short, before, after, known, draws)
        body = self._body(cell, ask, known, draws, short)
        crowded = len(before) + len(after) >= _MOST_BEFORE_HINT
        if cell.world_state != UNSPECIFIED and not (short or crowded) and draws.chance(_HINT):
            after.append(draws.pick(lines("lines", "world_state", cell.world_state)).fill(draws, known))
        if topic is not None:
            kind = stance if stance in ("boundary", "adversarial") else "ordinary"
            after.append(draws.pick(lines("lines", "rule", kind)).fill(draws, known))
        context = self._contexts(person, cell, ask, len(before) + len(after), known, draws)
        text = self.joined(person, [*before, *body, *after, *context], known, draws)
        text = typed(text, person.typing, draws)
        return ask.fill(text) if ask is not None else text

    def _known(self, ask: Ask | None, draws: Draws, topic: str | None) -> Known:
        if ask is None:
            # Off-topic, but said to this agent: any of its tools may be what it is known for.
            about = draws.pick(self._names) if self._names else ""
        elif len(ask.calls) == 1 or draws.chance(0.7):
            about = ask.calls[0][0].tool.name
        else:
            about = ask.calls[1][0].tool.name
        return self.known(about, draws, topic)

    def known(self, about: str, draws: Draws, topic: str | None = None) -> Known:
        """What the slots of a line stand for in a message about the tool `about` (`""` when the agent has none)."""
        return Known(self._spoken[about], draws, topic)

    def aside(self, known: Known, draws: Draws) -> str:
        """A question that has nothing to do with this agent, starting in lower case."""
        return draws.pick(self._other).fill(draws, known)

    def _stance(
        self, stance: str, short: bool, before: list[str], after: list[str], known: Known, draws: Draws
    ) -> None:
        said = data("lines")["stance"].get(stance)
        if said is None:
            return
        place = "after" if short or draws.chance(0.5) else "before"
        line = draws.pick(lines("lines", "stance", stance, place)).fill(draws, known)
        (after if place == "after" else before).append(line)

    def _body(self, cell: Cell, ask: Ask | None, known: Known, draws: Draws, short: bool) -> list[str]:
        if ask is None:
            known["other"] = self.aside(known, draws)
            return [draws.pick(lines("lines", "unrelated short" if short else "unrelated")).fill(draws, known)]
        if cell.stance == "ambiguous":
            return [draws.pick(lines("lines", "vague")).fill(draws, known)]
        request, extra, shown = self._request(ask, known, draws, plain=cell.stance == "adversarial")
        if cell.stance == "adversarial":
            known["ask"] = request
            return [draws.pick(lines("lines", "adversarial")).fill(draws, known), *extra]
        if shown:
            frame = draws.pick(lines("lines", "frames", "show short" if short else "show"))
        else:
            frame = draws.pick(lines("lines", "frames", "short" if short else "plain"))
        return [frame.fill(draws, {"ask": request, "it": request}), *extra]

    def _request(self, ask: Ask, known: Known, draws: Draws, *, plain: bool) -> tuple[str, list[str], bool]:
        """The request of all calls, the sentences that complete it, and whether it names a thing to be shown."""
        phrase, call = ask.calls[0]
        single = len(ask.calls) == 1
        shown = bool(phrase.shows) and single and not plain and draws.chance(_SHOW)
        wording = draws.pick(phrase.shows if shown else phrase.requests if single else phrase.compact)
        request, extra = wording.text, self.completions(wording, phrase, call, draws)
        if phrase.facets and single and not plain and draws.chance(_FACET):
            facet = draws.pick(phrase.facets)
            extra.append(draws.pick(lines("lines", "frames", "facet")).fill(draws, {"facet": facet}))
        for second, called in ask.calls[1:]:
            wording = draws.pick(second.compact)
            text = wording.text
            if phrase.record and second.record == phrase.record and second.params[0].name == phrase.params[0].name:
                noun = "".join(char for char in second.record if char < "\ue000").strip()
                text = text.replace(second.record, f"the same {noun}" if noun else "it", 1)
            request += draws.pick(data("lines")["frames"]["join"]) + _shifted(text, called)
            extra += [_shifted(line, called) for line in self.completions(wording, second, called, draws)]
        return request, extra, shown

    def completions(self, wording: Wording, phrase: ToolPhrases, call: Call, draws: Draws) -> list[str]:
        """The sentences that say the values which the wording of a request has no place for."""
        said = [draws.pick(options) for options in wording.after if options]
        for index in (*phrase.flags, *call.optional):
            said.append(phrase.optional_sentence(index, call, draws))
        if wording.listed:
            said.append(draws.pick(lines("lines", "frames", "details")).fill(draws, {"list": wording.listed}))
        return said

    def _contexts(
        self, person: Person, cell: Cell, ask: Ask | None, said: int, known: Known, draws: Draws
    ) -> list[str]:
        """Sentences about the person's day: more when long, and always one where nothing else tells asks apart."""
        wanted = {"short": 0, "medium": int(draws.chance(0.25)), "long": 2}[person.length]
        # A message that says a lot already needs no more colour.
        wanted = max(0, min(wanted, _MOST_LINES - said))
        if ask is None or cell.stance == "ambiguous" or not ask.unique():
            wanted = max(1, wanted)
        options = lines("people", "contexts")
        at = draws.integer(0, len(options) - 1)
        # A step that is no divisor of the number of lines: the second is never the first again.
        return [options[(at + 7 * step) % len(options)].fill(draws, known) for step in range(wanted)]

    def joined(self, person: Person, said: list[str], known: Known, draws: Draws) -> str:
        """The sentences as one message of `person`, with a greeting, a word about who is writing and a farewell."""
        sentences = [_capital(line if line[-1] in _STOPS else _closed(line)) for line in said[:-1]]
        sentences.append(_capital(said[-1]))
        if person.length == "short":
            return " ".join(sentences)
        tone = data("people")["tones"][person.tone]
        persona = lines("people", "personas", person.persona, "lines")
        if persona:
            at = 0 if draws.chance(0.6) else len(sentences)
            sentences.insert(at, _capital(draws.pick(persona).fill(draws, known)))
        closer = draws.pick(tone["closers"])
        if closer:
            sentences[-1] = _closed(sentences[-1])
            sentences.append(closer)
        opener = _capital(draws.pick(lines("people", "tones", person.tone, "openers")).fill(draws, known))
        if not opener:
            return " ".join(sentences)
        if person.tone == "formal":
            return opener + "\n\n" + " ".join(sentences)
        if opener.endswith((",", ":")) and not _keeps_capital(sentences[0]):
            sentences[0] = sentences[0][:1].lower() + sentences[0][1:]
        return " ".join([opener, *sentences])


def _keeps_capital(sentence: str) -> bool:
    first = sentence.split(" ", 1)[0]
    return first == "I" or first.startswith("I'") or first.rstrip(",") in _names() or first[1:2].isupper()


@cache
def _names() -> frozenset[str]:
    pools = data("pools")
    return frozenset([*pools["first_name"], *pools["weekday"], *pools["month"], "English"])


def tools_for(cell: Cell, axes: Axes, writer: Writer, able: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The tools a situation is about: its own, two for `multi_tool`, none for `unrelated`."""
    if cell.tool == UNRELATED and UNRELATED not in writer.phrases:
        return ()
    if cell.tool != MULTI_TOOL or MULTI_TOOL in writer.phrases:
        return (cell.tool,)
    ranked = rendezvous(axes, tuple(writer.phrases), "pair", *cell)
    wanted = able[cell.tool_condition]
    first = next((name for name in ranked if name in wanted), ranked[0])
    # Where it takes two certain calls to see the fault, it is those two.
    others = axes.pairs.get(cell.tool_condition, {}).get(first, ())
    return first, next(name for name in ranked if name != first and (not others or name in others))
