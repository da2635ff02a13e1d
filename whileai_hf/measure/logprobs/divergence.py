"""How far the policy has moved from a reference model, from the tokens it sampled."""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist
from typing import Any

import numpy as np
from datasets import Dataset, Json

from whileai_hf.measure.knobs import check_column
from whileai_hf.measure.logprobs.columns import FloatArray, need, read_logprobs, token_lists
from whileai_hf.measure.passes.codes import TASK_COLUMNS, Codes, FetchedView, task_codes
from whileai_hf.measure.passes.origin import inner_codes
from whileai_hf.measure.passes.stops import numbers
from whileai_hf.rows import Report, RowView, add_columns, open_rows, view
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval


SCORE_FIRST = "score the rows under the reference first: wai.reference_logprobs(data, model)"
_Z = NormalDist().inv_cdf(0.975)


@dataclasses.dataclass(frozen=True)
class MeanKL(Report):
    """
    What [`mean_kl`] returns; all divergences are in nats per generated token.

    Args:
        n_rows (`int`):
            Rows given.
        n_used (`int`):
            Rows with a log probability under both models over the same tokens.
        n_skipped (`int`):
            The others.
        n_mismatched (`int`):
            Those of them that the reference read as another number of tokens.
        n_tokens (`int`):
            Tokens of the rows used.
        k1 (`float`, *optional*):
            Mean of `logprob - ref_logprob` over tokens: unbiased, can be negative by chance.
        k1_ci95 (`tuple[float, float]`, *optional*):
            Its interval: normal, from the spread between tasks (delta method of a ratio). `None` below two tasks.
        k3 (`float`, *optional*):
            Mean of `exp(-d) - 1 + d` with `d = logprob - ref_logprob` per token (Schulman 2020): unbiased, never
            negative, with less spread. `None` where no row has the tokens of both models one by one.
        k3_ci95 (`tuple[float, float]`, *optional*):
            Its interval, made alike.
        n_tokens_k3 (`int`):
            Tokens behind `k3`.
        by_task (`dict`):
            For every task: `{"n_rows", "n_tokens", "k1", "k3"}`.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What speaks against them.
    """

    n_rows: int
    n_used: int
    n_skipped: int
    n_mismatched: int
    n_tokens: int
    k1: float | None
    k1_ci95: Interval | None
    k3: float | None
    k3_ci95: Interval | None
    n_tokens_k3: int
    by_task: dict[Any, dict[str, Any]]
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        lines = [
            f"KL from the reference, nats a token: k1 {_shown(self.k1, self.k1_ci95)}, k3 "
            f"{_shown(self.k3, self.k3_ci95)} ({self.n_used} of {self.n_rows} rows, {self.n_tokens} tokens; intervals "
            "over tasks, delta method)"
        ]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _shown(value: float | None, ends: Interval | None) -> str:
    if value is None:
        return "n/a"
    return f"{value:.4f}" + (f" [{ends[0]:.4f}, {ends[1]:.4f}]" if ends else "")


@dataclasses.dataclass(frozen=True)
class _Ratio:
    """Sums per task over tokens per task, as one ratio."""

    value: float | None
    ci95: Interval | None
    sums: FloatArray
    tokens: FloatArray

    def of(self, task: int) -> float | None:
        """The ratio of one task."""
        return float(self.sums[task] / self.tokens[task]) if self.tokens[task] else None


def _ratio(sums: FloatArray, tokens: FloatArray, task: np.ndarray[Any, np.dtype[np.int64]], size: int) -> _Ratio:
    used = ~np.isnan(sums)
    top, bottom = (
        np.asarray(np.bincount(task[used], weights=values[used], minlength=size), dtype=np.float64)
        for values in (sums, tokens)
    )
    total = float(bottom.sum())
    if not total:
        return _Ratio(None, None, top, bottom)
    value = float(top.sum()) / total
    n = int(np.count_nonzero(bottom))
    if n < 2:
        return _Ratio(value, None, top, bottom)
    error = math.sqrt(float(((top - value * bottom) ** 2).sum()) * n / (n - 1)) / total
    return _Ratio(value, (value - _Z * error, value + _Z * error), top, bottom)


