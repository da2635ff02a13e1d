"""`judge_agreement`: a judge beside labels, or beside another scoring of the same rows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from whileai_hf.errors import DataError
from whileai_hf.measure.knobs import check_threshold
from whileai_hf.measure.passes.rewards import read_rewards
from whileai_hf.measure.trust.goldrows import GoldRows, read_gold_rows
from whileai_hf.measure.trust.keys import rollout_keys
from whileai_hf.rows import Report, view
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import FEW_GOLD, HUMAN, PASS, Confusion, Gold
from whileai_hf.stats import Interval, wilson


# Share of gold failures the judge passes from which the report warns.
_PASSED_FAILURES = 0.10


@dataclasses.dataclass(frozen=True)
class JudgeAgreement(Report):
    """
    A judge beside gold; what [`judge_agreement`] returns.

    Args:
        n (`int`): Rows with both a label and a verdict.
        agreement (`float`, *optional*): Share of them on which the two say the same.
        ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        kappa (`float`, *optional*): Cohen's kappa; `None` where gold has one class only.
        confusion (`dict[str, int]`): `both_pass`, `only_judge` (passed a failure), `only_gold`, `both_fail`.
        pass_when_gold_fail (`float`, *optional*): Share of gold failures the judge passed: what training learns from.
        pass_when_gold_fail_ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        fail_when_gold_pass (`float`, *optional*): Share of gold passes the judge failed.
        fail_when_gold_pass_ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        baseline (`float`, *optional*): Agreement of always giving gold's more frequent answer; its kappa is 0.
        baseline_says (`str`, *optional*): That answer, `"pass"` or `"fail"`.
        by_kind (`dict[str, int]`): Labels by who wrote them.
        n_unjudged (`int`): Labelled rows without a verdict.
        n_unlabelled (`int`): Rows without a label.
        notes (`list[str]`): What a reader has to know.
        warnings (`list[str]`): What to do something about.
    """

    n: int
    agreement: float | None
    ci95: Interval | None
    kappa: float | None
    confusion: dict[str, int]
    pass_when_gold_fail: float | None
    pass_when_gold_fail_ci95: Interval | None
    fail_when_gold_pass: float | None
    fail_when_gold_pass_ci95: Interval | None
    baseline: float | None
    baseline_says: str | None
    by_kind: dict[str, int]
    n_unjudged: int
    n_unlabelled: int
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        if self.agreement is None or self.ci95 is None:
            lines = ["judge agreement NOT MEASURED: no row has both a label and a verdict"]
        else:
            kappa = "undefined" if self.kappa is None else f"{self.kappa:.2f}"
            lines = [
                f"agreement {_share(self.agreement, self.ci95)} on {self.n} rows, kappa {kappa}",
                f"always saying {self.baseline_says} agrees on {self.baseline:.2f}, kappa 0.00",
                f"passes {_share(self.pass_when_gold_fail, self.pass_when_gold_fail_ci95)} of gold failures, "
                f"fails {_share(self.fail_when_gold_pass, self.fail_when_gold_pass_ci95)} of gold passes",
            ]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def _share(value: float | None, interval: Interval | None) -> str:
    if value is None or interval is None:
        return "n/a"
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def shares_of(counts: Confusion) -> dict[str, Any]:
    """The rates a confusion amounts to, with the constant answer that does best beside them."""
    fails, passes = counts.only_judge + counts.both_fail, counts.both_pass + counts.only_gold
    return {
        "n": counts.n,
        "agreement": counts.agreement,
        "ci95": counts.interval,
        "kappa": counts.kappa,
        "confusion": {
            "both_pass": counts.both_pass,
            "only_judge": counts.only_judge,
            "only_gold": counts.only_gold,
            "both_fail": counts.both_fail,
        },
        "pass_when_gold_fail": counts.only_judge / fails if fails else None,
        "pass_when_gold_fail_ci95": wilson(counts.only_judge, fails),
        "fail_when_gold_pass": counts.only_gold / passes if passes else None,
        "fail_when_gold_pass_ci95": wilson(counts.only_gold, passes),
        "baseline": max(fails, passes) / counts.n if counts.n else None,
        "baseline_says": ("pass" if passes >= fails else "fail") if counts.n else None,
    }


def judge_agreement(data: Source, gold: Source | None = None, *, threshold: float = PASS) -> JudgeAgreement:
    """
    How far the verdicts on rows agree with gold.

    Every label counts, whoever wrote it; the report says how many of each kind. [`judge_trust`] counts people's only.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows, with `gold_reward` unless `gold` is given.
        gold (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            Another scoring of the same rollouts (paired by [`rollout_keys`]), whose `reward` is taken for gold: the
            judge against itself, or against another.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.

    Returns:
        [`JudgeAgreement`]: The report.

    Raises:
        [`MissingColumnError`]: The rows are not graded.
        [`DataError`]: The two scorings share no rollout.

    Examples:
    ```python
    >>> rows = [{"task_id": at, "reward": int(at < 8), "gold_reward": int(at < 6)} for at in range(10)]
    >>> found = judge_agreement(rows)
    >>> found.agreement, found.pass_when_gold_fail, found.baseline
    (0.8, 0.5, 0.6)

    ```
    """
    threshold = check_threshold(threshold)
    found = read_gold_rows(data, threshold, True)
    if gold is not None:
        found = dataclasses.replace(found, gold=_second_scoring(found, gold, threshold))
    counts = found.confusion
    told = shares_of(counts)
    return JudgeAgreement(
        **told,
        by_kind=found.gold.by_kind,
        n_unjudged=counts.unjudged,
        n_unlabelled=len(found.rows) - found.spoilt - found.gold.index.size,
        notes=_notes(found, counts, gold is not None),
        warnings=_warnings(told),
    )


def _second_scoring(found: GoldRows, gold: Source, threshold: float) -> Gold:
    """The verdicts of another run on the same rollouts, as labels."""
    other = view(gold)
    rewards = read_rewards(other).values
    known = {
        key: reward for key, reward in zip(rollout_keys(other), rewards.tolist(), strict=True) if reward == reward
    }
    keys = rollout_keys(found.rows)
    index = np.array([at for at, key in enumerate(keys) if key in known], dtype=np.int64)
    if not index.size:
        raise DataError(
            "the two scorings share no rollout with a verdict; gold= takes the same rows graded again (run_id, task, "
            "prompt and rollout_index tell rollouts apart)"
        )
    label = np.array([known[keys[at]] >= threshold for at in index.tolist()], dtype=bool)
    return Gold(index, label, {"second scoring": int(index.size)}, 0, 0)


def _notes(found: GoldRows, counts: Confusion, second: bool) -> list[str]:
    notes = []
    if counts.n < FEW_GOLD:
        notes.append(f"{counts.n} labelled rows: {FEW_GOLD} are the floor for a number to go by")
    if counts.n and counts.one_class:
        notes.append("gold has one class only, so there is no kappa; label rows of the other, too")
    others = sum(count for kind, count in found.gold.by_kind.items() if kind != HUMAN)
    if others and not second:
        notes.append(f"{others} of {others + found.gold.by_kind.get(HUMAN, 0)} labels are not known to be a person's")
    if found.gold.not_binary:
        notes.append(f"{found.gold.not_binary} values of gold_reward are neither 0 nor 1 and are left out")
    tasks = np.unique(found.task[found.compared[0]]).size
    if counts.n and tasks < 0.9 * counts.n:
        notes.append(
            f"{counts.n} labelled rows are of {tasks} tasks: rollouts of a task resemble each other, so the interval "
            "is narrower than it should be"
        )
    return notes


def _warnings(told: dict[str, Any]) -> list[str]:
    warnings = []
    passed = told["pass_when_gold_fail"]
    if passed is not None and passed >= _PASSED_FAILURES:
        warnings.append(
            f"the judge passes {passed:.0%} of the rows gold fails; training learns the failure from those"
        )
    if told["agreement"] is not None and told["kappa"] is not None and told["agreement"] <= told["baseline"]:
        warnings.append(f"always saying {told['baseline_says']} agrees with gold at least as well as the judge does")
    return warnings
