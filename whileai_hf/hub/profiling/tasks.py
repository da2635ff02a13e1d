"""Verdicts by task: which tasks are mixed, how many are ever solved, and each one's counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from whileai_hf.hub.profiling.profiles import TaskProfile
from whileai_hf.measure.audit.sample import FloatArray, Sample
from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.traces.messages import messages_of, text_of


class TaskTable:
    """Verdicts by task."""

    def __init__(self, sample: Sample, threshold: float | None) -> None:
        self._sample, self._threshold = sample, threshold
        scored, count = sample.scored, sample.n_tasks
        tasks, rewards = sample.tasks[scored], sample.rewards[scored]
        self._rows: IntArray = np.bincount(sample.tasks, minlength=count)
        self._n: IntArray = np.bincount(tasks, minlength=count)
        self._sum: FloatArray = np.bincount(tasks, weights=rewards, minlength=count).astype(np.float64)
        # Without a threshold a task is mixed where its rewards differ.
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(low, tasks, rewards)
        np.maximum.at(high, tasks, rewards)
        self._passed: IntArray | None = None
        if threshold is None:
            self._mixed = high > low
        else:
            self._passed = np.bincount(tasks[rewards >= threshold], minlength=count)
            self._mixed = (self._passed > 0) & (self._passed < self._n)

    def support(self) -> dict[str, int | None]:
        """What stands behind the numbers."""
        graded, solved = self._n > 0, None
        if self._passed is not None:
            solved = int(np.count_nonzero(graded & (self._passed > 0)))
        never = None if solved is None else int(graded.sum()) - solved
        return {"solved": solved, "never_solved": never, "thin": int(np.count_nonzero(self._n == 1))}

    def mixed(self) -> dict[str, int] | None:
        """Graded tasks by their verdicts."""
        if self._passed is None:
            return None
        several = self._n >= 2
        counts = {
            "mixed": several & self._mixed,
            "all_pass": several & (self._passed == self._n),
            "all_fail": several & (self._passed == 0),
            "single": self._n == 1,
        }
        return {name: int(np.count_nonzero(found)) for name, found in counts.items()}

    def profiles(self) -> list[TaskProfile]:
        """Graded tasks, those nearest to passing half of the time first, equals in the order of the rows."""
        keys, prompts = self._sample.measured.tasks.keys, self._prompts()
        found = []
        for task in np.flatnonzero(self._n > 0).tolist():
            n, passed = int(self._n[task]), None if self._passed is None else int(self._passed[task])
            found.append(
                TaskProfile(
                    task=keys[task],
                    prompt=prompts[task],
                    n_rows=int(self._rows[task]),
                    n_scored=n,
                    n_passed=passed,
                    pass_rate=None if passed is None else passed / n,
                    mean_reward=float(self._sum[task]) / n,
                )
            )
        return sorted(found, key=lambda one: abs((one.pass_rate if one.pass_rate is not None else 0.5) - 0.5))

    def _prompts(self) -> list[str | None]:
        """The first ask of every task."""
        out: list[str | None] = [None] * self._sample.n_tasks
        asks = self._sample.rows.column("prompt")
        _, first = np.unique(self._sample.tasks, return_index=True)
        for task, at in enumerate(first.tolist()):
            out[task] = said_in(asks[at])
        return out


def said_in(ask: Any) -> str | None:
    """The text of an ask: what it says, or what the last message of a conversation does."""
    if ask is None or isinstance(ask, str):
        return ask
    return text_of(ask) or next((text_of(one.get("content")) for one in reversed(messages_of(ask, "user"))), None)
