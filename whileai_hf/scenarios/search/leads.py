"""Tasks worth a second look, and the variants of them that are left to try."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from whileai_hf.scenarios.search.drafts import Draft


# Leads kept; what is older has had its turn.
_MOST = 64


class Leads:
    """The latest leads; each gives one variant when its turn comes, the newest ones first."""

    def __init__(self) -> None:
        self._open: deque[Iterator[list[Draft]]] = deque()

    def __bool__(self) -> bool:
        return bool(self._open)

    def note(self, variants: Iterator[list[Draft]]) -> None:
        """Takes note of a task, given as its variants; they are made when they are drawn."""
        self._open.appendleft(variants)
        if len(self._open) > _MOST:
            self._open.pop()

    def next(self) -> list[Draft]:
        """The next variant, none when nothing is left to try."""
        while self._open:
            variants = self._open.popleft()
            found = next(variants, None)
            if found is not None:
                self._open.append(variants)
                return found
        return []
