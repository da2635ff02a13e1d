"""The turns of phrase by which the checks and the template user know a sentence; they stand in `phrases.txt`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path


# Typographic quotation marks, single and double.
_STRAIGHT = str.maketrans({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
_NAME = re.compile(r"\{([a-z ]+)\}")


@cache
def _sections() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "phrases.txt").read_text("utf-8").splitlines():
        heading = re.fullmatch(r"\[([a-z ]+)\]", line)
        if heading:
            lines = found[heading[1]] = []
        elif line and not line.startswith("#"):
            lines.append(_NAME.sub(lambda match: f"(?:{'|'.join(found[match[1]])})", line))
    return {name: tuple(lines) for name, lines in found.items()}


@cache
def phrase(section: str) -> re.Pattern[str]:
    """
    One pattern for a whole section.

    Examples:
    ```python
    >>> bool(phrase("agent").search(plain("How can I help you today?")))
    True

    ```
    """
    return re.compile("|".join(f"(?:{line})" for line in _sections()[section]), re.IGNORECASE)


@cache
def beginning(section: str) -> re.Pattern[str]:
    """The pattern of a section with what follows in the sentence as the group `object`."""
    return re.compile(rf"\b(?:{'|'.join(_sections()[section])})(?P<object>[^.?!;\n]{{0,60}})", re.IGNORECASE)


@cache
def each(section: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a section one by one."""
    return tuple(re.compile(line, re.IGNORECASE) for line in _sections()[section])


def plain(text: str) -> str:
    """A text with straight apostrophes and quotation marks, as the patterns have them."""
    return text.translate(_STRAIGHT)
