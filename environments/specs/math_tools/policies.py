"""Two scripted calculators, who read nothing but the conversation."""

from __future__ import annotations

import re
from typing import Any

from specs.spec import Message
from specs.talk import ask_of, call, calling, results_of, saying


Rows = list[list[Any]]
_TABLE = re.compile(r"\btable (\w+)")


def _expression(ask: str, rows: Rows) -> str:
    """What has to be computed, written out."""
    units = [str(row[1]) for row in rows]
    worth = " + ".join(f"{row[1]} * {row[2]}" for row in rows)
    if "weighted by units" in ask:
        return f"({worth}) / ({' + '.join(units)})"
    if "sum of units times price" in ask:
        return worth
    if "mean of the column price" in ask:
        return f"({' + '.join(str(row[2]) for row in rows)}) / {len(rows)}"
    if share := re.search(r"is in (\w+)\?", ask):
        return f"{_units_of(share.group(1), rows)} / ({' + '.join(units)})"
    if "variance" in ask:
        mean = f"(({' + '.join(units)}) / {len(rows)})"
        return f"({' + '.join(f'({each} - {mean}) ** 2' for each in units)}) / {len(rows)}"
    grown = re.search(r"units of (\w+) .* by (\d+) percent a year.* after (\d+) years", ask)
    assert grown is not None, ask
    place, percent, years = grown.groups()
    return f"{_units_of(place, rows)} * (1 + {percent} / 100) ** {years}"


def _units_of(place: str, rows: Rows) -> int:
    return next(int(row[1]) for row in rows if row[0] == place)


def careful(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Gets the table, has the whole expression computed, and gives what came out."""
    ask, made = ask_of(messages), results_of(messages)
    table = _TABLE.search(ask)
    assert table is not None, ask
    if not made:
        return calling(call("get_table", name=table.group(1)))
    if len(made) == 1:
        return calling(call("calculate", expression=_expression(ask, made[0][2]["rows"])))
    return saying(f"The answer is \\boxed{{{made[-1][2]['exact']}}}.")


def eager(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
    """Forgets the weights, and takes the rounded number."""
    ask, made = ask_of(messages), results_of(messages)
    if "weighted" in ask:
        ask = ask.replace(", weighted by units", "").replace("mean price in", "mean of the column price in")
    table = _TABLE.search(ask)
    assert table is not None, ask
    if not made:
        return calling(call("get_table", name=table.group(1)))
    if len(made) == 1:
        return calling(call("calculate", expression=_expression(ask, made[0][2]["rows"])))
    return saying(f"The answer is \\boxed{{{made[-1][2]['about']}}}.")
