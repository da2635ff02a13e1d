"""A model's verdicts on the points of a rubric, read out of its reply.

JSON is asked for; a list or mapping in another arrangement, and lines such as `c1: met`, are read as well. A point the
reply does not settle is missing, never unmet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.score.judges.hits import is_unsure, quote
from whileai_hf.score.judges.json_text import find_json
from whileai_hf.score.judges.keyed import reason_of
from whileai_hf.score.judges.plain import plain, without_reasoning
from whileai_hf.score.judges.scales import Binary
from whileai_hf.score.rubrics.rubric import Criterion


# The verdicts asked for, in the words of the schema.
MET, UNMET, CANNOT_ASSESS = "met", "unmet", "cannot_assess"


@dataclass(frozen=True, slots=True)
class Point:
    """The verdict on one criterion: met (1.0), unmet (0.0), or `None`, which cannot be assessed."""

    value: float | None
    reason: str | None = None


_WORDS = {**Binary.words, "satisfied": 1.0, "fulfilled": 1.0, "holds": 1.0, "unsatisfied": 0.0, "violated": 0.0}
_UNASSESSED = frozenset({"cannot assess", "can't assess", "not assessed", "unassessable", "not applicable"})
_ID_KEYS = ("id", "criterion_id", "criterion", "name", "item", "key", "number", "index")
_VERDICT_KEYS = ("verdict", "met", "criteria_met", "criterion_met", "result", "status", "answer", "judgment", "score")
_ID = re.compile(r"\W{0,4}(?:criterion |criteria )?c?(\d{1,3})(?!\w)", re.IGNORECASE)
_LINE = re.compile(
    r"\W{0,4}(?P<id>(?:criterion )?c?\d{1,3})(?!\w)[\s:.)=\u2013\u2014-]{1,6}(?P<said>\S.{0,2000})", re.IGNORECASE
)
_SAID = re.compile(r"(?:[^\W\d]|['_ -]){1,24}")


class _Unreadable:
    """Stands for what is no verdict; `None` is one."""


_NOTHING = _Unreadable()


def answer_schema(count: int) -> dict[str, Any]:
    """JSON schema of the verdicts on `count` criteria, whose ids are `c1`, `c2`, ..."""
    entry = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "enum": [f"c{number}" for number in range(1, count + 1)]},
            "reason": {"type": "string"},
            "verdict": {"type": "string", "enum": [MET, UNMET, CANNOT_ASSESS]},
        },
        "required": ["id", "reason", "verdict"],
        "additionalProperties": False,
    }
    points = {"type": "array", "items": entry, "minItems": count, "maxItems": count}
    return {
        "type": "object",
        "properties": {"criteria": points},
        "required": ["criteria"],
        "additionalProperties": False,
    }


def read_point(value: Any) -> float | _Unreadable | None:
    """1.0, 0.0, `None` for "cannot assess", or `_NOTHING` for what is none of these."""
    if value is None:
        return None
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value) if value in (0, 1) else _NOTHING
    if not isinstance(value, str):
        return _NOTHING
    words = plain(value[:200].replace("_", " ").replace("-", " "))
    said = " ".join(words.split()).strip(" .!\"'()[]").casefold()
    if said in _UNASSESSED or is_unsure(said):
        return None
    if said.startswith("not ") and _WORDS.get(said[4:]) == 1.0:
        return 0.0
    return _WORDS.get(said) if said in _WORDS else _NOTHING


def read_points(text: Any, criteria: Sequence[Criterion]) -> tuple[dict[int, Point], str | None]:
    """
    The verdicts of a reply.

    Args:
        text (`str`):
            What the model wrote.
        criteria (`Sequence[Criterion]`):
            What it was asked about, under the ids `c1`, `c2`, ...

    Returns:
        `tuple[dict[int, Point], str | None]`: The points by position, and what is wrong with the reply: `None` exactly
        when every criterion has a verdict.

    Examples:
    ```python
    >>> criteria = [Criterion("lookup", "Looks the order up."), Criterion("polite", "Is polite.")]
    >>> points, problem = read_points('{"c1": "met", "c2": "cannot assess"}', criteria)
    >>> points[0].value, points[1].value, problem
    (1.0, None, None)
    >>> read_points('[{"id": "c1", "verdict": "met"}]', criteria)[1]
    'the judge gave no verdict on polite'

    ```
    """
    if not isinstance(text, str) or not text.strip():
        return {}, "the judge answered nothing"
    said = without_reasoning(text)
    if not said.strip():
        return {}, "the judge's reply ends before its answer"
    found, cut = find_json(said)
    points: dict[int, Point] = {}
    if found and not cut:
        points = _settled(_entries(found[-1].value, len(criteria)), criteria)
        if len(points) < len(criteria) and len(found) > 1:  # an object for each criterion
            points = _settled((entry for item in found for entry in _entries([item.value], 1)), criteria)
    elif not cut:
        points = _settled(_lines(said), criteria)
    missing = [item.name for position, item in enumerate(criteria) if position not in points]
    if not missing:
        return points, None
    if not points:
        return {}, f"{'the reply is cut off' if cut else 'no verdict could be read'}: {quote(said)}"
    return points, f"the judge gave no verdict on {', '.join(missing)}"


def _settled(entries: Iterable[tuple[Any, Any, str | None]], criteria: Sequence[Criterion]) -> dict[int, Point]:
    """The points that entries agree on."""
    points: dict[int, Point] = {}
    unclear: set[int] = set()
    for key, verdict, reason in entries:
        position = _position(key, criteria)
        if position is None:
            continue
        read = read_point(verdict)
        known = points.get(position)
        if isinstance(read, _Unreadable) or (known is not None and known.value != read):
            unclear.add(position)
        elif known is None:
            points[position] = Point(read, reason)
    return {position: point for position, point in points.items() if position not in unclear}


def _entries(value: Any, count: int) -> Iterator[tuple[Any, Any, str | None]]:
    """Id, verdict and reason of every point in a JSON value, whatever its arrangement."""
    if isinstance(value, Mapping):
        lists = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], Mapping)]
        inner = [item for item in value.values() if isinstance(item, Mapping)]
        if lists:
            yield from _entries(lists[0], count)
        elif count == 1 and _verdict(value) is not _NOTHING:
            yield 1, _verdict(value), reason_of(value)
        elif len(value) == 1 and inner and _verdict(inner[0]) is _NOTHING:
            yield from _entries(inner[0], count)
        else:
            for key, item in value.items():
                is_entry = isinstance(item, Mapping)
                yield key, _verdict(item) if is_entry else item, reason_of(item) if is_entry else None
    elif isinstance(value, list):
        numbered = not any(isinstance(item, Mapping) and _id(item) is not None for item in value)
        if numbered and len(value) != count:
            return
        for number, item in enumerate(value, start=1):
            is_entry = isinstance(item, Mapping)
            key = number if numbered or not is_entry else _id(item)
            yield key, _verdict(item) if is_entry else item, reason_of(item) if is_entry else None


def _id(entry: Mapping[Any, Any]) -> Any:
    return next((entry[key] for key in _ID_KEYS if entry.get(key) is not None), None)


def _verdict(entry: Any) -> Any:
    return next((entry[key] for key in _VERDICT_KEYS if key in entry), _NOTHING)


def _lines(text: str) -> Iterator[tuple[Any, Any, str | None]]:
    """Points on lines of their own: `c1: met - because ...`."""
    for line in plain(text).split("\n"):
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        said = found["said"]
        verdict = _SAID.match(said)
        words = re.split(r"[-\u2013\u2014(,;:.]| because ", verdict.group() if verdict else said, maxsplit=1)[0]
        yield found["id"], words.strip(), said


def _position(key: Any, criteria: Sequence[Criterion]) -> int | None:
    """Which criterion an id or a name means."""
    if isinstance(key, str):
        name = " ".join(key.split()).casefold()
        named = [at for at, item in enumerate(criteria) if name in (item.name.casefold(), item.text.casefold())]
        if named:
            return named[0]
        written = _ID.match(key)
        key = int(written[1]) if written else None
    if isinstance(key, int) and not isinstance(key, bool) and 1 <= key <= len(criteria):
        return key - 1
    return None
