"""What a sentence of a reply does: it refuses, promises, says nothing, names a rule or another address, or answers.

A report that something failed in the world is content: the agent did try.
"""

from __future__ import annotations

import re

from whileai_hf.markers.style import apology, sycophancy
from whileai_hf.markers.style.apology import apologises
from whileai_hf.markers.style.boilerplate import is_filler
from whileai_hf.markers.style.replies import BLOCK, QUOTED
from whileai_hf.markers.style.rules import rule, words
from whileai_hf.markers.style.sycophancy import flatters


# One of these is in every sentence of three words or more that is not content.
WORDS = words("answering")

PROMISE = rule("answering", "promise")
_WAITS = rule("answering", "waits")
_LATER = rule("answering", "later")
_ACK = rule("answering", "ack")
_THANKS = rule("answering", "thanks")
COURTESY = rule("answering", "courtesy")
_DECLINE = rule("answering", "decline")
_WORLD_VERB = rule("answering", "world_verb")
_WORLD = rule("answering", "world")
_BY_RULE = re.compile(r"\b(?:policy|rules?|allowed|not permitted)\b")
_OURS = re.compile(
    r"\b(?:our|ours|we|us|my|i|company|store|against|(?:does|do) not (?:allow|permit|let|cover)|prohibit\w*|"
    r"forbids?|prevents?|bars?|not (?:allowed|permitted|eligible|possible)|no (?:exceptions?|refunds?)|"
    r"only|requires?)\b"
)
_MISSING = rule("answering", "missing")
_PAST = rule("answering", "past")
_PERMISSION = rule("answering", "permission")
_WISHES = rule("answering", "wishes")
_CONDITIONAL = rule("answering", "conditional")
POLICY = rule("answering", "policy")
ELSEWHERE = rule("answering", "elsewhere")
_BUT = rule("answering", "but")
REQUEST = rule("answering", "request")
_MUSING = rule("answering", "musing")
RESULT = rule("answering", "result")
STEP = rule("answering", "step")
_TELLS = rule("answering", "tells")
_TALKING = re.compile(r"\b(?:i|we|me|us|my|our|mine|ours|you|your|yours|nobody|everyone|everybody|anyone)\b")
ACTED = rule("answering", "acted")
_TALK = words("filler", "talk")
_CARE = words("filler", "care")
_CLOSED = _TALK | words("filler", "rest")
WRITTEN = re.compile(rf"\w|[{BLOCK}{QUOTED}]")
_FACT = re.compile(r"\d")
_ADDRESS = re.compile(r"\d{3}|@")
_TOLD = re.compile(r"[:;] | - ")
_LETTERS = re.compile(r"[\w'\u00a7\ufffc-]+")
# "You can do it here", "it is all there", "check it", "which one?" are told in the same words.
_TOLD_BY_FORM = re.compile(
    r"\b(?:you|they|those|these|it) (?:can|could|should|must|will|are|is|do|does|did|were|was|have)\b|"
    r"^(?!(?:so |but |and )?(?:what|where|how) do (?:we|i)\b).*\?|"
    r"^(?:please )?(?:check|start|wait|see|look|try|turn|take|put|get|reach|under|above|before)\b(?! you\b)"
)
_WITH_READER = re.compile(r"\b(?:i|we|us|our|my|me)\b|^(?:always|so|how|what|that|this|losing|being|having|it is)\b")
_PARTS = re.compile(r"[,;:]| - ")
# Words beside an apology that can tell something.
_TELLING = 3
# An apology of so many words says more than that the agent is sorry.
_SHORT_APOLOGY = 16


def declines(text: str) -> bool:
    """
    Whether a sentence refuses to act, which is not the same as having failed.

    Examples:
    ```python
    >>> declines("i am not able to process refunds."), declines("i could not find the order.")
    (True, False)

    ```
    """
    for found in _DECLINE.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _CONDITIONAL.search(before + found.group()[:3]) or _WISHES.search(text[found.start() :][:60]):
            continue
        if (
            _WORLD_VERB.search(after)
            or _MISSING.search(after)
            or _PAST.search(found.group())
            or _PERMISSION.search(text)
        ):
            continue
        if not _WORLD.search(text) or _BY_RULE.search(text):
            return True
    return False


def _only_cares(text: str) -> bool:
    """Whether a sentence only says how the agent feels about its reader."""
    said = frozenset(_LETTERS.findall(text))
    return not said.isdisjoint(_CARE) and bool(_WITH_READER.search(text))


def _says_nothing(text: str) -> bool:
    """Whether a sentence is made of words that tell nothing."""
    said = frozenset(_LETTERS.findall(text))
    return said <= _CLOSED and not said.isdisjoint(_TALK) and not _TOLD_BY_FORM.search(text)


def _is_empty_talk(text: str) -> bool:
    if not WRITTEN.search(text) or _ACK.match(text) or is_filler(text) or _says_nothing(text):
        return True
    if _FACT.search(text) or RESULT.search(text):
        return False
    if REQUEST.search(text):
        return False
    if _THANKS.match(text) or COURTESY.search(text) or _only_cares(text):
        return True
    said = frozenset(_LETTERS.findall(text))
    if not sycophancy.WORDS.isdisjoint(said) and flatters(text):
        return True
    if apology.WORDS.isdisjoint(said) or not apologises(text) or len(text.split()) >= _SHORT_APOLOGY:
        return False
    # "Sorry, the hall is closed" tells something.
    rest = [part for part in _PARTS.split(text) if not apologises(part) and not is_filler(part)]
    return all(len(part.split()) < _TELLING for part in rest)


def kind_of(text: str) -> str:
    """
    What a sentence does.

    Args:
        text (`str`):
            The sentence, as [`canonical`] writes it.

    Returns:
        `str`: `declined`, `promise`, `filler`, `policy` (a rule instead of an answer), `elsewhere` (another address),
        `cheer` (an exclamation without a fact), `musing` (something that holds of any topic), `talk` (words about
        the two who talk, which tell nothing) or `answered`.

    Examples:
    ```python
    >>> kind_of("i will look into it."), kind_of("happy to help!"), kind_of("it shipped.")
    ('promise', 'filler', 'answered')

    ```
    """
    if declines(text):
        return "declined"
    start = _BUT.match(text)
    if start and start.end() < len(text):
        return kind_of(text[start.end() :])
    if BLOCK in text or QUOTED in text:
        return "answered"
    if PROMISE.match(text) or (_LATER.search(text) and not _FACT.search(text) and not ACTED.match(text)):
        # "Let's see: it shipped on Monday."
        told = _TOLD.split(text, maxsplit=1)[1:]
        if told and told[0].strip():
            return kind_of(told[0])
        return "answered" if _WAITS.search(text) and not _LATER.search(text) else "promise"
    if _is_empty_talk(text):
        return "filler"
    if POLICY.search(text) and _OURS.search(text) and not RESULT.search(text):
        return "policy"
    if ELSEWHERE.match(text) and not (_ADDRESS.search(text) or (":" in text and _FACT.search(text))):
        return "elsewhere"
    if _MUSING.search(text) and not (_FACT.search(text) or RESULT.search(text) or _WORLD.search(text)):
        return "musing"
    if _FACT.search(text) or RESULT.search(text):
        return "answered"
    if text.endswith("!"):
        return "cheer"
    if not _TALKING.search(text) or text.endswith("?") or STEP.match(text):
        return "answered"
    return "answered" if _TELLS.search(text) or _WORLD.search(text) or REQUEST.search(text) else "talk"
