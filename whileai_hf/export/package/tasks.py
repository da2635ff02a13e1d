"""Tasks as the lines of a data file, and back.

A line has `task_id`, `scenario_id`, `prompt` and `info`. Only the prompt is shown to a policy; `info` is read where
the world is opened and where the reward is worked out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.played import parse_arguments
from whileai_hf.engine.grading import hidden_of
from whileai_hf.errors import DataError
from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.export.package.gate import Gate, calibration, group_of
from whileai_hf.export.reading import task_text, text_or_none
from whileai_hf.rows import RowView, canonical
from whileai_hf.rows.view import Row


# Parts of `info` about earlier rollouts of the task; a judge of the next one must not see them.
ABOUT_ROLLOUTS = ("calibration", "gold")
_TOP = ("prompt", "scenario_id")


def task_lines(entries: Sequence[TaskEntry], gate: Gate, rows: RowView, seed: int, rubric: str | None) -> list[Row]:
    """
    Tasks as lines.

    Args:
        entries (`Sequence[TaskEntry]`):
            The tasks.
        gate ([`Gate`]):
            What their rollouts showed.
        rows ([`RowView`]):
            The rollouts.
        seed (`int`):
            Seed of worlds whose task brings none.
        rubric (`str`, *optional*):
            What a judge model goes by, for tasks that bring none.

    Returns:
        `list[dict]`: One per task, each with a `task_id` of its own: wordings of one situation get the ask's number.
    """
    names = _unique([task_text(entry.task, entry.task["prompt"]) for entry in entries])
    stamps = rows.column("calibration") if rows.has("calibration") else []
    golds = _golds(entries, gate, rows)
    lines = []
    for name, entry, gold in zip(names, entries, golds, strict=True):
        seen = gate.measured.get(group_of(entry))
        stamp = stamps[seen.place] if stamps and seen is not None else None
        info = {key: value for key, value in entry.task.items() if key not in _TOP and value is not None}
        info.setdefault("seed", seed)
        info |= hidden_of(entry.task, rubric)
        measured = calibration(entry, seen, stamp)
        info |= {} if measured is None else {"calibration": measured}
        info |= {} if gold is None else {"gold": gold}
        lines.append(
            canonical(
                {
                    "task_id": name,
                    "scenario_id": text_or_none(entry.task.get("scenario_id")),
                    "prompt": entry.task["prompt"],
                    "info": info,
                }
            )
        )
    return lines


def _unique(names: Sequence[str]) -> list[str]:
    counts, seen = Counter(names), Counter[str]()
    made = []
    for name in names:
        made.append(f"{name}/{seen[name]}" if counts[name] > 1 else name)
        seen[name] += 1
    if len(set(made)) < len(made):  # a task called as another one is numbered
        made = [f"{name}#{place}" for place, name in enumerate(made)]
    return made


def _golds(entries: Sequence[TaskEntry], gate: Gate, rows: RowView) -> list[list[Row] | None]:
    """What the agent said in a rollout that passed, one per task; `None` where nobody passed or a user spoke again."""
    if not rows.has("messages"):
        return [None] * len(entries)
    wanted = {}
    for number, entry in enumerate(entries):
        seen = gate.measured.get(group_of(entry))
        if seen is not None and seen.passing is not None:
            wanted[seen.passing] = number
    found: list[list[Row] | None] = [None] * len(entries)
    for place, row in enumerate(rows.rows(["messages"]) if wanted else ()):
        if place in wanted:
            found[wanted[place]] = agent_said(row.get("messages"))
    return found


def agent_said(messages: Any) -> list[Row] | None:
    """
    The agent's messages of a rollout, as they can be said again.

    Args:
        messages (`list[dict]`):
            A conversation as rows keep it.

    Returns:
        `list[dict]` or `None`: `None` where a user spoke more than once, since they would answer something else.

    Examples:
    ```python
    >>> agent_said([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}])
    [{'role': 'assistant', 'content': 'Hello.'}]

    ```
    """
    given = [message for message in messages if isinstance(message, Mapping)] if isinstance(messages, list) else []
    if sum(message.get("role") == "user" for message in given) != 1:
        return None
    return [_as_written(message) for message in given if message.get("role") == "assistant"] or None


def _as_written(message: Mapping[str, Any]) -> Row:
    """A message whose unreadable arguments are the text they were again."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return dict(message)
    return {**message, "tool_calls": [_call_as_written(call) for call in calls]}


def _call_as_written(call: Any) -> Any:
    inner = call.get("function") if isinstance(call, Mapping) else None
    arguments = inner.get("arguments") if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(arguments, Mapping) or set(arguments) != {"malformed"}:
        return call
    text = arguments["malformed"]
    if not isinstance(text, str) or parse_arguments(text)[1]:
        return call
    return {**call, "function": {**inner, "arguments": text}}


def task_of_line(line: Mapping[str, Any]) -> Row:
    """
    The task a line stands for, as simulations know it.

    Args:
        line (`Mapping`):
            A line of a data file, or the task a run of verifiers recorded.

    Examples:
    ```python
    >>> task_of_line({"task_id": "t-1", "scenario_id": None, "prompt": "Hi", "info": {"seed": 3, "gold": []}})
    {'seed': 3, 'prompt': 'Hi'}

    ```
    """
    info = line.get("info")
    prompt = line.get("prompt")
    if not isinstance(info, Mapping) or not isinstance(prompt, str):
        raise DataError(f"{str(line)[:80]!r} is no task of an exported environment: it needs a prompt and an info")
    task = {key: value for key, value in info.items() if key not in ABOUT_ROLLOUTS}
    if line.get("scenario_id") is not None:
        task["scenario_id"] = line["scenario_id"]
    return {**task, "prompt": prompt}
