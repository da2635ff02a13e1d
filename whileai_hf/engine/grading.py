"""A judge beside the rollouts: it sees each row as it comes, and the allocation goes by its verdict.

The judge never stands in front of a rollout: it has workers of its own, and a rollout's slot is free as soon as the
agent has answered. A group's next step waits for the verdicts on all its rows.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

import orjson

from whileai_hf.actors import background_loop
from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import LATE_COLUMNS, PlayedRow
from whileai_hf.engine.queue import GroupQueue
from whileai_hf.errors import ModelStopError
from whileai_hf.rows import canonical, dumps
from whileai_hf.score.judging import default_concurrency, is_async, judge_row, judge_row_async
from whileai_hf.score.judgment import PRIVILEGED_COLUMNS
from whileai_hf.score.scorer import Score
from whileai_hf.score.verdicts import JudgeStatus, Verdict, failed
from whileai_hf.score.verify.base import Verifier


# Columns a judgment adds to a line; the lineage is on it already.
_JUDGED = ("reward", "reason", "judge_name", "judge_status", "judge_meta", "failure_class", "markers")
_LATE = dict.fromkeys(LATE_COLUMNS)


def hidden_of(task: Mapping[str, Any], rubric: str | None) -> dict[str, Any]:
    """What only a judge may see of a task; the agent's rubric where the task has none of its own."""
    hidden = {name: task[name] for name in PRIVILEGED_COLUMNS if task.get(name) is not None}
    if rubric:
        privileged = hidden.get("privileged")
        hidden["privileged"] = {"rubric": rubric, **(privileged if isinstance(privileged, Mapping) else {})}
    return hidden


class Grader:
    """
    Judges rows on their way to the queue.

    Args:
        score ([`Score`]):
            The judge.
        queue ([`GroupQueue`]):
            Where judged rows go.
        concurrency (`int`):
            Rows judged at the same time; a verifier never waits, so it gets what it asks for.
        rubric (`str`, *optional*):
            The agent's rubric, for tasks that bring none.
    """

    def __init__(self, score: Score, queue: GroupQueue, concurrency: int, rubric: str | None = None) -> None:
        self._score = score
        self._rubric = rubric
        self._queue = queue
        self._rows: SimpleQueue[tuple[Group, PlayedRow] | None] = SimpleQueue()
        self._closed = False
        self._async = is_async(score.judge)
        self._free = asyncio.Semaphore(concurrency)
        own = default_concurrency(score.judge)
        # A verifier never waits, so more workers than it asks for would only cost.
        self._width = 0 if self._async else own if isinstance(score.judge, Verifier) else max(own, concurrency)
        for index in range(self._width):
            threading.Thread(target=self._work, name=f"whileai-grader-{index}", daemon=True).start()

    def deliver(self, group: Group, row: PlayedRow) -> None:
        """Takes a row off its worker's hands."""
        if row.status != "ok":
            self._queue.finish(group, row)
        elif row.verdict is not None:  # it was judged before the run was cut off
            self._finish(group, row, row.verdict)
        elif self._async:
            asyncio.run_coroutine_threadsafe(self._judge(group, row), background_loop())
        else:
            self._rows.put((group, row))

    def _work(self) -> None:
        try:
            while (found := self._rows.get()) is not None:
                if not self._closed:
                    group, row = found
                    self._finish(group, row, self._verdict(self._seen(row)))
        except BaseException as error:  # never the judge's own error: `judge_row` makes that a verdict
            self._queue.fail(error)

    def _verdict(self, row: dict[str, Any]) -> Verdict:
        try:
            return judge_row(self._score.judge, row)
        except ModelStopError as error:
            return self._stopped(error)

    async def _judge(self, group: Group, row: PlayedRow) -> None:
        try:
            async with self._free:
                if not self._closed:
                    self._finish(group, row, await self._awaited(self._seen(row)))
        except BaseException as error:  # as in `_work`; nobody else would hear of it
            self._queue.fail(error)

    async def _awaited(self, row: dict[str, Any]) -> Verdict:
        try:
            return await judge_row_async(self._score.judge, row)
        except ModelStopError as error:
            return self._stopped(error)
        except asyncio.CancelledError as error:  # a call of the judge's own client: nobody cancels this one
            return failed(error)

    def _stopped(self, error: ModelStopError) -> Verdict:
        """That its model answers no further call ends the run: no decision would be worth anything."""
        self._queue.halt(error)
        return failed(error)

    def _seen(self, row: PlayedRow) -> dict[str, Any]:
        """The row as `grade` shows it to a judge, with what only a judge may see."""
        return {**orjson.loads(row.line), **_LATE, **canonical(hidden_of(row.task, self._rubric))}

    def _finish(self, group: Group, row: PlayedRow, verdict: Verdict) -> None:
        row.verdict = verdict
        row.label = verdict.reward
        # Where a model answers no more, what failed stays unjudged on disk: the run that is resumed asks again.
        if self._queue.stop is None or verdict.status is JudgeStatus.OK:
            values = self._score.values([verdict], [None], [None])
            judged = dumps({name: values[name][0] for name in _JUDGED})
            row.line = row.line[:-1] + b"," + judged[1:]
        self._queue.finish(group, row)

    def close(self) -> None:
        """Lets the workers go; rows that still wait are not judged."""
        self._closed = True
        for _ in range(self._width):
            self._rows.put(None)


def verdict_of(row: dict[str, Any]) -> Verdict | None:
    """The verdict a journal line holds, `None` when no judge has seen the row."""
    if row.get("judge_status") is None:
        return None
    meta = row.get("judge_meta") or {}
    status = JudgeStatus(row["judge_status"])
    markers = row.get("markers") or {}
    return Verdict(row.get("reward"), status, row.get("reason"), markers, row.get("failure_class"), meta)
