"""What a judge may see beyond the row, looked up for the time of its call.

The hidden state and the reference answer of a task live on the task Dataset and in the local store of the run, never
on rollouts. This is the one place that brings the two together; nothing it returns is written anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.rows import RowView, view
from whileai_hf.rows.identity import hashable
from whileai_hf.rows.view import Source
from whileai_hf.score.judgment import PRIVILEGED_COLUMNS
from whileai_hf.store import read_privileged


Extra = Mapping[str, Any]
_Key = tuple[Any, str]


class TaskSecrets:
    """The privileged columns of one task set, by `(scenario_id, prompt)`, then by `scenario_id`."""

    def __init__(self, by_task: Mapping[_Key, Extra]) -> None:
        self._by_task = by_task
        self._by_scenario: dict[Any, Extra] = {}
        for (scenario, _), extra in by_task.items():
            if scenario is not None:
                self._by_scenario.setdefault(scenario, extra)

    def find(self, scenario: Any, prompt: Any) -> Extra | None:
        """What is known about a task, `None` when it is not in the set."""
        found = self._by_task.get((hashable(scenario), hashable(prompt)))
        return found if found is not None else self._by_scenario.get(hashable(scenario))


def _from_tasks(tasks: Source) -> TaskSecrets:
    given = view(tasks)
    if not any(given.has(name) for name in PRIVILEGED_COLUMNS):
        raise MissingColumnError(
            f"tasks= has no column 'privileged' (columns: {', '.join(given.columns)}); pass the Dataset the rollouts "
            "were made from, as situations() returned it"
        )
    columns = [given.column(name) for name in PRIVILEGED_COLUMNS]
    by_task: dict[_Key, Extra] = {}
    for scenario, prompt, *values in zip(given.column("scenario_id"), given.column("prompt"), *columns, strict=True):
        key = hashable(scenario), hashable(prompt)
        by_task.setdefault(key, dict(zip(PRIVILEGED_COLUMNS, values, strict=True)))
    return TaskSecrets(by_task)


def _from_store(run_id: Any) -> TaskSecrets:
    if not isinstance(run_id, str):
        return TaskSecrets({})
    try:
        return TaskSecrets(read_privileged(run_id))
    except DataError:  # a run id of somebody else's making: this machine knows nothing about it
        return TaskSecrets({})


def find_secrets(rows: RowView, tasks: Source | None = None) -> list[Extra | None]:
    """
    The privileged columns for each row.

    Args:
        rows ([`RowView`]):
            The rollouts.
        tasks (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            Where to look them up; the local store of the rows' runs otherwise.

    Returns:
        `list[Mapping | None]`: Per row `{"privileged": ..., "expected_calls": ...}`, or `None`.

    Raises:
        [`MissingColumnError`]: `tasks` has no privileged column.
    """
    keys = zip(rows.column("scenario_id"), rows.column("prompt"), strict=True)
    if tasks is not None:
        secrets = _from_tasks(tasks)
        return [secrets.find(*key) for key in keys]
    runs = rows.column("run_id")
    by_run = {run: _from_store(run) for run in set(runs) if run is not None}
    if not by_run:
        return [None] * len(runs)
    return [by_run[run].find(*key) if run is not None else None for run, key in zip(runs, keys, strict=True)]


def with_secrets(row: dict[str, Any], extra: Extra | None, *, override: bool) -> dict[str, Any]:
    """A copy of the row with what is known about its task; `override` says whether it replaces what the row has."""
    out = dict(row)
    for name, value in (extra or {}).items():
        if value is not None and (override or out.get(name) is None):
            out[name] = value
    return out
