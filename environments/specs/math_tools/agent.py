"""The agent: its tools, what it is told, and its questions with their exact answers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from whileai_hf.rows.rng import Draws, digest, rng


Table = dict[str, Any]
TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_table",
        "description": "Get a table: the names of its columns, and its rows.",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "Name of the table."}},
            "required": ["name"],
        },
    },
    {
        "name": "calculate",
        "description": "Compute exactly: numbers, + - * / ** and parentheses. The result is a fraction.",
        "parameters": {
            "type": "object",
            "properties": {"expression": {"type": "string", "description": "Such as (3 + 4.5) / 7."}},
            "required": ["expression"],
        },
    },
]
SYSTEM_PROMPT = (
    "You answer questions about tables. Get the table you need, compute exactly with the calculator instead of in "
    "your head, and never round. End with the answer in \\boxed{}."
)
_SEED = 23
_TASKS = 96
_PLACES = ("Arles", "Bergen", "Cadiz", "Delft", "Esbjerg", "Fulda", "Ghent", "Horsens", "Imola", "Jena")
_NAMES = ("sales", "stock", "rentals", "visits", "harvest")


def _table(draws: Draws) -> Table:
    """A name, units and a price in each of a few places."""
    rows = [
        [place, draws.integer(12, 480), Fraction(draws.integer(105, 9995), 100)]
        for place in draws.sample_k(_PLACES, draws.integer(4, 7))
    ]
    return {"name": draws.pick(_NAMES), "columns": ["place", "units", "price"], "rows": rows}


def _total(table: Table, draws: Draws) -> tuple[str, Fraction]:
    worth = sum((units * price for _, units, price in table["rows"]), Fraction(0))
    return f"In the table {table['name']}, what is the sum of units times price over all rows?", worth


def _mean(table: Table, draws: Draws) -> tuple[str, Fraction]:
    prices = [price for _, _, price in table["rows"]]
    return f"What is the mean of the column price in the table {table['name']}, exactly?", sum(prices) / len(prices)


def _share(table: Table, draws: Draws) -> tuple[str, Fraction]:
    place, units, _ = draws.pick(table["rows"])
    whole = sum(row[1] for row in table["rows"])
    ask = f"What share of all units in the table {table['name']} is in {place}? Give a fraction in lowest terms."
    return ask, Fraction(units, whole)


def _variance(table: Table, draws: Draws) -> tuple[str, Fraction]:
    units = [row[1] for row in table["rows"]]
    mean = Fraction(sum(units), len(units))
    ask = f"What is the population variance of the column units in the table {table['name']}, exactly?"
    return ask, sum(((each - mean) ** 2 for each in units), Fraction(0)) / len(units)


def _weighted(table: Table, draws: Draws) -> tuple[str, Fraction]:
    worth = sum((units * price for _, units, price in table["rows"]), Fraction(0))
    ask = f"What is the mean price in the table {table['name']}, weighted by units, exactly?"
    return ask, worth / sum(row[1] for row in table["rows"])


def _growth(table: Table, draws: Draws) -> tuple[str, Fraction]:
    place, units, _ = draws.pick(table["rows"])
    percent, years = draws.integer(2, 9), draws.integer(2, 4)
    ask = (
        f"The units of {place} in the table {table['name']} grow by {percent} percent a year. How many are they after "
        f"{years} years, exactly, fractions of a unit included?"
    )
    return ask, units * Fraction(100 + percent, 100) ** years


_KINDS: tuple[Callable[[Table, Draws], tuple[str, Fraction]], ...] = (
    _total, _mean, _share, _variance, _weighted, _growth,
)  # fmt: skip


def _shown(table: Table) -> Table:
    """The table as JSON has it: prices as text, since they are exact."""
    return {**table, "rows": [[place, units, f"{float(price):.2f}"] for place, units, price in table["rows"]]}


def _task(place: int) -> dict[str, Any]:
    draws = rng(_SEED, "math tools", place)
    table, other = _table(draws), _table(draws)
    prompt, answer = _KINDS[place % len(_KINDS)](table, draws)
    tables = [table] if other["name"] == table["name"] else draws.shuffled([table, other])
    return {
        "scenario_id": f"sc-{digest('math tools', place, prompt)}",
        "prompt": f"{draws.pick(_OPENINGS)}{prompt}",
        "seed": place,
        "tables": [_shown(each) for each in tables],
        "privileged": {"reference": str(answer)},
    }


# People do not ask alike, and equal asks would be taken for copies.
_OPENINGS = (
    "", "I am checking a report. ", "For the board: ", "A colleague asks: ", "Before I send this off, ",
    "Homework, in a way. ", "Quick check. ", "For the yearbook: ", "The auditor wants to know. ", "One more. ",
)  # fmt: skip


def tasks() -> list[dict[str, Any]]:
    """The task rows; no two have the same ask."""
    made: dict[str, dict[str, Any]] = {}
    place = 0
    while len(made) < _TASKS:
        task = _task(place)
        made.setdefault(task["prompt"], task)
        place += 1
    return list(made.values())
