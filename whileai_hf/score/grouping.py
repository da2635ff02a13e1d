"""Judging all rollouts of one ask together, for judges that compare."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from whileai_hf.actors.loop import background_loop
from whileai_hf.errors import ModelStopError
from whileai_hf.score.halting import not_judged
from whileai_hf.score.lanes import Progress, Row
from whileai_hf.score.verdicts import GroupJudge, JudgeStatus, Verdict, failed, overdue, verdict


def judge_groups(
    judge: GroupJudge,
    rows: Sequence[Row],
    keys: Sequence[Any],
    *,
    concurrency: int,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> list[Verdict]:
    """
    Judges rows group by group.

    Args:
        judge ([`GroupJudge`]):
            Rows of one group to one answer each.
        rows (`Sequence[dict]`):
            The rows.
        keys (`Sequence`):
            The group of each row, as [`group_keys`] gives it.
        concurrency (`int`):
            Groups judged at the same time.
        timeout (`float`, *optional*):
            Seconds a group may take.
        progress (`Callable[[int], None]`, *optional*):
            Called after each group with the number of rows done.

    Returns:
        `list[Verdict]`: One per row, in the order of `rows`.

    Raises:
        [`ModelStopError`]: The judge's model answers no call, and no group was judged before it said so.
    """
    groups: dict[Any, list[int]] = {}
    verdicts: list[Verdict] = []
    for index, (row, key) in enumerate(zip(rows, keys, strict=True)):
        skipped = not_judged(row)
        verdicts.append(skipped or Verdict(None, JudgeStatus.MISSING_REWARD))
        if skipped is None:
            groups.setdefault(key, []).append(index)
    done = len(rows) - sum(map(len, groups.values()))

    stopped: ModelStopError | None = None

    async def judge_one(members: list[int]) -> None:
        nonlocal done, stopped
        async with free:
            if stopped is None:
                try:
                    found = await _verdicts(judge, [rows[index] for index in members], timeout)
                except ModelStopError as error:
                    stopped = stopped or error
            if stopped is not None:
                found = [failed(stopped)] * len(members)
        for index, one in zip(members, found, strict=True):
            verdicts[index] = one
        done += len(members)
        if progress is not None:
            progress(done)

    async def judge_all() -> None:
        async with asyncio.TaskGroup() as tasks:
            for members in groups.values():
                tasks.create_task(judge_one(members))

    free = asyncio.Semaphore(concurrency)
    asyncio.run_coroutine_threadsafe(judge_all(), background_loop()).result()
    if stopped is not None and all(one.reward is None for one in verdicts):
        raise stopped
    return verdicts


async def _verdicts(judge: GroupJudge, rows: list[Row], timeout: float | None) -> list[Verdict]:
    try:
        answers = await asyncio.wait_for(judge.judge_group(rows), timeout)
    except ModelStopError:
        raise
    except TimeoutError:
        return [overdue(f"no verdict on the group within {timeout:g} s" if timeout else "the judge timed out")] * len(
            rows
        )
    except Exception as error:  # whatever a judge raises is a verdict on its rows: status "error"
        return [failed(error)] * len(rows)
    if len(answers) != len(rows):
        message = f"the judge gave {len(answers)} answers on a group of {len(rows)} rows; expected one for each"
        return [Verdict(None, JudgeStatus.INVALID_RESULT, meta={"error": message})] * len(rows)
    return [verdict(answer) for answer in answers]
