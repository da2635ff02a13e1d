"""`compare_runs`: two runs on one metric, paired by task, with one test behind verdict and interval."""

from __future__ import annotations

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.arguments import check_whole, is_real, shown
from whileai_hf.measure.compare.comparison import RunComparison
from whileai_hf.measure.compare.notes import (
    duplicates,
    notes_on_pairs,
    notes_on_side,
    settings,
    unlike_settings,
    unmeasured,
)
from whileai_hf.measure.compare.pairing import Contrast, contrast, level, pair
from whileai_hf.measure.metrics import PASS_AT_1, Measured, find_metric
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source
from whileai_hf.stats import Interval


_SIDES = ("in a", "in b")
# The level of the interval that two one-sided tests at 5% amount to.
_EQUIVALENCE_LEVEL = 0.90


def compare_runs(
    a: Source | RowView,
    b: Source | RowView,
    *,
    metric: str = PASS_AT_1,
    within: float | None = None,
    n_boot: int = 2000,
    seed: int = 0,
) -> RunComparison:
    """
    Whether two runs differ, over the tasks they share.

    Each shared task (`task_key`) gives one difference of means, and a sign-flip test over those gives both the p-value
    and the interval, which therefore never contradict each other: exact up to 16 tasks, by drawn sign patterns beyond.
    Repeats of a task are averaged first, so many rollouts of few tasks do not pass for many tasks. Fewer than six
    shared tasks cannot show a difference at 5%: the verdict then is `insufficient_data`. Where fewer than eight tasks
    differ at all, the interval is widened by exact binomial bounds on the mean rise and fall, on its side of zero.

    "No difference detected" is not "equal". To show that two runs are alike, name a margin with `within`: they are
    `equivalent` when both one-sided tests of a larger difference are rejected; where fewer than eight tasks differ,
    the exact bounds have to lie within the margin, too, so that a handful of tasks that came out alike shows nothing.

    Args:
        a (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows of the first run.
        b (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows of the second. Differences are `b` minus `a`.
        metric (`str`, *optional*, defaults to `"pass_at_1"`):
            `pass_at_1`, `reward`, a marker (`marker:<name>` or its bare name), or a column of numbers.
        within (`float`, *optional*):
            Largest difference that would not matter, above 0.
        n_boot (`int`, *optional*, defaults to `2000`):
            Resamples behind the bootstrap interval.
        seed (`int`, *optional*, defaults to `0`):
            Seed of resampling and of drawn sign patterns.

    Returns:
        [`RunComparison`]: `print` it.

    Raises:
        [`MissingColumnError`]: No reward column, or nothing that names the task.
        [`ConfigurationError`]: An unknown metric, or a margin that is none.

    Examples:
    ```python
    >>> a = [{"task_id": task, "reward": int(task % 3 == 0)} for task in range(12)]
    >>> b = [{"task_id": task, "reward": int(task % 3 != 1)} for task in range(12)]
    >>> found = compare_runs(a, b)
    >>> found.verdict, found.n_paired, found.p_value
    ('no_difference_detected', 12, 0.125)

    ```
    """
    check_whole("seed", seed, 0)
    check_whole("n_boot", n_boot, 1)
    if within is not None and (not is_real(within) or within <= 0):
        raise ConfigurationError(
            f"within={shown(within)} is not a margin; pass the largest difference that does not matter"
        )
    left, right = Measured(a, [metric]), Measured(b, [metric])
    name = find_metric(metric, [left.find, right.find], lambda: [n for n in left.names if n in right.names])
    pairs = pair(left.means(name), right.means(name))
    bounded = left.is_share(name) and right.is_share(name)
    found = contrast(pairs, level(pairs, name, (left, right)), bounded=bounded, n_boot=n_boot, seed=seed)
    config, copies = {"a": settings(left), "b": settings(right)}, {"a": duplicates(left), "b": duplicates(right)}
    equivalence, equivalence_p, ci90 = _equivalence(found, within)
    return RunComparison(
        metric=name,
        verdict=verdict_of(found),
        delta=found.delta,
        ci95=found.ci95,
        p_value=found.p_value,
        method=found.method,
        bootstrap_ci95=found.bootstrap_ci95,
        mean_a=found.mean_a,
        mean_b=found.mean_b,
        paired=pairs.enough,
        n_paired=len(pairs.keys),
        n_tasks_a=len(pairs.a.keys),
        n_tasks_b=len(pairs.b.keys),
        paired_share=pairs.share,
        within=within,
        equivalence=equivalence,
        equivalence_p=equivalence_p,
        ci90=ci90,
        n_unjudged={"a": unmeasured(left, name), "b": unmeasured(right, name)},
        n_sim_faulty={"a": int(np.count_nonzero(left.spoilt)), "b": int(np.count_nonzero(right.spoilt))},
        n_duplicates=copies,
        config=config,
        notes=[
            *notes_on_pairs(pairs, found, _SIDES, name),
            *notes_on_side(left, "a", name, copies["a"]),
            *notes_on_side(right, "b", name, copies["b"]),
            *unlike_settings(config["a"], config["b"], _SIDES),
        ],
    )


def verdict_of(found: Contrast) -> str:
    """The verdict on two runs."""
    if not found.tests or found.delta is None:
        return "insufficient_data"
    if not found.differs:
        return "no_difference_detected"
    return "b_better" if found.delta > 0 else "a_better"


def _equivalence(found: Contrast, within: float | None) -> tuple[str | None, float | None, Interval | None]:
    if within is None:
        return None, None, None
    if not found.tests:
        return "insufficient_data", None, None
    ci90 = found.interval(_EQUIVALENCE_LEVEL)
    p_value = found.equivalence_p(within)
    alike = p_value is not None and ci90 is not None and -within < ci90[0] and ci90[1] < within
    return "equivalent" if alike else "not_shown", p_value, ci90
