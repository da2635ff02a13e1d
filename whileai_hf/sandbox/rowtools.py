"""The tools of finished rows, as the world that answers them again needs them, and which rows it can answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.rows import dumps
from whileai_hf.sandbox.toolset import Toolset, toolset_of
from whileai_hf.spec import Tool, read_tools


# Rows whose cells are remembered by address.
_MOST_ADDRESSES = 4096
_OWN_ANSWERS = "its tool calls were answered by another world than ours, or are reported in a shape of the agent's own"


def cannot_replay(row: Mapping[str, Any]) -> str:
    """
    Why the answers on a row cannot be those of the simulated world; empty when they can.

    Examples:
    ```python
    >>> steps = [{"tool": "get_order", "arguments": {}, "result": "shipped"}]
    >>> cannot_replay({"prompt": "Hi", "steps": steps}) == _OWN_ANSWERS
    True
    >>> cannot_replay({"prompt": "Hi", "steps": []})
    ''

    ```
    """
    steps, status = row.get("steps"), row.get("rollout_status")
    if not isinstance(row.get("prompt"), str) or not isinstance(steps, list):
        return "it has no prompt or no steps"
    if status not in (None, "ok"):
        return "the rollout failed, and what it did by then is not on the row"
    made = [step for step in steps if step.get("tool") is not None and "malformed" not in step]
    # A world of ours says of every call how it went, and leaves a digest on every row it answered.
    if any(not isinstance(step.get("result"), dict) or "status" not in step["result"] for step in made):
        return _OWN_ANSWERS
    return _OWN_ANSWERS if made and row.get("state_digest", "") is None else ""


def read_row_tools(row: Mapping[str, Any]) -> tuple[Tool, ...]:
    """
    The tools a row carries. Hints that the OpenAI shape has no place for are taken from `lineage.tool_annotations`.

    Raises:
        [`~whileai_hf.errors.SpecError`]: It carries none, or they cannot be read.
    """
    if not row.get("tools"):
        raise SpecError("the row carries no tools; pass tools=")
    lineage = row.get("lineage")
    hints = (lineage.get("tool_annotations") if isinstance(lineage, Mapping) else None) or {}
    return tuple(replace(tool, annotations=hints.get(tool.name, {})) for tool in read_tools(row["tools"])[0])


class RowToolsets:
    """
    The toolset of each of many rows; what follows from equal tools is worked out once.

    Args:
        tools (`list`, `AgentSpec`, *optional*):
            The tools of all rows, instead of those they carry.
    """

    def __init__(self, tools: Any = None) -> None:
        self._given = None if tools is None else toolset_of(tools)
        self._by_content: dict[bytes, Toolset] = {}
        # Decoded rows share equal cells. The cells are held on to, so that an address stays theirs.
        self._by_address: dict[tuple[int, int], tuple[Any, Any, Toolset]] = {}

    def find(self, row: Mapping[str, Any]) -> Toolset:
        """The toolset of a row; raises as [`read_row_tools`] does."""
        if self._given is not None:
            return self._given
        tools, lineage = row.get("tools"), row.get("lineage")
        address = (id(tools), id(lineage))
        known = self._by_address.get(address)
        if known is not None:
            return known[2]
        hints = lineage.get("tool_annotations") if isinstance(lineage, Mapping) else None
        content = dumps([tools, hints])
        found = self._by_content.get(content)
        if found is None:
            found = self._by_content[content] = toolset_of(read_row_tools(row))
        if len(self._by_address) >= _MOST_ADDRESSES:
            self._by_address.clear()
        self._by_address[address] = (tools, lineage, found)
        return found
