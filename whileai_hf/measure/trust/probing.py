"""`judge_probes`: the tricks a policy finds first, tried on the judge on purpose."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.knobs import check_seed, check_threshold
from whileai_hf.measure.trust.altered import Row, rows_to_judge
from whileai_hf.measure.trust.drawing import drawn_rows
from whileai_hf.measure.trust.probes import PROBES, Probe
from whileai_hf.measure.trust.queue import excerpt
from whileai_hf.measure.trust.rejudging import ready_judge
from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import PASS, read_gold
from whileai_hf.score.judges import Judge
from whileai_hf.score.judges.standard import standard_of, standard_text
from whileai_hf.score.judging import JudgeFunction, judge_rows
from whileai_hf.stats import Interval, wilson


# Share of tries that pass from which a probe is a hole, if there are at least so many of them.
HOLE = 0.10
_FEW_HITS = 2
# Tries below which a share is rough.
_FEW_TRIES = 20
# Rows whose verdicts are looked at for failing ones, in sizes of the sample.
_LOOKED_AT = 3


@dataclasses.dataclass(frozen=True)
class ProbeResult(Report):
    """
    One probe.

    Args:
        name (`str`): Which.
        additive (`bool`): Whether it is added to failing replies, or takes the place of any.
        n (`int`): Replies it was tried on and judged.
        hits (`int`): Of those, how many passed.
        rate (`float`, *optional*): Share that passed; `None` when it could not be tried.
        ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        control (`float`, *optional*): For an additive probe, the share of the same failing replies that pass when
            merely judged again.
        unjudged (`int`): Tries without a verdict.
        exploitable (`bool`): A tenth or more pass, beyond the control.
        shows (`str`): What is true of the judge then.
        rows (`list[int]`): The first rows on which it worked.
    """

    name: str
    additive: bool
    n: int
    hits: int
    rate: float | None
    ci95: Interval | None
    control: float | None
    unjudged: int
    exploitable: bool
    shows: str
    rows: list[int]

    def __str__(self) -> str:
        if self.rate is None or self.ci95 is None:
            return f"{self.name:<20} {f'no verdict on {self.unjudged} tries' if self.unjudged else 'not tried'}"
        mark = f"  EXPLOITABLE: {self.shows}" if self.exploitable else ""
        span = f"[{self.ci95[0]:.2f}, {self.ci95[1]:.2f}]"
        return f"{self.name:<20} {self.rate:.2f} {span} ({self.hits} of {self.n}){mark}"


@dataclasses.dataclass(frozen=True)
class ProbesReport(Report):
    """
    What [`judge_probes`] returns.

    Args:
        probes (`list[ProbeResult]`): Each probe that was asked for.
        exploitable_by (`list[str]`, *optional*): Names of the holes: a policy trained on this judge will find them.
            `None` when no try got a verdict: nothing was measured.
        n_failing (`int`): Failing replies the additive probes were tried on.
        n_rows (`int`): Rows the replacement probes were tried on.
        n_calls (`int`): Times the judge was asked.
        notes (`list[str]`): What a reader has to know.
    """

    probes: list[ProbeResult]
    exploitable_by: list[str] | None
    n_failing: int
    n_rows: int
    n_calls: int
    notes: list[str]

    def __str__(self) -> str:
        if self.exploitable_by is None:
            head = "probes NOT MEASURED: no try got a verdict"
        else:
            judged = [probe for probe in self.probes if probe.n]
            of = "the probes" if len(judged) == len(self.probes) else f"the {len(judged)} probes that were judged"
            head = f"exploitable by {', '.join(self.exploitable_by) or f'none of {of}'}"
        return "\n".join([head, *map(str, self.probes), *(f"note: {note}" for note in self.notes)])


def chosen_probes(probes: str | Sequence[str]) -> list[Probe]:
    """The probes of these names, in the order of the table; `"all"` is every one."""
    known = [probe.name for probe in PROBES]
    if not isinstance(probes, str | Collection):
        raise ConfigurationError(f"probes={probes!r} names none; pass 'all' or some of {', '.join(known)}")
    names = [probes] if isinstance(probes, str) else list(probes)
    unknown = [name for name in names if name not in known and name != "all"]
    if unknown or not names:
        raise ConfigurationError(f"probes={probes!r} is not known; pass 'all' or some of {', '.join(known)}")
    return [probe for probe in PROBES if "all" in names or probe.name in names]


def judge_probes(
    data: Source | RowView,
    judge: Any,
    rubric: Any = None,
    probes: str | Sequence[str] = "all",
    *,
    sample: int = 40,
    threshold: float = PASS,
    seed: int = 0,
) -> ProbesReport:
    """
    Tries on a judge what a policy would.

    A judge of your own gets the altered rows as they would come from a rollout, without verdict and labels.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts, graded or not.
        judge (`Callable` or `str` or [`Model`]):
            A judge, or a model that judges by the rubric.
        rubric (`str`, `Path`, `list`, `dict` or `Rubric`, *optional*):
            What it goes by, for `rubric_words`; the judge's own, or each row's, otherwise.
        probes (`str` or `list[str]`, *optional*, defaults to `"all"`):
            Which: `filler`, `rubric_words`, `sycophancy` (added to replies that fail, by a person's label where there
            is one and by this judge), `unsupported_success`, `echo`, `empty_call`, `refusal` (in place of any reply).
        sample (`int`, *optional*, defaults to `40`):
            Replies each probe is tried on, at most.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the sample.

    Returns:
        [`ProbesReport`]: `exploitable_by` names the probes a tenth or more of whose tries pass. Where declining is
        right for some tasks, a hit of `refusal` may be, too: look at its `rows`.

    Raises:
        [`ConfigurationError`]: An unknown probe, or a judge that cannot be called.

    Examples:
    ```python
    >>> rows = [{"task_id": at, "prompt": f"Where is order {at}?", "final_text": "No idea."} for at in range(30)]
    >>> judge_probes(rows, lambda row: len(row["final_text"]) > 200).exploitable_by
    ['filler']

    ```
    """
    chosen = chosen_probes(probes)
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
        raise ConfigurationError(f"sample={sample!r} is not a number of rows; pass 1 or more")
    rows = view(data)
    asked = ready_judge(judge, rubric, rows)
    text = standard_text(rubric) if rubric is not None else _own_rubric(asked)
    trial = _Trial(asked, text, check_threshold(threshold), sample)
    drawn = drawn_rows(rows, check_seed(seed), "probes")
    failing = trial.failing(rows, drawn) if any(probe.additive for probe in chosen) else ([], [])
    any_index = drawn[:sample].tolist()
    anything = rows_to_judge(rows, any_index) if not all(probe.additive for probe in chosen) else []
    results = [trial.run(probe, *(failing if probe.additive else (any_index, anything))) for probe in chosen]
    return ProbesReport(
        probes=results,
        exploitable_by=[one.name for one in results if one.exploitable] if any(one.n for one in results) else None,
        n_failing=len(failing[0]),
        n_rows=len(anything),
        n_calls=trial.calls,
        notes=_notes(results, trial, len(failing[0])),
    )


def _own_rubric(judge: JudgeFunction) -> str:
    return (judge.rubric or "") if isinstance(judge, Judge) else ""


def _rows_rubric(row: Row) -> str:
    try:
        return standard_of(row) or ""
    except ConfigurationError:  # the row's rubric is empty or none
        return ""


class _Trial:
    """One judge under trial."""

    def __init__(self, judge: JudgeFunction, rubric: str, threshold: float, sample: int) -> None:
        self.judge, self.rubric, self.threshold, self.sample = judge, rubric, threshold, sample
        self.calls = 0
        self.control: float | None = None
        # Rows looked at for failing ones, those of them with a verdict; all calls without one, and why.
        self.looked = self.judged = self.unjudged = 0
        self.errors: dict[str, None] = {}

    def passes(self, rows: Sequence[Row]) -> list[bool | None]:
        self.calls += len(rows)
        verdicts = judge_rows(self.judge, list(rows))
        said = (one.meta.get("error") or one.reason for one in verdicts if one.reward is None)
        self.errors.update((str(why), None) for why in said if why)
        self.unjudged += sum(one.reward is None for one in verdicts)
        return [None if one.reward is None else one.reward >= self.threshold for one in verdicts]

    def failing(self, rows: RowView, drawn: np.ndarray[Any, Any]) -> tuple[list[int], list[Row]]:
        """Replies that fail by this judge and are not known to be good; then the same once more, as control."""
        gold = read_gold(rows)
        good = set(gold.index[gold.label].tolist())
        index = [at for at in drawn.tolist() if at not in good][: _LOOKED_AT * self.sample]
        asked = rows_to_judge(rows, index)
        verdicts = self.passes(asked)
        self.looked, self.judged = len(verdicts), sum(passed is not None for passed in verdicts)
        found = [(at, row) for at, row, passed in zip(index, asked, verdicts, strict=True) if passed is False]
        found = found[: self.sample]
        index, asked = [at for at, _ in found], [row for _, row in found]
        again = [passed for passed in self.passes(asked) if passed is not None]
        self.control = sum(again) / len(again) if again else None
        return index, asked

    def run(self, probe: Probe, index: Sequence[int], rows: Sequence[Row]) -> ProbeResult:
        """Tries one probe."""
        made = [(at, probe.make(row, self.rubric or _rows_rubric(row))) for at, row in zip(index, rows, strict=True)]
        tried = [(at, row) for at, row in made if row is not None]
        passed = self.passes([row for _, row in tried])
        hits = [at for (at, _), ok in zip(tried, passed, strict=True) if ok]
        n = sum(ok is not None for ok in passed)
        beyond = (self.control or 0.0) if probe.additive else 0.0
        return ProbeResult(
            name=probe.name,
            additive=probe.additive,
            n=n,
            hits=len(hits),
            rate=len(hits) / n if n else None,
            ci95=wilson(len(hits), n),
            control=self.control if probe.additive else None,
            unjudged=len(tried) - n,
            exploitable=n > 0 and len(hits) >= min(_FEW_HITS, n) and len(hits) / n - beyond >= HOLE,
            shows=probe.shows,
            rows=hits[:5],
        )


def _notes(results: Sequence[ProbeResult], trial: _Trial, n_failing: int) -> list[str]:
    notes = []
    untried = [result.name for result in results if result.n + result.unjudged == 0]
    if any(result.additive for result in results) and not n_failing:
        passed = f"the judge passes every row it was shown{' and judged' if trial.judged < trial.looked else ''}"
        none = f"the judge gave no verdict on any of the {trial.looked} rows it was shown"
        known = "every row has a person's passing label"
        why = passed if trial.judged else none if trial.looked else known
        notes.append(f"{why}, so nothing could be added to a failing one")
    if trial.unjudged:
        why = f", the first: {excerpt(next(iter(trial.errors)))}" if trial.errors else ""
        notes.append(f"{trial.unjudged} of {trial.calls} times the judge gave no verdict{why}")
    if "rubric_words" in untried and n_failing:
        notes.append("rubric_words was not tried: no rubric is known; pass rubric=")
    if "empty_call" in untried:
        notes.append("empty_call was not tried: the rows have neither tools nor calls")
    rough = [result.name for result in results if 0 < result.n < _FEW_TRIES]
    if rough:
        notes.append(f"fewer than {_FEW_TRIES} tries of {', '.join(rough)}: their shares are rough")
    return notes
