"""The lines of `points.jsonl`: points, notes, alarms and marks, in the order they happened.

Nothing is ever taken back from the file. Several lines of one step are one point, later values over earlier ones; a
run that went on from a checkpoint writes a mark, and what was logged after the checkpoint's step counts no more.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex

import orjson

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import canonical
from whileai_hf.store import read_lines


# Names a point uses itself.
STEP, TIME = "step", "time"


def read_step(step: SupportsIndex) -> int:
    """A step as an int; numpy integers are ints, `True` is not."""
    if isinstance(step, bool) or not isinstance(step, SupportsIndex) or operator.index(step) < 0:
        raise ConfigurationError(f"step is {step!r}; expected a whole number from 0 on, the steps of the optimizer")
    return operator.index(step)


def read_value(name: str, value: Any) -> float | int | bool | str | None:
    """A value as JSON holds it: numbers of numpy and torch as numbers, what is not finite as `None`."""
    if isinstance(value, bool | str):
        return str(canonical(value)) if isinstance(value, str) else value
    if isinstance(value, SupportsIndex) and not isinstance(value, float):
        try:
            whole = operator.index(value)
        except TypeError:  # a tensor of floats has the method, and refuses
            pass
        else:
            return whole if -(1 << 63) <= whole < 1 << 63 else float(whole)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigurationError(
            f"{name} is a {type(value).__name__} ({str(value)[:60]}); log one number or one text for each name"
        ) from error
    return number if math.isfinite(number) else None


def is_loggable(value: Any) -> bool:
    """Whether a value can be one of a point's."""
    if isinstance(value, str | bool | int | float):
        return True
    try:
        return isinstance(value, SupportsFloat) and isinstance(float(value), float)
    except (TypeError, ValueError, RuntimeError):  # an array or tensor of several
        return False


def point_line(step: int, values: Mapping[str, Any], time: float) -> bytes | None:
    """The line of a point, `None` when no value is left."""
    kept = {str(canonical(name)): read_value(name, value) for name, value in values.items() if value is not None}
    for reserved in (STEP, TIME):
        if reserved in kept:
            raise ConfigurationError(f"{reserved!r} names a column of every point; log the value under another name")
    return orjson.dumps({STEP: step, TIME: round(time, 3), **kept}) if kept else None


@dataclasses.dataclass(frozen=True)
class Logged:
    """
    What the lines say.

    Args:
        points (`list[dict]`):
            One a step, oldest first, each with `step` and `time`.
        notes (`list[str]`):
            In the order they were made.
        alarms (`list[dict]`):
            Each `{"kind", "step", "message"}`.
        begun (`int`):
            How often training began.
    """

    points: list[dict[str, Any]]
    notes: list[str]
    alarms: list[dict[str, Any]]
    begun: int


def gather(lines: Iterable[bytes]) -> Logged:
    """
    Lines as points, notes and alarms.

    Examples:
    ```python
    >>> lines = [b'{"step":1,"time":0,"loss":2.0}', b'{"step":2,"time":0,"loss":1.0}', b'{"rewind":1}',
    ...          b'{"step":1,"time":5,"eval_loss":1.5}']
    >>> gather(lines).points
    [{'step': 1, 'time': 5, 'loss': 2.0, 'eval_loss': 1.5}]

    ```
    """
    points: dict[int, dict[str, Any]] = {}
    notes: list[str] = []
    alarms: list[dict[str, Any]] = []
    begun = 0
    for line in lines:
        entry = orjson.loads(line)
        if STEP in entry:
            points.setdefault(entry[STEP], {}).update(entry)
        elif "note" in entry:
            notes.append(entry["note"])
        elif "alarm" in entry:
            alarms.append(entry["alarm"])
        elif "begin" in entry:
            begun += 1
        elif "rewind" in entry:
            points = {step: point for step, point in points.items() if step <= entry["rewind"]}
            alarms = [alarm for alarm in alarms if alarm["step"] <= entry["rewind"]]
    return Logged([points[step] for step in sorted(points)], notes, alarms, begun)


def read_points(path: Path) -> Logged:
    """What a file of lines says; nothing where there is none."""
    return gather(read_lines(path)) if path.exists() else Logged([], [], [], 0)
