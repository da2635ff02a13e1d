"""When faults are on: which one a call meets, and when it is over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.sandbox.faults import EVERY_TOOL
from whileai_hf.sandbox.state import Key


@dataclass
class Line:
    """Where one planned fault stands in a rollout."""

    tool: str
    entry: dict[str, Any]
    fired: int = 0
    over: bool = False
    records: set[Key] = field(default_factory=set)
    changes: int = 0
    """Changes somebody else made under it."""

    @property
    def kind(self) -> str:
        """Its kind of fault."""
        return str(self.entry["kind"])

    @property
    def most(self) -> float:
        """How often it happens: the number of calls it lasts, once when it lasts until something is read."""
        lasts = self.entry["lasts"]
        return lasts if isinstance(lasts, int) else math.inf if lasts == "always" else 1


class Breaker:
    """
    The faults of one rollout: which is on for a call, and which have fired.

    Not thread-safe by itself; the session calls it under its lock, so that two calls at once cannot both be "the
    first".
    """

    def __init__(self, plan: Mapping[str, dict[str, Any]]) -> None:
        self.lines = {tool: Line(tool, entry) for tool, entry in plan.items()}
        self.fired: list[dict[str, Any]] = []

    def plans(self, kind: str) -> bool:
        """Whether a fault of this kind is planned for any tool."""
        return any(line.kind == kind for line in self.lines.values())

    def due(self, tool: str, call: int, overall: int) -> Line | None:
        """The fault that is on for the `call`-th call of `tool` (the `overall`-th of all), or `None`."""
        line = self.lines.get(tool) or self.lines.get(EVERY_TOOL)
        if line is None or line.over:
            return None
        count = overall if line.tool == EVERY_TOOL else call
        return line if count >= line.entry["at"] else None

    def fire(self, line: Line, tool: str, call: int, record: Key | None = None, **details: Any) -> None:
        """Record that a fault fired on this call of `tool`, for `record` when the call was about one."""
        line.fired += 1
        if record is not None:
            line.records.add(record)
        lasts = line.entry["lasts"]
        if isinstance(lasts, int) and line.fired >= lasts:
            line.over = True
        self.fired.append({"tool": tool, "kind": line.kind, "call": call, **details})

    def read(self, records: tuple[Key, ...]) -> None:
        """A read of `records` was answered: faults that last until then are over."""
        for line in self.lines.values():
            if line.fired and line.entry["lasts"] == "until_read":
                # A fault on a call that named no record ends with any read.
                line.over = line.over or not line.records or not line.records.isdisjoint(records)
