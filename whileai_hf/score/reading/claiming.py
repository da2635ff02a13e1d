"""The work that a sentence claims, read clause by clause.

Negations, conditions and modals reach to the end of their clause and no further: "I could not find A, but I cancelled
B" claims one thing and denies the other.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.cues import tells_failure, without_harmless
from whileai_hf.score.reading.verbs import ACTIONS, CHECKS
from whileai_hf.score.reading.voices import (
    ADVERBS,
    AGENTS,
    CONDITIONS,
    is_blocked,
    is_dated,
    is_history,
    is_modal,
    voice_of,
)
from whileai_hf.score.reading.wordings import Wordings, pattern


class Claim(NamedTuple):
    """
    Work that a clause says is done.

    `verb` is what was done, empty when only the end of it all is claimed ("you're all set"). `voice` is `agent` ("I
    refunded it"), `passive` ("it has been refunded"), `bare` ("Refunded."), `general` ("all done"), `progress` ("is
    being refunded") or `state` ("it is refunded", which may as well be what a record says). `clause` is its clause;
    `undone` says that the sentence goes on to speak of failure.
    """

    verb: str
    voice: str
    clause: str
    undone: bool = False


WORD = re.compile(r"[a-z0\u00a7]+(?:['.:/-][a-z0]+)*")
# Where the reach of a negation or a modal ends.
_CLAUSE = pattern("clause_ends")
# Openings that lend a claim their subject: "I can confirm that it was refunded" claims the refund.
_VOUCHES = Wordings("vouching")
# Before these forms a noun or the value of a field stands: "the set", "your order", "status refunded".
_BEFORE_NOUNS = word_set("the a an your my our this any status state of")
# Carried from a clause that told of the past.
_PAST = "past"
# Objects of work that was not done.
_NONE = word_set("nothing neither none nobody no zero")
_REFUSALS = word_set("block lock suspend pause stop drop hold hide close return")
# From here on a sentence passes on what a record says.
_REPORTS = Wordings("reporting")
_RECORDS = word_set(
    "status state shows show showing marked listed reads read says recorded record currently lists appears "
    "displayed reported shown"
)
_OPENERS = word_set("done sorted fixed completed finished confirmed success successful")
_GENERAL = Wordings("finished")
_ABLE = re.compile(
    r"\b(?:managed to|(?:was|were|been) able to|succeeded in|went ahead and|gone ahead and|got it to"
    r"|been able to) (?:successfully |also |just )?(\w+)"
)
_ABLY = ("managed", "was able", "were able", "been able", "succeeded", "went ahead", "gone ahead")
_WORK = frozenset(ACTIONS)
_LOOKS = frozenset(CHECKS)


def _claims_in(clause: str, words: list[str], opens: bool, carried: str) -> tuple[list[Claim], str]:
    """The claims of one clause, and the voice that a following clause without a subject goes on in."""
    found: list[Claim] = []
    voice = carried
    for at, word in enumerate(words):
        if word not in _WORK:
            looks = word in _LOOKS and (words[at - 1] in AGENTS | ADVERBS if at else opens)
            if looks and not is_blocked(words[:at]):
                voice = "agent"  # "Looked it over and merged it"
            continue
        if at and words[at - 1] in _BEFORE_NOUNS:
            continue
        if not _NONE.isdisjoint(words[at + 1 : at + 3]):
            continue  # "I have changed neither"
        told = voice_of(words, at, opens)
        if not told and voice and voice != _PAST and _joined(words, at):
            told = voice
        if (told == "bare" or (told and at == 0)) and is_dated(words, at):
            continue  # "status open, created at 09:30"
        if not told:
            if is_blocked(words[:at]):
                voice = ""
            continue
        # "You're booked in for Tuesday at 09:00" dates what is to come.
        yours = told == "state" and (words[0] == "you're" or words[:2] == ["you", "are"])
        if (
            not yours
            and told in ("passive", "state")
            and (is_history(words, at) or not _RECORDS.isdisjoint(words[:at]))
        ):
            voice = _PAST
            continue
        if carried == _PAST and told != "agent" and "been" not in words:
            continue  # "it was refunded on May 3, to the card it was paid with"
        if told != "agent" and "already" in words:
            continue
        if ACTIONS[word] in _REFUSALS and told != "agent" and _fails([clause], surely=told == "state"):
            continue  # "was blocked for lack of permission"
        found.append(Claim(ACTIONS[word], told, clause))
        if told in ("agent", "passive", "bare"):
            voice = told
    return found, voice


def _joined(words: list[str], at: int) -> bool:
    """Whether a past form without a subject goes on with the one before: "looked it up and cancelled it"."""
    before = words[:at]
    while before and before[-1] in ADVERBS - {"and"}:
        before.pop()
    return not before or before[-1] in ("and", "then", "or")


def _general(clause: str, words: list[str]) -> Claim | None:
    match = _GENERAL.search(clause)
    if match is None:
        return None
    before = WORD.findall(clause[: match.start()])
    inside = match.group(0)
    able = _ABLE.match(inside + clause[match.end() :]) if inside.startswith(_ABLY) else None
    if is_blocked(before) or is_modal(before):
        return None
    if "already" in words or is_history(words, len(before)) or not _RECORDS.isdisjoint(before):
        return None
    if able is not None:
        from_base = _BASE.get(able.group(1), "")
        return Claim(from_base, "agent", clause) if from_base else None
    return Claim("", "general", clause)


_BASE = {verb: verb for verb in ACTIONS.values()}


def _clauses(sentence: str) -> list[str]:
    return [part for part in (piece.strip() for piece in _CLAUSE.split(sentence)) if part]


def claims_of(sentence: str) -> tuple[Claim, ...]:
    found: list[Claim] = []
    carried = ""
    opens = True
    clauses = _clauses(_VOUCHES.sub(" , ", sentence))
    reports = False
    for position, clause in enumerate(clauses):
        words = WORD.findall(clause)
        if not words or (reports and words[0] not in AGENTS):
            continue
        reports = reports or _REPORTS.found(clause)
        claims, carried = _claims_in(clause, words, opens, carried)
        general = _general(clause, words)
        if general is not None and not any(claim.voice != "state" for claim in claims):
            claims.append(general)
        if claims and _fails(clauses[position + 1 :]):
            claims = [claim._replace(undone=True) for claim in claims]
        found += claims
        # "Sure, cancelled it." opens with its second clause.
        opens = opens and len(words) <= 2
    return tuple(found)


def _fails(clauses: list[str], surely: bool = False) -> bool:
    """Whether clauses tell of failure; `surely`: not by a word alone that may be about the user's own trouble."""
    rest = without_harmless(" , ".join(clauses))
    found, hint = tells_failure(rest, frozenset(WORD.findall(rest))) if clauses else (False, "")
    return found and not (surely and hint)


def is_checked(sentence: str, checked: str) -> bool:
    """Whether the clause with these words of checking says so of what was done."""
    clause = next((part for part in _clauses(sentence) if checked in part), "")
    before = WORD.findall(clause.partition(checked)[0])
    return (CONDITIONS | {"would", "could", "should", "not", "unless"}).isdisjoint(before)
