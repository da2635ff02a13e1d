"""Phrases with slots, read from text beside the code and drawn from quickly.

A phrase is plain text with `{slots}`. A slot is filled from what the writer knows about the row (`{noun}`, `{ask}`)
or else from a pool of the data files (`{weekday}`); pools may have slots themselves. Splitting happens once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from whileai_hf.rows.rng import Draws


_DATA = Path(__file__).parent / "data"
_SLOT = re.compile(r"\{(\w+)\}")


@cache
def data(name: str) -> Any:
    """The content of a JSON file of this room."""
    return json.loads((_DATA / f"{name}.json").read_text("utf-8"))


class Phrase:
    """
    One text with slots.

    Args:
        text (`str`):
            The text.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> Phrase("Something is wrong with my {noun}.").fill(rng(0, "x"), {"noun": "order"})
    'Something is wrong with my order.'

    ```
    """

    __slots__ = ("_parts", "_pools", "_slots", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # Odd positions are slots.
        self._parts = _SLOT.split(text)
        self._slots = tuple((index, self._parts[index]) for index in range(1, len(self._parts), 2))
        self._pools: dict[str, tuple[Phrase, ...]] = {}

    def fill(self, draws: Draws, known: Mapping[str, str]) -> str:
        """The text with every slot filled."""
        if not self._slots:
            return self.text
        filled = self._parts.copy()
        for index, name in self._slots:
            value = known.get(name)
            if value is None:
                options = self._pools.get(name)
                if options is None:
                    options = self._pools[name] = pool(name)
                option = draws.pick(options)
                value = option.fill(draws, known) if option._slots else option.text
            filled[index] = value
        return "".join(filled)


def phrases(texts: Sequence[str]) -> tuple[Phrase, ...]:
    """`texts` as phrases."""
    return tuple(Phrase(text) for text in texts)


@cache
def pool(name: str) -> tuple[Phrase, ...]:
    """The pool called `name` in `data/pools.json`."""
    return phrases(data("pools")[name])


@cache
def lines(file: str, *keys: str) -> tuple[Phrase, ...]:
    """The list at `keys` in a data file, as phrases."""
    found = data(file)
    for key in keys:
        found = found[key]
    return phrases(found)
