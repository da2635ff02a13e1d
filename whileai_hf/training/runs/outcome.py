"""Did it work? One word from the held-out evaluation before and after, and the block it is read from."""

from __future__ import annotations

import math
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.changes import DeltaReport
from whileai_hf.measure.metrics import PASS_AT_1
from whileai_hf.measure.passes import pass_at
from whileai_hf.measure.passes.report import PassAt
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats import wilson


BETTER, WORSE, SAME = "Better", "Worse", "About the same"
LOSS = "loss"
# Words for verdicts: a change the interval supports is a change, one that re-running makes by itself is none.
_WORDS = {
    "moved": BETTER,
    "moved_unreplicated": BETTER,
    "moved_the_wrong_way": WORSE,
    "within_eval_noise": SAME,
    "no_change_detected": SAME,
}
# Two bare numbers have no interval. Differences under these pass for nothing: two points of a rate, 1% of a loss.
_RATE_BAND, _LOSS_BAND = 0.02, 0.01
_NO_INTERVAL = (
    "two numbers without the tasks behind them have no interval: the word is their difference; give n_tasks, two "
    "pass_at reports, or the rows to run.delta"
)

Side = dict[str, Any]


def _side(value: float, n_tasks: int | None, k: int | None, ci95: Any) -> Side:
    return {"value": value, "n_tasks": n_tasks, "k": k, "ci95": None if ci95 is None else list(ci95)}


def _number(name: str, value: Any, metric: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{name} is a {type(value).__name__}; pass a number or a pass_at report") from error
    if not math.isfinite(number) or isinstance(value, bool):
        raise ConfigurationError(f"{name} is {value!r}; pass a finite number")
    if metric == PASS_AT_1 and not 0 <= number <= 1:
        raise ConfigurationError(f"{name} is {number:g}; pass rates lie between 0 and 1, so 58% is 0.58")
    return number


def _read_side(name: str, value: Any, metric: str, n_tasks: int | None, k: int | None) -> Side:
    if isinstance(value, PassAt):
        if metric != PASS_AT_1:
            raise ConfigurationError(f"{name} is a pass_at report and the metric {metric}; leave metric= out")
        if value.pass_at_1 is None:
            raise ConfigurationError(f"{name} is a pass_at report without a verdict; grade the rows first")
        return _side(value.pass_at_1, value.n_tasks, value.k, value.ci95)
    number = _number(name, value, metric)
    return _side(number, n_tasks, k, _rate_interval(number, n_tasks) if metric == PASS_AT_1 and n_tasks else None)


def _rate_interval(rate: float, n_tasks: int) -> list[float] | None:
    # Tasks as single trials: repeats of a task make its rate surer, so this is wide enough. So are the whole counts
    # of passes on either side of a rate that is none.
    passes = round(rate * n_tasks, 9)
    low, high = wilson(math.floor(passes), n_tasks), wilson(math.ceil(passes), n_tasks)
    return None if low is None or high is None else [low[0], high[1]]


def _difference(before: Side, after: Side) -> list[float] | None:
    """Interval of the difference of two rates from the interval of each (square-and-add, Newcombe 1998)."""
    if before["ci95"] is None or after["ci95"] is None:
        return None
    p, (p_low, p_high) = before["value"], before["ci95"]
    q, (q_low, q_high) = after["value"], after["ci95"]
    low = math.hypot(q - q_low, p_high - p)
    high = math.hypot(q_high - q, p - p_low)
    return [q - p - low, q - p + high]


def _judge(delta: float, band: float, interval: list[float] | None) -> str:
    if interval is not None:
        return BETTER if interval[0] > 0 else WORSE if interval[1] < 0 else SAME
    # A hair more than the band is the band: 0.52 - 0.50 is 0.020000000000000018.
    return SAME if abs(delta) < band * (1 - 1e-9) else BETTER if delta > 0 else WORSE


def holdout_block(
    before: Any, after: Any, metric: str, n_tasks: int | None = None, k: int | None = None
) -> dict[str, Any]:
    """
    The held-out evaluation as one block.

    Args:
        before (`float` or [`PassAt`]):
            Before training.
        after (`float` or [`PassAt`]):
            Afterwards.
        metric (`str`):
            `"pass_at_1"`, `"loss"` (lower is better) or any other (higher is better).
        n_tasks (`int`, *optional*):
            Tasks behind each of two pass rates.
        k (`int`, *optional*):
            Rollouts of each task.

    Returns:
        `dict`: `metric`, `before` and `after` (`value`, `n_tasks`, `k`, `ci95`), `delta`, `ci95`, `verdict`, `word`
        and `notes`.

    Examples:
    ```python
    >>> holdout_block(0.42, 0.58, "pass_at_1")["word"]
    'Better'
    >>> holdout_block(0.42, 0.58, "pass_at_1", n_tasks=20)["word"]
    'About the same'

    ```
    """
    if not isinstance(metric, str) or not metric:
        raise ConfigurationError(f"metric is {metric!r}; pass its name, like pass_at_1 or loss")
    for name, value in (("n_tasks", n_tasks), ("k", k)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ConfigurationError(f"{name} is {value!r}; expected a count from 1 on")
    sides = [_read_side(name, value, metric, n_tasks, k) for name, value in (("before", before), ("after", after))]
    delta = sides[1]["value"] - sides[0]["value"]
    interval = _difference(*sides)
    lower_is_better = metric == LOSS or metric.endswith("_loss")
    band = _LOSS_BAND * abs(sides[0]["value"]) if lower_is_better else _RATE_BAND
    word = _judge(-delta if lower_is_better else delta, band, interval)
    return {
        "metric": metric,
        "before": sides[0],
        "after": sides[1],
        "delta": delta,
        "ci95": interval,
        "verdict": None,
        "word": word,
        "notes": [] if interval is not None else [_NO_INTERVAL],
    }


def delta_block(report: DeltaReport, before: Source | RowView, after: Source | RowView) -> dict[str, Any]:
    """The same block from a delta report and the rows it compared."""
    main = report.metrics[report.target]
    if report.target == PASS_AT_1:
        passes = [pass_at(rows) for rows in (before, after)]
        sides = [_side(p.pass_at_1, p.n_tasks, p.k, p.ci95) for p in passes if p.pass_at_1 is not None]
    else:
        values = [value for value in (main.before, main.after) if value is not None]
        sides = [_side(value, main.n_paired, None, None) for value in values]
    notes = []
    word = _WORDS.get(report.verdict)
    if word is None:
        notes.append(f"{report.verdict}: too few shared tasks for a word")
    if report.paired_share is not None and report.paired_share < 1:
        notes.append(f"the word is that of the {report.n_paired} tasks both sides have")
    return {
        "metric": report.target,
        "before": sides[0] if len(sides) == 2 else None,
        "after": sides[1] if len(sides) == 2 else None,
        "delta": report.delta,
        "ci95": None if report.ci95 is None else list(report.ci95),
        "verdict": report.verdict,
        "word": word,
        "notes": notes,
    }