def _k3_sums(rows: RowView, ref: str, used: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[FloatArray, FloatArray]:
    """The summed k3 terms of every row and its tokens, `nan` where the tokens of both models do not line up."""
    sums, counts = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    name = f"{ref.removesuffix('_logprob')}_token_logprobs"
    if not rows.has("token_logprobs") or not rows.has(name):
        return sums, counts
    for row, (own, other) in enumerate(zip(token_lists(rows, "token_logprobs"), token_lists(rows, name), strict=True)):
        if used[row] and own is not None and other is not None and own.size == other.size:
            gap = own - other
            with np.errstate(over="ignore"):  # a token the reference all but rules out: infinity is the answer
                sums[row], counts[row] = float((np.expm1(-gap) + gap).sum()), own.size
    return np.where(np.isfinite(sums), sums, np.nan), counts


@dataclasses.dataclass(frozen=True)
class _Measured:
    tasks: Codes
    used: np.ndarray[Any, np.dtype[np.bool_]]
    mismatched: int
    k1: _Ratio
    k3: _Ratio


def _measure(rows: RowView, ref: str) -> _Measured:
    need(rows, check_column("ref", ref), SCORE_FIRST)
    own, other = read_logprobs(rows), read_logprobs(rows, ref, "n_tokens")
    counted = numbers(rows, f"{ref.removesuffix('_logprob')}_n_tokens")
    both = own.known & ~np.isnan(other.total)
    differs = both & ~np.isnan(counted) & (counted != own.n_tokens)
    used = both & ~differs
    tasks = task_codes(rows)
    size = len(tasks.keys)
    k1 = _ratio(np.where(used, own.total - other.total, np.nan), own.n_tokens, tasks.index, size)
    sums, counts = _k3_sums(rows, ref, used)
    k3 = _ratio(sums, counts, tasks.index, size)
    return _Measured(tasks, used, int(np.count_nonzero(differs)), k1, k3)


def mean_kl(data: Source, *, ref: str = "ref_logprob") -> MeanKL:
    """
    Sampled KL divergence of the policy from a reference, per generated token, overall and per task.

    The tokens were drawn from the policy, so means over them estimate `KL(policy || reference)`; two estimators are
    given, `k1` and `k3`. Longer rollouts count for more, as each token counts once.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts with `logprob`, `n_tokens` and the reference's sum. Where the rows hold `token_logprobs` and the
            reference's (`ref_token_logprobs`), `k3` is measured, too.
        ref (`str`, *optional*, defaults to `"ref_logprob"`):
            Column of the reference's summed log probability.

    Returns:
        [`MeanKL`]: Rows without both numbers are left out and counted.

    Raises:
        [`MissingColumnError`]: No row was scored under the reference, or nothing names the tasks.

    Examples:
    ```python
    >>> from whileai_hf.measure.logprobs import mean_kl
    >>> rows = [{"task_id": 1, "logprob": -3.0, "ref_logprob": -5.0, "n_tokens": 4}]
    >>> mean_kl(rows).k1
    0.5

    ```
    """
    stem = check_column("ref", ref).removesuffix("_logprob")
    own = (*TASK_COLUMNS, "logprob", "n_tokens", "token_logprobs", "steps", "sampling")
    names = (*own, ref, f"{stem}_n_tokens", f"{stem}_token_logprobs")
    rows = FetchedView(view(data), names)
    found = _measure(rows, ref)
    used = int(np.count_nonzero(found.used))
    return MeanKL(
        n_rows=len(rows),
        n_used=used,
        n_skipped=len(rows) - used,
        n_mismatched=found.mismatched,
        n_tokens=int(found.k1.tokens.sum()),
        k1=found.k1.value,
        k1_ci95=found.k1.ci95,
        k3=found.k3.value,
        k3_ci95=found.k3.ci95,
        n_tokens_k3=int(found.k3.tokens.sum()),
        by_task=_by_task(found),
        notes=_notes(len(rows), used, found),
        warnings=_warnings(rows, found),
    )


def _by_task(found: _Measured) -> dict[Any, dict[str, Any]]:
    used = np.bincount(found.tasks.index[found.used], minlength=len(found.tasks.keys)).tolist()
    return {
        key: {
            "n_rows": used[task],
            "n_tokens": int(found.k1.tokens[task]),
            "k1": found.k1.of(task),
            "k3": found.k3.of(task),
        }
        for task, key in enumerate(found.tasks.keys)
    }


def _notes(total: int, used: int, found: _Measured) -> list[str]:
    notes = []
    if used < total:
        notes.append(
            f"{total - used} of {total} rows lack a log probability under one of the models; they are left out"
        )
    if found.mismatched:
        notes.append(f"{found.mismatched} rows are other tokens to the reference than the policy generated")
    if found.k1.value is not None and found.k3.value is None:
        notes.append("k3 needs token_logprobs of both models; simulate with logprobs='tokens'")
    return notes


def _warnings(rows: RowView, found: _Measured) -> list[str]:
    warnings = []
    ends = found.k1.ci95
    if ends is not None and ends[1] < 0:
        warnings.append(
            "k1 is below 0 beyond chance, which a KL cannot be: the rows were not sampled by the model whose log "
            "probabilities they carry, or not at temperature 1"
        )
    heats = {key for key in inner_codes(rows, "sampling", "temperature").keys if key not in (None, 1, 1.0)}
    if heats and found.used.any():
        shown = ", ".join(sorted(map(str, heats)))
        warnings.append(
            f"rows were sampled at temperature {shown}: the mean is over those tokens, not the policy's own"
        )
    return warnings


def stamp_kl(data: Source, *, ref: str = "ref_logprob") -> Dataset:
    """
    Writes each task's KL from the reference into its rows' `calibration["mean_kl"]`.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts as for [`mean_kl`]; they are not changed.
        ref (`str`, *optional*, defaults to `"ref_logprob"`):
            Column of the reference's summed log probability.

    Returns:
        `datasets.Dataset`: The rows; what else a calibration holds is kept (a new one says that no pass rate was
        measured), and `mean_kl` (estimator k1) is `None` for
        tasks without a row scored under both models.

    Raises:
        [`MissingColumnError`]: No row was scored under the reference, or nothing names the tasks.

    Examples:
    ```python
    >>> from whileai_hf.measure.logprobs import stamp_kl
    >>> rows = [{"task_id": 1, "logprob": -3.0, "ref_logprob": -5.0, "n_tokens": 4}]
    >>> stamp_kl(rows)["calibration"][0]
    {'task_id': 1, 'n': 0, 'pass_rate': None, 'mean_kl': 0.5}

    ```
    """
    rows = open_rows(data)
    seen = view(rows)
    found = _measure(seen, ref)
    stamps = [
        {
            **{"task_id": found.tasks.keys[task], "n": 0, "pass_rate": None},
            **(old if isinstance(old, dict) else {}),
            "mean_kl": found.k1.of(task),
        }
        for task, old in zip(found.tasks.index.tolist(), seen.column("calibration"), strict=True)
    ]
    return add_columns(rows, {"calibration": stamps}, {"calibration": Json()})
