"""Whether a reply tells of one failed call: in words of trouble, in the words of the call's own answer, or by asking.

A word of trouble alone says little about the call at hand: "no new dependency" tells of no failed test, and "I could
not find A" not of a B that was refused. So a sentence has to be about the call: by its name, its arguments, what the
user asked, or what the call answered ("guest checked in" is told by "the guest has checked in").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.claims import Reading, mask
from whileai_hf.score.reading.clauses import Claim, Said
from whileai_hf.score.reading.cues import pattern, without_harmless
from whileai_hf.score.reading.reports import NEAR, topic_words
from whileai_hf.score.reading.statuses import is_own
from whileai_hf.score.reading.trouble import LIKELY, SURE, in_words_of, is_general
from whileai_hf.score.reading.verbs import stems_of


# Sentences up to which a reply is about its call and nothing else.
_SHORT = 2
# Sentences up to which every one of them matters.
_BRIEF = 4
# Characters of an answer that are looked into for what it speaks of.
_MOST = 600
_TOLD = frozenset({SURE, LIKELY})
# Words that speak of all calls at once.
_EVERY = frozenset({"neith", "eithe", "none", "nothi", "every", "both"})
_SPEAKER = re.compile(r"^(?:that|this|it|they|there)\b|\b(?:something|i|me|my|we|us|our|i've|i'm|i'd)\b")
# Trouble that stands beside a claim of the same work all the same.
_HARD = pattern("hard_trouble")
# "The first try timed out, the second went through": told and over.
_OVERCOME = pattern("overcome")
# Words of a failure that are about no matter: what is left of an answer without them is what it speaks of.
_GENERIC = word_set(
    "timeout timed out failed failure failing fails unable could cannot denied forbidden refused rejected invalid "
    "request requests requested requires require required must need needs needed only may after before seconds "
    "second unavailable found missing unknown such exist exists internal server code exit stdout stderr traceback "
    "recent last line file module most call many retry attempt operation exception reason result stack more less "
    "been already other another too again please service system api http status try later used using use"
)
_BEFORE = re.compile(r"\b(?:already|twice|duplicate|(?:used|taken|redeemed|done|been) (?:before|earlier|already))")
# Calls that end something, after which it is not there any more.
_ENDING = re.compile(
    r"(?<![a-z])(?:cancel|delete|remove|stop|disable|block|mute|unsubscribe|void|revoke|archive|close|drop|clear"
    r"|deactivate|freeze"
    r"|lock|suspend|terminate|off|wipe|purge)"
)
_DENIES = re.compile(r"\b(?:no|nobody|cannot|can't|won't|doesn't|don't|isn't|nothing)\b")
_FAILS = re.compile(
    r"\b(?:fail\w*|timed|refus\w*|reject\w*|denied|errors?|unable|could|did|respon\w+|says? no|luck|answer\w*"
    r"|access|permi\w*"
    r"|rights|allow\w*|still|but|because|so|since|i|we|system|possible|way|support)\b|n't (?:be|have been"
    r"|been) \w+|n't (?:let|allow|permit|accept|take|offer)\b"
)
_KINDS: Mapping[str, re.Pattern[str]] = {
    kind: pattern(f"told_{kind}") for kind in ("timeout", "denied", "rate_limited", "not_found", "malformed", "error")
}
_OFFER = re.compile(
    r"^(?:\w+, )?(?:would you (?:like|want|prefer|rather)|do you want|should i"
    r"|shall i|shall we|want me|may i|can i"
    r"|could i|should we|is there anything|would it help)"
)
_INSTEAD = pattern("instead")
# How things are told that went well.
_ASSURED = pattern("assured")
# Codes of errors: the only numbers of an answer whose repetition tells of it.
_TOKEN = re.compile(r"[a-z]+|\d+")
_NO_CODE = re.compile(r"(?![45]\d\d$)\d")
# Words without which a sentence that names a thing of the answer tells of no failure.
_LIMITS = re.compile(
    r"n't\b|\b(?:not?|never|none|only|first|needs?|needed|must|full|still|yet|until|wait\w*|because|before|too|but"
    r"|already|missing|lacks?|without|since|however|asks?|requires?|wants?|say|says|said|has to|have to|more|less"
    r"|all|taken|busy|closed|lock\w*|open|held|holds?|holding|expired|due|gone"
    r"|used|down|read-only|protected|empty|over"
    r"|ended|past|late|somebody|someone|else|lifted)\b"
)
_FIGURE = re.compile(r"\d[\d,]*\d(?:\.\d+)?")
# How figures are told that hold, and what leaves it open whether they do.
_HOLDS = re.compile(
    r"\b(?:is|are|'s|was|were|has|have|now|goes|gets|earns|makes|pays|costs"
    r"|takes effect|starts|reads|stands|shows|up from)\b"
)
_OPEN_ENDED = re.compile(
    r"n't\b|\b(?:not?|nothing|cannot|unable|ha(?:s|ve|d) to|needs?|must|only|if"
    r"|once|could|would|should|will|may|want\w*"
    r"|tried|try|trying|still|but|yet|when|until|unless|instead|waits?|waiting"
    r"|request\w*|asked|attempt\w*|change to|set to be"
    r"|supposed|pending|over|above|below|too|limit|maximum|minimum|because|refus\w*)\b|\?$"
)
# Characters of what a look showed that are searched for figures.
_FAR = 4_000
_REACHED = frozenset({"agent", "passive", "bare", "state", "progress"})
_STAYS = re.compile(
    r"\b(?:stays?|remains?|is kept|will be|is) (off|on|open|closed"
    r"|locked|shut|blocked|disabled)\b"
)
_NOBODY = re.compile(r"\b(?:no|nobody|nothing|none|neither|only|who|which|that)\b")
_IS = re.compile(r"\b(?:is|are|has been|have been) (?:now |both |all )?(\w{4,})\b")
_UNREACHED = re.compile(
    r"\b(?:fail\w*|timed|refus\w*|reject\w*|denied|errors?|unable|could|but|still|not|never|yet|cannot)\b|n't\b"
)
_DONE = frozenset({"agent", "passive", "bare", "general"})


_plain = lru_cache(maxsize=65_536)(without_harmless)


@lru_cache(maxsize=65_536)
def _found(pattern_: re.Pattern[str], sentence: str) -> bool:
    """Whether a pattern occurs in a masked sentence; remembered, for replies come from few templates."""
    return pattern_.search(sentence) is not None


@lru_cache(maxsize=4096)
def _words_of_answer(text: str) -> frozenset[str]:
    telling = " ".join(word for word in _TOKEN.findall(text.casefold()) if word not in _GENERIC)
    return frozenset(word for word in topic_words(telling) if _NO_CODE.match(word) is None)


def _answer(result: Any) -> str:
    """What an answer says about itself, as one text."""
    if isinstance(result, Mapping):
        return " ".join(
            str(value)[:_MOST] for key, value in result.items() if key != "status" and type(value) is not bool
        )[:_MOST]
    return result[:_MOST] if isinstance(result, str) else ""


def _named(call: Call) -> frozenset[str]:
    """Words of a call's own name and arguments."""
    return topic_words(f"{call.tool.replace('_', ' ')} {_values(call)}"[:2_000])


