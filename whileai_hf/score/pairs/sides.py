"""The two sides of a pair, whatever shape the rows have.

A side becomes a row like any other (`prompt`, `messages`, `final_text`), because a judge of pairs reads it the way a
judge of rows does. What the pair's own columns say about the outcome (labels, scores) stays out of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from whileai_hf.errors import MissingColumnError
from whileai_hf.rows import RowView, canonical, dumps
from whileai_hf.rows.view import Row
from whileai_hf.score.judges.transcript import parts_of


# Pairs of column names in use, the likeliest first.
_SIDES = (
    ("a", "b"),
    ("chosen", "rejected"),
    ("output_1", "output_2"),
    ("response1", "response2"),
    ("response_1", "response_2"),
    ("response_a", "response_b"),
    ("completion_a", "completion_b"),
    ("output_a", "output_b"),
)
_PROMPTS = ("prompt", "instruction", "question", "input")
# Columns of a side that tell a judge what others think of it, or what the judge must not know.
_HINTS = frozenset(
    {
        "calibration",
        "expected_calls",
        "failure_class",
        "gold_kind",
        "gold_reward",
        "group_status",
        "judge_meta",
        "judge_name",
        "judge_status",
        "lineage",
        "markers",
        "privileged",
        "reason",
        "reward",
    }
)


class Fields(NamedTuple):
    """The columns a pair is read from."""

    a: str
    b: str
    prompt: str | None


class Pair(NamedTuple):
    """The two sides as rows, or why there are none."""

    a: Row
    b: Row
    problem: str | None = None
    identical: bool = False


def find_fields(rows: RowView, a: str | None, b: str | None, prompt: str | None) -> Fields:
    """
    The columns to read, those that were named or those that are there.

    Raises:
        [`MissingColumnError`]: A named column is absent, or nothing looks like two sides.
    """
    have = ", ".join(rows.columns) or "none"
    for name, given in (("a", a), ("b", b), ("prompt", prompt)):
        if given is not None and not rows.has(given):
            raise MissingColumnError(f"the pairs have no column {given!r} (columns: {have}); {name}= names one")
    found = next(((x, y) for x, y in _SIDES if rows.has(x) and rows.has(y)), (None, None))
    first, second = a or found[0], b or found[1]
    if first is None or second is None or first == second:
        missing = "two columns for the sides" if first is None and second is None else "a second side"
        raise MissingColumnError(
            f"the pairs lack {missing} (columns: {have}); name them with a= and b=, or use a and b, or chosen and "
            "rejected"
        )
    asked = prompt or next((name for name in _PROMPTS if rows.has(name) and name not in (first, second)), None)
    return Fields(first, second, asked)


def _text(content: Any) -> str:
    """Text of a message's content, which may be a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        blocks = (block.get("text") if isinstance(block, Mapping) else block for block in content)
        return "\n".join(block for block in blocks if isinstance(block, str))
    return ""


def _is_messages(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, Mapping) and "role" in item for item in value)


def _last_reply(messages: Sequence[Mapping[str, Any]]) -> str:
    last = next((message for message in reversed(messages) if message.get("role") == "assistant"), None)
    return "" if last is None else _text(last.get("content"))


def _ask(row: Row, fields: Fields) -> tuple[str, list[dict[str, Any]]]:
    """What was asked, as text and as the messages before the sides."""
    asked = None if fields.prompt is None else row.get(fields.prompt)
    if _is_messages(asked):
        messages = [dict(message) for message in asked]  # type: ignore[union-attr]
        last = next((message for message in reversed(messages) if message.get("role") == "user"), {})
        return _text(last.get("content")), messages
    text = "" if asked is None else asked if isinstance(asked, str) else _text(asked) or str(asked)
    # Instruction sets keep what an instruction is about in a column of its own.
    more = row.get("input") if fields.prompt == "instruction" else None
    if isinstance(more, str) and more.strip():
        text = f"{text}\n\n{more}"
    return text, [{"role": "user", "content": text}] if text else []


def side_of(value: Any, prompt: str, before: Sequence[dict[str, Any]]) -> Row | None:
    """
    One side as a row.

    Args:
        value (`str`, `list` or `Mapping`):
            A reply, messages (the ask among them or not), one assistant message, or a row.
        prompt (`str`):
            What was asked.
        before (`Sequence[dict]`):
            The messages that go before a bare reply.

    Returns:
        `dict` or `None`: `None` when there is no side to judge.

    Examples:
    ```python
    >>> side_of("Paris.", "Capital of France?", [{"role": "user", "content": "Capital of France?"}])["final_text"]
    'Paris.'

    ```
    """
    if isinstance(value, str):
        messages = [*before, {"role": "assistant", "content": value}]
        return {"prompt": prompt, "messages": messages, "final_text": value}
    if isinstance(value, Mapping) and "role" in value and "content" in value:
        value = [value]
    if _is_messages(value) and value:
        own = [dict(message) for message in value]
        spoken = any(message.get("role") == "user" for message in own)
        asked = prompt or next((_text(m.get("content")) for m in own if m.get("role") == "user"), "")
        return {"prompt": asked, "messages": own if spoken else [*before, *own], "final_text": _last_reply(own)}
    if isinstance(value, Mapping) and value:
        row = {name: item for name, item in value.items() if name not in _HINTS}
        row.setdefault("prompt", prompt)
        if "final_text" not in row and _is_messages(row.get("messages")):
            row["final_text"] = _last_reply(row["messages"])
        return row if row.keys() & {"final_text", "messages", "steps", "completion"} else None
    return None


def pair_of(row: Row, fields: Fields) -> Pair:
    """The two sides of a row, in canonical form."""
    prompt, before = _ask(row, fields)
    sides: list[Row] = []
    for name in (fields.a, fields.b):
        side = side_of(row.get(name), prompt, before)
        if side is None:
            what = "is missing" if row.get(name) is None else f"is a {type(row.get(name)).__name__} without a reply"
            return Pair({}, {}, f"not judged: side {name!r} {what}")
        status = side.get("rollout_status")
        if status not in (None, "ok"):
            return Pair({}, {}, f"not judged: side {name!r} has rollout_status {status!r}")
        sides.append(canonical(side))
    return Pair(sides[0], sides[1], identical=content(sides[0]) == content(sides[1]))


def content(row: Row) -> bytes:
    """What a reader of a side sees, for telling whether two are the same."""
    return dumps([list(part) for part in parts_of(row)])
