"""The reward of rows whose table has a column per reward function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from whileai_hf.rows.view import Row
from whileai_hf.traces.rewards import (
    ADVANTAGES,
    FloatArray,
    IntArray,
    Weights,
    find_weights,
    numbers_of,
    reward_columns,
    total,
)


# Columns that hold no reward, whatever their numbers.
_NEVER = ("prompt", "completion", "messages", "steps", "final_text", "tools")


class Rewarded(NamedTuple):
    """Names of the functions, their weights where those are known, and what has to be said about them."""

    functions: list[str]
    weights: dict[str, float]
    notes: list[str]


def with_rewards(
    rows: list[Row],
    raw: Sequence[Row],
    order: Sequence[str],
    groups: IntArray,
    reward_weights: Mapping[str, float] | None,
) -> Rewarded | None:
    """
    Writes `reward` and `rewards` on rows.

    Args:
        rows (`list[dict]`):
            The rows; they are changed.
        raw (`Sequence[dict]`):
            The same rows of the table.
        order (`Sequence[str]`):
            Its columns as they stand.
        groups (`np.ndarray` of shape `(rows,)`):
            Group of each row.
        reward_weights (`Mapping[str, float]`, *optional*):
            Weights from the caller.

    Returns:
        [`Rewarded`], *optional*: `None` where no column is a reward; the rows then have none.
    """
    columns = {name: numbers_of([row.get(name) for row in raw]) for name in order if name not in _NEVER}
    numbers = {name: values for name, values in columns.items() if values is not None}
    by_cell = _of_cells([row.get("rewards") for row in raw])
    numbers |= by_cell
    names = list(by_cell) if by_cell and reward_weights is None else reward_columns(numbers, order, reward_weights)
    found = _weights(numbers, names, groups, reward_weights)
    if found is None and "reward" not in numbers:
        return None
    _write(rows, numbers, names, found)
    return Rewarded(names, {} if found is None else found.by_name, _notes(found))


def _of_cells(cells: Sequence[Any]) -> dict[str, FloatArray]:
    """Columns of rewards that stand together in one mapping per row."""
    given = [cell if isinstance(cell, Mapping) else {} for cell in cells]
    names = dict.fromkeys(name for cell in given for name in cell if isinstance(name, str))
    columns = {name: numbers_of([cell.get(name) for cell in given]) for name in names}
    return {name: values for name, values in columns.items() if values is not None}


def _weights(
    numbers: Mapping[str, FloatArray], names: list[str], groups: IntArray, given: Mapping[str, float] | None
) -> Weights | None:
    """Weights of the functions; `None` where the table has a reward of its own, or no function."""
    if given is not None:
        return Weights({name: float(weight) for name, weight in given.items()}, "given")
    if not names or "reward" in numbers:
        return None
    advantage = next((numbers[name] for name in ADVANTAGES if name in numbers), None)
    return find_weights(np.stack([numbers[name] for name in names], axis=1), names, groups, advantage)


def _write(rows: list[Row], numbers: Mapping[str, FloatArray], names: list[str], weights: Weights | None) -> None:
    """Writes `reward` and `rewards`, `None` where nothing was given."""
    if weights is not None:
        values = np.stack([numbers[name] for name in names], axis=1)
        reward = total(values, [weights.by_name[name] for name in names])
    else:
        reward = numbers["reward"]
    cells = {name: numbers[name].tolist() for name in names}
    for at, (row, value) in enumerate(zip(rows, reward.tolist(), strict=True)):
        row["reward"] = None if np.isnan(value) else value
        if names:
            row["rewards"] = {name: None if np.isnan(column[at]) else column[at] for name, column in cells.items()}


def _notes(weights: Weights | None) -> list[str]:
    if weights is None or weights.origin in ("given", "summed"):
        return []
    said = ", ".join(f"{name} {weight:g}" for name, weight in weights.by_name.items())
    if weights.origin == "recovered":
        return [f"the weights of the reward functions were read off the advantages, up to a common factor: {said}"]
    if len(weights.by_name) == 1 and weights.origin == "unconfirmed":
        return []
    why = "there are no advantages to tell" if weights.origin == "unconfirmed" else "the advantages are no such total"
    return [f"the reward is the plain sum of {', '.join(weights.by_name)}, though {why}; pass reward_weights="]
