"""`corrected_rate`: the share of rows people would pass, from a judge's verdicts and some people's labels."""

from __future__ import annotations

import dataclasses

import numpy as np

from whileai_hf.measure.knobs import check_threshold
from whileai_hf.measure.trust.attaching import GOLD_LABELS, stored_labels
from whileai_hf.measure.trust.clusters import Labelled, clustered_share, stretch
from whileai_hf.measure.trust.goldrows import BoolArray, GoldRows, read_gold_rows, why_not_measured
from whileai_hf.rows import Report
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import FEW_GOLD, PASS
from whileai_hf.stats import Interval
from whileai_hf.stats.rectified import Rectified, ppi_mean, rogan_gladen


# Labels below which no corrected rate is given: the spread cannot be told from so few.
_FEWEST = 10
# Tasks below which the corrected interval is too narrow where rollouts hang together: at 7 it covers 90%, at 15 91 to
# 95%, at 30 92 to 96%.
_FEW_TASKS = 30
# Trust in the judge below which it adds nothing worth speaking of.
_HARDLY = 0.1


@dataclasses.dataclass(frozen=True)
class CorrectedRate(Report):
    """
    A judge's rate, and what it is once the judge's mistakes are out; what [`corrected_rate`] returns.

    Args:
        raw (`float`, *optional*): Share of judged rows the judge passes.
        raw_ci95 (`tuple[float, float]`, *optional*): Its interval over tasks: of the judge's opinion, not of people's;
            `None` with one task.
        labels (`float`, *optional*): Share of passes among the labels used, nothing else.
        labels_ci95 (`tuple[float, float]`, *optional*): Its interval over tasks.
        corrected (`float`, *optional*): Power-tuned prediction-powered mean (PPI++): labels, and the judge as far as
            it goes with them.
        corrected_ci95 (`tuple[float, float]`, *optional*): Its interval, clustered by task.
        weight (`float`, *optional*): Trust that puts in the judge, 0 to 1.
        rogan_gladen (`float`, *optional*): The rate that would give `raw` by a judge of the measured sensitivity and
            specificity; `None` where gold has one class only, or the judge does no better than a coin.
        rogan_gladen_ci95 (`tuple[float, float]`, *optional*): Its interval (Lang and Reiczigel), wider by as much as
            rollouts of a task resemble each other.
        sensitivity (`float`, *optional*): Share of gold passes the judge passes.
        specificity (`float`, *optional*): Share of gold failures it fails.
        random (`bool`, *optional*): Whether the labelled rows were drawn at random; `None` is not recorded.
        n_judged (`int`): Rows with a verdict.
        n_labels (`int`): Labels used.
        n_tasks (`int`): Tasks those are of.
        method (`str`): How `corrected` was found.
        notes (`list[str]`): What a reader has to know.
        warnings (`list[str]`): What to do something about.
    """

    raw: float | None
    raw_ci95: Interval | None
    labels: float | None
    labels_ci95: Interval | None
    corrected: float | None
    corrected_ci95: Interval | None
    weight: float | None
    rogan_gladen: float | None
    rogan_gladen_ci95: Interval | None
    sensitivity: float | None
    specificity: float | None
    random: bool | None
    n_judged: int
    n_labels: int
    n_tasks: int
    method: str
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        lines = [
            f"judge says          {_shown(self.raw, self.raw_ci95)} (n={self.n_judged})",
            f"corrected (PPI++)   {_shown(self.corrected, self.corrected_ci95)} ({self.n_labels} labels)",
            f"Rogan-Gladen        {_shown(self.rogan_gladen, self.rogan_gladen_ci95)}",
            f"labels alone        {_shown(self.labels, self.labels_ci95)}",
        ]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def _shown(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "n/a"
    if interval is None:
        return f"{value:.3f} (no interval: all rows are of one task)"
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def corrected_rate(
    data: Source, *, random: bool | None = None, threshold: float = PASS, allow_model_gold: bool = False
) -> CorrectedRate:
    """
    The rate people would give, where they labelled some of the rows the judge graded.

    The labelled rows have to be a random part of all: [`label_sheet`] draws one, and `attach_labels(random=True)`
    records it. Where only some labels were drawn at random, those are used and the others are not. With labels known
    not to be random, prediction-powered inference is not given; Rogan-Gladen asks less: within gold passes, and within
    gold failures, the labelled ones have to be typical.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows, some with labels.
        random (`bool`, *optional*):
            Whether the labelled rows were drawn at random, where the labels themselves do not say.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.
        allow_model_gold (`bool`, *optional*, defaults to `False`):
            Count labels that no person is known to have written.

    Returns:
        [`CorrectedRate`]: The judge's rate with the corrected ones beside it.

    Raises:
        [`MissingColumnError`]: The rows are not graded.

    Examples:
    ```python
    >>> rows = [{"task_id": at, "reward": int(at % 10 < 8)} for at in range(400)]
    >>> for at in range(60):
    ...     rows[at] |= {"gold_reward": int(at % 10 < 6), "gold_kind": "human"}
    >>> found = corrected_rate(rows, random=True)
    >>> found.raw, round(found.corrected, 2)
    (0.8, 0.6)

    ```
    """
    found = read_gold_rows(data, check_threshold(threshold), allow_model_gold)
    drawn, said = _drawn(found)
    used = found.only(drawn) if said is True else found
    how = said if said is not None else random
    index, label = used.compared
    judged = np.flatnonzero(used.judged)
    passes = int(np.count_nonzero(used.passed[judged]))
    counts = used.confusion
    enough = index.size >= _FEWEST
    fixed = _rectified(used) if enough and how is not False else None
    yes, no = counts.both_pass + counts.only_gold, counts.both_fail + counts.only_judge
    inverse = _inverse(used, passes, (counts.both_pass, yes), (counts.both_fail, no)) if enough else None
    people = int(np.count_nonzero(label))
    return CorrectedRate(
        raw=passes / judged.size if judged.size else None,
        raw_ci95=clustered_share(used.passed[judged], used.task[judged]),
        labels=people / index.size if index.size else None,
        labels_ci95=clustered_share(label, used.task[index]),
        corrected=None if fixed is None else fixed.value,
        corrected_ci95=None if fixed is None else fixed.interval,
        weight=None if fixed is None else fixed.weight,
        rogan_gladen=None if inverse is None else inverse[0],
        rogan_gladen_ci95=None if inverse is None else inverse[1],
        sensitivity=counts.both_pass / yes if yes else None,
        specificity=counts.both_fail / no if no else None,
        random=how,
        n_judged=int(judged.size),
        n_labels=int(index.size),
        n_tasks=int(np.unique(used.task[index]).size),
        method="PPI++ mean, power-tuned, clustered by task, Student's t",
        notes=_notes(found, used, inverse is None and enough),
        warnings=_warnings(used, how, fixed),
    )


def _drawn(found: GoldRows) -> tuple[BoolArray, bool | None]:
    """Which labels were drawn at random, and whether that was recorded: `None` where no label says."""
    gold = found.gold.index
    if not found.rows.has(GOLD_LABELS) or not gold.size:
        return np.ones(gold.size, dtype=bool), None
    stored = found.rows.column(GOLD_LABELS)
    said = [{entry.get("random") for entry in stored_labels(stored[at])} for at in gold.tolist()]
    drawn = np.array([True in values for values in said], dtype=bool)
    if drawn.any():
        return drawn, True
    return np.ones(gold.size, dtype=bool), (False if any(False in values for values in said) else None)


def _rectified(found: GoldRows) -> Rectified | None:
    index, label = found.compared
    rest = found.judged.copy()
    rest[index] = False
    others = np.flatnonzero(rest)
    passed = found.passed.astype(np.float64)
    return ppi_mean(label, passed[index], passed[others], units=found.task[index], other_units=found.task[others])


def _inverse(
    found: GoldRows, passes: int, right: tuple[int, int], wrong: tuple[int, int]
) -> tuple[float, Interval] | None:
    judged = np.flatnonzero(found.judged)
    plain = rogan_gladen(passes, int(judged.size), right, wrong)
    if plain is None:
        return None
    index, label = found.compared
    rows = Labelled(found.passed[judged], found.task[judged], np.searchsorted(judged, index), label)
    return rogan_gladen(passes, int(judged.size), right, wrong, stretch=stretch(rows, plain[0]))


def _notes(found: GoldRows, used: GoldRows, no_inverse: bool) -> list[str]:
    why = why_not_measured(used)
    notes = [why] if why else []
    n = used.compared[0].size
    if 0 < n < _FEWEST:
        notes.append(f"{n} labels are too few to correct by; {_FEWEST} are the least, {FEW_GOLD} the floor")
    elif 0 < n < FEW_GOLD:
        notes.append(f"{n} labels: {FEW_GOLD} are the floor for a number to go by")
    tasks = np.unique(used.task[used.compared[0]]).size
    if n >= _FEWEST and tasks < _FEW_TASKS:
        notes.append(f"the labels are of {tasks} tasks, and an interval over so few covers less than 95%; spread them")
    if used.gold.index.size < found.gold.index.size:
        left = found.gold.index.size - used.gold.index.size
        notes.append(f"{left} labels of rows that were not drawn at random are left out")
    if no_inverse:
        notes.append("no Rogan-Gladen rate: gold has one class only, or the judge does no better than a coin")
    if found.gold.refused and not why:
        notes.append(f"{found.gold.refused} labels are not known to be a person's and do not count")
    return notes


def _warnings(used: GoldRows, how: bool | None, fixed: Rectified | None) -> list[str]:
    warnings = []
    if used.compared[0].size and how is None:
        warnings.append(
            "it is not recorded whether the labelled rows were drawn at random, and the correction holds only if they "
            "were; draw them with label_sheet and attach_labels(random=True)"
        )
    if how is False and used.compared[0].size:
        warnings.append("the labelled rows were not drawn at random, so PPI++ cannot be used; label a random sheet")
    rest = np.count_nonzero(used.judged) - used.compared[0].size
    if fixed is not None and fixed.weight < _HARDLY and rest:
        warnings.append("the judge hardly goes with the labels: the corrected rate is that of the labels alone")
    return warnings