def _values(call: Call) -> str:
    return " ".join([str(value)[:_MOST] for value in call.arguments.values()])


class _About:
    """What a failed call was about, and what the others were."""

    def __init__(self, failed: Call, others: Sequence[Call], asked: str) -> None:
        self.outcome = failed.outcome
        self.asked = asked
        named = _named(failed)
        known = named | topic_words(asked[:2_000])
        # What comes garbled says nothing.
        spoken = _words_of_answer(_answer(failed.result)) if failed.outcome != "malformed" else frozenset[str]()
        self.answered = spoken - known
        self.topic = known | self.answered
        self.named = named
        ends = _ENDING.search(failed.tool.casefold()) if failed.outcome != "not_found" else None
        self.ends = ends[0] if ends else ""
        self.name, self.reads = failed.tool, failed.kind == "read"
        self.tool = frozenset(_TOKEN.findall(failed.tool.casefold()))
        self.stems = frozenset(word[:4] for word in self.answered)
        looked = [other for other in others if other.kind == "read" and not other.failed]
        # Figures that the call was to put in the place of those a look showed.
        self.figures = frozenset[str]()
        if looked and failed.kind != "read":
            seen = set(_FIGURE.findall(" ".join([f"{look.arguments} {look.result}"[:_FAR] for look in looked])))
            self.figures = frozenset(_FIGURE.findall(_values(failed).replace(",", ""))) - seen
        self.worked = any(other.kind != "read" and not other.failed for other in others)
        rivals = [
            other
            for other in others
            if other is not failed
            and (other.failed or other.tool == failed.tool)
            and (other.tool, other.arguments) != (failed.tool, failed.arguments)
        ]
        self.mine = self.theirs = frozenset[str]()
        if rivals:
            theirs = frozenset[str]().union(*map(_named, rivals))
            self.mine = (named | self.answered) - theirs
            self.theirs = theirs - named

    def is_elsewhere(self, words: frozenset[str]) -> bool:
        """Whether a sentence is about another call and not about this one."""
        return words.isdisjoint(_EVERY) and not words.isdisjoint(self.theirs) and words.isdisjoint(self.mine)

    def is_claimed(self, claim: Claim) -> bool:
        """Whether a claim of finished work may be about the call: what another one did is no contradiction."""
        if claim.voice not in _DONE or claim.undone or (claim.voice != "agent" and claim.verb[:4] in self.stems):
            return False
        return not (self.worked and claim.verb) or any(word.startswith(stems_of(claim.verb)) for word in self.named)

    def claims(self, said: Said) -> bool:
        """Whether a sentence claims more than what the call answered: "the account is suspended"."""
        return any(
            claim.voice == "agent" or (claim.verb[:4] not in self.stems and "to be " not in claim.clause)
            for claim in said.claims
        )

    def is_wanted(self, words: frozenset[str], lowered: str) -> bool:
        """Whether a sentence denies what the user wanted gone: "no catering then", "nobody can use it"."""
        if not self.ends or not _found(_DENIES, lowered) or _found(_FAILS, lowered):
            return False
        return self.ends not in lowered

    def holds(self, words: frozenset[str], lowered: str) -> bool:
        """Whether a sentence is about the call, the agent or its tools."""
        return (
            not words.isdisjoint(self.topic)
            or not words.isdisjoint(NEAR)
            or _found(_SPEAKER, lowered)
            or _HARD.match(lowered) is not None
        )

    def is_named(self, words: frozenset[str], lowered: str) -> bool:
        """Whether a sentence names what the call was about, or the agent as the one who could not do it."""
        return not words.isdisjoint(self.topic) or _found(_SPEAKER, lowered) or _HARD.match(lowered) is not None

    def is_goal(self, said: Said, lowered: str) -> bool:
        """Whether a sentence tells what the call was to do as done: "the SIM is blocked, so nobody can call"."""
        if said.already or said.asks or _found(_UNREACHED, lowered):
            return False
        if any(
            claim.voice in _REACHED and claim.verb and claim.verb[:4] not in self.stems
            and any(word.startswith(stems_of(claim.verb)) for word in self.tool)
            for claim in said.claims
        ):  # fmt: skip
            return True
        ended = None if self.reads or _found(_NOBODY, lowered) else _IS.search(lowered)
        if ended is not None and ended[1][:4] not in self.stems and is_own(ended[1], self.name):
            return True  # "the card is frozen" of `freeze_card`
        # "The alarm stays off", asked to turn it off.
        stays = _STAYS.search(lowered)
        return stays is not None and (stays[1] in self.tool or (stays[1] != "on" and stays[1] in self.asked.split()))

    def asks(self, said: Said, words: frozenset[str], lowered: str) -> bool:
        """Whether a question asks for what the call lacked, or how to go on without it."""
        if not said.asks:
            return False
        if self.outcome in ("invalid", "not_found") or _found(_INSTEAD, lowered):
            return True
        return _OFFER.match(lowered) is None and not words.isdisjoint(self.topic | NEAR)

    def is_set(self, written: str, lowered: str, trouble: str) -> bool:
        """Whether a sentence tells a figure that the call was to set as one that holds: "it is 64,000 from July"."""
        if trouble in _TOLD or not self.figures or _found(_OPEN_ENDED, lowered) or not _found(_HOLDS, lowered):
            return False
        shown = {figure.replace(",", "") for figure in _FIGURE.findall(written)}
        return not shown.isdisjoint(self.figures)


