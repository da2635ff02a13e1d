"""A finished rollout's calls made again in a fresh world, and where the answers first differ.

A world answers by its seed, its situation and what was called before, so the calls of a row alone say what every
answer has to be and how the world has to end. What the agent thought or said plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whileai_hf.rows import canonical
from whileai_hf.sandbox.session import Session


# Characters of a differing value in a report.
_SHOWN = 120


@dataclass(frozen=True)
class Reexecution:
    """
    What making a row's calls again came to.

    Args:
        calls (`int`):
            Calls whose answers were compared.
        state_digest (`str`):
            How the world ended, as far as it went.
        difference (`dict`, *optional*):
            The first difference: `what` (`"result"`, `"faults_fired"` or `"state_digest"`), `step`, `tool`, `where`
            in the answer, `expected` (the row's) and `got`. `None` when there is none.
    """

    calls: int
    state_digest: str
    difference: dict[str, Any] | None


def first_difference(expected: Any, got: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """
    The first place where two JSON values differ, with what is there; `None` when they are equal.

    Examples:
    ```python
    >>> first_difference({"data": {"status": "open", "n": [1, 2]}}, {"data": {"status": "open", "n": [1, 3]}})
    ('data.n[1]', 2, 3)

    ```
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in [*expected, *(name for name in got if name not in expected)]:
            there = f"{where}.{name}" if where else str(name)
            if name not in expected or name not in got:
                return there, expected.get(name), got.get(name)
            found = first_difference(expected[name], got[name], there)
            if found is not None:
                return found
        return None
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        pairs = enumerate(zip(expected, got, strict=True))
        differences = (first_difference(one, other, f"{where}[{index}]") for index, (one, other) in pairs)
        return next((found for found in differences if found is not None), None)
    same = expected == got and isinstance(expected, bool) == isinstance(got, bool)
    return None if same else (where, expected, got)


def _short(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else f"{value!s:.{_SHOWN}}"


def _difference(what: str, expected: Any, got: Any, step: int | None, tool: str | None) -> dict[str, Any] | None:
    if expected == got:  # nearly always, and far cheaper
        return None
    found = first_difference(canonical(expected), canonical(got))
    if found is None:
        return None
    where, one, other = found
    place = {"what": what, "step": step, "tool": tool, "where": where}
    return {**place, "expected": _short(one), "got": _short(other)}


def reexecute(row: Mapping[str, Any], tools: Any, *, seed: int = 0) -> Reexecution:
    """
    Makes the calls of a rollout again.

    Args:
        row (`Mapping`):
            A rollout: what [`Session.of_task`] reads, `steps`, and if there are any `faults_fired` and
            `state_digest`.
        tools (`Toolset`, tuple of [`~whileai_hf.spec.Tool`] or any shape of tools):
            The tools it had.
        seed (`int`, *optional*, defaults to `0`):
            Seed of its run, for rows that have none.

    Returns:
        [`Reexecution`]: Up to the first difference.
    """
    # Whether a user's later words reached the world depends on who led the conversation.
    talks = any(step.get("user") is not None for step in row["steps"])
    first = _run(row, Session.of_task(tools, row, seed=seed), hears=True)
    if first.difference is None or not talks:
        return first
    deaf = _run(row, Session.of_task(tools, row, seed=seed), hears=False)
    return first if deaf.difference is not None else deaf


def _run(row: Mapping[str, Any], session: Session, hears: bool) -> Reexecution:
    calls = 0
    for index, step in enumerate(row["steps"]):
        tool, said = step.get("tool"), step.get("user")
        if tool is None:
            if hears and isinstance(said, str):
                session.hear(said)
            continue
        if "malformed" in step:  # never reached the world
            continue
        calls += 1
        difference = _difference("result", step.get("result"), session.call(tool, step["arguments"]), index, tool)
        if difference is not None:
            return Reexecution(calls, session.state_digest(), difference)
    digest = session.state_digest()
    difference = None
    if row.get("faults_fired") is not None:
        difference = _difference("faults_fired", row["faults_fired"], session.fired, None, None)
    if difference is None and row.get("state_digest") is not None:
        difference = _difference("state_digest", row["state_digest"], digest, None, None)
    return Reexecution(calls, digest, difference)
