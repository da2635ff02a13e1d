"""Taking turns: groups are drawn from every kind of fault and every difficulty alike, whatever there is most of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.rows import RowView
from whileai_hf.select.pool import cells


NO_FAULT = ""


def fault_kinds(view: RowView, rows: IntArray) -> list[str]:
    """The kinds of fault scheduled for some rows; the empty string where there is none."""
    return [_kind(plan) for plan in cells(view, "faults", rows)]


def _kind(plan: Any) -> str:
    if not isinstance(plan, dict):
        return NO_FAULT
    kinds = {
        str(fault.get("kind") or fault.get("mode") or "other") for fault in plan.values() if isinstance(fault, dict)
    }
    return ",".join(sorted(kinds))


def _alternate(queues: Sequence[Iterator[int]]) -> Iterator[int]:
    """One item of each queue in turn until all are empty."""
    left = list(queues)
    while left:
        remaining = []
        for queue in left:
            for item in queue:
                yield item
                remaining.append(queue)
                break
        left = remaining


def take_turns(groups: Sequence[int], kinds: Sequence[str], rates: Sequence[float]) -> list[int]:
    """
    An order of groups in which kinds of fault alternate and, within a kind, pass rates do.

    Args:
        groups (`Sequence[int]`):
            Groups in the order of the rows.
        kinds (`Sequence[str]`):
            Fault kind of each.
        rates (`Sequence[float]`):
            Pass rate of each.

    Returns:
        `list[int]`: The same groups. Kinds alternate in alphabetical order, rates from low to high, and groups that
        agree in both keep their order.

    Examples:
    ```python
    >>> take_turns([0, 1, 2, 3], ["", "", "", "timeout"], [0.25, 0.25, 0.5, 0.5])
    [0, 3, 2, 1]

    ```
    """
    queues: dict[str, dict[float, list[int]]] = {}
    for group, kind, rate in zip(groups, kinds, rates, strict=True):
        queues.setdefault(kind, {}).setdefault(rate, []).append(group)
    by_kind = [_alternate([iter(by_rate[rate]) for rate in sorted(by_rate)]) for _, by_rate in sorted(queues.items())]
    return list(_alternate(by_kind))
