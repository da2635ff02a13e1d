"""
Which words every match of a style rule holds, worked out from the rules: what `rules/needles.json` lists.

A pattern is read as Python's own parser reads it. The pieces of plain text that it cannot match without are the
candidates; the one that occurs in the fewest sentences of the labelled replies is taken, as it is the best at sparing
the pattern a try.
"""

from __future__ import annotations

import json
import re._constants as constants
import re._parser as parser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from labelled import FOLDER

from whileai_hf.markers.style import rules
from whileai_hf.markers.style.replies import canonical, sentences


RULES = Path(rules.__file__).parent / "rules"
NEEDLES = RULES / "needles.json"
# Files of lists of words, and rules that are matched against text in its own case.
_WITHOUT = ("drafts", "filler", "praise")
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
# Every so many sentences are enough to count in.
_EVERY = 3
# So many words are looked up more slowly than the pattern is tried.
_MOST_WORDS = 400

Words = frozenset[str]


class NeedleMaker:
    """Chooses among the words that patterns need, by how rare they are in sentences of replies."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        self._holding: dict[str, frozenset[int]] = {}

    def _where(self, word: str) -> frozenset[int]:
        if word not in self._holding:
            self._holding[word] = frozenset(at for at, text in enumerate(self._texts) if word in text)
        return self._holding[word]

    def _cost(self, words: Words) -> tuple[float, list[str]]:
        if len(words) > _MOST_WORDS:
            return float("inf"), []
        tried = frozenset().union(*(self._where(word) for word in words))
        return len(tried) * 100 + len(words), sorted(words)

    def _needed(self, tokens: list[Any]) -> list[Words]:
        """Sets of words, of each of which one is in every text that a parsed pattern matches."""
        found: list[Words] = []
        written = ""
        for kind, told in [*tokens, (None, None)]:
            if kind is constants.LITERAL:
                written += chr(told)
                continue
            found += [frozenset([part]) for part in written.split() if any(map(str.isalnum, part))]
            written = ""
            if kind is constants.BRANCH:
                branches = [self._needed(list(branch)) for branch in told[1]]
                if all(branches):
                    found.append(frozenset().union(*(min(sets, key=self._cost) for sets in branches)))
            elif kind is constants.SUBPATTERN:
                found += self._needed(list(told[3]))
            elif kind in _REPEATS and told[0] >= 1:
                found += self._needed(list(told[2]))
            elif kind is constants.ASSERT:
                found += self._needed(list(told[1]))
            elif kind is constants.ATOMIC_GROUP:
                found += self._needed(list(told))
        return found

    def of(self, pattern: str) -> list[str]:
        """The words one of which is in whatever a pattern matches; none where there are no such words."""
        sets = self._needed(list(parser.parse(pattern)))
        return sorted(min(sets, key=self._cost)) if sets else []


def _said() -> list[str]:
    """Sentences of the labelled replies."""
    lines = (line for path in sorted(FOLDER.rglob("*.jsonl")) for line in path.read_text("utf-8").splitlines())
    rows = (json.loads(line)["row"] for line in lines if line.strip())
    replies = (row["final_text"] for row in rows if isinstance(row.get("final_text"), str))
    return [canonical(sentence) for reply in replies for sentence in sentences(reply)][::_EVERY]


def _sections() -> Iterable[tuple[str, str]]:
    """The rules that are lists of patterns."""
    for path in sorted(RULES.glob("*.txt")):
        if path.stem in _WITHOUT:
            continue
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("[") and line[1:-1].islower() and line[1:-1].isidentifier():
                yield path.stem, line[1:-1]


def make_needles() -> dict[str, list[list[str]]]:
    """What `rules/needles.json` is to list, by file and section."""
    maker = NeedleMaker(_said())
    skipped = {("boilerplate", "caring"), ("boilerplate", "cared_for")}
    return {
        f"{name}/{section}": [maker.of(line) for line in rules.alternatives(name, section)]
        for name, section in _sections()
        if section != "words" and (name, section) not in skipped
    }


def write_needles() -> None:
    """Writes `rules/needles.json`."""
    NEEDLES.write_text(json.dumps(make_needles(), separators=(",", ":")) + "\n", "utf-8")
