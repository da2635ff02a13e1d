"""Which words have to be in a text for an alternative of a rule to match it.

`rules/needles.json` lists them for every alternative: some one of the words is in whatever it matches. A line that is
not listed there, or that no word is needed for, is always tried, so the list decides speed and nothing else.
"""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from pathlib import Path


# Texts and words whose alternatives are remembered; a text is asked about by some fifty rules in a row.
_TEXTS, _WORDS = 256, 65_536


class Needles:
    """The needed words of all alternatives of all rules, a bit for each alternative."""

    @cached_property
    def _listed(self) -> dict[str, list[list[str]]]:
        path = Path(__file__).parent / "rules" / "needles.json"
        listed: dict[str, list[list[str]]] = json.loads(path.read_text("utf-8"))
        return listed

    @cached_property
    def _starts(self) -> dict[str, int]:
        starts, at = {}, 0
        for name, lines in self._listed.items():
            starts[name] = at
            at += len(lines)
        return starts

    @cached_property
    def _by_beginning(self) -> dict[str, list[tuple[str, int]]]:
        """By their first two characters, the words and the bits of the alternatives that need one of them."""
        masks: dict[str, int] = {}
        for name, lines in self._listed.items():
            for at, words in enumerate(lines, self._starts[name]):
                for word in words:
                    masks[word] = masks.get(word, 0) | 1 << at
        found: dict[str, list[tuple[str, int]]] = {}
        for word, mask in masks.items():
            found.setdefault(word[:2], []).append((word, mask))
        return found

    def bits(self, name: str, section: str, count: int) -> list[int]:
        """The bit of each of a section's `count` alternatives; -1 for one that is always tried."""
        lines = self._listed.get(f"{name}/{section}", [])
        if len(lines) != count:
            return [-1] * count
        start = self._starts[f"{name}/{section}"]
        return [start + at if words else -1 for at, words in enumerate(lines)]

    def of_word(self, word: str) -> int:
        """The alternatives that need something that is in a word."""
        mask = 0
        beginnings = self._by_beginning
        for at in range(len(word)):
            for length in (2, 1):
                for needle, bits in beginnings.get(word[at : at + length], ()) if at + length <= len(word) else ():
                    if word.startswith(needle, at):
                        mask |= bits
        return mask


NEEDLES = Needles()
_of_word = lru_cache(maxsize=_WORDS)(NEEDLES.of_word)


@lru_cache(maxsize=_TEXTS)
def bits_of(text: str) -> int:
    """The bits of the alternatives that need something that is in a text."""
    mask = 0
    for word in text.split():
        mask |= _of_word(word)
    return mask
