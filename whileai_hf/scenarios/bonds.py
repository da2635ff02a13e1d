"""Values of one call that must fit together: an end after its start, two different places, no more extra than all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from whileai_hf.rows.rng import Draws
from whileai_hf.scenarios.values import Param


Bond = Callable[[dict[str, Any], Draws], None]

_OPPOSITES = (
    ("start", "end"),
    ("from", "to"),
    ("origin", "destination"),
    ("source", "target"),
    ("source", "destination"),
    ("old", "new"),
)
# Moments the world writes are between 08:00 and 20:00, so an hour later is the same day.
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T](?:0\d|1\d|2[0-2]):\d{2}.*")
# Redraws until two values that must differ do; pools are far larger.
_TRIES = 8


def _apart(first: Param, second: Param, ordered: bool) -> Bond:
    def bond(arguments: dict[str, Any], draws: Draws) -> None:
        if first.name not in arguments or second.name not in arguments:
            return
        for _ in range(_TRIES):
            if arguments[first.name] != arguments[second.name]:
                break
            arguments[second.name] = second.sample(draws)
        one, other = arguments[first.name], arguments[second.name]
        if (
            ordered
            and isinstance(one, str)
            and isinstance(other, str)
            and _MOMENT.fullmatch(one)
            and _MOMENT.fullmatch(other)
        ):
            # What starts at a time of day ends the same day.
            arguments[second.name] = one[:11] + f"{int(one[11:13]) + 1:02d}" + one[13:]
        elif ordered and isinstance(one, str) and isinstance(other, str) and other < one:
            arguments[first.name], arguments[second.name] = other, one

    return bond


def _within(part: Param, total: Param) -> Bond:
    def bond(arguments: dict[str, Any], draws: Draws) -> None:
        if part.name in arguments and total.name in arguments:
            arguments[part.name] = min(arguments[part.name], arguments[total.name])

    return bond


def bonds_of(params: Sequence[Param]) -> tuple[Bond, ...]:
    """
    What must hold between the values of a call.

    Args:
        params (`Sequence[Param]`):
            The parameters of the tool.

    Returns:
        `tuple[Callable, ...]`: Each takes the drawn arguments and repairs them in place.
    """
    by_words = {param.words: param for param in params}
    found: list[Bond] = []
    for words, param in by_words.items():
        for first, second in _OPPOSITES:
            other = (
                by_words.get(tuple(second if word == first else word for word in words)) if first in words else None
            )
            if other is not None and param.kind == other.kind and param.kind not in ("choice", "flag", "objects"):
                found.append(_apart(param, other, ordered=first == "start"))
        total = by_words.get(("total", *words[1:]))
        if total is not None and total is not param and param.kind == total.kind == "number":
            found.append(_within(param, total))
    return tuple(found)
