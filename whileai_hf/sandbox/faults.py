"""How tools break, as data: which call, whether it ran, what the caller sees, how long it lasts.

A fault has three parts, because the hard ones are the plausible ones: a refund whose reply was lost has happened, an
"ok" whose write never landed has not. [`fault_plan`] writes a plan, [`validate_faults`] checks one, and [`Breaker`]
decides call by call which fault is on. What the world answers under a fault is `broken.py`'s business.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.errors import ConfigurationError


RAN = ("no", "fully", "lost", "partly")
SEEN = ("error", "wrong", "silence")
# `lasts` besides a number of calls.
LASTS = ("always", "until_read")
EVERY_TOOL = "*"
_KEYS = ("kind", "ran", "seen", "at", "lasts")


@dataclass(frozen=True)
class FaultKind:
    """
    One way to break.

    Args:
        ran (`str`):
            Did the call run: `"no"`, `"fully"`, `"lost"` (it ran, the reply did not arrive) or `"partly"`.
        seen (`str`):
            What the caller sees: `"error"`, `"wrong"` (plausible but wrong) or `"silence"`.
        lasts (`int` or `str`):
            Number of calls, `"always"` or `"until_read"`.
        writes_only (`bool`):
            Whether it only means something for a call that changes a record.
        meaning (`str`):
            One sentence for reports.
    """

    ran: str
    seen: str
    lasts: int | str
    writes_only: bool
    meaning: str


FAULT_KINDS: dict[str, FaultKind] = {
    "timeout": FaultKind("no", "error", 1, False, "the call does not run and times out"),
    "permission_denied": FaultKind("no", "error", "always", False, "the call is refused for lack of permission"),
    "stale_result": FaultKind("fully", "wrong", 1, False, "the answer shows an older state of the record"),
    "malformed_result": FaultKind("fully", "wrong", 1, False, "the call runs and its answer arrives cut off"),
    "not_found": FaultKind("no", "wrong", 1, False, "a record that exists is reported as not found"),
    "rate_limited": FaultKind("no", "error", 2, False, "the call is refused until a number of calls have passed"),
    "reply_lost": FaultKind("lost", "error", 1, True, "the call takes effect and the caller sees a timeout"),
    "false_success": FaultKind("no", "wrong", "until_read", True, "the caller sees success and nothing was written"),
}


def fault_plan(kind: str, tool: str, *, at: int = 1, lasts: int | str | None = None) -> dict[str, Any]:
    """
    A plan that breaks one tool.

    Args:
        kind (`str`):
            One of [`FAULT_KINDS`].
        tool (`str`):
            Name of the tool, or `"*"` for every tool (then `at` counts all calls).
        at (`int`, *optional*, defaults to `1`):
            The call of that tool, counted from 1, on which it starts.
        lasts (`int` or `str`, *optional*):
            Number of calls, `"always"` or `"until_read"` (until the record is read); the kind's own when absent.

    Returns:
        `dict`: `{tool: {"kind", "ran", "seen", "at", "lasts"}}`.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If an argument is none of these.

    Examples:
    ```python
    >>> fault_plan("timeout", "refund_order")
    {'refund_order': {'kind': 'timeout', 'ran': 'no', 'seen': 'error', 'at': 1, 'lasts': 1}}

    ```
    """
    known = _kind(kind, f"fault_plan(kind={kind!r})")
    entry = {
        "kind": kind,
        "ran": known.ran,
        "seen": known.seen,
        "at": at,
        "lasts": known.lasts if lasts is None else lasts,
    }
    plan = {tool: entry}
    validate_faults(plan)
    return plan


def _kind(kind: Any, where: str) -> FaultKind:
    if isinstance(kind, str) and kind in FAULT_KINDS:
        return FAULT_KINDS[kind]
    near = difflib.get_close_matches(str(kind), FAULT_KINDS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(FAULT_KINDS)}."
    raise ConfigurationError(f"{where}: {kind!r} is not a kind of fault; {hint}")


def _calls(value: Any, where: str, words: tuple[str, ...] = ()) -> None:
    if (
        value in words
        if isinstance(value, str)
        else isinstance(value, int) and not isinstance(value, bool) and value > 0
    ):
        return
    allowed = " or ".join(["a whole number of calls from 1", *(repr(word) for word in words)])
    raise ConfigurationError(f"{where} is {value!r}; make it {allowed}.")


def validate_faults(plan: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """
    Check a fault plan and fill in what its kinds imply.

    Args:
        plan (`dict`, *optional*):
            `{tool or "*": {"kind", "ran", "seen", "at", "lasts"}}`; only `kind` is required.

    Returns:
        `dict`: The same plan with every key present; empty for `None`.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If a part of the plan is not what it must be.

    Examples:
    ```python
    >>> validate_faults({"get_order": {"kind": "rate_limited"}})
    {'get_order': {'kind': 'rate_limited', 'ran': 'no', 'seen': 'error', 'at': 1, 'lasts': 2}}

    ```
    """
    if plan is None:
        return {}
    if not isinstance(plan, Mapping):
        raise ConfigurationError(f"faults is a {type(plan).__name__}; make it a dict of tool name to fault.")
    filled: dict[str, dict[str, Any]] = {}
    for tool, entry in plan.items():
        where = f"faults[{tool!r}]"
        if not isinstance(entry, Mapping):
            raise ConfigurationError(f"{where} is {entry!r}; make it a dict with at least a 'kind'.")
        unknown = [key for key in entry if key not in _KEYS]
        if unknown:
            raise ConfigurationError(f"{where} has the unknown key {unknown[0]!r}; the keys are {', '.join(_KEYS)}.")
        known = _kind(entry.get("kind"), f"{where}['kind']")
        full = {
            "kind": entry["kind"],
            "ran": entry.get("ran", known.ran),
            "seen": entry.get("seen", known.seen),
            "at": entry.get("at", 1),
            "lasts": entry.get("lasts", known.lasts),
        }
        for key, allowed in (("ran", RAN), ("seen", SEEN)):
            if full[key] not in allowed:
                raise ConfigurationError(f"{where}[{key!r}] is {full[key]!r}; use one of {', '.join(allowed)}.")
        _calls(full["at"], f"{where}['at']")
        _calls(full["lasts"], f"{where}['lasts']", LASTS)
        filled[str(tool)] = full
    return filled


@dataclass
class _Line:
    """Where one planned fault stands in a rollout."""

    entry: dict[str, Any]
    fired: int = 0
    over: bool = False
    records: set[tuple[str, str]] = field(default_factory=set)


class Breaker:
    """
    The faults of one rollout: which is on for a call, and which have fired.

    Not thread-safe by itself; the session calls it under its lock, so that two calls at once cannot both be "the
    first".
    """

    def __init__(self, plan: Mapping[str, dict[str, Any]]) -> None:
        self._lines = {tool: _Line(entry) for tool, entry in plan.items()}
        self.fired: list[dict[str, Any]] = []

    def plans(self, kind: str) -> bool:
        """Whether a fault of this kind is planned for any tool."""
        return any(line.entry["kind"] == kind for line in self._lines.values())

    def due(self, tool: str, call: int, overall: int) -> dict[str, Any] | None:
        """The fault that is on for the `call`-th call of `tool` (the `overall`-th of all), or `None`."""
        line = self._line(tool)
        if line is None or line.over:
            return None
        count = call if tool in self._lines else overall
        return line.entry if count >= line.entry["at"] else None

    def _line(self, tool: str) -> _Line | None:
        return self._lines.get(tool) or self._lines.get(EVERY_TOOL)

    def fire(self, tool: str, call: int, record: tuple[str, str] | None) -> None:
        """Record that the fault of `tool` fired on this call, for `record` when the call was about one."""
        line = self._line(tool)
        if line is None:
            return
        line.fired += 1
        if record is not None:
            line.records.add(record)
        lasts = line.entry["lasts"]
        if isinstance(lasts, int) and line.fired >= lasts:
            line.over = True
        self.fired.append({"tool": tool, "kind": line.entry["kind"], "call": call})

    def read(self, records: tuple[tuple[str, str], ...]) -> None:
        """A read of `records` was answered: faults that last until then are over."""
        for line in self._lines.values():
            if line.fired and line.entry["lasts"] == "until_read":
                # A fault on a call that named no record ends with any read.
                line.over = line.over or not line.records or not line.records.isdisjoint(records)
