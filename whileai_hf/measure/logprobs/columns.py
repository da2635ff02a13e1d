"""Log probabilities of rows, with what cannot be one told apart from what was not recorded."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import MissingColumnError
from whileai_hf.measure.passes.stops import numbers
from whileai_hf.rows import RowView


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
# A log probability is at most 0; rounding of a model's softmax may put it this far above.
_ROUNDING = 1e-4


@dataclasses.dataclass(frozen=True)
class Logprobs:
    """
    What was recorded for each row's generated tokens.

    Args:
        total (`np.ndarray` of shape `(rows,)`):
            Summed log probability, `nan` where it is unknown.
        n_tokens (`np.ndarray` of shape `(rows,)`):
            Tokens it sums over, `nan` where unknown.
        broken (`np.ndarray` of shape `(rows,)`):
            Rows whose numbers cannot be log probabilities: NaN, infinite, above 0, or over no token.
    """

    total: FloatArray
    n_tokens: FloatArray
    broken: BoolArray

    @property
    def known(self) -> BoolArray:
        """Rows with a sum and a count of tokens."""
        return ~np.isnan(self.total) & ~np.isnan(self.n_tokens)


def _step_sums(steps: Any) -> tuple[float, float]:
    """Sums over the steps the agent took; unknown when one that has tokens lacks its log probability."""
    total, tokens, seen = 0.0, 0.0, False
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict) or "user" in step:
            continue
        logprob: Any = step.get("logprob")
        n: Any = step.get("n_tokens")
        if logprob is None and n is None:
            continue  # further calls of a message whose first step carries its numbers
        if not _is_number(logprob) or not _is_number(n):
            return float("nan"), float("nan")
        total, tokens, seen = total + logprob, tokens + n, True
    return (total, tokens) if seen else (float("nan"), float("nan"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _present(view: RowView, name: str) -> BoolArray:
    return np.array([value is not None for value in view.column(name)], dtype=bool)


def read_logprobs(view: RowView, name: str = "logprob", count: str = "n_tokens") -> Logprobs:
    """
    The log probabilities of all rows.

    Args:
        view (`RowView`):
            Rows with totals (`logprob`, `n_tokens`), or with both on their steps.
        name (`str`, *optional*, defaults to `"logprob"`):
            Column of the sums.
        count (`str`, *optional*, defaults to `"n_tokens"`):
            Column of the token counts.

    Returns:
        [`Logprobs`]: All unknown where nothing was recorded.
    """
    total, tokens = numbers(view, name), numbers(view, count)
    given = _present(view, name) if view.has(name) else np.zeros(len(view), bool)
    if name == "logprob" and view.has("steps") and not given.all():
        for row, steps in enumerate(view.column("steps")):
            if not given[row]:
                total[row], tokens[row] = _step_sums(steps)
    recorded = given | ~np.isnan(total)
    fine = np.isfinite(total) & (total <= _ROUNDING * np.maximum(np.nan_to_num(tokens, nan=1.0), 1.0))
    fine &= np.isnan(tokens) | (np.isfinite(tokens) & (tokens >= 1))
    broken = recorded & ~fine
    return Logprobs(np.where(fine, total, np.nan), np.where(fine, tokens, np.nan), broken)


def need(view: RowView, name: str, what_to_do: str) -> None:
    """Raises a [`MissingColumnError`] when no row has the column."""
    if not view.has(name):
        have = ", ".join(view.columns) or "none"
        raise MissingColumnError(f"the rows have no column {name!r} (columns: {have}); {what_to_do}")


def token_lists(view: RowView, name: str) -> Sequence[FloatArray | None]:
    """
    The log probability of every token of each row, `None` where it is unknown or not finite.

    Args:
        view (`RowView`):
            The rows.
        name (`str`):
            The column, such as `token_logprobs`.
    """
    found: list[FloatArray | None] = []
    for cell in view.column(name):
        values: FloatArray | None = None
        if isinstance(cell, list | tuple | np.ndarray) and len(cell) and all(map(_is_number, cell)):
            values = np.asarray(cell, dtype=np.float64)
        found.append(values if values is not None and np.isfinite(values).all() else None)
    return found
