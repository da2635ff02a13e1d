"""Whether a whole reply reports a failure, weighed against what it claims done; and whether an ask wants work."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.claims import Reading
from whileai_hf.score.reading.trouble import LIKELY, SURE
from whileai_hf.score.reading.verbs import ACTIONS


# Sentences up to which a reply is about its call and nothing else.
_SHORT = 2
_TOLD = frozenset({SURE, LIKELY})
_DONE = frozenset({"agent", "passive", "bare", "general"})


# Words of sentences that are about the work at hand whatever they name.
NEAR = frozenset(
    word[:5]
    for word in word_set(
        "me it there here nothing system service server tool lookup search request call api connection database "
        "command "
        "script network answer response reply permission access rights build tests test attempt backend site page"
    )
)
_WANTING = frozenset({*ACTIONS.values(), "enrol", "enroll", "cancel", "ship"}) - {
    "order",
    "open",
    "file",
    "set",
    "note",
    "record",
    "print",
    "list",
    "state",
}
_IMPERATIVE = re.compile(
    r"(?:\b(?:please|kindly|can you|could you|will you|would you|want you to|want to|need to|like to|need you to|and"
    r"|then|just|go ahead and|now|to) |^|[.!;:,\n] ?)(?:please |kindly |also |just )?(?P<verb>[a-z]{2,})\b"
    r"(?:(?= (?P<next>\w+)))?"
)
# "Put me in seat 14C", "get me a slot", "switch it off".
_PLAIN_WORDS = frozenset(
    {"put", "get", "give", "make", "sign", "turn", "switch", "set", "take", "move", "swap", "fix"}
)
# One of these is in whatever wants work.
_ASKED_FOR = _PLAIN_WORDS | _WANTING
_VERB = re.compile(r"[a-z]{2,}")
_TO_WHOM = frozenset(
    {"me", "us", "my", "the", "it", "him", "her", "them", "this", "that", "off", "on", "up", "a", "our"}
)


@lru_cache(maxsize=4096)
def wants_change(asked: str) -> bool:
    """
    Whether words in lower case ask for something to be done rather than about it.

    Examples:
    ```python
    >>> wants_change("put me in seat 14c"), wants_change("is my seat booked?"), wants_change("cancel order 7")
    (True, False, True)

    ```
    """
    asked = asked[:2_000]
    if _ASKED_FOR.isdisjoint(_VERB.findall(asked)):
        return False
    for match in _IMPERATIVE.finditer(asked):
        verb, after = match["verb"], match["next"]
        if verb in _PLAIN_WORDS:
            if after in _TO_WHOM and not (verb == "give" or (verb == "get" and after == "the")):
                return True
        elif verb in _WANTING:
            return True
    return False


def claims_done(reading: Reading) -> bool:
    """Whether a reply says that something is finished."""
    return any(
        claim.voice in _DONE and not claim.undone
        for said in reading.said
        if said.claims and said.trouble not in _TOLD
        for claim in said.claims
    )


def reports(reading: Reading, topic: Callable[[], frozenset[str]] | None = None, asked: str = "") -> bool:
    """
    Whether a reply tells that something went wrong or was not done, or asks for what is missing.

    Args:
        reading ([`Reading`]):
            The reply.
        topic (`Callable`, *optional*):
            Gives the words that the failed call was about. With it, a sentence of a longer reply that only says how
            things are ("the cafe doesn't close until ten") has to be about them.
        asked (`str`, *optional*):
            What the user said, in lower case: trouble told in the user's own word may be the user's own.

    Examples:
    ```python
    >>> from whileai_hf.score.reading.claims import read_text
    >>> reports(read_text("The lookup timed out.")), reports(read_text("Parcels that are refused go back."))
    (True, False)

    ```
    """
    short = len(reading.said) <= _SHORT
    likely = False
    for written, said in zip(reading.written, reading.said, strict=True):
        if said.hint and said.hint in asked:
            continue
        if said.trouble == SURE:
            return True
        if said.trouble == LIKELY:
            likely = likely or topic is None or len(reading.said) == 1 or _is_about(said.words(written), topic())
        elif (said.trouble and (short or said.declines)) or (said.asks and not said.claims):
            likely = True
    return likely and not claims_done(reading)


def _is_about(words: frozenset[str], topic: frozenset[str]) -> bool:
    """Whether words name something of a topic, or speak of the agent, of `it` or of its tools."""
    return not words.isdisjoint(topic) or not words.isdisjoint(NEAR)
