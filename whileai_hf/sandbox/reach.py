"""Where each kind of fault can show for one agent: on which tools, and for some kinds between which two.

Some kinds do not break the call they are planned for but the next one about the same record. An ask for one call
never gets to see them, so they belong to asks for two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whileai_hf.sandbox.faults import kind_fits
from whileai_hf.sandbox.kinds import FAULT_KINDS
from whileai_hf.sandbox.toolset import Profile, toolset_of


# Kinds that show in a later call: a read after the write, a write after the read.
PAIRED = ("eventual", "changed_after_read")
_WRITES = ("create", "update", "delete")


@dataclass(frozen=True)
class Reach:
    """
    Where kinds of fault can show.

    Args:
        alone (`dict[str, frozenset[str]]`):
            Tool to the kinds that can show in a call of it.
        pairs (`dict[str, dict[str, frozenset[str]]]`):
            Kind to the tools it can be planned for, and to each those in whose next call it then shows.
    """

    alone: dict[str, frozenset[str]]
    pairs: dict[str, dict[str, frozenset[str]]]


def _shows(kind: str, first: Profile, second: Profile) -> bool:
    """Whether a fault of `kind` that is planned for `first` can show in a call of `second` about the same record."""
    if first.entity != second.entity:
        return False
    read, write = (second, first) if kind == "eventual" else (first, second)
    if read.effect != "read" or write.effect not in _WRITES:
        return False
    # What has been written may also be looked for in a listing; what is changed behind somebody's back is one record.
    if kind == "eventual" and read.kind == "contents":
        return True
    # A new record has no id to be called by, unless the caller names it.
    named = write.effect != "create" or write.own_id
    return read.kind == "record" and named and bool(read.id_names) and read.id_names <= write.id_names


def reach_of(tools: Any) -> Reach:
    """
    Where each kind of fault can show.

    Args:
        tools (`Toolset`, `AgentSpec` or tools in any shape):
            The agent's tools.

    Returns:
        [`Reach`]: Names of tools and kinds.

    Examples:
    ```python
    >>> order = {"properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    >>> reach = reach_of([{"name": name, "parameters": order} for name in ("get_order", "cancel_order")])
    >>> "pending" in reach.alone["get_order"], "pending" in reach.alone["cancel_order"]
    (False, True)
    >>> reach.pairs["changed_after_read"]
    {'get_order': frozenset({'cancel_order'})}

    ```
    """
    profiles = toolset_of(tools).profiles
    alone = {
        name: frozenset(kind for kind in FAULT_KINDS if kind not in PAIRED and kind_fits(kind, profile))
        for name, profile in profiles.items()
    }
    pairs: dict[str, dict[str, frozenset[str]]] = {}
    for kind in PAIRED:
        shown = {
            name: frozenset(other for other, second in profiles.items() if _shows(kind, first, second))
            for name, first in profiles.items()
        }
        pairs[kind] = {name: others for name, others in shown.items() if others}
    return Reach(alone, pairs)
