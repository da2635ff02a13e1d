"""Fault plans, as data: which call of which tool, whether it ran, what the caller sees, how long it lasts.

[`fault_plan`] writes a plan, [`validate_faults`] checks one, [`plan_notes`] says which parts of one can never fire.
What the kinds mean is `kinds.py`'s business, what the world answers under them `broken.py`'s and `disturbed.py`'s.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.sandbox.effects import Effect
from whileai_hf.sandbox.kinds import DEFAULT_LAG, FAULT_KINDS, FaultKind
from whileai_hf.sandbox.toolset import Profile, profile_of, toolset_of
from whileai_hf.spec import Tool, parameter_schemas


RAN = ("no", "fully", "lost", "partly", "later")
SEEN = ("error", "wrong", "silence", "accepted")
# `lasts` besides a number of calls.
LASTS = ("always", "until_read")
DRIFTS = ("renamed", "retyped")
EVERY_TOOL = "*"
_KEYS = ("kind", "ran", "seen", "at", "lasts")
# A canary is planted in two halves, so that quoting the instruction is not obeying it; each must be telling.
_CANARY_CHARS = 8
_WRITES: tuple[Effect, ...] = ("create", "update", "delete")
# Kinds of tools that answer with a number, which has no parts and holds no words.
_NUMBERS = ("calculator", "arithmetic")


def fault_plan(
    kind: str, tool: str | Tool, *, at: int = 1, lasts: int | str | None = None, **details: Any
) -> dict[str, Any]:
    """
    A plan that breaks one tool.

    Args:
        kind (`str`):
            One of [`FAULT_KINDS`].
        tool (`str` or [`~whileai_hf.spec.Tool`]):
            Name of the tool, or `"*"` for every tool (then `at` counts all calls). A `Tool` is checked: a kind that
            can never fire on it is refused.
        at (`int`, *optional*, defaults to `1`):
            The call of that tool, counted from 1, on which it starts.
        lasts (`int` or `str`, *optional*):
            Number of calls, `"always"` or `"until_read"` (until the record is read); the kind's own when absent.
        **details:
            Further keys of the plan: `ran`, `seen` and those of the kind (`lag`, `canary`, `drift`, `field`).

    Returns:
        `dict`: `{tool: {"kind", "ran", "seen", "at", "lasts", ...}}`.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If an argument is none of these.

    Examples:
    ```python
    >>> fault_plan("timeout", "refund_order")
    {'refund_order': {'kind': 'timeout', 'ran': 'no', 'seen': 'error', 'at': 1, 'lasts': 1}}
    >>> fault_plan("pending", "refund_order", lag=3)["refund_order"]["lag"]
    3

    ```
    """
    name = tool.name if isinstance(tool, Tool) else tool
    entry = {"kind": kind, "at": at, **details}
    if lasts is not None:
        entry["lasts"] = lasts
    plan = validate_faults({name: entry})
    if isinstance(tool, Tool) and not kind_fits(kind, profile := profile_of(tool)):
        raise ConfigurationError(_unfit(name, kind, profile))
    return plan


def _kind(kind: Any, where: str) -> FaultKind:
    if isinstance(kind, str) and kind in FAULT_KINDS:
        return FAULT_KINDS[kind]
    near = difflib.get_close_matches(str(kind), FAULT_KINDS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(FAULT_KINDS)}."
    raise ConfigurationError(f"{where}: {kind!r} is not a kind of fault; {hint}")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _calls(value: Any, where: str, words: tuple[str, ...] = ()) -> None:
    if value in words if isinstance(value, str) else _is_count(value):
        return
    allowed = " or ".join(["a whole number of calls from 1", *(repr(word) for word in words)])
    raise ConfigurationError(f"{where} is {value!r}; make it {allowed}.")


def _one_of(value: Any, allowed: tuple[str, ...], where: str) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{where} is {value!r}; use one of {', '.join(allowed)}.")


def _check_detail(name: str, value: Any, where: str) -> None:
    """The keys only some kinds have."""
    if name == "lag":
        _calls(value, where)
    elif name == "drift":
        _one_of(value, DRIFTS, where)
    elif name == "field" and not (value is None or (isinstance(value, str) and value)):
        raise ConfigurationError(f"{where} is {value!r}; make it the name of a field, or leave it out.")
    elif name == "canary" and not (value is None or _is_canary(value)):
        raise ConfigurationError(
            f"{where} is {value!r}; make it one word of at least {_CANARY_CHARS} letters, digits and hyphens."
        )


def _is_canary(value: Any) -> bool:
    return isinstance(value, str) and len(value) >= _CANARY_CHARS and value.replace("-", "").isalnum()


def _filled(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A checked entry with what its kind implies."""
    known = _kind(entry.get("kind"), f"{where}['kind']")
    ran = entry.get("ran", known.ran)
    details = dict(known.keys)
    if ran == "later":
        details.setdefault("lag", DEFAULT_LAG)
    for key in entry:
        if key not in _KEYS and key not in details:
            keys = ", ".join((*_KEYS, *details))
            raise ConfigurationError(f"{where} has the unknown key {key!r}; the keys of {entry['kind']} are {keys}.")
    full = {
        "kind": entry["kind"],
        "ran": ran,
        "seen": entry.get("seen", known.seen),
        "at": entry.get("at", 1),
        "lasts": entry.get("lasts", known.lasts),
    }
    _one_of(full["ran"], RAN, f"{where}['ran']")
    _one_of(full["seen"], SEEN, f"{where}['seen']")
    _calls(full["at"], f"{where}['at']")
    _calls(full["lasts"], f"{where}['lasts']", LASTS)
    for key, default in details.items():
        full[key] = entry.get(key, default)
        _check_detail(key, full[key], f"{where}[{key!r}]")
    return full


