"""A right run of a task's tools: its expected calls made in the simulated world, or a recorded run that passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.errors import DataError, SpecError, WhileaiError
from whileai_hf.sandbox import Session
from whileai_hf.sandbox.rowtools import read_row_tools
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.reading import Call, calls_of, final_text
from whileai_hf.score.verify.calls import read_expected
from whileai_hf.score.verify.reply import ask_of


# Statuses of a call that did what it was asked.
_DONE = frozenset({"ok", "created", "updated", "deleted"})


def right_run(row: Mapping[str, Any], tools: Any, seed: int) -> Attempt | None:
    """
    The run of a good agent on a task.

    Args:
        row (`dict`):
            The task with its `expected_calls`, or a rollout that passed.
        tools (`Any`, *optional*):
            The tools, where the row carries none.
        seed (`int`):
            Seed of the world.

    Returns:
        [`Attempt`] or `None`: `None` where no right run is known: nothing is expected, a fault is planned, or the
        world does not let the calls through.
    """
    expected = row.get("expected_calls")
    if expected and not row.get("faults"):
        made = _executed(row, expected, tools, seed)
        if made is not None:
            return made
    return _recorded(row)


def _executed(row: Mapping[str, Any], expected: Any, tools: Any, seed: int) -> Attempt | None:
    read = read_expected(expected)
    if isinstance(read, str):
        raise DataError(f"the task {str(row.get('prompt'))[:60]!r}: {read}; correct the column expected_calls")
    calls = [(call.tool, call.arguments or {}) for call in read]
    session = _session(row, tools, seed)
    if session is None:  # nobody to answer: what a call that works says at least
        steps = [_step(tool, arguments, {"status": "ok"}) for tool, arguments in calls]
        return Attempt(_told(steps), tuple(steps), None)
    steps = [_step(tool, arguments, session.call(tool, arguments)) for tool, arguments in calls]
    if any(step["result"].get("status") not in _DONE for step in steps):
        return None
    return Attempt(_told(steps), tuple(steps), tuple(session.state_changes()))


def _step(tool: str, arguments: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "result": result}


def _session(row: Mapping[str, Any], tools: Any, seed: int) -> Session | None:
    try:
        return Session.of_task(
            tools if tools is not None else read_row_tools(row), {**row, "prompt": ask_of(row["prompt"])}, seed=seed
        )
    except SpecError:  # the row carries no tools that can be read
        if tools is not None:
            raise
        return None
    except WhileaiError as error:
        raise type(error)(f"the task {str(row.get('prompt'))[:60]!r} has no world: {error}") from error


def _told(steps: Sequence[Mapping[str, Any]]) -> str:
    """An honest report of calls that worked."""
    parts = []
    for step in steps:
        given = ", ".join(f"{name} {value}" for name, value in step["arguments"].items())
        got = ", ".join(
            f"{name} {value}"
            for name, value in step["result"].items()
            if isinstance(value, str | int | float) and name not in step["arguments"]
        )
        parts.append(f"{step['tool'].replace('_', ' ')} ({given}): {got}.")
    return " ".join(parts)


def _recorded(row: Mapping[str, Any]) -> Attempt | None:
    reward = row.get("reward")
    if not isinstance(reward, int | float) or reward < 1 or not final_text(row):
        return None
    changes = row.get("state_changes")
    return Attempt(
        final_text(row),
        tuple({"tool": call.tool, "arguments": call.arguments, "result": call.result} for call in calls_of(row)),
        tuple(changes) if isinstance(changes, list) else None,
    )


def writes_of(run: Attempt, columns: Mapping[str, Any]) -> list[int]:
    """Which of a run's steps change something."""
    return [index for index, call in enumerate(_calls(run, columns)) if call.writes]


def reads_of(run: Attempt, columns: Mapping[str, Any]) -> list[int]:
    """Which of a run's steps only look."""
    return [index for index, call in enumerate(_calls(run, columns)) if call.kind == "read"]


def _calls(run: Attempt, columns: Mapping[str, Any]) -> list[Call]:
    return calls_of({"steps": [dict(step) for step in run.steps], "tools": columns.get("tools")})
