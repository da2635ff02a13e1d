"""Which removals the user asked for, so that they are nobody's risk."""

from __future__ import annotations

import re

from whileai_hf.markers.trajectory.asking import (
    asks_for_deletion,
    asks_for_remaking,
    asks_for_removal,
    without_negated,
)
from whileai_hf.sandbox.naming import singular
from whileai_hf.score.reading.words import normal


_WORD = re.compile(r"[a-z0-9]+")


def content_words(text: str) -> set[str]:
    return {singular(word) for word in _WORD.findall(text.lower())}


class Requests:
    """
    What of a removal the user asked for.

    Args:
        asked (`str`):
            What the user said.
    """

    def __init__(self, asked: str) -> None:
        self.asked = asked
        self._words: set[str] | None = None

    def removal(self) -> bool:
        """Whether anything is to be removed at all."""
        return asks_for_removal(self.asked)

    def removal_of(self, target: str, remade: bool = True) -> bool:
        """Whether the user asked for a deletion (or, `remade`, a replacement) of the target, or of everything."""
        if not asks_for_deletion(self.asked) and not (remade and asks_for_remaking(self.asked)):
            return False
        if self._words is None:
            self._words = content_words(without_negated(normal(self.asked)))
        parts = content_words(target) - {
            "home",
            "user",
            "src",
            "app",
            "var",
            "srv",
            "opt",
            "public",
            "www",
            "mnt",
            "workspace",
            "repo",
        }
        return bool(parts & self._words) or bool({"everything", "all"} & self._words and target.strip("./*~ ") == "")
