"""How much of what the policy generated has its log probability, and what those say."""

from __future__ import annotations

import dataclasses

import numpy as np

from whileai_hf.measure.logprobs.columns import read_logprobs, token_lists
from whileai_hf.measure.logprobs.confidence import FEWEST_ASKS, WithinAsk, correlate_within
from whileai_hf.measure.passes.codes import TASK_COLUMNS, FetchedView, column_codes, group_codes, task_codes
from whileai_hf.measure.passes.rewards import read_rewards
from whileai_hf.measure.passes.stops import faulty
from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval


CAPTURE = "collect rollouts with simulate(logprobs=True)"
# A correlation from which reward clearly follows confidence.
_STRONG = 0.3


@dataclasses.dataclass(frozen=True)
class LogprobReport(Report):
    """
    What [`logprob_report`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        n_with_logprobs (`int`):
            Rows with a summed log probability and its number of tokens.
        coverage (`float`):
            Their share of all rows.
        n_with_token_logprobs (`int`):
            Rows with the log probability of every token.
        n_broken (`int`):
            Rows whose numbers cannot be log probabilities (NaN, above 0, over no token); they are left out.
        n_truncated (`int`):
            Rows cut at the token limit.
        n_tokens (`int`):
            Tokens with a known log probability.
        mean_token_logprob (`float`, *optional*):
            Mean over those tokens, in nats.
        row_mean_quantiles (`tuple[float, float, float]`, *optional*):
            10 %, 50 % and 90 % quantile of the rows' mean log probability per token.
        reward_correlation (`float`, *optional*):
            Correlation of reward and mean log probability per token among the rollouts of one ask.
        reward_correlation_ci95 (`tuple[float, float]`, *optional*):
            Its interval: delta method over asks, Fisher's z. `None` below ten asks in which both differ.
        n_asks (`int`):
            Asks in which both differ.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What speaks against an update from these rows.
    """

    n_rows: int
    n_with_logprobs: int
    coverage: float
    n_with_token_logprobs: int
    n_broken: int
    n_truncated: int
    n_tokens: int
    mean_token_logprob: float | None
    row_mean_quantiles: tuple[float, float, float] | None
    reward_correlation: float | None
    reward_correlation_ci95: Interval | None
    n_asks: int
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        mean = "n/a" if self.mean_token_logprob is None else f"{self.mean_token_logprob:.3f}"
        lines = [
            f"log probabilities: {self.n_with_logprobs} of {self.n_rows} rows ({100 * self.coverage:.0f} %), "
            f"{self.n_tokens} tokens, mean {mean} a token"
        ]
        if self.reward_correlation is not None:
            ends = self.reward_correlation_ci95
            about = "" if ends is None else f" [{ends[0]:.2f}, {ends[1]:.2f}] (delta method over asks)"
            lines.append(f"  reward and confidence within an ask: {self.reward_correlation:+.2f}{about}")
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def logprob_report(data: Source) -> LogprobReport:
    """
    How many rollouts carry their log probabilities, and whether reward follows the policy's confidence.

    A trainer that updates on stored rollouts needs the sampler's log probabilities for the importance ratio. A fair
    judge's reward does not depend on how sure the policy was; one that does rewards fluency.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts with `logprob` and `n_tokens`, on the row or on its steps.

    Returns:
        [`LogprobReport`]: Rows without a verdict count towards coverage and not towards the correlation.

    Examples:
    ```python
    >>> from whileai_hf.measure.logprobs import logprob_report
    >>> found = logprob_report([{"prompt": "a", "logprob": -3.0, "n_tokens": 4}, {"prompt": "b", "logprob": None}])
    >>> found.coverage, found.mean_token_logprob
    (0.5, -0.75)

    ```
    """
    names = (*TASK_COLUMNS, "logprob", "n_tokens", "token_logprobs", "steps", "finish_reason", "reward", "sim_ok")
    rows = FetchedView(view(data), names)
    found = read_logprobs(rows)
    known = found.known
    means = found.total[known] / found.n_tokens[known]
    tokens = float(found.n_tokens[known].sum())
    listed = sum(values is not None for values in token_lists(rows, "token_logprobs"))
    cut = column_codes(rows, "finish_reason")
    truncated = int(np.isin(cut.index, [code for code, key in enumerate(cut.keys) if key == "length"]).sum())
    broken = int(np.count_nonzero(found.broken))
    within = _within(rows, np.where(known, found.total / np.where(known, found.n_tokens, 1.0), np.nan))
    return LogprobReport(
        n_rows=len(rows),
        n_with_logprobs=int(np.count_nonzero(known)),
        coverage=float(known.mean()),
        n_with_token_logprobs=listed,
        n_broken=broken,
        n_truncated=truncated,
        n_tokens=int(tokens),
        mean_token_logprob=float(found.total[known].sum()) / tokens if tokens else None,
        row_mean_quantiles=_quantiles(means),
        reward_correlation=within.value,
        reward_correlation_ci95=within.ci95,
        n_asks=within.n_asks,
        notes=_notes(rows, broken, within),
        warnings=_warnings(int(np.count_nonzero(known)), len(rows), within),
    )


def _quantiles(means: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float, float] | None:
    if not means.size:
        return None
    low, middle, high = np.quantile(means, (0.1, 0.5, 0.9)).tolist()
    return low, middle, high


def _within(rows: RowView, confidence: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> WithinAsk:
    if not rows.has("reward") or not any(rows.has(name) for name in TASK_COLUMNS):
        return WithinAsk(None, None, 0)
    rewards = read_rewards(rows)
    used = rewards.scored & ~np.isnan(confidence) & ~faulty(rows)
    if not used.any():
        return WithinAsk(None, None, 0)
    asks = group_codes(rows, task_codes(rows))
    return correlate_within(confidence[used], rewards.values[used], asks[used])


def _notes(rows: RowView, broken: int, within: WithinAsk) -> list[str]:
    notes = []
    if broken:
        notes.append(f"{broken} rows hold numbers that are no log probabilities (NaN or above 0); they are left out")
    if within.value is None:
        notes.append("reward and confidence were not compared: no ask has graded rollouts that differ in both")
    elif within.ci95 is None:
        notes.append(f"no interval on the correlation: {within.n_asks} asks differ in both, {FEWEST_ASKS} are needed")
    return notes


def _warnings(known: int, total: int, within: WithinAsk) -> list[str]:
    found = []
    if known < total:
        found.append(
            f"{total - known} of {total} rows have no log probability: an update from them is off-policy and no ratio "
            f"can correct it; {CAPTURE}"
        )
    if within.value is not None and within.ci95 is not None and abs(within.value) >= _STRONG:
        low, high = within.ci95
        if low > 0 or high < 0:
            found.append(
                f"reward follows the policy's confidence within an ask ({within.value:+.2f}): the judge may reward "
                "how a reply sounds"
            )
    return found
