"""Whether a reply answers: it is not empty, not only filler or a promise, and does not decline the task.

Every sentence is of a kind, see `kinds`. A refusal beside something done or told is a partial answer, which counts as
one; a refusal beside its reasons, apologies and offers of other things does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whileai_hf.markers.style.kinds import (
    ACTED,
    COURTESY,
    ELSEWHERE,
    POLICY,
    PROMISE,
    REQUEST,
    RESULT,
    STEP,
    WRITTEN,
    declines,
)
from whileai_hf.markers.style.replies import BLOCK, QUOTED
from whileai_hf.markers.style.rules import rule


_ASKS_IF = rule("answering", "asks_if")
_ASKS_ABLE = rule("answering", "asks_able")
_OFFER = rule("answering", "offer")
# What only says that something was heard.
_HEARD = rule("answering", "heard")
_NO = rule("answering", "no")
_ASKS_WHEN = rule("answering", "asks_when")
_ASKS_WHOM = rule("answering", "asks_whom")
_ASKS_NEXT = rule("answering", "asks_next")
_AGENT_ACTS = re.compile(r"(?:i|we|let me|one moment|hold|please)\b")
_REQUESTED = rule("answering", "requested")
_TIMED = re.compile(r"\d|\b(?:within|days?|weeks?|hours?|tomorrow|tonight|noon|\w+day)\b")
_HENCE = rule("answering", "hence")
_ON_IT = rule("answering", "on_it")
_SPLIT = rule("answering", "split")
_AGENT = re.compile(r"\b(?:i|we|me|us|my|our|no can do|sorry|help)\b")
_PREPARES = rule("answering", "prepares")


def _does_something(clause: str) -> bool:
    """Whether a clause beside a refusal does or tells something of what was asked."""
    clause = clause.strip(" ,.;:-")
    if not clause or ELSEWHERE.search(clause) or declines(clause):
        return False
    if BLOCK in clause or QUOTED in clause or STEP.match(clause):
        return True
    return bool(RESULT.search(clause)) and not (
        POLICY.search(clause) or PROMISE.match(clause) or COURTESY.search(clause)
    )


def is_partial(texts: Sequence[str]) -> bool:
    """
    Whether beside the refusal something was done, found out, or asked for.

    Examples:
    ```python
    >>> is_partial(["i cannot waive the fee, but i moved the flight to friday."])
    True
    >>> is_partial(["i cannot waive the fee.", "is there anything else?"])
    False

    ```
    """
    # What stands before "so I have to pass" are its reasons, unless the agent acted.
    reasons = next((at for at, text in enumerate(texts) if declines(text) and _HENCE.search(text)), 0)
    for at, text in enumerate(texts):
        if text.endswith("?") and REQUEST.search(text) and not _OFFER.search(text):
            return True
        clauses = _SPLIT.split(text)
        if at < reasons:
            clauses = [clause for clause in clauses if ACTED.match(clause) or clause in (BLOCK, QUOTED)]
        if any(_does_something(clause) for clause in clauses):
            return True
    return False


def _wants_it_done(ask: str) -> bool:
    """Whether a user wants something done, rather than to know something."""
    return "?" not in ask or bool(_REQUESTED.search(ask.lower()))


def _is_ruled(texts: Sequence[str]) -> bool:
    """Whether a rule is stated and nobody refuses: to "may I smoke here?" that is the answer."""
    return not any(_AGENT.search(text) for text in texts if declines(text))


def _only_prepares(texts: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether what was done is a first step, and the rest is to come: "I have opened the file. Bear with me." """
    if not kinds or kinds[-1] not in ("promise", "filler") or "promise" not in kinds or "declined" in kinds:
        return False
    done = [text for text, kind in zip(texts, kinds, strict=True) if kind not in ("promise", "filler", "cheer")]
    return bool(done) and all(_PREPARES.match(text) for text in done)


def answering(texts: Sequence[str], kinds: Sequence[str], ask: str, asked_for_text: bool = False) -> str:
    """
    What kind of answer a reply is.

    Args:
        texts (`Sequence[str]`):
            Its sentences; code and drafts stand in them as marks, which count as content.
        kinds (`Sequence[str]`):
            Their [`kind_of`].
        ask (`str`):
            What the user said. Asked about a policy, the policy is the answer.
        asked_for_text (`bool`, *optional*, defaults to `False`):
            The user asked for words, so that pleasantries can be the answer.

    Returns:
        `str`: `answered`, `empty`, `filler`, `promise` or `declined`; without an ask also `talk`, which is an answer
        unless the user wanted something done.

    Examples:
    ```python
    >>> answering(["our policy does not allow refunds."], ["policy"], "Refund me.")
    'declined'
    >>> answering(["our policy does not allow refunds."], ["policy"], "What is your policy on refunds?")
    'answered'

    ```
    """
    if not any(WRITTEN.search(text) for text in texts):
        return "empty"
    if _only_prepares(texts, kinds):
        return "promise"
    asks_about = bool(ask) and bool(_ASKS_IF.search(ask.lower()))
    if "declined" in kinds:
        told = (asks_about and _is_ruled(texts)) or (bool(ask) and bool(_ASKS_ABLE.search(ask.lower())))
        return "answered" if told or is_partial(texts) else "declined"
    if "answered" in kinds:
        if not ask or len(texts) > 1 or not _NO.match(texts[0]):
            return "answered"
        return "answered" if asks_about else "declined"
    if "talk" in kinds:
        if not ask:
            return "talk"
        if not _wants_it_done(ask):
            return "answered"
    if "elsewhere" in kinds and "policy" not in kinds:
        # "Which fund should I buy?" is not answered by whom to ask, "where can I ask?" is.
        return "answered" if ask and _ASKS_WHOM.search(ask.lower()) else "declined"
    if "policy" in kinds:
        return "answered" if asks_about else "declined"
    heard = all(_HEARD.match(text) for text in texts if WRITTEN.search(text))
    announced = "promise" in kinds and len(kinds) > 1 and kinds[0] == "filler"
    if (
        asked_for_text
        and not heard
        and not announced
        and not ("promise" in kinds and any(_ON_IT.search(text) for text in texts))
    ):
        return "answered"
    # Cheering around a promise is no answer; on its own it says something.
    if "promise" in kinds:
        timed = bool(ask) and bool(_ASKS_WHEN.search(ask.lower())) and any(_TIMED.search(text) for text in texts)
        told = bool(ask) and bool(_ASKS_NEXT.search(ask.lower())) and not all(map(_AGENT_ACTS.match, texts))
        return "answered" if timed or told else "promise"
    if "musing" in kinds:
        return "filler" if len(set(kinds)) > 1 or not ask or _wants_it_done(ask) else "answered"
    return "answered" if "cheer" in kinds and "talk" not in kinds else "filler"
