"""Stock assistant filler: an AI introducing itself, openers and closers that say nothing, offers of help in general.

The same words with content are none: "certainly" inside a statement, "let me know which order", "feel free to keep the
box". So an opener counts where it stands alone, and a closer where what it offers is anything at all.
"""

from __future__ import annotations

import re

from whileai_hf.markers.style.rules import rule, words


WORDS = words("boilerplate")

_OPENER = rule("boilerplate", "opener")
_OPENERS = rule("boilerplate", "opener", "unstopped")
_CLOSERS = rule(
    "boilerplate",
    *("can_help", "how_help", "hope", "let_know", "free", "hesitate", "else", "if_any", "open_end", "stock_phrase"),
    *("thanks", "empathy", "parting", "helped"),
)
_CARING, _CARED_FOR = words("boilerplate", "caring"), words("boilerplate", "cared_for")
_OF_US = re.compile(r"\b(?:we|us|our|i|me|my)\b")
_TOLD = re.compile(r"\d|\?|\b(?:if|score|department|hours|form|survey|report|plan|said|says|number)\b")
_WORD = re.compile(r"[a-z-]+")
_HELP = rule("boilerplate", "help")
_LEAD_STOCK = rule("boilerplate", "lead_stock")
_ONLY_STOCK = rule("boilerplate", "only_stock")
_SELF = rule("boilerplate", "self")
_SELF_START = rule("boilerplate", "self_start")
_ANSWERS_IDENTITY = rule("boilerplate", "answers_identity")
_ASKS_IDENTITY = rule("boilerplate", "asks_identity")
_DETAIL = rule("boilerplate", "detail")
_OWN = rule("boilerplate", "own")
_NOT_YET = rule("boilerplate", "not_yet")
# Beside "virtual assistant": something that is sold, not who speaks.
_ADD_ON = re.compile(
    r" (?:add-?on|plan|feature|app|licen[cs]e|subscription|tier|module|package|course|service|role|job|tab|button)\b"
)
_CONTENT = re.compile(r": ?\w|\bby \w+ing\b|\d")
_SAYS_SO = re.compile(r"\bi (?:am|was)\b")
# Words in front of "happy to help" that leave it the agent's own.
_SHORT_START = 2


def _offers_help(text: str) -> bool:
    """Whether a sentence offers help in general, the agent's own and not somebody else's."""
    for found in _HELP.finditer(text):
        before = text[max(0, found.start() - 50) : found.start()]
        if _NOT_YET.search(before):
            continue
        started = len(before.split()) <= _SHORT_START and not re.match(r"(?:she|he|they|the|it)\b", before)
        if (
            _OWN.search(before) or started or before.rstrip()[-1:] in (",", "!", ":", ";", "-")
        ) and not _DETAIL.search(text):
            return True
    return False


def _cares(text: str) -> bool:
    """Whether a sentence tells how much a customer is worth."""
    said = frozenset(_WORD.findall(text))
    if said.isdisjoint(_CARING) or said.isdisjoint(_CARED_FOR):
        return False
    return bool(_OF_US.search(text)) and not _TOLD.search(text)


def is_stock(text: str) -> bool:
    """
    Whether a sentence carries a stock opener, closer or offer.

    Examples:
    ```python
    >>> is_stock("let me know if you need anything else!"), is_stock("let me know which of the two you mean.")
    (True, False)

    ```
    """
    if _OPENERS.search(text) or _offers_help(text) or _cares(text):
        return True
    return bool(_CLOSERS.search(text)) and not _DETAIL.search(text)


def is_filler(text: str) -> bool:
    """
    Whether a sentence is stock filler and nothing else.

    Examples:
    ```python
    >>> is_filler("sure, i would be happy to help!"), is_filler("sure, here are the three steps:")
    (True, False)

    ```
    """
    if _OPENER.search(text) and (opener := _LEAD_STOCK.match(text)):
        rest = text[opener.end() :].lstrip(" ,!.:;~-")
        return len(rest.split()) <= 1 or is_filler(rest)
    return not _CONTENT.search(text) and (is_stock(text) or bool(_ONLY_STOCK.match(text)))


def introduces_itself(text: str) -> bool:
    """
    Whether a sentence says, without a yes or no to a question, that an AI speaks.

    Examples:
    ```python
    >>> introduces_itself("as an ai, i do not eat."), introduces_itself("yes, i am an ai assistant.")
    (True, False)

    ```
    """
    if _ANSWERS_IDENTITY.search(text):
        return False
    for found in _SELF.finditer(text):
        what = found.group()
        if what.startswith(("trained", "developed", "created", "made")):
            if _SAYS_SO.search(text[: found.start()]):
                return True
        elif _ADD_ON.match(text[found.end() :]):
            continue
        elif what.startswith(("my ", "i am", "since")) or _SELF_START.search(text[: found.start()]):
            return True
    return False


def asks_who(ask: str) -> bool:
    """
    Whether a user asks what the agent is; the answer is no filler then.

    Examples:
    ```python
    >>> asks_who("Am I talking to a bot?"), asks_who("Where is my order?")
    (True, False)

    ```
    """
    return bool(_ASKS_IDENTITY.search(ask.lower()))
