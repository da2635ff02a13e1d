"""The grounding marker of rows, and its report."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset

from whileai_hf.markers.grounding.arguments import Grounding
from whileai_hf.markers.marking import Mark, Measured
from whileai_hf.markers.rates import RewardLink, RewardLinks, Share
from whileai_hf.rows import Report, view
from whileai_hf.rows.identity import task_keys
from whileai_hf.rows.view import Source
from whileai_hf.score.reading.calls import calls_of


MARKER = "argument_grounding"
COLUMNS = ("prompt", "steps", "messages", "tools", "lineage", "system_prompt")
# Values and examples kept of each argument.
_VALUES = 5
_EXAMPLES = 10


def _calls_known(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("steps"), list) or isinstance(row.get("messages"), list)


class _Measure:
    def __init__(self, ignore_keys: Sequence[str], allow: Sequence[Any]) -> None:
        self.grounding = Grounding(ignore_keys, allow)

    def __call__(self, row: Mapping[str, Any]) -> Measured:
        if not _calls_known(row):
            return {}, None
        return {MARKER: 0.0 if self.grounding.ungrounded(row, calls_of(row)) else 1.0}, None


class ArgumentGrounding(Mark):
    """
    Writes the marker `argument_grounding`; use it with `map(..., batched=True)`.

    Args:
        ignore_keys (`Sequence[str]`, *optional*):
            Arguments that are not checked, by name or path (`items[].sku`).
        allow (`Sequence`, *optional*):
            Values that are always grounded.

    Examples:
    ```python
    >>> from whileai_hf.markers.grounding import ArgumentGrounding
    >>> from whileai_hf.rows import open_rows
    >>> steps = [{"tool": "refund", "arguments": {"order_id": "A-7"}, "result": "ok"}]
    >>> rows = open_rows([{"prompt": "Refund A-7.", "steps": steps}, {"prompt": "Refund it.", "steps": steps}])
    >>> [row["markers"]["argument_grounding"] for row in rows.map(ArgumentGrounding(), batched=True)]
    [1.0, 0.0]

    ```
    """

    def __init__(self, *, ignore_keys: Sequence[str] = (), allow: Sequence[Any] = ()) -> None:
        super().__init__(_Measure(ignore_keys, allow), columns=COLUMNS)


def mark_grounding(data: Source, *, ignore_keys: Sequence[str] = (), allow: Sequence[Any] = ()) -> Dataset:
    """
    Writes the marker `argument_grounding`: 1.0 when every argument of every tool call came from the conversation.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.
        ignore_keys (`Sequence[str]`, *optional*):
            Arguments that are not checked, by name or path (`items[].sku`).
        allow (`Sequence`, *optional*):
            Values that are always grounded.

    Returns:
        `datasets.Dataset`: The rows with `markers`. Rows without calls are grounded; rows that do not say what was
        called are not measured.

    Examples:
    ```python
    >>> from whileai_hf.markers.grounding import mark_grounding
    >>> steps = [{"tool": "refund", "arguments": {"order_id": "A-7"}, "result": "ok"}]
    >>> mark_grounding([{"prompt": "Refund it.", "steps": steps}])[0]["markers"]
    {'argument_grounding': 0.0}

    ```
    """
    return ArgumentGrounding(ignore_keys=ignore_keys, allow=allow).over(data)


@dataclasses.dataclass(frozen=True)
class GroundingReport(Report):
    """
    How many rows call tools with what they were given.

    `with_calls` is the share of grounded rows among those with calls, `overall` among all that say what was called;
    `invented` lists arguments by how often they were invented: `{"tool", "key", "count", "values"}`; `link` is the
    correlation of inventing with the reward.
    """

    n_rows: int
    with_calls: Share
    overall: Share
    invented: list[dict[str, Any]]
    examples: list[dict[str, Any]]
    link: RewardLink
    warnings: list[str]
    notes: list[str]

    @property
    def grounded_rate(self) -> float | None:
        """Share of grounded rows among those with calls."""
        return self.with_calls.rate

    def __str__(self) -> str:
        lines = [f"grounded: {self.with_calls} of rows with calls; {self.overall} of all rows"]
        for entry in self.invented[:10]:
            values = ", ".join(map(repr, entry["values"]))
            lines.append(f"  {entry['tool']}.{entry['key']}: {entry['count']} invented, such as {values}")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings), *self.notes])


def _list_key(path: str) -> str:
    """A path with its positions left out, so that `items[0].sku` and `items[1].sku` count as one argument."""
    pieces = path.split("[")
    return pieces[0] + "".join("[]" + piece.split("]", 1)[-1] for piece in pieces[1:])


def grounding_report(data: Source, *, ignore_keys: Sequence[str] = (), allow: Sequence[Any] = ()) -> GroundingReport:
    """
    The share of grounded rows, and the invented values by tool and argument.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts, judged or not.
        ignore_keys (`Sequence[str]`, *optional*):
            Arguments that are not checked, by name or path (`items[].sku`).
        allow (`Sequence`, *optional*):
            Values that are always grounded.

    Returns:
        [`GroundingReport`]: With Wilson intervals; a warning when the reward pays for inventing.

    Examples:
    ```python
    >>> from whileai_hf.markers.grounding import grounding_report
    >>> steps = [{"tool": "refund", "arguments": {"order_id": "A-7"}, "result": "ok"}]
    >>> grounding_report([{"prompt": "Refund it.", "steps": steps}])["invented"]
    [{'tool': 'refund', 'key': 'order_id', 'count': 1, 'values': ['A-7']}]

    ```
    """
    rows = view(data)
    grounding = Grounding(ignore_keys, allow)
    tasks, places = task_keys(rows), rows.column("rollout_index")
    columns = None if isinstance(rows.source, Sequence) else [name for name in COLUMNS if name in rows.columns]
    counts: Counter[tuple[str, str]] = Counter()
    values: dict[tuple[str, str], dict[str, Any]] = {}
    examples: list[dict[str, Any]] = []
    calling: list[int] = []
    inventing: list[int] = []
    known = 0
    for index, row in enumerate(rows.rows(columns)):
        if not _calls_known(row):
            continue
        known += 1
        calls = calls_of(row)
        if not calls:
            continue
        calling.append(index)
        found = grounding.ungrounded(row, calls)
        if found:
            inventing.append(index)
        for entry in found:
            name = (entry["tool"], _list_key(entry["key"]))
            counts[name] += 1
            shown = values.setdefault(name, {})
            if len(shown) < _VALUES:
                shown.setdefault(repr(entry["value"]), entry["value"])
        if found and len(examples) < _EXAMPLES:
            place = places[index] if places[index] is not None else index
            examples.append({"task": tasks[index], "rollout": place, **found[0]})
    bad = len(inventing)
    silent = set(range(len(rows))).difference(calling)
    link = RewardLinks(rows.column("reward"), tasks).of(inventing, silent)
    invented = [
        {"tool": tool, "key": key, "count": count, "values": list(values[tool, key].values())}
        for (tool, key), count in counts.most_common()
    ]
    unknown = len(rows) - known
    notes = [f"{unknown} rows say nothing about calls (no steps, no messages) and are left out."] if unknown else []
    warnings = [f"the reward pays for invented arguments: {link}"] if link.pays else []
    return GroundingReport(
        len(rows),
        Share.of(len(calling) - bad, len(calling)),
        Share.of(known - bad, known),
        invented,
        examples,
        link,
        warnings,
        notes,
    )
