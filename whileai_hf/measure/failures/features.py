"""What a rollout went through, as labels that failing and passing rollouts can be compared by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai_hf.score.reading import Call, calls_of


KINDS = ("first_wrong_step", "tool", "fault", "axis", "failure_class")
# What a report reads of a row; messages only where no steps are kept, as decoding them is most of the cost.
COLUMNS = (
    "steps",
    "tools",
    "faults_fired",
    "faults",
    "scenario_dimensions",
    "failure_class",
    "finish_reason",
)
# What stands in for a wrong step when every call went well.
CUT, SILENT, REPLY = "cut at the token limit", "no call was made", "no failing call: the reply"


def _repeats(call: Call, before: list[Call]) -> bool:
    """Whether a call is made once more although the same one has just gone well: the agent goes round in circles."""
    last = before[-1] if before else None
    return last is not None and not last.failed and (last.tool, last.arguments) == (call.tool, call.arguments)


def first_wrong_step(calls: list[Call], finish_reason: Any) -> str:
    """
    The first thing that went wrong, read from the calls alone.

    Args:
        calls (`list[Call]`):
            The tool calls of a row.
        finish_reason (`str`, *optional*):
            How its last message ended.

    Returns:
        `str`: `"<tool>: <outcome>"` of the first call that failed, `"<tool>: repeated"` of the first one made twice in
        a row, or what stands in for a step.

    Examples:
    ```python
    >>> steps = [{"tool": "get_order", "arguments": {}, "result": {"status": "timeout"}}]
    >>> first_wrong_step(calls_of({"steps": steps}), "stop")
    'get_order: timeout'

    ```
    """
    for place, call in enumerate(calls):
        if call.failed:
            return f"{call.tool}: {call.outcome}"
        if _repeats(call, calls[:place]):
            return f"{call.tool}: repeated"
    if finish_reason == "length":
        return CUT
    return REPLY if calls else SILENT


def _faults(row: Mapping[str, Any]) -> Iterator[str]:
    """The faults that fired; where a row does not say which did, those that were planned."""
    fired = row.get("faults_fired")
    if isinstance(fired, list):
        for fault in fired:
            if isinstance(fault, Mapping) and isinstance(fault.get("kind"), str):
                yield fault["kind"]
        return
    planned = row.get("faults")
    for fault in planned.values() if isinstance(planned, Mapping) else ():
        kind = fault.get("kind", fault.get("mode")) if isinstance(fault, Mapping) else None
        if isinstance(kind, str):
            yield kind


def labels_of(row: Mapping[str, Any]) -> set[tuple[str, str]]:
    """
    Every label of a row.

    Args:
        row (`Mapping`):
            A rollout.

    Returns:
        `set[tuple[str, str]]`: Pairs of a kind (one of `KINDS`) and a value.

    Examples:
    ```python
    >>> sorted(labels_of({"steps": [], "scenario_dimensions": {"stance": "angry"}, "failure_class": "refused"}))
    [('axis', 'stance=angry'), ('failure_class', 'refused'), ('first_wrong_step', 'no call was made')]

    ```
    """
    calls = calls_of(row)
    found = {("first_wrong_step", first_wrong_step(calls, row.get("finish_reason")))}
    found.update(("tool", call.tool) for call in calls)
    found.update(("fault", kind) for kind in _faults(row))
    axes = row.get("scenario_dimensions")
    if isinstance(axes, Mapping):
        found.update(("axis", f"{name}={value}") for name, value in axes.items() if value is not None)
    named = row.get("failure_class")
    if isinstance(named, str) and named:
        found.add(("failure_class", named))
    return found
