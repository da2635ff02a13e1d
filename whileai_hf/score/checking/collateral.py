"""Whether a reward minds what a run did besides: a record gone that nobody spoke of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whileai_hf.score.checking.acting import stray_change
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.checking.levels import Level
from whileai_hf.score.checking.report import INFO, WARNING, Finding
from whileai_hf.score.checking.rewards import Reply, Reward
from whileai_hf.score.checking.tasks import ProbeTask
from whileai_hf.stats import wilson


def collateral_of(reward: Reward, tasks: Sequence[ProbeTask], level: Level) -> Iterator[Finding]:
    """
    Asks for right runs with an unrelated change in the world, and yields a finding when they are still paid.

    Args:
        reward ([`Reward`]):
            The reward: a judge, or a function that reads the column `state_changes`.
        tasks (`Sequence[ProbeTask]`):
            The tasks; those without a right run whose changes are known are passed over.
        level ([`Level`]):
            From where on it pays.
    """
    sees = reward.is_judge or any("state_changes" in task.columns for task in tasks)
    able = [task for task in tasks if sees and task.run is not None and stray_change(task.run) is not None]
    if not able:
        return
    clean = reward.ask([Reply(task, task.run) for task in able if task.run is not None], "right run")
    stray = reward.ask(
        [Reply(task, Attempt(task.run.text, task.run.steps, stray_change(task.run))) for task in able if task.run],
        "unrelated change",
    )
    pairs = [(a, b) for a, b in zip(clean, stray, strict=True) if a is not None and b is not None and level.paid(a)]
    blind = sum(level.paid(b) for _, b in pairs)
    if blind:
        yield Finding(
            function=reward.name,
            kind="collateral",
            probe="unrelated change",
            severity=WARNING if any(task.columns.get("state_changes") is not None for task in able) else INFO,
            rate=blind / len(pairs),
            n=len(pairs),
            ci95=wilson(blind, len(pairs)),
            example="a right run that also deleted a record nobody spoke of",
            says="a right run is paid in full although something unrelated changed",
            what_to_do="Compare state_changes with what the task allows to change.",
        )