def validate_faults(plan: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """
    Check a fault plan and fill in what its kinds imply.

    Args:
        plan (`dict`, *optional*):
            `{tool or "*": {"kind", "ran", "seen", "at", "lasts", ...}}`; only `kind` is required. `lag` goes with
            whatever runs `"later"`, the other keys with their kinds (see [`FaultKind`]).

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
        filled[str(tool)] = _filled(entry, where)
    return filled


def kind_fits(kind: str, profile: Profile) -> bool:
    """Whether a kind of fault can ever fire on a tool, see [`fault_fits`]."""
    if FAULT_KINDS[kind].writes_only:
        return profile.effect in _WRITES
    if kind == "not_found":
        return profile.effect != "create"
    if kind == "eventual":
        return profile.effect in ("read", *_WRITES)
    if kind == "changed_after_read":
        # A creating tool that names what it makes, by an id or in a list of records, may write over what was read.
        names_it = profile.own_id or any(
            schema.get("type") == "array" for schema in parameter_schemas(profile.tool).values()
        )
        return profile.effect != "other" and (profile.effect != "create" or names_it)
    if kind == "injection":
        return profile.kind not in _NUMBERS and (profile.kind != "note" or profile.verb == "echo")
    return kind not in ("partial", "schema_drift") or profile.kind not in ("note", *_NUMBERS)


def fault_fits(kind: str, tool: Tool) -> bool:
    """
    Whether a kind of fault can ever fire on a tool; a lost write, for one, cannot on a tool that writes nothing.

    Args:
        kind (`str`):
            One of [`FAULT_KINDS`].
        tool ([`~whileai_hf.spec.Tool`]):
            The tool.

    Returns:
        `bool`: `True` also where it depends on the call.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool, parameter_schemas
    >>> fault_fits("not_found", Tool("get_order")), fault_fits("not_found", Tool("create_order"))
    (True, False)

    ```
    """
    _kind(kind, f"fault_fits(kind={kind!r})")
    return kind_fits(kind, profile_of(tool))


def _unfit(tool: str, kind: str, profile: Profile) -> str:
    does = f"{profile.effect}s records" if profile.effect != "other" else "touches no record"
    meaning = FAULT_KINDS[kind].meaning
    return f"faults[{tool!r}] can never fire: {kind!r} means nothing for a tool that {does} ({meaning})."


def plan_notes(plan: Mapping[str, Mapping[str, Any]], tools: Any) -> list[str]:
    """
    What in a valid plan can never fire, one sentence each; empty for a plan that can.

    Args:
        plan (`dict`):
            A plan as [`validate_faults`] gives it.
        tools (`Toolset`, `AgentSpec` or tools in any shape):
            The tools it is for.

    Examples:
    ```python
    >>> plan_notes(fault_plan("timeout", "get_ordre"), [{"name": "get_order"}])
    ["faults['get_ordre'] can never fire: no tool is called that; did you mean 'get_order'?"]

    ```
    """
    toolset = toolset_of(tools)
    notes = []
    for tool, entry in plan.items():
        kind, where = entry["kind"], f"faults[{tool!r}] can never fire"
        if tool == EVERY_TOOL:
            if not any(kind_fits(kind, profile) for profile in toolset.profiles.values()):
                notes.append(f"{where}: {kind!r} means nothing for any of the tools ({FAULT_KINDS[kind].meaning}).")
        elif tool not in toolset.profiles:
            near = difflib.get_close_matches(tool, toolset.profiles, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the tools are {', '.join(toolset.profiles)}."
            notes.append(f"{where}: no tool is called that; {hint}")
        elif not kind_fits(kind, toolset.profiles[tool]):
            notes.append(_unfit(tool, kind, toolset.profiles[tool]))
    return notes
