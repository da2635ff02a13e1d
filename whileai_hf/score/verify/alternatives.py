"""Whether a reply offers an answer only as one of several: "41, 42 or 43", or nothing but a list."""

from __future__ import annotations

import re


# Characters on each side of an answer in which the list it belongs to is looked for.
_REACH = 300
# Items from which a list of alternatives is no answer; one without an "or", and not of numbers, may be a place or an
# address ("Springfield, Illinois, USA") and has to be longer.
_JOINED, _BARE = 3, 5
_ITEM_CHARS = 40
# Words that another item may have more than the answer; longer ones are clauses ("refundable, or you can rebook").
_MORE_WORDS = 1
_DRESS = " *_`\"'()$"

_STOP = re.compile(r"[.!?:](?=\s|$)")
_SEPARATOR = r",?\s(?:or|oder|ou|или)\s|,\s|;\s|\s?[/|]\s?"
_PARTED = re.compile(f"({_SEPARATOR})")
_OR = re.compile(r",?\s(?:or|oder|ou|или)\s|\s?[/|]\s?")
_BULLET = re.compile(r"^(?:[-*•]|\(?\w{1,2}[.)])\s+")
_AND = re.compile(r"\s(?:and|und|et|y)\s|&", re.IGNORECASE)
# Words that begin a clause and no item.
_CLAUSE = re.compile(
    r"(?:the|it|its|is|are|was|were|has|have|will|i|you|we|he|she|they|this|that|there|of|to|in|on|for|with|at|by|from"
    r"|so|as|if|but|because|since|yes|no|not|sure|please|thanks|then|which|who|your|my|our)\b",
    re.IGNORECASE,
)
_NUMBERLIKE = re.compile(r"[\W_]*\d[\d.,%\s]*\W*")


def one_of_several(text: str, start: int, end: int) -> bool:
    """
    Whether the answer at a place is a member of a list joined by "or", of three or more.

    Args:
        text (`str`):
            A text in lower case and with single spaces.
        start (`int`):
            Where the answer begins.
        end (`int`):
            Where it ends.

    Examples:
    ```python
    >>> one_of_several("it could be 41, 42 or 43.", 16, 18), one_of_several("it is 42, or so i think", 6, 8)
    (True, False)

    ```
    """
    before = text[max(0, start - _REACH) : start]
    stops = list(_STOP.finditer(before))
    before = before[stops[-1].end() :] if stops else before
    behind = text[end : end + _REACH]
    stop = _STOP.search(behind)
    behind = behind[: stop.start()] if stop else behind
    # Items and separators in turn; the answer has to be the whole of its own item, but for a lead-in and a tail.
    left, right = _PARTED.split(before)[::-1], _PARTED.split(behind)
    if (len(left) > 1 and left[0].strip(_DRESS)) or (len(right) > 1 and right[0].strip(_DRESS)):
        return False
    words = text[start:end].count(" ") + 1 + _MORE_WORDS
    members, joined = _members(right[1:], words, on_the_right=True)
    others, chosen = _members(left[1:], words, on_the_right=False)
    return (joined or chosen) and members + others + 1 >= _JOINED


def _members(pieces: list[str], words: int, *, on_the_right: bool) -> tuple[int, bool]:
    """How many items of the list stand on one side of the answer, and whether an "or" joins them to it."""
    count, joined = 0, False
    for at in range(0, len(pieces), 2):
        either = _OR.fullmatch(pieces[at]) is not None
        if either and not on_the_right and at and not joined:
            break  # "a or b, c, ANSWER"
        if not either and on_the_right and joined:
            break  # "ANSWER, b or c, and so on"
        joined = joined or either
        long = pieces[at + 1].strip(_DRESS).count(" ") >= words
        last = at + 2 >= len(pieces)
        if long and not last and not (either and on_the_right):
            break
        count += 1
        if long:
            break
    return count, joined


def only_a_list(reply: str) -> bool:
    """
    Whether a reply is nothing but a list of things, and no enumeration that ends in "and".

    Examples:
    ```python
    >>> only_a_list("41, 42, 43"), only_a_list("Springfield, Illinois, USA"), only_a_list("It is 42, 43 and 44")
    (True, False, False)

    ```
    """
    if len(reply) > 20 * _ITEM_CHARS or _AND.search(reply):
        return False
    pieces = [piece for line in reply.splitlines() for piece in _PARTED.split(line.strip())[::2]]
    items = [_BULLET.sub("", piece).strip(" .*_`\"'") for piece in pieces]
    items = list(dict.fromkeys(item for item in items if item))
    if len(items) < _JOINED or any(len(item) > _ITEM_CHARS for item in items):
        return False
    if all(map(_NUMBERLIKE.fullmatch, items)):
        return True
    return len(items) >= _BARE and not any(item.count(" ") > 2 or _CLAUSE.match(item) for item in items)
