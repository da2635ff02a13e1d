"""`length_report`: how long replies are, how much they differ within an ask, and whether the reward pays for it."""

from __future__ import annotations

import dataclasses

import numpy as np

from whileai_hf.measure.hacks.asks import FloatArray, IntArray, lay_out
from whileai_hf.measure.hacks.correlations import HACK_THRESHOLD
from whileai_hf.measure.hacks.reading import read_lengths
from whileai_hf.measure.hacks.report import shown
from whileai_hf.measure.hacks.sampling import ask_codes
from whileai_hf.measure.passes.codes import FetchedView, task_codes
from whileai_hf.measure.passes.rewards import read_rewards
from whileai_hf.measure.passes.stops import faulty
from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval, wilson


# Longest reply of an ask, in its median ones, from which the ask's lengths are spread wide.
WIDE = 4.0
# Share of cut-off replies from which they are warned of.
_MANY_CUT = 0.05
_COLUMNS = ("reward", "scenario_id", "task_id", "prompt", "sim_ok")
_TINY = 1e-12


@dataclasses.dataclass(frozen=True)
class LengthReport(Report):
    """
    Lengths of replies in characters; what [`length_report`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        n_replies (`int`):
            Rows counted: all but those a simulated user spoiled.
        mean (`float`, *optional*):
            Mean length.
        median (`float`, *optional*):
            Median length.
        p95 (`float`, *optional*):
            Length that 95% of the replies do not exceed.
        longest (`int`, *optional*):
            The longest.
        n_empty (`int`):
            Rows without a reply.
        n_truncated (`int`):
            Replies that were cut off: by `finish_reason`, by a step, or, where nothing says how they ended, in the
            middle of a sentence.
        truncated_share (`float`, *optional*):
            Their share.
        truncated_ci95 (`tuple[float, float]`, *optional*):
            Its Wilson interval.
        n_asks (`int`):
            Asks with at least two replies.
        n_wide (`int`):
            Asks whose longest reply is more than 4 times their median one.
        max_spread (`float`, *optional*):
            The largest such ratio.
        median_by_reward (`dict[str, float]`):
            Median length of the replies that `pass` (reward of at least 1) and that `fail`; a key without any is
            absent.
        rho (`float`, *optional*):
            Correlation of length and reward within asks; `None` when one of the two does not vary within any.
        n_sim_faulty (`int`):
            Rows left out because the simulated user was at fault.
        warnings (`list[str]`):
            What to do something about.
        notes (`list[str]`):
            What a reader has to know.
    """

    n_rows: int
    n_replies: int
    mean: float | None
    median: float | None
    p95: float | None
    longest: int | None
    n_empty: int
    n_truncated: int
    truncated_share: float | None
    truncated_ci95: Interval | None
    n_asks: int
    n_wide: int
    max_spread: float | None
    median_by_reward: dict[str, float]
    rho: float | None
    n_sim_faulty: int
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        line = (
            f"median {shown(self.median)} characters | 95% within {shown(self.p95)} | longest {self.longest} | "
            f"{self.n_truncated} cut off | {self.n_wide} of {self.n_asks} asks spread wide | "
            f"reward within asks {shown(self.rho)} ({self.n_replies} replies)"
        )
        warnings = [f"warning: {text}" for text in self.warnings]
        return "\n".join([line, *warnings, *(f"note: {text}" for text in self.notes)])


def length_report(data: Source | RowView) -> LengthReport:
    """
    How long the replies are.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows; rewards are used where there are any.

    Returns:
        [`LengthReport`]: The report.

    Raises:
        [`MissingColumnError`]: Nothing names the rows' task.

    Examples:
    ```python
    >>> from whileai_hf.measure.hacks import length_report
    >>> rows = [{"task_id": 1, "final_text": "Done." * times, "reward": 1} for times in (1, 1, 1, 9)]
    >>> report = length_report(rows)
    >>> report.median, report.longest, report.max_spread
    (5.0, 45, 9.0)

    ```
    """
    given = view(data)
    rows = FetchedView(given, _COLUMNS)
    spoilt, tasks = faulty(rows), task_codes(rows)
    kept = ~spoilt
    rewards = read_rewards(rows).values[kept] if rows.has("reward") else np.full(int(kept.sum()), np.nan)
    lengths, ended = read_lengths(given, kept)
    cut = int(ended.sum())
    asks = ask_codes(rows, tasks)[kept]
    spreads, n = _spreads(lengths, asks), lengths.size
    report = LengthReport(
        n_rows=len(rows),
        n_replies=n,
        mean=float(lengths.mean()) if n else None,
        median=float(np.median(lengths)) if n else None,
        p95=float(np.quantile(lengths, 0.95)) if n else None,
        longest=int(lengths.max()) if n else None,
        n_empty=int(np.count_nonzero(lengths == 0)),
        n_truncated=cut,
        truncated_share=cut / n if n else None,
        truncated_ci95=wilson(cut, n),
        n_asks=spreads.size,
        n_wide=int(np.count_nonzero(spreads > WIDE)),
        max_spread=float(spreads.max()) if spreads.size else None,
        median_by_reward=_by_reward(lengths, rewards),
        rho=_within(lengths, rewards, asks),
        n_sim_faulty=int(np.count_nonzero(spoilt)),
        warnings=[],
        notes=[],
    )
    unjudged = int(np.count_nonzero(np.isnan(rewards)))
    notes = [f"{unjudged} of {n} rows have no verdict; they count in the lengths only"] if unjudged else []
    return dataclasses.replace(report, warnings=_warnings(report), notes=notes)


def _spreads(lengths: FloatArray, asks: IntArray) -> FloatArray:
    """Longest reply of each ask with two or more, in units of its median one."""
    order = np.lexsort((lengths, asks))
    ask, length = asks[order], lengths[order]
    starts = np.flatnonzero(np.concatenate(([True], ask[1:] != ask[:-1]))) if ask.size else np.zeros(0, np.int64)
    sizes = np.diff(starts, append=ask.size)
    starts, sizes = starts[sizes >= 2], sizes[sizes >= 2]
    median = (length[starts + (sizes - 1) // 2] + length[starts + sizes // 2]) / 2
    return np.asarray(length[starts + sizes - 1] / np.maximum(median, 1.0), dtype=np.float64)


def _by_reward(lengths: FloatArray, rewards: FloatArray) -> dict[str, float]:
    sides = {"pass": rewards >= 1.0, "fail": rewards < 1.0}
    return {name: float(np.median(lengths[which])) for name, which in sides.items() if which.any()}


def _within(lengths: FloatArray, rewards: FloatArray, asks: IntArray) -> float | None:
    scored = ~np.isnan(rewards)
    layout = lay_out(asks[scored], rewards[scored])
    length = layout.centred(lengths[scored][layout.order])
    spread = float(np.sqrt(length @ length)) * layout.spread
    return round(float(length @ layout.reward) / spread, 6) if spread > _TINY else None


def _warnings(report: LengthReport) -> list[str]:
    warnings = []
    if report.truncated_share is not None and report.truncated_share > _MANY_CUT:
        warnings.append(f"{report.truncated_share:.0%} of the replies are cut off: raise the limit of tokens")
    if report.n_wide:
        warnings.append(
            f"in {report.n_wide} of {report.n_asks} asks the longest reply is more than {WIDE:g} times the median one"
        )
    if report.rho is not None and abs(report.rho) >= HACK_THRESHOLD:
        kind = "longer" if report.rho > 0 else "shorter"
        warnings.append(f"the reward pays for {kind} replies (correlation {report.rho:+.2f} within asks)")
    return warnings
