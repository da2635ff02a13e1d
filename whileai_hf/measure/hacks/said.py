"""Who said and called what in one row, whether it is told in steps, in messages or in a trainer's completion."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from whileai_hf.measure.hacks.numbers import number_of
from whileai_hf.measure.passes.codes import arrow_of
from whileai_hf.rows import RowView
from whileai_hf.score.reading import text_of


Row = Mapping[str, Any]
# Columns that may hold messages.
MESSAGES = ("messages", "completion")
# Characters from which a reply that ends within a sentence was cut off, and of the line it has to end with: shorter
# ones are signatures and list entries, which end as they please.
_LONG, _PROSE = 200, 60


@dataclasses.dataclass(slots=True)
class Said:
    """All the agent said, the length of its last reply, its tools in order, the user's turns, and a recorded cut."""

    text: str
    reply: int
    tools: list[str]
    turns: int
    truncated: bool


def reads_messages(rows: RowView) -> bool:
    """Whether messages have to be read: steps and final texts, which are shorter, do not say it all."""
    if not any(rows.has(name) for name in MESSAGES):
        return False
    if not (rows.has("steps") and rows.has("final_text")):
        return True
    column = arrow_of(rows, "steps")
    if column is None:
        return not any(rows.column("steps"))
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return False
    return not bool(pc.any(pc.greater(pc.list_value_length(column), 0)).as_py())


def cut_off(reason: Any, text: str, reply: int) -> bool:
    """Whether a reply was cut off; where nothing says so, whether a long one ends within a sentence of prose."""
    if reason is not None:
        return bool(reason == "length")
    if reply < _LONG:
        return False
    last = text.rstrip()[-_PROSE:]
    return bool(last) and (last[-1].isalpha() or last[-1] in ",-") and len(last) == _PROSE and "\n" not in last


def from_steps(row: Row) -> Said:
    """What a row with `steps` and `final_text` says."""
    texts: list[str] = []
    tools: list[str] = []
    turns, truncated = 1, False
    steps = row.get("steps")
    for step in steps if isinstance(steps, list | tuple) else ():
        if type(step) is not dict and not isinstance(step, Mapping):  # the first test alone is far cheaper
            continue
        tool = step.get("tool")
        if isinstance(tool, str) and tool:
            tools.append(tool)
        if (text := step.get("text")) is not None:
            texts.append(text_of(text))
        turns += "user" in step and step["user"] is not None
        truncated = truncated or step.get("truncated") is True
    final = row.get("final_text")
    reply = final if type(final) is str else text_of(final)
    if not texts:
        return Said(reply, len(reply), tools, turns, truncated)
    if reply and texts[-1] != reply:
        texts.append(reply)
    return Said("\n".join(texts), len(texts[-1]), tools, turns, truncated)


def from_messages(row: Row) -> Said:
    """What a row with `messages`, or a trainer's `completion`, says."""
    texts: list[str] = []
    tools: list[str] = []
    turns = 0
    messages = row.get("messages") or row.get("completion")
    if isinstance(messages, str):
        texts.append(messages)
    for message in messages if isinstance(messages, list | tuple) else ():
        if not isinstance(message, Mapping):
            continue
        role = message.get("role")
        turns += role == "user"
        if role == "assistant":
            if text := text_of(message.get("content")):
                texts.append(text)
            tools.extend(_called(message.get("tool_calls")))
    final = text_of(row.get("final_text"))
    if final and (not texts or texts[-1] != final):
        texts.append(final)
    return Said("\n".join(texts), len(texts[-1]) if texts else 0, tools, turns, False)


def _called(calls: Any) -> Iterator[str]:
    for call in calls if isinstance(calls, list | tuple) else ():
        if isinstance(call, Mapping):
            function = call.get("function")
            name = function.get("name") if isinstance(function, Mapping) else call.get("name")
            if isinstance(name, str) and name:
                yield name


def flags_of(found: Any) -> set[str]:
    """Names of the findings in a cell of `trace_flags`."""
    if not isinstance(found, list | tuple):
        return set()
    names = (entry.get("flag") if isinstance(entry, Mapping) else entry for entry in found)
    return {name for name in names if isinstance(name, str)}


def logprob_mean(row: Row) -> float | None:
    """Mean log-probability of a token of the reply, from whichever record the row has of it."""
    each = row.get("token_logprobs")
    if isinstance(each, list | tuple) and each:
        known = [number for number in map(number_of, each) if number is not None]
        try:
            return math.fsum(known) / len(known) if known else None
        except (OverflowError, ValueError):  # beyond what a double holds, or infinities of both signs
            return None
    total, count = row.get("logprob"), row.get("n_tokens")
    if total is None or count is None:
        return None
    total, count = number_of(total), number_of(count)
    return total / count if total is not None and count else None
