"""Tasks as the lines of a data file, and back.

A line has `task_id`, `scenario_id`, `prompt` and `info`. Only the prompt is shown to a policy; `info` is read where
the world is opened and where the reward is worked out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

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
            found[wanted[place]] = _said(row.get("messages"))
    return found


def _said(messages: Any) -> list[Row] | None:
    given = messages if isinstance(messages, list) else []
    if sum(message.get("role") == "user" for message in given if isinstance(message, Mapping)) != 1:
        return None
    said = [dict(message) for message in given if isinstance(message, Mapping) and message.get("role") == "assistant"]
    return said or None


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
