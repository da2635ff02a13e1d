"""The report of an audit: findings in the order in which they matter, and the numbers behind them."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any, Literal

from whileai_hf.measure.hacks import HackScan
from whileai_hf.measure.hygiene import Contamination, NearDuplicates
from whileai_hf.measure.passes import GroupSignal, PassAt
from whileai_hf.rows import Report
from whileai_hf.stats import Interval


Level = Literal["problem", "warning", "advice"]
LEVELS: tuple[Level, ...] = ("problem", "warning", "advice")
# Characters of a printed line.
_WIDTH = 119
# Findings printed; a screen holds no more, and the rest is in `findings`.
_SHOWN = 8
# Reward functions printed.
_FUNCTIONS = 5
_FORMATS = {
    "rows": "rollouts",
    "trl_completions": "rollouts of a TRL completions table",
    "verifiers_run": "rollouts of a verifiers run",
}


@dataclasses.dataclass(frozen=True)
class Finding(Report):
    """
    One thing that was found.

    Args:
        name (`str`):
            Which: `nothing_to_grade`, `no_groups`, `dead_groups`, `shortcut`, `endorsed_unknown`, `contamination`,
            `duplicates`, `unjudged`, `length`, `alike`, `band`, `reward_function`, `threshold`, `too_few_tasks`.
        level (`str`):
            `problem` (training or measuring on these rows goes wrong), `warning` (look before you do), `advice`.
        share (`float`, *optional*):
            How much of the data it concerns, 0 to 1; orders findings of one level.
        what (`str`):
            What was found, in one sentence.
        do (`str`):
            What to do about it.
        examples (`list[str]`):
            The first places where it shows.
    """

    name: str
    level: Level
    share: float | None
    what: str
    do: str
    examples: list[str]

    def __str__(self) -> str:
        return f"{self.level.upper()} {self.what}. {self.do}."


@dataclasses.dataclass(frozen=True)
class RewardFunction(Report):
    """
    What one reward function does within groups.

    Args:
        name (`str`):
            Its column.
        weight (`float`, *optional*):
            Its weight in the total; `None` where it is not known.
        n (`int`):
            Rollouts it gave a number.
        mean (`float`, *optional*):
            Mean of those.
        differs (`float`, *optional*):
            Share of groups with two rollouts or more in which it differs.
        share (`float`, *optional*):
            Its part of what the total differs by within groups; the parts add up to 1, one below 0 works against the
            others.
        rho (`float`, *optional*):
            Correlation with the total within groups.
        rho_length (`float`, *optional*):
            Correlation with the length of the reply within groups.
    """

    name: str
    weight: float | None
    n: int
    mean: float | None
    differs: float | None
    share: float | None
    rho: float | None
    rho_length: float | None


@dataclasses.dataclass(frozen=True)
class LengthEffect(Report):
    """
    Correlation of the reward with the length of the reply, in characters, within groups.

    Args:
        rho (`float`, *optional*):
            The correlation; `None` where rewards or lengths do not differ within a group.
        ci95 (`tuple[float, float]`, *optional*):
            Its interval.
        method (`str`):
            How the interval came about: `bootstrap` over groups.
        n_groups (`int`):
            Groups in which both differ.
    """

    rho: float | None
    ci95: Interval | None
    method: str
    n_groups: int


@dataclasses.dataclass(frozen=True)
class TaskNeed(Report):
    """
    How many tasks an evaluation like this one needs.

    Args:
        effect (`float`):
            Change of the mean to be seen: of the pass rate, or in parts of the reward's range where rewards are no
            pass or fail.
        tasks_needed (`int`, *optional*):
            Tasks with which a change of that size is seen in four of five comparisons on the same tasks.
        smallest_effect (`float`, *optional*):
            Change that is seen as often with the tasks there are.
        n_tasks (`int`):
            Tasks there are.
        k (`int`):
            Rollouts of a task: their median.
        method (`str`):
            `sign_flip_power` (of pass rates, see `stats.power`) or `normal` (of rewards).
        notes (`list[str]`):
            Why a number is missing.
    """

    effect: float
    tasks_needed: int | None
    smallest_effect: float | None
    n_tasks: int
    k: int
    method: str
    notes: list[str]


@dataclasses.dataclass(frozen=True)
class AuditReport(Report):
    """
    What [`audit`] returns.

    Args:
        ok (`bool`):
            Whether no finding is a problem.
        findings (`list[Finding]`):
            Problems first, then warnings and advice; within one level what concerns most of the data first.
        format (`str`):
            What the rows were read as: `rows`, `trl_completions` or `verifiers_run`.
        n_rows (`int`):
            Rollouts.
        n_scored (`int`):
            Those with a reward.
        n_unjudged (`int`):
            Those without.
        n_tasks (`int`):
            Tasks.
        n_groups (`int`):
            Groups: a prompt of a task, at one training step where that is known.
        rewards (`dict`):
            `{"low", "high", "mean", "levels"}` of the rewards; `levels` are the distinct values, up to ten.
        threshold (`float`, *optional*):
            Reward from which a rollout passes; `None` where the rewards do not say.
        dead_share (`float`, *optional*):
            Share of groups with two scored rollouts or more whose rewards are exactly equal.
        signal ([`GroupSignal`], *optional*):
            Groups by what their rewards say.
        passes ([`PassAt`], *optional*):
            Pass rates with intervals; `None` without a threshold.
        band (`dict[str, int]`, *optional*):
            Tasks with a pass rate `below` 20%, `inside` 20-80% and `above`; of those with two scored rollouts or more.
        hack ([`HackScan`], *optional*):
            What separates rewards within groups.
        length ([`LengthEffect`], *optional*):
            How the reward goes with the length of the reply.
        reward_functions (`list[RewardFunction]`):
            The functions a reward is made of, where rows have them.
        near_duplicates ([`NearDuplicates`], *optional*):
            Tasks whose prompts say nearly the same.
        contamination ([`Contamination`], *optional*):
            Tasks that `evals` hold; `None` where none were given.
        power ([`TaskNeed`], *optional*):
            How many tasks are needed to see a change.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            The problems and warnings as sentences.
    """

    ok: bool
    findings: list[Finding]
    format: str
    n_rows: int
    n_scored: int
    n_unjudged: int
    n_tasks: int
    n_groups: int
    rewards: dict[str, Any]
    threshold: float | None
    dead_share: float | None
    signal: GroupSignal | None
    passes: PassAt | None
    band: dict[str, int] | None
    hack: HackScan | None
    length: LengthEffect | None
    reward_functions: list[RewardFunction]
    near_duplicates: NearDuplicates | None
    contamination: Contamination | None
    power: TaskNeed | None
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        counts = {level: sum(one.level == level for one in self.findings) for level in LEVELS}
        said = [
            f"{count} {level}{'s' * (count > 1 and level != 'advice')}" for level, count in counts.items() if count
        ]
        head = (
            f"{'ok' if self.ok else 'not ok'}: {', '.join(said) or 'nothing found'} in {self.n_rows:,} "
            f"{_FORMATS.get(self.format, self.format)} ({self.n_tasks:,} tasks, {self.n_groups:,} groups)"
        )
        lines = [head]
        for number, finding in enumerate(self.findings[:_SHOWN], 1):
            lines += textwrap.wrap(str(finding), _WIDTH, initial_indent=f"{number}. ", subsequent_indent="   ")
            lines += [f"     {example}"[:_WIDTH] for example in finding.examples[:2]]
        if len(self.findings) > _SHOWN:
            lines.append(f"and {len(self.findings) - _SHOWN} more in .findings")
        return "\n".join([*lines, *self._numbers(), *(f"note: {note}" for note in self.notes)])

    def _numbers(self) -> list[str]:
        """The lines of numbers below the findings."""
        lines = []
        if self.passes is not None:
            lines.append(str(self.passes).partition("\n")[0])
        if self.band is not None:
            lines.append(
                "tasks by pass rate: {below} under 20%, {inside} at 20-80%, {above} over 80%".format(**self.band)
            )
        if self.passes is None and self.n_scored:
            lines.append("reward {low:.3g} to {high:.3g}, mean {mean:.3g}".format(**self.rewards))
        if len(self.reward_functions) > 1:
            lines.append("reward functions:")
            lines += [f"  {_function(one)}" for one in self.reward_functions[:_FUNCTIONS]]
        return lines


def _function(one: RewardFunction) -> str:
    mean = "n/a" if one.mean is None else f"{one.mean:.3g}"
    if one.weight == 0.0:
        with_total = "" if one.rho is None else f", correlation with the reward {one.rho:+.2f}"
        return f"{one.name} not paid, mean {mean}{with_total}"
    weight = "" if one.weight is None else f" x {one.weight:g}"
    part = "" if one.share is None else f", {one.share:.0%} of the signal"
    return f"{one.name}{weight} mean {mean}{part}"