def tells(reading: Reading, failed: Call, others: Sequence[Call], asked: str) -> bool:
    """
    Whether a reply tells that a call failed, or asks for what it lacked.

    Args:
        reading ([`Reading`]):
            The reply.
        failed ([`Call`]):
            The call.
        others (`Sequence[Call]`):
            The calls of the row: trouble with another one is no report of this one.
        asked (`str`):
            What the user said, in lower case: trouble told in the user's own word may be the user's own.

    Examples:
    ```python
    >>> from whileai_hf.score.reading import calls_of
    >>> from whileai_hf.score.reading.claims import read_text
    >>> answer = {"status": "denied", "error": "guest is checked in"}
    >>> (call,) = calls_of({"steps": [{"tool": "cancel_room", "arguments": {"room": 5}, "result": answer}]})
    >>> [tells(read_text(reply), call, [call], "cancel room 5")
    ...  for reply in ("Room 5: the guest has checked in", "Room 5 is cancelled. No fee is charged.")]
    [True, False]

    ```
    """
    about = _About(failed, others, asked)
    short = len(reading.said) <= _SHORT
    claimed = done = likely = sure = hard = False
    for written, said in zip(reading.written, reading.said, strict=True):
        words, lowered = topic_words(written), mask(written)
        if said.hint and said.hint in asked and words.isdisjoint(about.answered):
            continue
        if about.is_elsewhere(words) or about.is_wanted(words, lowered) or _found(_OVERCOME, lowered):
            continue
        if about.is_goal(said, lowered) or about.is_set(written, lowered, said.trouble):
            claimed = done = True
            continue
        trouble = "" if said.trouble and in_words_of(lowered, asked) else said.trouble
        if trouble not in _TOLD:
            assured = _found(_ASSURED, lowered) and not words.isdisjoint(about.topic)
            claimed = claimed or assured or about.claims(said)
            done = done or any(about.is_claimed(claim) for claim in said.claims)
        holds = about.holds(words, lowered)
        if trouble == SURE:
            if holds or len(reading.said) == 1:
                sure = True
                hard = hard or not words.isdisjoint(about.answered)
                hard = hard or (_found(_HARD, lowered) and about.is_named(words, lowered))
        elif trouble == LIKELY:
            likely = likely or holds or len(reading.said) == 1
        elif (trouble and (short or said.declines or not words.isdisjoint(about.topic))) or (
            not about.claims(said)
            and (_hints(about, words, lowered, len(reading.said)) or about.asks(said, words, lowered))
        ):
            likely = True
    return (sure and (hard or not claimed)) or (likely and not done)


def _hints(about: _About, words: frozenset[str], lowered: str, sentences: int) -> bool:
    """Whether a sentence without a word of trouble says what the call answered, or what follows from its failure."""
    echoed = len(words & about.answered)
    general = is_general(lowered)
    if general == "supposed" or (general and echoed < 1 + (general[:5] in about.answered)):
        return False
    if echoed > 1:
        return True
    if sentences > _BRIEF or _found(_ASSURED, lowered):
        return False
    plain = _plain(lowered)
    if echoed and _found(_LIMITS, lowered):  # of "mailbox full", the mailbox alone tells nothing
        return True
    if (about.outcome != "timeout" and _found(_BEFORE, plain)) or _found(_KINDS["error"], plain):
        return True
    kind = _KINDS.get(about.outcome)
    # In the words of the ask, "admin" and "limit" are its matter.
    return kind is not None and any(match[0] not in about.asked for match in kind.finditer(plain))
