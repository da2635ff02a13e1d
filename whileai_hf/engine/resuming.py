"""A run that was cut off, taken up again: rows that were written down are not played a second time."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from whileai_hf.engine.grading import verdict_of
from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import LATE_COLUMNS, PlayedRow, Player, flaws_of
from whileai_hf.engine.queue import Work
from whileai_hf.errors import DataError, SourceNotFoundError
from whileai_hf.rows import dumps, loads, task_key
from whileai_hf.rows.view import Row
from whileai_hf.score.verdicts import Verdict
from whileai_hf.store import read_lines


_DROPPED = frozenset({*LATE_COLUMNS, "reward", "reason", "judge_name", "judge_status", "judge_meta", "failure_class"})


# What a row that was written down has to have.
_NEEDED = frozenset(
    {"prompt", "rollout_index", "rollout_status", "steps", "faults_fired", "behavior_signature", "error"}
)


class Recalled:
    """
    Rollouts of the same run, found again by their task and index.

    Args:
        rows (`Iterable[dict]`):
            What was written down of them, or was played elsewhere.
        kept (`bool`, *optional*, defaults to `False`):
            Whether they are in the journal.
        judge (`str`, *optional*):
            Name of the judge beside the run; what another one said about them does not count.
    """

    def __init__(self, rows: Iterable[Row], kept: bool = False, judge: str | None = None) -> None:
        self._kept = kept
        self._judge = judge
        self._rows: dict[tuple[Any, ...], deque[bytes]] = {}
        for row in rows:
            lineage = row.get("lineage") or {}
            key = (task_key(row), row["prompt"], row.get("phrasing"), lineage.get("eval_run"), row["rollout_index"])
            self._rows.setdefault(key, deque()).append(dumps(row))

    @classmethod
    def of_file(cls, path: str, run_id: str, judge: str | None = None) -> Recalled:
        """
        The rows a run has written to a file.

        Args:
            path (`str`):
                The JSONL file the run wrote to.
            run_id (`str`):
                The run that is to be finished.
            judge (`str`, *optional*):
                Name of the judge beside it.

        Raises:
            [`SourceNotFoundError`]: There is no such file.
            [`DataError`]: The file holds rows of another run, or something that is no row.
        """
        if not Path(path).is_file():
            raise SourceNotFoundError(f"resume={path!r} is not a file; give the JSONL file the run was writing to")
        return cls(_rows_of(path, run_id), kept=True, judge=judge)

    def check(self, path: str, groups: Iterable[tuple[Any, str]]) -> None:
        """
        That the rows are of these tasks.

        Args:
            path (`str`):
                Where the rows are from.
            groups (`Iterable`):
                Key and prompt of every task.

        Raises:
            [`DataError`]: Some are not.
        """
        known = set(groups)
        strange = sum(len(rows) for (task, prompt, *_), rows in self._rows.items() if (task, prompt) not in known)
        if strange:
            raise DataError(
                f"resume={path!r} holds {strange} rows of tasks that are not among those in tasks=; pass the tasks "
                "the run was given, or start without resume"
            )

    def take(self, player: Player, work: Work) -> PlayedRow | None:
        """The row of this rollout, `None` when it has to be played."""
        group, index = work
        task = group.task
        found = self._rows.get((task_key(task), task["prompt"], task.get("phrasing"), group.eval_run, index))
        if not found:
            return None
        row = loads(found.popleft())
        verdict = verdict_of(row) if row.get("judge_name") == self._judge else None
        return _played(player, group, row, verdict, self._kept)


def _rows_of(path: str, run_id: str) -> Iterator[Row]:
    for number, line in enumerate(read_lines(path), start=1):
        row = _read(line, path, number)
        if row.get("run_id") != run_id:
            raise DataError(
                f"resume={path!r} holds rows of {row.get('run_id')} (line {number}) and this call is {run_id}: the "
                "agent, tools, prompt or knobs differ; call simulate as before, or start without resume"
            )
        yield row


def _read(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = None
    if not isinstance(row, dict) or not row.keys() >= _NEEDED or not isinstance(row["steps"], list):
        raise DataError(f"{path}, line {number}, is not a row of a run; give the JSONL file the run was writing to")
    return row


def _played(player: Player, group: Group, row: Row, verdict: Verdict | None, kept: bool) -> PlayedRow:
    own = {name: value for name, value in row.items() if name not in _DROPPED}
    cells, line = player.encoder.encode(own)
    called = tuple(step["tool"] for step in row["steps"] if "tool" in step)
    fired = tuple(fault["kind"] for fault in row["faults_fired"] or ())
    return PlayedRow(
        group.task,
        row["rollout_index"],
        cells,
        line,
        row["rollout_status"],
        row["error"],
        called,
        fired,
        seconds=0.0,
        signature=row["behavior_signature"],
        label=row["behavior_signature"],
        flaws=flaws_of(row),
        verdict=verdict,
        kept=kept,
    )


def take_over(resume: str, target: Path) -> None:
    """Makes the journal go on from the rows of an earlier one: nothing written down is lost if it is cut off again."""
    if Path(resume).resolve() == target.resolve():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(resume, target)
