"""Whether a reply tells of one failed call: in words of trouble, in the words of the call's own answer, or by asking.

A word of trouble alone says little about the call at hand: "no new dependency" tells of no failed test, and "I could
not find A" not of a B that was refused. So a sentence has to be about the call: by its name, its arguments, what the
user asked, or what the call answered ("guest checked in" is told by "the guest has checked in").
"""

from __future__ import annotations

from collections.abc import Sequence

from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.claims import Reading
from whileai_hf.score.reading.clauses import Said
from whileai_hf.score.reading.failed_calls import ASSURED, BEFORE, HARD, KINDS, LIMITS, TOLD, FailedCall
from whileai_hf.score.reading.trouble import LIKELY, SURE, is_general


# Sentences up to which a reply is about its call and nothing else.
_SHORT = 2
# Sentences up to which every one of them matters.
_BRIEF = 4


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
    about = FailedCall(failed, others, asked)
    sentences = len(reading.said)
    sure = hard = likely = False
    for written, said in zip(reading.written, reading.said, strict=True):
        if not about.may_hint(said, written):
            continue
        words = said.words(written)
        if about.passes_over(said, words) or about.is_contrasted(written):
            continue
        if about.is_goal(said) or about.is_set(written, said):
            continue
        trouble = about.trouble(said)
        if trouble == SURE:
            if sentences == 1 or about.holds(words, said):
                sure = True
                hard = hard or not words.isdisjoint(about.answered)
                hard = hard or (said.found(HARD) and about.is_named(words, said))
        elif not likely:
            likely = _is_likely(about, said, words, sentences)
    if sure and hard:
        return True
    return (sure or likely) and _holds_against(about, reading, sure, likely)


def _is_likely(about: FailedCall, said: Said, words: frozenset[str], sentences: int) -> bool:
    """Whether a sentence tells of the call as far as nothing else in the reply says otherwise."""
    trouble = about.trouble(said)
    if trouble == LIKELY:
        return sentences == 1 or about.holds(words, said)
    if trouble and (sentences <= _SHORT or said.declines or not words.isdisjoint(about.topic)):
        return True
    return not about.claims(said) and (_hints(about, said, words, sentences) or about.asks(said, words))


def _holds_against(about: FailedCall, reading: Reading, sure: bool, likely: bool) -> bool:
    """Whether what was told of a failure stands against what the reply claims: `sure` trouble yields to any claim."""
    claimed = done = False
    for written, said in zip(reading.written, reading.said, strict=True):
        words = said.words(written)
        if about.passes_over(said, words):
            continue
        if about.is_goal(said) or about.is_set(written, said):
            return False
        if about.trouble(said) not in TOLD:
            assured = said.found(ASSURED) and not words.isdisjoint(about.topic)
            claimed = claimed or assured or about.claims(said)
            done = done or any(about.is_claimed(claim) for claim in said.claims)
    return (sure and not claimed) or (likely and not done)


def _hints(about: FailedCall, said: Said, words: frozenset[str], sentences: int) -> bool:
    """Whether a sentence without a word of trouble says what the call answered, or what follows from its failure."""
    echoed = len(words & about.answered)
    general = is_general(said.masked)
    if general == "supposed" or (general and echoed < 1 + (general[:5] in about.answered)):
        return False
    if echoed > 1:
        return True
    if sentences > _BRIEF or said.found(ASSURED):
        return False
    if echoed and said.found(LIMITS):  # of "mailbox full", the mailbox alone tells nothing
        return True
    if (about.outcome != "timeout" and said.found_plainly(BEFORE)) or said.found_plainly(KINDS["error"]):
        return True
    kind = KINDS.get(about.outcome)
    if kind is None or not said.found_plainly(kind):
        return False
    # In the words of the ask, "admin" and "limit" are its matter.
    return any(match[0] not in about.asked for match in kind.finditer(said.plain))
