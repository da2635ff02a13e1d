"""Reading a reply: each sentence once by every check its words call for, then the reply as a whole.

Sentences come back, within a run more often than whole replies do, so both are remembered for a while. The words of a
sentence decide which checks run at all: a plain one costs a look at its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from whileai_hf.markers.style import answering, apology, boilerplate, hedging, kinds, sycophancy
from whileai_hf.markers.style.replies import canonical, sentences, visible
from whileai_hf.markers.style.rules import rule


STYLE_MARKERS = ("no_boilerplate", "no_hedging", "no_apology", "no_sycophancy", "answered")

_WORD = re.compile(r"[a-z\u00e9]+")
_CLOSES = rule("answering", "closes")
_ASKS_FOR_TEXT = rule("answering", "asks_for_text")
_ID = re.compile(r"\d{4,}")
_ALL_WORDS = boilerplate.WORDS | hedging.WORDS | apology.WORDS | sycophancy.WORDS | kinds.WORDS
# Replies and sentences remembered, 1 to 2 kB each.
_REPLIES, _SENTENCES = 2048, 8192
# Longer ones are not worth remembering, in characters.
_LONG = 600
# A sentence of so few words can be filler whatever its words are.
_FEW = 6
# Characters of the longest bare "no".
_LONGEST_NO = 16
# Characters of a message that only ends a conversation.
_LONGEST_GOODBYE = 200
# Characters of a fragment.
_FRAGMENT = 160


class Reading(NamedTuple):
    """What the checks say of one sentence; `kind` is that of [`kind_of`]."""

    text: str
    tics: frozenset[str]
    introduces_itself: bool
    only_agrees: bool
    kind: str


class Style(NamedTuple):
    """
    The markers of a reply, by marker the fragment that counts against it, and the kind of answer: `answered`, `empty`,
    `filler`, `promise` or `declined`.
    """

    markers: dict[str, float]
    fragments: dict[str, str]
    kind: str


CLEAN = Style(dict.fromkeys(STYLE_MARKERS, 1.0), {}, "answered")
NO_REPLY = Style({"answered": 0.0}, {"answered": ""}, "empty")


def read_sentence(raw: str) -> Reading:
    """
    Reads one sentence.

    Args:
        raw (`str`):
            The sentence, as written.

    Examples:
    ```python
    >>> sorted(read_sentence("I think I'm sorry.").tics)
    ['no_apology', 'no_hedging']

    ```
    """
    return _remembered(raw) if len(raw) <= _LONG else _read_sentence(raw)


def _read_sentence(raw: str) -> Reading:
    text = canonical(raw)
    words = frozenset(_WORD.findall(text))
    few = len(words) < _FEW
    found = set()
    introduces = agrees = False
    if not boilerplate.WORDS.isdisjoint(words):
        if boilerplate.is_stock(text):
            found.add("no_boilerplate")
        introduces = boilerplate.introduces_itself(text)
    if not hedging.WORDS.isdisjoint(words) and hedging.hedges(text):
        found.add("no_hedging")
    if not apology.WORDS.isdisjoint(words) and apology.apologises(text):
        found.add("no_apology")
    if not sycophancy.WORDS.isdisjoint(words):
        if sycophancy.flatters(text):
            found.add("no_sycophancy")
        agrees = sycophancy.only_agrees(text)
    plain = not few and not found and text[-1:] != "!" and kinds.WORDS.isdisjoint(words)
    return Reading(text, frozenset(found), introduces, agrees, "answered" if plain else kinds.kind_of(text))


_remembered = lru_cache(maxsize=_SENTENCES)(_read_sentence)


def _cut(text: str) -> str:
    return text if len(text) <= _FRAGMENT else text[: _FRAGMENT - 3] + "..."


def _is_plain(text: str) -> bool:
    """Whether no word of a reply occurs in any rule, and there are enough of them to be an answer."""
    words = _WORD.findall(text.lower())
    return len(words) >= _FEW and _ALL_WORDS.isdisjoint(words)


def _tics(readings: list[Reading], asked_who: bool) -> dict[str, int]:
    """By marker, the first sentence against it."""
    found: dict[str, int] = {}
    for index, reading in enumerate(readings):
        for name in reading.tics:
            found.setdefault(name, index)
        if reading.introduces_itself and not asked_who:
            found.setdefault("no_boilerplate", index)
        if reading.only_agrees:
            rest = readings[index + 1].text if index + 1 < len(readings) else ""
            if not sycophancy.shows_why(rest):
                found.setdefault("no_sycophancy", index)
    return found


class _Findings(NamedTuple):
    """By marker the number of the sentence against it, the kind of answer, and whether an AI introduced itself."""

    tics: dict[str, int]
    kind: str
    introduces_itself: bool


_NOTHING = _Findings({}, "answered", False)


def _read(text: str, ask: str, asked_for_text: bool) -> _Findings:
    readings = [read_sentence(raw) for raw in sentences(text, asked_for_text=asked_for_text)]
    tics = _tics(readings, bool(ask) and boilerplate.asks_who(ask))
    found = [reading.kind for reading in readings]
    if not tics and not ask and found.count("answered") == len(found) > 0:
        return _NOTHING
    kind = answering.answering([reading.text for reading in readings], found, ask, asked_for_text)
    return _Findings(tics, kind, any(reading.introduces_itself for reading in readings))


_remembered_reply = lru_cache(maxsize=_REPLIES)(_read)


def _style(findings: _Findings, text: str, asked_for_text: bool) -> Style:
    if not findings.tics and findings.kind == "answered":
        return CLEAN
    # Sentences are read with their numbers made alike; the fragments show them as they are.
    raws = sentences(text, asked_for_text=asked_for_text)
    fragments = {name: _cut(raws[index].strip()) for name, index in findings.tics.items() if index < len(raws)}
    if findings.kind != "answered":
        fragments["answered"] = _cut(text.strip())
    return Style({name: float(name not in fragments) for name in STYLE_MARKERS}, fragments, findings.kind)


def _ask_matters(findings: _Findings, text: str) -> bool:
    """Whether the ask can change anything: it can excuse what was found, and make a bare "no" a refusal."""
    if findings.kind != "answered" or findings.introduces_itself or len(text) <= _LONGEST_NO:
        return True
    return bool(findings.tics) and "\n" in text  # a draft has lines


def read_reply(text: str, asks: Callable[[], Sequence[str]]) -> Style:
    """
    The style of a reply.

    Args:
        text (`str`):
            The reply.
        asks (`Callable`):
            Returns what the user said, turn by turn. It is called only where that can matter.

    Examples:
    ```python
    >>> read_reply("I think it shipped.", list).fragments
    {'no_hedging': 'I think it shipped.'}

    ```
    """
    text = visible(text)
    if _is_plain(text):
        return CLEAN
    if not text.strip():
        return NO_REPLY
    # The number of an order decides nothing, its being there may.
    alike = _ID.sub("4444", text)
    findings = _remembered_reply(alike, "", False) if len(text) <= _LONG else _read(alike, "", False)
    turns = asks() if _ask_matters(findings, text) else ()
    if not turns:
        return _style(findings._replace(kind="answered") if findings.kind == "talk" else findings, text, False)
    ask = "\n".join(turns)
    asked_for_text = asks_for_text(ask)
    style = _style(_read(alike, ask, asked_for_text), text, asked_for_text)
    # "You're welcome, have a nice day" is what there is to say to "Thanks, that's all".
    ends = len(turns) > 1 or bool(_CLOSES.match(turns[-1].lower()))
    return _answered(style) if style.kind == "filler" and ends and closes(turns[-1]) else style


def asks_for_text(ask: str) -> bool:
    """
    Whether a user asks for a text to be written.

    Examples:
    ```python
    >>> asks_for_text("Write an apology to Al."), asks_for_text("Where is my order?")
    (True, False)

    ```
    """
    return bool(_ASKS_FOR_TEXT.search(ask.lower()))


def closes(turn: str) -> bool:
    """
    Whether a user ends a conversation.

    Examples:
    ```python
    >>> closes("Great, thanks, that's all!"), closes("Thanks. And when does it ship?")
    (True, False)

    ```
    """
    return (
        "?" not in turn and len(turn) <= _LONGEST_GOODBYE and bool(_CLOSES.search(turn.lower().replace("\u2019", "'")))
    )


def _answered(style: Style) -> Style:
    """The style with its reply taken for an answer."""
    markers = {**style.markers, "answered": 1.0}
    return Style(markers, {name: said for name, said in style.fragments.items() if name != "answered"}, "answered")
