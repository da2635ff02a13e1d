"""The values of an ask: which ones a message must hold, whether it does, and which ones it holds besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from whileai_hf.sandbox.knowledge import id_tokens


# Addresses and paths name records just as ids do.
_ADDRESS = re.compile(r"https?://[^\s\"'<>]+|[\w.+-]+@[\w-]+\.[\w.-]*\w|(?<!\S)~?/[\w.-]+/[^\s\"'<>]+")
_QUOTED = re.compile(r"\"([^\"\n]{2,200})\"")
_NUMBER = re.compile(r"(?<![\w.,:/-])\d(?:[\w.,:/-]*\w)?")
# What stands at the end of a sentence and belongs to no value.
_ENDINGS = ".,;:!?)"


def scalars(value: Any) -> Iterator[str]:
    """The values in arguments a person can write out: text and numbers, at any depth; a yes or no has no wording."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from scalars(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from scalars(item)
    elif value is not None and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def values_of(calls: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """
    What the arguments of some calls hold, each value once.

    Examples:
    ```python
    >>> values_of([{"tool": "refund", "arguments": {"order_id": "ORD-7", "amount": 45.5, "notify": True}}])
    ('ORD-7', '45.5')

    ```
    """
    return tuple(dict.fromkeys(text for call in calls for text in scalars(call.get("arguments"))))


def records_in(text: str) -> list[str]:
    """The ids, addresses and paths a text names: for the world, these are records that exist."""
    addresses = [match.group(0).rstrip(_ENDINGS) for match in _ADDRESS.finditer(text)]
    return list(dict.fromkeys([*addresses, *(token for _, token in id_tokens(_ADDRESS.sub(" ", text)))]))


def marked_in(text: str) -> tuple[str, ...]:
    """
    The values of a message nobody kept the calls of: ids, addresses, what stands in quotation marks, numbers.

    Examples:
    ```python
    >>> marked_in('Refund ORD-7 for $45.50, the one with "Fragile" on it.')
    ('ORD-7', 'Fragile', '45.50')

    ```
    """
    found = [*records_in(text), *_QUOTED.findall(text)]
    rest = without(text, found)
    return tuple(dict.fromkeys([*found, *_NUMBER.findall(rest)]))


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters are of one word."""
    return (left.isalnum() or left == "_") and (right.isalnum() or right == "_")


def _ends(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a word of its own there; a number must not go on behind a point or comma."""
    goes_on = start and (_joined(text[start - 1], text[start]) or _decimal(text[max(0, start - 2) : start + 1]))
    return not goes_on and not (
        end < len(text) and (_joined(text[end - 1], text[end]) or _decimal(text[end - 1 : end + 2]))
    )


def _decimal(three: str) -> bool:
    return len(three) == 3 and three[0].isdigit() and three[1] in ".," and three[2].isdigit()


def _spans(text: str, value: str) -> Iterator[tuple[int, int]]:
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if _ends(text, at, end):
            yield at, end
        at = text.find(value, at + 1)


def _cuts(text: str, values: Iterable[str]) -> list[tuple[int, int]]:
    """Where the values stand, in order; the longest first, so that one inside another is not cut out of it."""
    kept = sorted({value.strip() for value in values} - {""}, key=lambda value: (-len(value), value))
    found: list[tuple[int, int]] = []
    for value in kept:
        for start, end in _spans(text, value):
            if all(end <= other or start >= stop for other, stop in found):
                found.append((start, end))
    return sorted(found)


def holds(text: str, value: str) -> bool:
    """
    Whether `value` stands in `text` exactly as it is, as a word of its own.

    Examples:
    ```python
    >>> holds("Refund $45 for ORD-7.", "45"), holds("Refund $45.50 for ORD-71.", "45"), holds("ord-7", "ORD-7")
    (True, False, False)

    ```
    """
    return not value.strip() or next(_spans(text, value.strip()), None) is not None


def outside(text: str, values: Iterable[str]) -> list[str]:
    """The parts of `text` between the values: what the person worded themselves."""
    parts, at = [], 0
    for start, end in _cuts(text, values):
        parts.append(text[at:start])
        at = end
    return [*parts, text[at:]]


def without(text: str, values: Iterable[str]) -> str:
    """`text` with a blank for each of the values."""
    return " ".join(outside(text, values))


def mapped(text: str, values: Iterable[str], change: Callable[[str], str]) -> str:
    """
    `text` changed everywhere but in the values.

    Examples:
    ```python
    >>> mapped("Where is ORD-7? It was for Mia.", ["ORD-7"], str.lower)
    'where is ORD-7? it was for mia.'

    ```
    """
    parts, at = [], 0
    for start, end in _cuts(text, values):
        parts += [change(text[at:start]), text[start:end]]
        at = end
    return "".join([*parts, change(text[at:])])
