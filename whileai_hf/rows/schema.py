"""The typed view of a row.

A row is the flat projection of four records: the situation ([`Task`]), one episode in it ([`Rollout`]), a scorer's
verdict ([`Judgment`]) and named behaviour measurements ([`Marker`]). `from_row` takes a row apart, `to_row` flattens
it again, and a row survives the trip unchanged: columns nobody declared ride in `Rollout.extra`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from whileai_hf.errors import DataError
from whileai_hf.rows.features import SCHEMA_VERSION
from whileai_hf.rows.identity import TaskKey, task_key


@dataclasses.dataclass(frozen=True)
class Task:
    """The situation: what was asked, in which world, and what only a judge may know about it."""

    prompt: str
    scenario_id: str | None = None
    task_id: TaskKey | None = None
    phrasing: int | None = None
    scenario_dimensions: dict[str, str] | None = None
    world_state: str | None = None
    faults: dict[str, Any] | None = None
    expected_calls: list[dict[str, Any]] | None = None
    privileged: dict[str, Any] | None = None
    tier: str | None = None
    persona: str | None = None
    tone: str | None = None
    typing: str | None = None
    length: str | None = None
    arm: str | None = None
    writer_model: str | None = None
    seed: int | None = None

    @property
    def key(self) -> TaskKey:
        """The task's identity, as [`task_key`] gives it."""
        return task_key({"scenario_id": self.scenario_id, "task_id": self.task_id, "prompt": self.prompt})


@dataclasses.dataclass(frozen=True)
class Rollout:
    """One episode: what the agent did and said, and under which policy."""

    steps: list[dict[str, Any]]
    final_text: str
    messages: list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    run_id: str | None = None
    rollout_index: int | None = None
    rollout_status: str | None = None
    error: str | None = None
    finish_reason: str | None = None
    faults_fired: list[dict[str, Any]] | None = None
    model_version: str | None = None
    policy_version: str | None = None
    user_model: str | None = None
    sampling: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    seeded: list[str] | None = None
    metadata: dict[str, Any] | None = None
    lineage: dict[str, Any] | None = None
    group_status: str | None = None
    group_planned_k: int | None = None
    group_inclusion_p: float | None = None
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Columns that are not part of the schema, and `calibration` when the row carries one."""


@dataclasses.dataclass(frozen=True)
class Judgment:
    """A scorer's verdict. `reward` is `None` when there is none, and `judge_status` says why."""

    reward: float | None
    reason: str | None = None
    judge_name: str | None = None
    judge_status: str | None = None
    judge_meta: dict[str, Any] | None = None
    failure_class: str | None = None


@dataclasses.dataclass(frozen=True)
class Marker:
    """A behaviour measurement: 1.0 is the good outcome, higher is better."""

    name: str
    value: float


@dataclasses.dataclass(frozen=True)
class Calibration:
    """How hard a task was for the policy that produced its rollouts."""

    task_id: TaskKey
    n: int
    """Judged rollouts of the task."""
    pass_rate: float
    pass_rate_ci95: tuple[float, float] | None = None
    policy_version: str | None = None


class RowParts(NamedTuple):
    """The four records of a row; `judgment` is `None` for a row no judge has seen."""

    task: Task
    rollout: Rollout
    judgment: Judgment | None
    markers: tuple[Marker, ...]


_TASK = tuple(field.name for field in dataclasses.fields(Task))
_ROLLOUT = tuple(field.name for field in dataclasses.fields(Rollout) if field.name != "extra")
_JUDGMENT = tuple(field.name for field in dataclasses.fields(Judgment))
_OWN = {*_TASK, *_ROLLOUT, *_JUDGMENT, "markers", "schema_version"}

# Names other encodings use for the columns a row cannot do without (rows written before `schema_version`).
_VERSION_0 = {
    "steps": ("tool_trace", "trace"),
    "final_text": ("final", "output", "response", "completion"),
    "prompt": ("ask", "question", "instruction"),
}


def _upgrade(row: Mapping[str, Any]) -> dict[str, Any]:
    """A version-0 row under the names of version 1; anything else unchanged."""
    row = dict(row)
    if row.get("schema_version") is not None:
        return row
    for name, aliases in _VERSION_0.items():
        for alias in aliases:
            if row.get(name) is None and row.get(alias) is not None:
                row[name] = row.pop(alias)
    return row


def _pick(row: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names if row.get(name) is not None}


def from_row(row: Mapping[str, Any]) -> RowParts:
    """
    Takes a row apart.

    Args:
        row (`Mapping`):
            A row of schema version 1, or an older one without `schema_version` (read by shape).

    Returns:
        [`RowParts`]: `(task, rollout, judgment, markers)`. A column that is `None` counts as absent.

    Raises:
        [`DataError`]: Not a row, or one of a later schema version.

    Examples:
    ```python
    >>> task, rollout, judgment, markers = from_row({"prompt": "hi", "steps": [], "final_text": "hello", "reward": 1})
    >>> task.prompt, rollout.final_text, judgment.reward, markers
    ('hi', 'hello', 1, ())

    ```
    """
    if not isinstance(row, Mapping):
        raise DataError(f"a row is a dict of columns, got a {type(row).__name__}")
    if row.get("schema_version") not in (None, SCHEMA_VERSION):
        raise DataError(f"the row has schema_version {row['schema_version']!r}; this version of the library reads '1'")
    row = _upgrade(row)
    task = Task(**{"prompt": "", **_pick(row, _TASK)})
    extra = {name: value for name, value in row.items() if name not in _OWN and value is not None}
    rollout = Rollout(**{"steps": [], "final_text": "", **_pick(row, _ROLLOUT)}, extra=extra)
    judged = row.get("judge_status") is not None or row.get("reward") is not None
    judgment = Judgment(**{"reward": None, **_pick(row, _JUDGMENT)}) if judged else None
    markers = tuple(Marker(name, value) for name, value in (row.get("markers") or {}).items())
    return RowParts(task, rollout, judgment, markers)


def to_row(
    task: Task, rollout: Rollout, judgment: Judgment | None = None, markers: tuple[Marker, ...] = ()
) -> dict[str, Any]:
    """
    The flat row of the four records; absent values are left out. Inverse of [`from_row`].

    Args:
        task ([`Task`]): The situation. Its privileged parts are kept: use `scrub` before a row leaves the machine.
        rollout ([`Rollout`]): The episode.
        judgment ([`Judgment`], *optional*): The verdict.
        markers (`tuple[Marker, ...]`, *optional*): Measurements.

    Returns:
        `dict`: A row of schema version 1.
    """
    row: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    for record, names in ((task, _TASK), (rollout, _ROLLOUT), (judgment, _JUDGMENT)):
        if record is not None:
            row.update({name: getattr(record, name) for name in names if getattr(record, name) is not None})
    row.update(rollout.extra)
    if markers:
        row["markers"] = {marker.name: marker.value for marker in markers}
    return row


def calibration_of(row: Mapping[str, Any]) -> Calibration | None:
    """The typed calibration stamp of a row, `None` when it carries none of this library's."""
    stamp = row.get("calibration")
    if not isinstance(stamp, Mapping) or not {"task_id", "n", "pass_rate"} <= stamp.keys():
        return None
    interval = stamp.get("pass_rate_ci95")
    return Calibration(
        task_id=stamp["task_id"],
        n=stamp["n"],
        pass_rate=stamp["pass_rate"],
        pass_rate_ci95=None if interval is None else (interval[0], interval[1]),
        policy_version=stamp.get("policy_version"),
    )
