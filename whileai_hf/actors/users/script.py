"""The `script` column of a task: which turns of the person are fixed, which are simulated, what is asserted when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.errors import DataError


_ENTRY = 'a {"user": text}, a {"simulate": true or a number of turns} or an {"expect": {...}}'
_EXPECTATIONS = ("tool", "arguments", "says", "not_says", "no_calls")


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry: a fixed `user` text, `simulate` up to so many turns (`-1`: until the user is done), or `expect`."""

    user: str | None = None
    simulate: int = 0
    expect: Mapping[str, Any] | None = None


def _texts(value: Any) -> bool:
    texts = value if isinstance(value, list | tuple) else [value]
    return bool(texts) and all(isinstance(text, str) and text for text in texts)


def pattern_of(text: str) -> re.Pattern[str] | None:
    """The regular expression of a text written as `/.../`, else `None`."""
    return re.compile(text[1:-1], re.IGNORECASE | re.DOTALL) if len(text) > 2 and text[0] == text[-1] == "/" else None


def _expectation(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise DataError(f"{where} expects {value!r:.60}; make it a dict with {', '.join(_EXPECTATIONS)}.")
    for key, wanted in value.items():
        if key not in _EXPECTATIONS:
            raise DataError(f"{where} expects {key!r}, which is none of {', '.join(_EXPECTATIONS)}.")
        if key in ("tool", "says", "not_says") and not _texts(wanted):
            raise DataError(f"{where} expects {key}={wanted!r:.60}; make it a string or a list of strings.")
        if key == "no_calls" and not isinstance(wanted, bool):
            raise DataError(f"{where} expects no_calls={wanted!r:.60}; make it true or false.")
        if key == "arguments" and not (isinstance(wanted, Mapping) and "tool" in value):
            raise DataError(f"{where} expects arguments={wanted!r:.60}; make it a dict beside the tool's name.")
        for text in (wanted if isinstance(wanted, list | tuple) else [wanted]) if key in ("says", "not_says") else ():
            try:
                pattern_of(text)
            except re.error as error:
                raise DataError(
                    f"{where} expects {key}={text!r:.60}, which is no regular expression: {error}."
                ) from None
    return value


def read_script(script: Any) -> tuple[Turn, ...]:
    """
    A task's script, checked.

    Args:
        script (`list[dict]`, *optional*):
            Entries in order: `{"user": text}` says a fixed turn, `{"simulate": true}` leaves the turns to the
            simulated user until it is done (`{"simulate": 2}`: at most two), `{"expect": {...}}` asserts something
            about what the agent did since the person last spoke: `tool` (called, with `arguments` if given),
            `no_calls`, `says`, `not_says` (text, or a regular expression between slashes). The prompt is always
            the first turn.

    Returns:
        `tuple[Turn, ...]`: Empty without a script.

    Raises:
        [`DataError`]: With the index of the entry that cannot be read.

    Examples:
    ```python
    >>> read_script([{"expect": {"no_calls": True}}, {"user": "A-77."}, {"simulate": True}])[1].user
    'A-77.'

    ```
    """
    if script is None:
        return ()
    if isinstance(script, str | Mapping) or not isinstance(script, Sequence):
        raise DataError(f"the task's script is {script!r:.60}; make it a list, each entry {_ENTRY}.")
    turns = []
    for index, entry in enumerate(script):
        where = f"the task's script[{index}]"
        if isinstance(entry, Mapping) and entry.keys() == {"role", "content"} and entry["role"] == "user":
            entry = {"user": entry["content"]}  # as a chat API writes it
        if (
            not isinstance(entry, Mapping)
            or len(entry) != 1
            or next(iter(entry)) not in ("user", "simulate", "expect")
        ):
            raise DataError(f"{where} is {entry!r:.60}; make it {_ENTRY}.")
        ((kind, value),) = entry.items()
        if kind == "user":
            if not isinstance(value, str) or not value.strip():
                raise DataError(f"{where} has user {value!r:.60}; make it what the person says.")
            turns.append(Turn(user=value))
        elif kind == "simulate":
            number = isinstance(value, int) and not isinstance(value, bool) and value > 0
            if value is not True and not number:
                raise DataError(f"{where} has simulate {value!r:.60}; make it true or a number of turns.")
            turns.append(Turn(simulate=-1 if value is True else value))
        else:
            turns.append(Turn(expect=_expectation(value, where)))
    return tuple(turns)
