"""Asking one reward after the other, and their sum, and collecting what is to be said about each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from whileai_hf.score.checking.asks import ANSWER_COLUMNS
from whileai_hf.score.checking.calling import (
    ENVIRONMENTS,
    name_of,
    needed_columns,
    needs_environments,
    reads_environments,
)
from whileai_hf.score.checking.collateral import collateral_of
from whileai_hf.score.checking.findings import Judged, Shown, cells_of, findings_of
from whileai_hf.score.checking.hints import Hints, hints_of
from whileai_hf.score.checking.levels import HALF, NEARLY_ALL, Rewards, level_of
from whileai_hf.score.checking.probes import PROBES, replies_to
from whileai_hf.score.checking.remarks import constant, faults
from whileai_hf.score.checking.report import INFO, Cell, Finding
from whileai_hf.score.checking.rewards import JudgeReward, Reply, Reward, TrainerReward
from whileai_hf.score.checking.structure import gold_less, length_of, signature_of, structure_of
from whileai_hf.score.checking.tasks import ProbeTask
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.gold import GOLD_COLUMNS


TOTAL = "total"
_RIGHT = [probe.name for probe in PROBES if probe.right]
# Replies of different worth, which order and neighbours are tried with.
_MIXED = ("answer", "wrong answer", "null agent", "filler", "right run", "own words", "in tags")
_MOST_MIXED = 12
# Seconds a reply may take before the report says so.
_SLOW = 1.0


class Examination:
    """One check under way: what the rewards gave, and what is to be said about it."""

    def __init__(
        self,
        tasks: Sequence[ProbeTask],
        hints: Hints,
        seed: int,
        *,
        whole: bool,
        own: bool,
        threshold: float | None,
    ) -> None:
        self.tasks, self.hints, self.seed = tasks, hints, seed
        self.shown: Shown = replies_to(tasks, hints)
        self.whole, self.own, self.threshold = whole, own, threshold
        self.rewards: list[Reward] = []
        self.trials: list[Reward] = []
        self.given: list[Rewards] = []
        self.shares: list[float] = []
        self.cells: list[Cell] = []
        self.described: list[dict[str, Any]] = []
        self.notes: list[str] = []

    def examine(self, function: Callable[..., Any], trainer: bool, share: float = 1.0) -> list[Finding]:
        """Everything about one reward, which counts for `share` in the sum."""
        columns = list(dict.fromkeys(name for task in self.tasks for name in task.columns))
        named: list[str] = []
        shown = self._shown_to(function)
        live = trainer and ENVIRONMENTS not in columns
        if live and needs_environments(function):
            return self._not_checked(function)
        if trainer:
            named, absent = needed_columns(function, columns, generic=not self.own)
            reward: Reward = self._styled(function, shown)
            self.notes += [f"{reward.name} can read a column {name!r}, which is not there" for name in absent]
        else:
            reward = JudgeReward(function)
        rewards = self._asked(reward, shown)
        values = [value for given in rewards.values() for value in given if value is not None]
        if live and len(set(values)) < 2 and reads_environments(function):
            self.trials.append(reward)
            return self._not_checked(function)
        level = level_of(rewards, _RIGHT, self.threshold, HALF)
        self.rewards.append(reward)
        self.shares.append(share)
        other = {name: attempts for name, attempts in self.shown.items() if attempts != shown.get(name)}
        self.given.append({**rewards, **self._asked(reward, other)})
        judged = Judged(reward.name, rewards, level, self.whole, self.own)
        cells = cells_of(judged, shown)
        self.cells += cells
        self._describe(reward.name, reward.style, reward.awaits, judged)
        findings = list(signature_of(reward, columns if self.own else []))
        findings += structure_of(reward, self.tasks, mixed_of(self.tasks, shown), self.seed)
        relative = {"order", "batch"} & {finding.kind for finding in findings}
        broken = {"no list", "length"} & {item.fault.kind for item in reward.noted}
        if (
            relative
        ):  # one way of replying is asked for in one batch, so that its replies were compared with each other
            self.notes.append(f"what {reward.name} pays for cannot be told: it compares the replies of a batch")
        elif values and max(values) > min(values):
            findings += findings_of(judged, cells, shown)
            findings += collateral_of(reward, self.tasks, level)
            findings += length_of(reward, self.tasks, max(values) - min(values), self.whole)
            findings += gold_less(reward, self.tasks, self._gold_columns(reward, named))
        if not relative and not broken:
            findings += constant(reward, values)
        findings += faults(reward)
        if reward.seconds > _SLOW * reward.n_replies:
            says = f"a reply takes {reward.seconds / reward.n_replies:.1f} s"
            what = "Make it async, or batch what it waits for: every training step waits for it."
            findings.append(Finding(reward.name, "slow", None, INFO, says, what))
        return findings

    def _shown_to(self, function: Callable[..., Any]) -> Shown:
        """The replies, in the tags that this reward looks for; those of the others may break its form."""
        tags = hints_of([function]).tags
        return self.shown if tags in ((), self.hints.tags) else replies_to(self.tasks, replace(self.hints, tags=tags))

    def _not_checked(self, function: Callable[..., Any]) -> list[Finding]:
        self.notes.append(
            f"{name_of(function)} needs environments, which exist only while a trainer runs: it was not checked; "
            "check the function it calls on what it finds there, or a judge of rows"
        )
        return []

    def examine_total(self) -> list[Finding]:
        """The weighted sum, which is what a trainer optimises; a `None` of one reward leaves the others."""
        total: dict[str, list[float | None]] = {}
        for name in self.shown:
            parts = zip(*(given[name] for given in self.given), strict=True)
            total[name] = [_sum(values, self.shares) for values in parts]
        judged = Judged(TOTAL, total, level_of(total, _RIGHT, None, NEARLY_ALL), True, self.own)
        cells = cells_of(judged, self.shown)
        self.cells += cells
        self._describe(TOTAL, "weighted sum", False, judged)
        values = {value for given in total.values() for value in given}
        if len(values - {None}) < 2:
            return []
        # What right replies lose in other forms was said of the parts.
        return [item for item in findings_of(judged, cells, self.shown) if item.severity != INFO]

    def _describe(self, name: str, style: str, awaits: bool, judged: Judged) -> None:
        described = {"name": name, "style": style, "awaits": awaits}
        self.described.append({**described, "paid_from": judged.level.value, "right_reply": judged.level.top})

    def _asked(self, reward: Reward, shown: Shown) -> Rewards:
        found: dict[str, list[float | None]] = {}
        for name, attempts in shown.items():
            able = [index for index, attempt in enumerate(attempts) if attempt is not None]
            replies = [Reply(self.tasks[index], attempt) for index in able if (attempt := attempts[index]) is not None]
            row: list[float | None] = [None] * len(attempts)
            for index, value in zip(able, reward.ask(replies, name), strict=True):
                row[index] = value
            found[name] = row
        return found

    def _styled(self, function: Callable[..., Any], shown: Shown) -> Reward:
        """
        The function called with what the dataset's prompts make of completions: messages, or text. Where the prompts
        leave it open (generic asks, rows of ours), as it works: without failing, and with different rewards.
        """
        messages = isinstance(self.tasks[0].prompt, list)
        if messages or (self.own and "scenario_id" not in self.tasks[0].columns):
            return TrainerReward(function, messages)
        trial = mixed_of(self.tasks, shown)

        def works(messages: bool) -> tuple[bool, int]:
            reward = TrainerReward(function, messages)
            self.trials.append(reward)
            values = reward.ask(trial, "trial")
            return not any(item.fault.kind == "crash" for item in reward.noted), len(set(values))

        return TrainerReward(function, works(True) >= works(False))

    def _gold_columns(self, reward: Reward, named: Sequence[str]) -> list[str]:
        known = [*dict.fromkeys((*GOLD_COLUMNS, *ANSWER_COLUMNS)), "privileged", "expected_calls"]
        if reward.is_judge:
            field = reward.function.field if isinstance(reward.function, Verifier) else None
            return [*known, *([field, field.partition(".")[0]] if field else [])]
        return list(named) or known


def mixed_of(tasks: Sequence[ProbeTask], shown: Shown) -> list[Reply]:
    """Replies of different worth to the first tasks."""
    replies = [
        Reply(task, attempt)
        for index, task in enumerate(tasks)
        for name in _MIXED
        if name in shown and (attempt := shown[name][index]) is not None
    ]
    return replies[:_MOST_MIXED]


def _sum(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [value * weight for value, weight in zip(values, weights, strict=True) if value is not None]
    return sum(known) if known else None
