"""What has to stand in a text for a pattern to match it: words read off the pattern itself.

A pattern over one sentence costs microseconds, a sentence is asked about some five hundred of them, and hardly any
can match it. Which ones can is told by their words, so these are taken out of each pattern, never written down beside
it. They decide speed and nothing else: what cannot be told is always tried.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Needle(NamedTuple):
    """Letters that stand inside one word of a match, and whether nothing of the word stands before or behind them."""

    text: str
    begins: bool
    ends: bool

    def is_at(self, word: str, at: int) -> bool:
        """Whether a word, which is what stands between two spaces, holds it at a place."""
        if not word.startswith(self.text, at) or (self.begins and at and _is_letter(word[at - 1])):
            return False
        end = at + len(self.text)
        return not (self.ends and end < len(word) and _is_letter(word[end]))


Needles = frozenset[Needle]
# A piece of a pattern: some letters, how a group opens, a class, an escape or a character; and how often it stands.
_PIECE = re.compile(
    r"([a-z' ]{2,}(?![?*+{])|\((?:\?(?:[:=!]|<[=!]))?|\[\^?(?:\\.|[^\]])+\]|\\u[0-9a-f]{4}|\\.|[^\\])"
    r"((?:[?*+]|\{\d*,?\d*\})[?+]?)?",
    re.DOTALL,
)
_OPENS = ("(", "(?:")


class _Piece(NamedTuple):
    """One piece; a group holds the alternatives inside it."""

    text: str
    times: str
    inside: list[list[_Piece]]

    @property
    def literal(self) -> str:
        """The characters it stands for; empty when it stands for no certain ones."""
        text = self.text
        if text[0] not in "([\\":
            return "" if text in ".^$" else text
        if text[:2] == "\\u":
            return chr(int(text[2:], 16))
        return text[1] if text[0] == "\\" and not text[1].isalnum() else ""

    @property
    def always(self) -> bool:
        """Whether it stands there at least once."""
        return self.times[:1] not in ("?", "*") and not self.times.startswith(("{0", "{,"))


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def _branches(pattern: str) -> list[list[_Piece]]:
    """The alternatives of a pattern, piece by piece."""
    around: list[tuple[list[list[_Piece]], str]] = []
    here: list[list[_Piece]] = [[]]
    for text, times in _PIECE.findall(pattern):
        if text == "|":
            here.append([])
        elif text[0] == "(":
            around.append((here, text))
            here = [[]]
            if times:
                raise ValueError(f"{pattern!r} has a group of a kind whose needles cannot be told")
        elif text == ")":
            inside, (here, opened) = here, around.pop()
            here[-1].append(_Piece(opened, times, inside))
        else:
            here[-1].append(_Piece(text, times, []))
    if around:
        raise ValueError(f"{pattern!r} has a group that does not close, so its needles cannot be told")
    return here


def branches_of(pattern: str) -> list[str]:
    """
    The alternatives of a pattern.

    Examples:
    ```python
    >>> branches_of(r"a(?:b|c)|[|]d")
    ['a(?:b|c)', '[|]d']

    ```
    """
    found, depth = [""], 0
    for text, times in _PIECE.findall(pattern):
        depth += (text[0] == "(") - (text == ")")
        if text == "|" and not depth:
            found.append("")
        else:
            found[-1] += text + times
    return found


def _weight(needles: Needles) -> int:
    return min([2 * len(text) + begins + ends for text, begins, ends in needles])


def _better(one: Needles | None, other: Needles | None) -> Needles | None:
    """Of two sets, each of which has one of its needles in every match, the more telling."""
    if not one or not other:
        return one or other
    return one if _weight(one) >= _weight(other) else other


def _of_run(run: str, begins: bool, ends: bool) -> Needles | None:
    """The needle in characters that stand side by side in every match."""
    words = run.split(" ")
    last = len(words) - 1
    found = None
    for at, word in enumerate(words):
        if word:
            begun, ended = (at > 0 or begins) and _is_letter(word[0]), (at < last or ends) and _is_letter(word[-1])
            found = _better(found, frozenset({Needle(word, begun, ended)}))
    return found


def _of_branches(branches: list[list[_Piece]], begins: bool, ends: bool) -> Needles | None:
    found = [_of_branch(branch, begins, ends) for branch in branches]
    every = [needles for needles in found if needles is not None]
    return frozenset[Needle]().union(*every) if len(every) == len(found) else None


def _of_branch(pieces: list[_Piece], begins: bool, ends: bool) -> Needles | None:
    best: Needles | None = None
    run, bordered = "", begins  # what stands side by side so far, and whether a word begins there
    for at, piece in enumerate(pieces):
        literal = piece.literal
        if literal and not piece.times:
            run += literal
            continue
        borders = piece.text in ("\\b", "$")
        best = _better(best, _of_run(run, bordered, borders))
        bordered = run.endswith(" ") if run else bordered
        if piece.text in _OPENS:
            after = pieces[at + 1] if at + 1 < len(pieces) else None
            closed = ends if after is None else not after.times and (after.text == "\\b" or after.literal[:1] == " ")
            if piece.always:
                once = not piece.times
                best = _better(best, _of_branches(piece.inside, bordered and once, closed and once))
            bordered = False
        elif literal:
            if piece.always and literal != " ":
                best = _better(best, frozenset({Needle(literal, False, False)}))
            bordered = False
        else:
            bordered = borders or piece.text == "^" or (bordered and piece.text[0] == "(")
        run = ""
    return _better(best, _of_run(run, bordered, ends))


def needles_of(pattern: str) -> Needles | None:
    """
    Needles one of which is in some word of every match of a pattern; `None` when that cannot be told.

    Args:
        pattern (`str`):
            Over text in one case, without flags, back references or named groups.

    Examples:
    ```python
    >>> sorted(needle.text for needle in needles_of(r"\\b(?:in vain|no (?:luck|reply))\\b"))
    ['luck', 'reply', 'vain']
    >>> needles_of(r"\\d+") is None
    True

    ```
    """
    return _of_branches(_branches(pattern), False, False)
