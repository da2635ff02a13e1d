"""Signs that a run measured nothing: a pass rate over rollouts that did not touch what they were meant to test."""

from __future__ import annotations

from typing import Any

from whileai_hf.rows import RowView
from whileai_hf.rows.identity import hashable
from whileai_hf.score.reading import calls_of
from whileai_hf.score.verdicts import as_number


# Share of rows without a verdict from which the others may no longer stand for all.
_UNJUDGED_SHARE = 0.1
# Names in one sentence; the rest are counted.
_SHOWN = 5


def hollow_warnings(rows: RowView) -> list[str]:
    """
    One sentence for each reason to doubt a number measured on these rows.

    Args:
        rows ([`RowView`]):
            Graded rollouts.
    """
    found = [*_untouched(rows), *_flat_markers(rows.column("markers"))]
    rewards = rows.column("reward")
    unjudged = sum(as_number(reward) is None for reward in rewards)
    if rewards and unjudged / len(rewards) > _UNJUDGED_SHARE:
        found.append(
            f"{unjudged} of {len(rewards)} rows are unjudged, and the others need not be like them; "
            "judge_status says why"
        )
    return found


def _untouched(rows: RowView) -> list[str]:
    if not len(rows) or not (rows.has("steps") or rows.has("messages")):
        return []
    called: set[str] = set()
    for row in rows.rows([name for name in ("steps", "messages", "tools") if rows.has(name)]):
        called.update(call.tool for call in calls_of(row))
    declared = _declared(rows.column("tools"))
    if not called:
        if rows.has("tools") and not declared:
            return []
        return [
            f"none of the {len(rows)} rollouts called a tool; the agent may not see its tools, "
            "or answers from another source"
        ]
    idle = sorted(declared - called)
    return (
        [f"no rollout called {_named(idle)}; their situations are missing, or the agent avoids them"] if idle else []
    )


def _declared(tools: list[Any]) -> set[str]:
    names: set[str] = set()
    last: Any = None
    for given in tools:
        if isinstance(given, list) and given is not last and given != last:
            last = given
            functions = [tool.get("function", tool) for tool in given if isinstance(tool, dict)]
            names.update(str(tool["name"]) for tool in functions if isinstance(tool, dict) and tool.get("name"))
    return names


def _flat_markers(markers: list[Any]) -> list[str]:
    values: dict[str, set[Any]] = {}
    counts: dict[str, int] = {}
    for row in markers:
        for name, value in row.items() if isinstance(row, dict) else ():
            values.setdefault(name, set()).add(hashable(value))  # markers of others may be lists
            counts[name] = counts.get(name, 0) + 1
    flat = sorted(name for name, seen in values.items() if len(seen) == 1 and counts[name] > 1)
    if not flat:
        return []
    return [f"{_named(flat)}: the same value on every row, so they tell no rows apart (did they ever fire?)"]


def _named(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
