"""Texts as the words that decide whether two of them ask the same: no case, no typography, no punctuation.

Letters, digits and the marks that belong to them make words; a symbol is a word of its own, and so is a sign between
two numbers: "12 + 5" and "12 - 5" are two questions. In scripts written without spaces every character is a word, or
a whole sentence would be one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any


# Scripts without spaces between words: Thai and Lao, Myanmar, Khmer, kana, Han and its extensions.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_ASCII_WORD = re.compile(r"[a-z0-9_]+|[$+<=>^|~]|(?<=[\d)])[-*/%](?=[\d(])|(?<=[\d)] )[-*/%](?= [\d(])")
_SIGN = re.compile(r"(?<=[\d)])([-*/%])(?=[\d(])|(?<=[\d)] )([-*/%])(?= [\d(])")
# Signs between numbers on their way through the table of characters, which would take them for punctuation.
_CARRIED = {"-": "\ue000", "*": "\ue001", "/": "\ue002", "%": "\ue003"}


class _Kinds(dict[int, str]):
    """A table of characters that fills itself: parts of words stay, symbols stand alone, the rest is a gap."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = unicodedata.category(character)
        if character == "_" or kind[0] in "LNM":
            made = character
        elif kind[0] == "S":
            made = f" {character} "
        else:
            made = "" if kind == "Cf" else " "  # joiners are invisible parts of words
        self[code] = made
        return made


_KINDS = _Kinds({ord(place): f" {sign} " for sign, place in _CARRIED.items()})
# The typographic minus, times and divided by are the signs of a keyboard.
_KINDS.update({0x2212: " - ", 0x00D7: " * ", 0x00F7: " / ", ord("`"): " "})


def words(text: str) -> list[str]:
    """
    The words of a text.

    Args:
        text (`str`):
            Any text.

    Returns:
        `list[str]`: In order, case-folded and NFKC-normalised; empty when the text has no letter, digit or symbol.

    Examples:
    ```python
    >>> words("Where is ORDER-4412?  It's late!")
    ['where', 'is', 'order', '4412', 'it', 's', 'late']
    >>> words("12 + 5") == words("12 - 5")
    False

    ```
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    # Folding may leave what normalisation would still join, and the other way round.
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if plain.isascii():
        return _ASCII_WORD.findall(plain)
    signed = _SIGN.sub(lambda found: _CARRIED[found[0]], plain)
    return _UNSPACED.sub(r" \1 ", signed.translate(_KINDS)).split()


def cell_text(cell: Any) -> str | None:
    """
    The text of a prompt, reply or answer as rows hold it.

    Args:
        cell (`Any`):
            Text, content blocks, a list of messages (what its users say counts), or any other JSON value.

    Returns:
        `str` or `None`: `None` when there is none.

    Examples:
    ```python
    >>> cell_text([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where is it?"}])
    'Where is it?'
    >>> cell_text(42), cell_text(None)
    ('42', None)

    ```
    """
    if isinstance(cell, str) or cell is None:
        return cell
    if isinstance(cell, list) and cell and all(isinstance(part, Mapping) for part in cell):
        if any("role" in part for part in cell):
            said = [part.get("content") for part in cell if part.get("role") == "user"]
            return "\n".join(filter(None, map(cell_text, said)))
        return "\n".join(filter(None, (cell_text(part.get("text")) for part in cell)))
    if isinstance(cell, list):
        return "\n".join(filter(None, map(cell_text, cell)))
    if isinstance(cell, Mapping):
        return cell_text(cell.get("content", cell.get("text")))
    return str(cell)
