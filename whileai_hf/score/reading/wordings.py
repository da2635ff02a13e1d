"""Lists of patterns asked for as one: whether any of them is in a text, and where the first is.

Each list is the alternation of its patterns, which would be tried one after the other at every place of the text. Here
the words of the text first tell which of them can match at all (`needles`), and only those are compiled and tried.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from whileai_hf.score.reading.lazy import lazy
from whileai_hf.score.reading.needles import Needle, branches_of, needles_of


# Words whose patterns are remembered, and sets of patterns that are.
_WORDS, _SETS = 32_768, 8_192


@cache
def _lists() -> dict[str, list[str]]:
    loaded: dict[str, list[str]] = json.loads((Path(__file__).parent / "data" / "cues.json").read_text("utf-8"))
    return loaded


class _Index:
    """The needles of every list, a bit for each pattern."""

    def __init__(self) -> None:
        self.patterns: list[str] = []
        self._always = 0
        # By their first characters, the needles with the bits of the patterns that need one of them.
        self._needles: dict[str, dict[Needle, int]] = {}

    def add(self, patterns: list[str]) -> int:
        """Takes up the patterns of a list; their bits."""
        first = len(self.patterns)
        for at, pattern in enumerate(patterns, first):
            self.patterns.append(pattern)
            needles = needles_of(pattern)
            if needles is None:
                self._always |= 1 << at
            for needle in needles or ():
                alike = self._needles.setdefault(needle.text[:2], {})
                alike[needle] = alike.get(needle, 0) | 1 << at
        return (1 << len(self.patterns)) - (1 << first)

    def of_word(self, word: str) -> int:
        """The patterns that can match where this word stands."""
        bits = self._always
        for at in range(len(word)):
            for alike in (self._needles.get(word[at]), self._needles.get(word[at : at + 2])):
                for needle, its in alike.items() if alike is not None else ():
                    if bits & its != its and needle.is_at(word, at):
                        bits |= its
        return bits


@cache
def _index() -> tuple[_Index, dict[str, int]]:
    """All lists of `data/cues.json`, read together: a text is asked about by many of them."""
    index = _Index()
    return index, {
        name: index.add([branch for entry in entries for branch in branches_of(entry)])
        for name, entries in _lists().items()
    }


def pattern(name: str) -> re.Pattern[str]:
    """A list as one pattern, for what only a pattern can do."""
    return re.compile("|".join(_lists()[name]))


@lru_cache(maxsize=_WORDS)
def _of_word(word: str) -> int:
    return _index()[0].of_word(word)


def possible(text: str) -> int:
    """The patterns that can match somewhere in a text, by its words; a bit for each."""
    bits = _of_word("")  # those that no word is needed for
    for word in text.split():
        bits |= _of_word(word)
    return bits


@cache
def _compiled(at: int) -> re.Pattern[str]:
    return re.compile(_index()[0].patterns[at])


@lru_cache(maxsize=_SETS)
def _patterns(bits: int) -> tuple[re.Pattern[str], ...]:
    """The patterns of some bits, in the order of their list."""
    return tuple(_compiled(at) for at in range(bits.bit_length()) if bits >> at & 1)


class Cue:
    """
    A pattern that is compiled when it is first asked for, and hashed by what it is rather than by what it holds.

    Args:
        pattern (`str`):
            A regular expression over text in lower case.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    @lazy
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern)

    def found(self, text: str, words: int | None = None) -> bool:
        """Whether it is in a text."""
        return self._compiled.search(text) is not None

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """The first match in a text."""
        return self._compiled.search(text, start, end)

    def match(self, text: str) -> re.Match[str] | None:
        """The match at the beginning of a text."""
        return self._compiled.match(text)


class AnyCue(Cue):
    """Any of some cues."""

    def __init__(self, *cues: Cue) -> None:
        self._cues = cues

    def found(self, text: str, words: int | None = None) -> bool:
        """Whether one of them is in a text."""
        return any(cue.found(text, words) for cue in self._cues)


class Wordings(Cue):
    """
    A list of `data/cues.json` as a pattern that matches any of its entries.

    Args:
        name (`str`):
            Of the list.

    Examples:
    ```python
    >>> already = Wordings("already")
    >>> already.found("it was already refunded"), already.found("it is refunded")
    (True, False)

    ```
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.bits = _index()[1][name]

    def found(self, text: str, words: int | None = None) -> bool:
        """
        Whether one of the patterns is in a text.

        Args:
            text (`str`):
                In lower case.
            words (`int`, *optional*):
                What [`possible`] says of the text, or of one that it is a part of.
        """
        bits = (possible(text) if words is None else words) & self.bits
        return bits != 0 and any(pattern.search(text) is not None for pattern in _patterns(bits))

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """The first match in a text, of those at one place the one whose pattern is listed first."""
        bits = possible(text[:end]) & self.bits
        return _first(_patterns(bits), text, start, end) if bits else None

    def match(self, text: str) -> re.Match[str] | None:
        """The match at the beginning of a text."""
        bits = possible(text) & self.bits
        found = (pattern.match(text) for pattern in _patterns(bits))
        return next((match for match in found if match is not None), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in a text, none of which overlap."""
        bits = possible(text) & self.bits
        patterns, at = _patterns(bits), 0
        while bits and (match := _first(patterns, text, at, sys.maxsize)) is not None:
            yield match
            at = match.end()

    def sub(self, new: str, text: str) -> str:
        """A text with its matches replaced."""
        matches = list(self.finditer(text))
        if not matches:
            return text
        ends = [0, *(match.end() for match in matches)]
        starts = [*(match.start() for match in matches), len(text)]
        return new.join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _first(patterns: tuple[re.Pattern[str], ...], text: str, start: int, end: int) -> re.Match[str] | None:
    best: re.Match[str] | None = None
    for pattern in patterns:
        match = pattern.search(text, start, end)
        if match is not None and (best is None or match.start() < best.start()):
            best = match
    return best
