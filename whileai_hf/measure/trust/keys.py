"""Which rollout a label is about.

A key may be, first match wins: the row's own `id`; its [`rollout_key`]; a pair or a record of task and
`rollout_index` (with `run_id` or `prompt` where the task has several); the task itself when it has one rollout. A key
that fits several rollouts names none of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from whileai_hf.measure.passes.origin import evaluation_codes
from whileai_hf.rows import RowView, dumps, task_keys, view
from whileai_hf.rows.identity import hashable
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Source


# Columns a rollout is told by.
IDENTITY = ("run_id", "scenario_id", "task_id", "prompt", "rollout_index", "final_text", "lineage", "eval_run")
_DIGITS = 16
_TASK = ("scenario_id", "task_id")


def rollout_keys(data: Source | RowView) -> list[str]:
    """
    The key of every rollout: of its run, task, prompt and `rollout_index`, or of its reply where it has no index; with
    `runs=3`, of the evaluation it belongs to, too.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.

    Returns:
        `list[str]`: 16 hexadecimal characters a row, the same in every process; two rows share one only if they are
        the same rollout.

    Examples:
    ```python
    >>> one, other = rollout_keys([{"task_id": 7, "rollout_index": at} for at in (0, 1)])
    >>> one != other, one == rollout_keys([{"task_id": 7, "rollout_index": 0}])[0]
    (True, True)

    ```
    """
    rows = view(data)
    evaluation = evaluation_codes(rows)
    runs = [None] * len(rows) if evaluation is None else [evaluation.keys[code] for code in evaluation.index.tolist()]
    parts = zip(
        rows.column("run_id"),
        task_keys(rows),
        rows.column("prompt"),
        rows.column("rollout_index"),
        rows.column("final_text") if rows.has("final_text") else [None] * len(rows),
        runs,
        strict=True,
    )
    return [
        digest(
            *("rollout", run, task, hashable(prompt), index, text if index is None else None),
            *(() if evaluation is None else (evaluation,)),
            length=_DIGITS,
        )
        for run, task, prompt, index, text, evaluation in parts
    ]


def plain_key(value: Any) -> Hashable:
    """A key as something to look up: `7.0` is `7`, a list is its tuple, anything else that cannot be one its JSON."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return tuple(plain_key(item) for item in value)
    if isinstance(value, Mapping):
        return dumps(value).decode()
    return value if isinstance(value, Hashable) else repr(value)


class KeyIndex:
    """
    Rows by every key that names them.

    Args:
        rows ([`RowView`]):
            The rollouts.
    """

    def __init__(self, rows: RowView) -> None:
        self._rows = rows
        self._tasks = [plain_key(key) for key in task_keys(rows)]
        self._indices = [plain_key(value) for value in rows.column("rollout_index")]
        self._by: dict[str, dict[Hashable, list[int]]] = {}
        self._rollouts: list[str] | None = None

    def _lookup(self, name: str) -> dict[Hashable, list[int]]:
        """Rows by one kind of key; made when it is first asked for."""
        if name not in self._by:
            found: dict[Hashable, list[int]] = {}
            for at, key in enumerate(self._keys(name)):
                if key is not None:
                    found.setdefault(key, []).append(at)
            self._by[name] = found
        return self._by[name]

    def _keys(self, name: str) -> list[Hashable]:
        if name == "id":
            return [plain_key(value) for value in self._rows.column("id")]
        if name == "rollout":
            self._rollouts = self._rollouts or rollout_keys(self._rows)
            return list(self._rollouts)
        return list(self._tasks) if name == "task" else list(zip(self._tasks, self._indices, strict=True))

    def find(self, key: Any) -> list[int]:
        """
        The rows a key names.

        Args:
            key (`Any`):
                A key of the forms above; a record is a mapping of columns.

        Returns:
            `list[int]`: Several when the key leaves open which rollout is meant, unless they are the same one; empty
            when no row has it.
        """
        if isinstance(key, Mapping):
            return self._of_record(key)
        wanted = plain_key(key)
        if wanted is None:
            return []
        for name in ("id", "rollout", "pair", "task"):
            found = self._lookup(name).get(wanted)
            if found:
                return found
        return []

    def same_rollout(self, found: list[int]) -> bool:
        """Whether rows are one rollout, kept several times."""
        if len(found) > 1 and self._rollouts is None:
            self._rollouts = rollout_keys(self._rows)
        return len(found) < 2 or len({(self._rollouts or [])[at] for at in found}) == 1

    def _of_record(self, record: Mapping[str, Any]) -> list[int]:
        task = next((record[name] for name in (*_TASK, "prompt") if record.get(name) is not None), None)
        if task is None:
            return []
        index = record.get("rollout_index")
        wanted = plain_key(hashable(task))
        found = (
            self._lookup("task").get(wanted, [])
            if index is None
            else (self._lookup("pair").get((wanted, plain_key(index)), []))
        )
        for name in ("run_id", "prompt"):
            if record.get(name) is not None and len(found) > 1:
                values = self._rows.column(name)
                found = [at for at in found if values[at] == record[name]]
        return found


def record_key(record: Mapping[str, Any]) -> Any:
    """What names the rollout in one line of a labels file: its `key`, its `id`, or its identity columns."""
    for name in ("key", "id"):
        if record.get(name) is not None:
            return record[name]
    named = {name: record[name] for name in IDENTITY if record.get(name) is not None}
    return named or None
