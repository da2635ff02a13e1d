"""Whether a reply answers: it is not empty, not only filler or a promise, and does not decline the task.

Every sentence is of a kind: filler, a promise, a refusal, a policy or another address instead of an answer, content.
A report that something failed in the world is content: the agent did try. A refusal beside something done or told is
a partial answer, which counts as one; a refusal beside its reasons, apologies and offers of other things does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whileai_hf.markers.style import apology, sycophancy
from whileai_hf.markers.style.apology import apologises
from whileai_hf.markers.style.boilerplate import is_filler
from whileai_hf.markers.style.replies import BLOCK, QUOTED
from whileai_hf.markers.style.rules import rule, words
from whileai_hf.markers.style.sycophancy import flatters


# One of these is in every sentence of three words or more that is not content.
WORDS = words("answering")

_PROMISE = rule("answering", "promise")
_WAITS = rule("answering", "waits")
_LATER = rule("answering", "later")
_ACK = rule("answering", "ack")
_THANKS = rule("answering", "thanks")
_COURTESY = rule("answering", "courtesy")
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
_POLICY = rule("answering", "policy")
_ASKS_IF = rule("answering", "asks_if")
_ASKS_ABLE = rule("answering", "asks_able")
_ELSEWHERE = rule("answering", "elsewhere")
_BUT = rule("answering", "but")
_REQUEST = rule("answering", "request")
_OFFER = rule("answering", "offer")
_MUSING = rule("answering", "musing")
# What only says that something was heard.
_HEARD = rule("answering", "heard")
_RESULT = rule("answering", "result")
_STEP = rule("answering", "step")
_NO = rule("answering", "no")
_ASKS_WHEN = rule("answering", "asks_when")
_ASKS_WHOM = rule("answering", "asks_whom")
_ASKS_NEXT = rule("answering", "asks_next")
_TELLS = rule("answering", "tells")
_TALKING = re.compile(r"\b(?:i|we|me|us|my|our|mine|ours|you|your|yours|nobody|everyone|everybody|anyone)\b")
_AGENT_ACTS = re.compile(r"(?:i|we|let me|one moment|hold|please)\b")
_REQUESTED = rule("answering", "requested")
_TIMED = re.compile(r"\d|\b(?:within|days?|weeks?|hours?|tomorrow|tonight|noon|\w+day)\b")
_HENCE = rule("answering", "hence")
_ACTED = rule("answering", "acted")
_ON_IT = rule("answering", "on_it")
_TALK = words("filler", "talk")
_CARE = words("filler", "care")
_CLOSED = _TALK | words("filler", "rest")
_SPLIT = rule("answering", "split")
_WRITTEN = re.compile(rf"\w|[{BLOCK}{QUOTED}]")
_AGENT = re.compile(r"\b(?:i|we|me|us|my|our|no can do|sorry|help)\b")
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


def _does_something(clause: str) -> bool:
    """Whether a clause beside a refusal does or tells something of what was asked."""
    clause = clause.strip(" ,.;:-")
    if not clause or _ELSEWHERE.search(clause) or declines(clause):
        return False
    if BLOCK in clause or QUOTED in clause or _STEP.match(clause):
        return True
    return bool(_RESULT.search(clause)) and not (
        _POLICY.search(clause) or _PROMISE.match(clause) or _COURTESY.search(clause)
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
        if text.endswith("?") and _REQUEST.search(text) and not _OFFER.search(text):
            return True
        clauses = _SPLIT.split(text)
        if at < reasons:
            clauses = [clause for clause in clauses if _ACTED.match(clause) or clause in (BLOCK, QUOTED)]
        if any(_does_something(clause) for clause in clauses):
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
    if not _WRITTEN.search(text) or _ACK.match(text) or is_filler(text) or _says_nothing(text):
        return True
    if _FACT.search(text) or _RESULT.search(text):
        return False
    if _REQUEST.search(text):
        return False
    if _THANKS.match(text) or _COURTESY.search(text) or _only_cares(text):
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
    if _PROMISE.match(text) or (_LATER.search(text) and not _FACT.search(text) and not _ACTED.match(text)):
        # "Let's see: it shipped on Monday."
        told = _TOLD.split(text, maxsplit=1)[1:]
        if told and told[0].strip():
            return kind_of(told[0])
        return "answered" if _WAITS.search(text) and not _LATER.search(text) else "promise"
    if _is_empty_talk(text):
        return "filler"
    if _POLICY.search(text) and _OURS.search(text) and not _RESULT.search(text):
        return "policy"
    if _ELSEWHERE.match(text) and not (_ADDRESS.search(text) or (":" in text and _FACT.search(text))):
        return "elsewhere"
    if _MUSING.search(text) and not (_FACT.search(text) or _RESULT.search(text) or _WORLD.search(text)):
        return "musing"
    if _FACT.search(text) or _RESULT.search(text):
        return "answered"
    if text.endswith("!"):
        return "cheer"
    if not _TALKING.search(text) or text.endswith("?") or _STEP.match(text):
        return "answered"
    return "answered" if _TELLS.search(text) or _WORLD.search(text) or _REQUEST.search(text) else "talk"


def _wants_it_done(ask: str) -> bool:
    """Whether a user wants something done, rather than to know something."""
    return "?" not in ask or bool(_REQUESTED.search(ask.lower()))


def _is_ruled(texts: Sequence[str]) -> bool:
    """Whether a rule is stated and nobody refuses: to "may I smoke here?" that is the answer."""
    return not any(_AGENT.search(text) for text in texts if declines(text))


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
    if not any(_WRITTEN.search(text) for text in texts):
        return "empty"
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
    heard = all(_HEARD.match(text) for text in texts if _WRITTEN.search(text))
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
