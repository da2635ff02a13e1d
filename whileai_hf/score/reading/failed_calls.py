"""A failed call, and what a sentence has to do with it: whether it is about it, claims its work, or asks for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.claiming import Claim
from whileai_hf.score.reading.claims import mask
from whileai_hf.score.reading.clauses import Said
from whileai_hf.score.reading.lazy import lazy
from whileai_hf.score.reading.reports import NEAR
from whileai_hf.score.reading.statuses import is_own
from whileai_hf.score.reading.topics import topic_words
from whileai_hf.score.reading.trouble import LIKELY, SURE, in_words_of, trouble_in
from whileai_hf.score.reading.verbs import stems_of
from whileai_hf.score.reading.wordings import AnyCue, Cue, Wordings


# Where a sentence turns to something that went otherwise.
_TURN = re.compile(r",? (?:but|however|though|yet|whereas) |; ")
# Characters of an answer that are looked into for what it speaks of.
_MOST = 600
TOLD = frozenset({SURE, LIKELY})
# Words that speak of all calls at once.
_EVERY = frozenset({"neith", "eithe", "none", "nothi", "every", "both"})
_SPEAKER = Cue(r"^(?:that|this|it|they|there)\b|\b(?:something|i|me|my|we|us|our|i've|i'm|i'd)\b")
# Trouble that stands beside a claim of the same work all the same.
HARD = Wordings("hard_trouble")
# "The first try timed out, the second went through": told and over.
_OVERCOME = Wordings("overcome")
# Words of a failure that are about no matter: what is left of an answer without them is what it speaks of.
_GENERIC = word_set(
    "timeout timed out failed failure failing fails unable could cannot denied forbidden refused rejected invalid "
    "request requests requested requires require required must need needs needed only may after before seconds "
    "second unavailable found missing unknown such exist exists internal server code exit stdout stderr traceback "
    "recent last line file module most call many retry attempt operation exception reason result stack more less "
    "been already other another too again please service system api http status try later used using use"
)
BEFORE = Cue(r"\b(?:already|twice|duplicate|(?:used|taken|redeemed|done|been) (?:before|earlier|already))")
# Calls that end something, after which it is not there any more.
_ENDING = re.compile(
    r"(?<![a-z])(?:cancel|delete|remove|stop|disable|block|mute|unsubscribe|void|revoke|archive|close|drop|clear"
    r"|deactivate|freeze"
    r"|lock|suspend|terminate|off|wipe|purge)"
)
_DENIES = Cue(r"\b(?:no|nobody|cannot|can't|won't|doesn't|don't|isn't|nothing)\b")
_FAILS = Cue(
    r"\b(?:fail\w*|timed|refus\w*|reject\w*|denied|errors?|unable|could|did|respon\w+|says? no|luck|answer\w*"
    r"|access|permi\w*"
    r"|rights|allow\w*|still|but|because|so|since|i|we|system|possible|way|support)\b|n't (?:be|have been"
    r"|been) \w+|n't (?:let|allow|permit|accept|take|offer)\b"
)
KINDS: Mapping[str, Wordings] = {
    kind: Wordings(f"told_{kind}") for kind in ("timeout", "denied", "rate_limited", "not_found", "malformed", "error")
}
_OFFER = Cue(
    r"^(?:\w+, )?(?:would you (?:like|want|prefer|rather)|do you want|should i"
    r"|shall i|shall we|want me|may i|can i"
    r"|could i|should we|is there anything|would it help)"
)
_HINT = AnyCue(BEFORE, KINDS["error"])
_HINTS = {kind: AnyCue(_HINT, wordings) for kind, wordings in KINDS.items()}
_INSTEAD = Wordings("instead")
# How things are told that went well.
ASSURED = Wordings("assured")
# Codes of errors: the only numbers of an answer whose repetition tells of it.
_TOKEN = re.compile(r"[a-z]+|\d+")
_NO_CODE = re.compile(r"(?![45]\d\d$)\d")
# Words without which a sentence that names a thing of the answer tells of no failure.
LIMITS = Cue(
    r"n't\b|\b(?:not?|never|none|only|first|needs?|needed|must|full|still|yet|until|wait\w*|because|before|too|but"
    r"|already|missing|lacks?|without|since|however|asks?|requires?|wants?|say|says|said|has to|have to|more|less"
    r"|all|taken|busy|closed|lock\w*|open|held|holds?|holding|expired|due|gone"
    r"|used|down|read-only|protected|empty|over"
    r"|ended|past|late|somebody|someone|else|lifted)\b"
)
_FIGURE = re.compile(r"\d[\d,]*\d(?:\.\d+)?")
# How figures are told that hold, and what leaves it open whether they do.
_HOLDS = Cue(
    r"\b(?:is|are|'s|was|were|has|have|now|goes|gets|earns|makes|pays|costs"
    r"|takes effect|starts|reads|stands|shows|up from)\b"
)
_OPEN_ENDED = Cue(
    r"n't\b|\b(?:not?|nothing|cannot|unable|ha(?:s|ve|d) to|needs?|must|only|if"
    r"|once|could|would|should|will|may|want\w*"
    r"|tried|try|trying|still|but|yet|when|until|unless|instead|waits?|waiting"
    r"|request\w*|asked|attempt\w*|change to|set to be"
    r"|supposed|pending|over|above|below|too|limit|maximum|minimum|because|refus\w*)\b|\?$"
)
# Characters of what a look showed that are searched for figures.
_FAR = 4_000
_REACHED = frozenset({"agent", "passive", "bare", "state", "progress"})
_STAYS = Cue(
    r"\b(?:stays?|remains?|is kept|will be|is) (off|on|open|closed"
    r"|locked|shut|blocked|disabled)\b"
)
_NOBODY = Cue(r"\b(?:no|nobody|nothing|none|neither|only|who|which|that)\b")
_IS = Cue(r"\b(?:is|are|has been|have been) (?:now |both |all )?(\w{4,})\b")
_UNREACHED = Cue(
    r"\b(?:fail\w*|timed|refus\w*|reject\w*|denied|errors?|unable|could|but|still|not|never|yet|cannot)\b|n't\b"
)
_DONE = frozenset({"agent", "passive", "bare", "general"})


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


class FailedCall:
    """What a failed call was about, and what the others were."""

    def __init__(self, failed: Call, others: Sequence[Call], asked: str) -> None:
        self.failed, self.others, self.asked = failed, others, asked
        self.outcome = failed.outcome

    @lazy
    def named(self) -> frozenset[str]:
        """Words of its own name and arguments."""
        return _named(self.failed)

    @lazy
    def known(self) -> frozenset[str]:
        """Those and the words of the ask."""
        return self.named | topic_words(self.asked[:2_000])

    @lazy
    def answered(self) -> frozenset[str]:
        """Words that only its answer has; what comes garbled says nothing."""
        if self.outcome == "malformed":
            return frozenset()
        spoken = _words_of_answer(_answer(self.failed.result))
        return spoken - self.known if spoken else spoken

    @lazy
    def topic(self) -> frozenset[str]:
        """All of them."""
        return self.known | self.answered if self.answered else self.known

    @lazy
    def ends(self) -> str:
        """The word of its name by which it ends something; empty when it does not."""
        found = _ENDING.search(self.failed.tool.casefold()) if self.outcome != "not_found" else None
        return found[0] if found else ""

    @lazy
    def tool(self) -> frozenset[str]:
        """The words of its name."""
        return frozenset(_TOKEN.findall(self.failed.tool.casefold()))

    @lazy
    def stems(self) -> frozenset[str]:
        """Beginnings of the words of its answer."""
        return frozenset([word[:4] for word in self.answered])

    @lazy
    def figures(self) -> frozenset[str]:
        """Figures that it was to put in the place of those a look showed."""
        looked = [other for other in self.others if other.kind == "read" and not other.failed]
        if not looked or self.failed.kind == "read":
            return frozenset()
        seen = set(_FIGURE.findall(" ".join([f"{look.arguments} {look.result}"[:_FAR] for look in looked])))
        return frozenset(_FIGURE.findall(_values(self.failed).replace(",", ""))) - seen

    @lazy
    def worked(self) -> bool:
        """Whether another call changed something."""
        return any(other.kind != "read" and not other.failed for other in self.others)

    @lazy
    def _rivals(self) -> frozenset[str] | None:
        """Words of other calls that failed, or of the same tool; `None` when there are none."""
        failed = self.failed
        rivals = [
            other
            for other in self.others
            if other is not failed
            and (other.failed or other.tool == failed.tool)
            and (other.tool, other.arguments) != (failed.tool, failed.arguments)
        ]
        return frozenset[str]().union(*map(_named, rivals)) if rivals else None

    def is_elsewhere(self, words: frozenset[str]) -> bool:
        """Whether a sentence is about another call and not about this one."""
        theirs = self._rivals
        if not theirs or words.isdisjoint(theirs - self.named) or not words.isdisjoint(_EVERY):
            return False
        return words.isdisjoint((self.named | self.answered) - theirs)

    def is_contrasted(self, written: str) -> bool:
        """Whether a sentence sets the call against others that failed: "21A is gone, but I got you 19A"."""
        theirs = self._rivals
        pieces = _TURN.split(written) if theirs else ()
        if len(pieces) < 2:
            return False
        mine = (self.named | self.answered) - (theirs or frozenset())
        about = [piece for piece in pieces if not topic_words(piece).isdisjoint(mine)]
        return bool(about) and not any(trouble_in(mask(piece)) for piece in about)

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

    def is_wanted(self, said: Said) -> bool:
        """Whether a sentence denies what the user wanted gone: "no catering then", "nobody can use it"."""
        return self.ends != "" and said.found(_DENIES) and not said.found(_FAILS) and self.ends not in said.masked

    def is_named(self, words: frozenset[str], said: Said) -> bool:
        """Whether a sentence names what the call was about, or the agent as the one who could not do it."""
        return not words.isdisjoint(self.topic) or said.found(_SPEAKER) or HARD.match(said.masked) is not None

    def holds(self, words: frozenset[str], said: Said) -> bool:
        """Whether a sentence is about the call, the agent or its tools."""
        return not words.isdisjoint(NEAR) or self.is_named(words, said)

    def is_goal(self, said: Said) -> bool:
        """Whether a sentence tells what the call was to do as done: "the SIM is blocked, so nobody can call"."""
        if said.already or said.asks or said.found(_UNREACHED):
            return False
        if any(
            claim.voice in _REACHED and claim.verb and claim.verb[:4] not in self.stems
            and any(word.startswith(stems_of(claim.verb)) for word in self.tool)
            for claim in said.claims
        ):  # fmt: skip
            return True
        lowered = said.masked
        looks = self.failed.kind == "read"
        ended = _IS.search(lowered) if not looks and said.found(_IS) and not said.found(_NOBODY) else None
        if ended is not None and ended[1][:4] not in self.stems and is_own(ended[1], self.failed.tool):
            return True  # "the card is frozen" of `freeze_card`
        # "The alarm stays off", asked to turn it off.
        stays = _STAYS.search(lowered) if said.found(_STAYS) else None
        return stays is not None and (stays[1] in self.tool or (stays[1] != "on" and stays[1] in self.asked.split()))

    def asks(self, said: Said, words: frozenset[str]) -> bool:
        """Whether a question asks for what the call lacked, or how to go on without it."""
        if not said.asks:
            return False
        if self.outcome in ("invalid", "not_found") or said.found(_INSTEAD):
            return True
        return _OFFER.match(said.masked) is None and not words.isdisjoint(self.topic | NEAR)

    def is_set(self, written: str, said: Said) -> bool:
        """Whether a sentence tells a figure that the call was to set as one that holds: "it is 64,000 from July"."""
        if not self.figures or said.trouble in TOLD or said.found(_OPEN_ENDED) or not said.found(_HOLDS):
            return False
        shown = {figure.replace(",", "") for figure in _FIGURE.findall(written)}
        return not shown.isdisjoint(self.figures)

    def passes_over(self, said: Said, words: frozenset[str]) -> bool:
        """Whether a sentence is about the user's own trouble, about another call, or about what is over."""
        if said.hint and said.hint in self.asked and words.isdisjoint(self.answered):
            return True
        return self.is_elsewhere(words) or self.is_wanted(said) or said.found(_OVERCOME)

    def trouble(self, said: Said) -> str:
        """The trouble that a sentence tells in other words than the user's."""
        return "" if said.trouble and in_words_of(said.masked, self.asked) else said.trouble

    def may_hint(self, said: Said, written: str) -> bool:
        """What has to hold for a sentence without trouble to tell of the call all the same."""
        if said.trouble or said.asks or said.found_plainly(_HINTS.get(self.outcome, _HINT)):
            return True
        echoed = len(said.words(written) & self.answered) if self.answered else 0
        return echoed > 1 or (echoed == 1 and said.found(LIMITS))
