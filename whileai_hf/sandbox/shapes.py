"""The format of an identifier, read from the example a description shows: `'ZFA04Y'`, `'sara_doe_496'`, `'ORD-1234'`.

[`like`] writes another value in that format and [`shape_of`] recognises one. What a description means beyond its
quoted examples (dates, time zones, paths) is `strings.py`'s business.
"""

from __future__ import annotations

import re
from functools import lru_cache

from whileai_hf.rows.rng import Draws
from whileai_hf.sandbox.words import FIRST_NAMES, LAST_NAMES


# What introduces an example in a description.
_CUE = re.compile(
    r"(?:such as|for example|e\.\s?g\.|for instance|\blike\b|examples?\b(?: is| are)?|format(?: is)?)[,:]?\s*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""['"`\u2018\u201c]([^'"`\u2018\u2019\u201c\u201d]{1,60})['"`\u2019\u201d]""")
# Between two examples of one list.
_SEPARATOR = re.compile(r"\s*(?:,|\bor\b|\band\b|/)*\s*")
# An unquoted example counts only when it cannot be an ordinary word.
_BARE = re.compile(r"(?=[\w#./:-]*\d)[A-Za-z#][\w#./:-]*[\w]")
_SEGMENT = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]+")
_HEX = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{6,}")
_UPPER_ALNUM = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_PEOPLE = frozenset(name.lower() for name in (*FIRST_NAMES, *LAST_NAMES, "john", "jane", "smith"))
_FIRST = frozenset(name.lower() for name in (*FIRST_NAMES, "john", "jane"))


@lru_cache(maxsize=4096)
def shown_examples(description: str) -> tuple[str, ...]:
    """
    The example values a description shows.

    Examples:
    ```python
    >>> shown_examples("The payment id, such as 'credit_card_7815826', 'gift_card_7815826'.")
    ('credit_card_7815826', 'gift_card_7815826')
    >>> shown_examples("Ticket key, e.g. OPS-123")
    ('OPS-123',)

    ```
    """
    found: list[str] = []
    for cue in _CUE.finditer(description):
        at = cue.end()
        while (quoted := _QUOTED.match(description, at)) is not None:
            found.append(quoted.group(1))
            separator = _SEPARATOR.match(description, quoted.end())
            at = separator.end() if separator else quoted.end()
        if not found and (bare := _BARE.match(description, at)) is not None:
            found.append(bare.group(0))
    return tuple(dict.fromkeys(found))


def _digits(count: int, draws: Draws) -> str:
    return str(draws.integer(1, 9)) + "".join(str(draws.integer(0, 9)) for _ in range(count - 1))


def _mixed(segment: str, draws: Draws) -> str:
    """Another segment of letters and digits: a fixed prefix keeps its letters, a code has none to keep."""
    prefix = re.fullmatch(r"([A-Za-z]+)(\d{2,})", segment)
    if prefix is not None and prefix.group(1).isupper() and len(prefix.group(1)) >= 2:
        return prefix.group(1) + _digits(len(prefix.group(2)), draws)
    if _HEX.fullmatch(segment):
        return "".join(draws.pick("0123456789abcdef") for _ in segment)
    code = [draws.pick(_UPPER_ALNUM[:24]), *(draws.pick(_UPPER_ALNUM) for _ in segment[2:]), str(draws.integer(2, 9))]
    text = "".join(code[:1] + draws.shuffled(code[1:]))
    return text if segment.isupper() or not segment.islower() else text.lower()


def like(example: str, draws: Draws) -> str:
    """
    Another value in the format of `example`.

    Digits become other digits, names other names, codes other codes; the words around them stay.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> value = like("credit_card_7815826", rng(0, "payment"))
    >>> value.startswith("credit_card_") and value != "credit_card_7815826"
    True

    ```
    """
    parts = []
    for segment in _SEGMENT.findall(example):
        if segment.isdigit():
            parts.append(_digits(len(segment), draws))
        elif segment.isalpha():
            lowered = segment.lower()
            if lowered in _PEOPLE:
                name = draws.pick(FIRST_NAMES if lowered in _FIRST else LAST_NAMES)
                segment = name.lower() if segment.islower() else name
            parts.append(segment)
        elif segment.isalnum():
            parts.append(_mixed(segment, draws))
        else:
            parts.append(segment)
    return "".join(parts)


@lru_cache(maxsize=4096)
def shape_of(example: str) -> re.Pattern[str]:
    """
    A pattern that accepts values in the format of `example`, whatever their letters and digits.

    Examples:
    ```python
    >>> bool(shape_of("ZFA04Y").fullmatch("8JX2WO")), bool(shape_of("ZFA04Y").fullmatch("my order"))
    (True, False)

    ```
    """
    parts = []
    for segment in _SEGMENT.findall(example):
        if segment.isdigit():
            parts.append(r"\d+")
        elif segment.isalpha():
            parts.append(r"[A-Za-z]+")
        elif segment.isalnum():
            parts.append(f"[A-Za-z0-9]{{{len(segment)}}}")
        else:
            parts.append(re.escape(segment))
    return re.compile("".join(parts))
