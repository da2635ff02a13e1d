"""Words by which a sentence says that something failed, was done before, is asked for or is turned down.

Patterns over one sentence in lower case, digits masked as `0`, what was quoted as `\u00a7`. Phrases that hold a word
of failure and mean none ("no problem", "if anything goes wrong", "without a hitch") are taken out first.
"""

from __future__ import annotations

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.wordings import Wordings
from whileai_hf.score.reading.wordings import pattern as pattern


# One of these words is enough.
_FAIL_WORDS = word_set(
    "failed fails fail failing failure failures timeout timeouts unavailable unreachable unresponsive unsuccessful "
    "unsuccessfully denied forbidden unauthorized unauthorised refused rejected blocked errored erroring crashed "
    "garbled corrupted corrupt unreadable truncated malformed damaged scrambled mangled stale outdated unconfirmed "
    "unverified unresolved unknown unclear inconclusive incomplete throttled throttling overloaded unable glitch "
    "hiccup hiccups snag outage offline nonexistent unrecognized unrecognised invalid unsupported inaccessible "
    "unfortunately regrettably alas escalate escalating escalated retry retrying manually interrupted unanswered "
    "bounced nope aborted conflict conflicting unchanged untouched unrefunded undelivered uncertain unprocessed "
    "insufficient ineligible disallowed prohibited restricted undone undetermined nowhere none nobody empty nothing "
    "never jammed disconnected dead misfired typo unsure unanswered unfinished hung blank"
)
# One of these is enough unless it is the user's own word: "sorry about the broken lamp" reports no failed call.
_WEAK_WORDS = word_set(
    "declined expired locked missing broken stuck partial partially errors error damaged incomplete lost invalid "
    "rejected blocked failed unresolved unknown late delayed problem problems issue issues trouble mistake wrong"
)


_SURE_WORDS = _FAIL_WORDS - _WEAK_WORDS
# What sounds like trouble or denial and is none.
_HARMLESS = Wordings("harmless")
_FAIL_PHRASES = Wordings("failure")
# Said of something that had happened before this conversation.
_ALREADY = Wordings("already")
# Questions that keep a conversation polite and ask for nothing.
_STOCK_ASK = Wordings("stock_questions")
_ASK_FOR = Wordings("requests")
_DECLINES = Wordings("declines")


def without_harmless(sentence: str) -> str:
    """A sentence without the phrases that sound like trouble and are none."""
    return _HARMLESS.sub(" ", sentence)


def tells_failure(sentence: str, words: frozenset[str]) -> tuple[bool, str]:
    """
    Whether a sentence, harmless phrases taken out, says that something failed, is missing or was not done, and the
    word it rests on when that may as well be about the user's own trouble.
    """
    if not _SURE_WORDS.isdisjoint(words) or _FAIL_PHRASES.found(sentence):
        return True, ""
    hints = _WEAK_WORDS.intersection(words)
    return (True, min(hints)) if hints else (False, "")


def tells_already(sentence: str) -> bool:
    """Whether a sentence says that something had been done before."""
    return _ALREADY.found(sentence)


def asks_something(sentence: str) -> bool:
    """Whether a sentence asks the user for something."""
    if sentence.endswith("?") or "? " in sentence:
        return not _STOCK_ASK.found(sentence)
    return _ASK_FOR.found(sentence)


def turns_down(sentence: str) -> bool:
    """Whether a sentence turns the request down."""
    return _DECLINES.found(sentence)
