"""A run that was cut off, taken up again: rows that were written down are not played a second time."""

from __future__ import annotations

import shutil
from collections import deque
from pathlib import Path
from typing import Any

import orjson

from whileai_hf.engine.grading import verdict_of
from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import LATE_COLUMNS, PlayedRow, Player
from whileai_hf.engine.queue import Work
from whileai_hf.errors import DataError, SourceNotFoundError
from whileai_hf.rows import task_key
from whileai_hf.store import read_lines


_DROPPED = frozenset({*LATE_COLUMNS, "reward", "reason", "judge_name", "judge_status", "judge_meta", "failure_class"})


class Recalled:
    """
    Rows of the same run, found again by their task and index.

    Args:
        path (`str`):
            The JSONL file the run wrote to.
        run_id (`str`):
            The run that is to be finished.

    Raises:
        [`SourceNotFoundError`]: There is no such file.
        [`DataError`]: The file holds rows of another run, or something that is no row.
    """

    def __init__(self, path: str, run_id: str) -> None:
        if not Path(path).is_file():
            raise SourceNotFoundError(f"resume={path!r} is not a file; give the JSONL file the run was writing to")
        self._rows: dict[tuple[Any, ...], deque[bytes]] = {}
        for number, line in enumerate(read_lines(path), start=1):
            row = _read(line, path, number)
            if row.get("run_id") != run_id:
                raise DataError(
                    f"resume={path!r} holds rows of {row.get('run_id')} (line {number}) and this call is {run_id}: "
                    "agent, tools, prompt or knobs differ; call simulate as before, or start without resume"
                )
            key = (task_key(row), row["prompt"], row.get("phrasing"), _eval_run(row), row["rollout_index"])
            self._rows.setdefault(key, deque()).append(line)

    def take(self, player: Player, work: Work) -> PlayedRow | None:
        """The row of this rollout, `None` when it has to be played."""
        group, index = work
        task = group.task
        found = self._rows.get((task_key(task), task["prompt"], task.get("phrasing"), group.eval_run, index))
        if not found:
            return None
        return _played(player, group, orjson.loads(found.popleft()))


def _read(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = None
    if not isinstance(row, dict) or not {"prompt", "rollout_index"} <= row.keys():
        raise DataError(f"{path}, line {number}, is not a row of a run; give the JSONL file the run was writing to")
    return row


def _eval_run(row: dict[str, Any]) -> int | None:
    return (row.get("lineage") or {}).get("eval_run")


def _played(player: Player, group: Group, row: dict[str, Any]) -> PlayedRow:
    verdict = verdict_of(row)
    own = {name: value for name, value in row.items() if name not in _DROPPED}
    cells, line = player.encoder.encode(own)
    called = tuple(step["tool"] for step in row["steps"] if "tool" in step)
    fired = tuple(fault["kind"] for fault in row["faults_fired"] or ())
    return PlayedRow(
        group.task,
        row["rollout_index"],
        cells,
        line,
        "ok",
        None,
        called,
        fired,
        seconds=0.0,
        signature=row["behavior_signature"],
        label=row["behavior_signature"],
        verdict=verdict,
        kept=True,
    )


def take_over(resume: str, target: Path) -> None:
    """Makes the journal go on from the rows of an earlier one: nothing written down is lost if it is cut off again."""
    if Path(resume).resolve() == target.resolve():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(resume, target)
