"""Which tools rows call, how often, and how often it goes wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from whileai_hf.hub.profiling.profiles import ToolCount, ToolUse
from whileai_hf.rows import RowView
from whileai_hf.score.reading import calls_of


# What says which tools were called; messages only where no steps are kept, as decoding them is most of the cost.
_COLUMNS = ("steps", "messages")


def tool_use(rows: RowView) -> ToolUse | None:
    """
    Counts of the tool calls of rows.

    Args:
        rows ([`~whileai_hf.rows.RowView`]):
            Rows with `steps` or `messages`.

    Returns:
        [`ToolUse`], *optional*: `None` where rows have neither.

    Examples:
    ```python
    >>> from whileai_hf.rows import view
    >>> steps = [{"tool": "get_order", "arguments": {}, "result": {"status": "timeout"}}]
    >>> found = tool_use(view([{"steps": steps}, {"steps": []}]))
    >>> found.share, found.failed_share, found.tools[0].tool
    (0.5, 1.0, 'get_order')

    ```
    """
    source = next((name for name in _COLUMNS if rows.has(name)), None)
    if source is None:
        return None
    names = [name for name in (source, "tools") if rows.has(name)]
    calls, failed, in_rows = Counter[str](), Counter[str](), Counter[str]()
    offered: set[str] = set()
    per_row = np.zeros(len(rows), np.int64)
    last: Any = None
    for at, row in enumerate(rows.rows(names)):
        tools = row.get("tools")
        if tools is not last:  # equal neighbours are one object
            offered.update(_names(tools))
            last = tools
        found = calls_of(row)
        per_row[at] = len(found)
        calls.update(call.tool for call in found)
        failed.update(call.tool for call in found if call.failed)
        in_rows.update({call.tool for call in found})
    total = sum(calls.values())
    # Most used first, and in the order of the alphabet where two are used alike.
    ordered = sorted(calls, key=lambda tool: (-calls[tool], tool))
    return ToolUse(
        n_rows=len(rows),
        share=float(np.mean(per_row > 0)),
        calls_per_row={"mean": float(per_row.mean()), "median": float(np.median(per_row)), "max": int(per_row.max())},
        failed_share=sum(failed.values()) / total if total else None,
        tools=[ToolCount(tool, in_rows[tool], calls[tool], failed[tool]) for tool in ordered],
        never_called=sorted(offered - set(calls)),
    )


def _names(tools: Any) -> list[str]:
    """Names of the tools a row offers, nested as OpenAI has them or flat."""
    found = []
    for tool in tools if isinstance(tools, list) else ():
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        name = inner.get("name") if isinstance(inner, Mapping) else None
        if isinstance(name, str):
            found.append(name)
    return found
