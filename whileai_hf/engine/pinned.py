"""Tasks the caller gives: a task Dataset, an earlier run, a list or a path, played again as they are."""

from __future__ import annotations

import dataclasses
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from datasets import Dataset, Features

from whileai_hf.actors.users import read_script
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.given import check_prompts, fit_tasks, foreign_features
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import group_keys, view
from whileai_hf.rows.features import known_features, task_features
from whileai_hf.rows.identity import TaskKey
from whileai_hf.rows.view import Row, RowView
from whileai_hf.store import read_privileged


_logger = logging.getLogger("whileai_hf")

Group = tuple[TaskKey, str]


class TaskRows(Sequence[Row]):
    """
    Some rows of a source as tasks, decoded as they are asked for: of a million tasks a run may play the first few.

    Args:
        rows ([`RowView`]):
            The source.
        names (`Sequence[str]`):
            Columns that are about the task.
        places (`Sequence[int]`):
            Which rows, in ascending order.
        foreign (`datasets.Features`):
            Columns the schema does not know.
        hidden (`Mapping`):
            `(scenario_id, prompt)` to what only a judge may see, put back onto the tasks.
    """

    def __init__(
        self,
        rows: RowView,
        names: Sequence[str],
        places: Sequence[int],
        foreign: Features,
        hidden: Mapping[tuple[Any, str], Row],
    ) -> None:
        self._rows, self._names, self._places = rows, names, places
        self._foreign, self._hidden = foreign, hidden

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Row]:
        for task in fit_tasks(self._picked(), self._foreign):
            if self._hidden:
                task.update(self._hidden.get((task.get("scenario_id"), task["prompt"]), {}))
            yield task

    def _picked(self) -> Iterator[Row]:
        places = iter(self._places)
        wanted = next(places, None)
        for place, row in enumerate(self._rows.rows(self._names)):
            if place == wanted:
                yield row
                wanted = next(places, None)
            if wanted is None:
                return

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return list(self)[index]


@dataclasses.dataclass(frozen=True)
class PinnedTasks:
    """
    Tasks in the order given.

    `groups` are their keys and prompts, known without decoding a task.

    `repeats` are the different `k` the source planned, or else how often it ran its prompts; none when it is a task
    set and not a run.
    """

    tasks: Sequence[Row]
    groups: Sequence[Group]
    repeats: Sequence[int]
    foreign: Features
    scripted: bool = False
    """Whether any task has user turns beyond its prompt."""
    twinned: frozenset[str] = frozenset()
    """Tasks whose twin without the fault is among them."""


def pin(source: Any) -> PinnedTasks:
    """
    Tasks out of any rows.

    Args:
        source (`datasets.Dataset` or `list[dict]` or `list[str]` or path or Hub repo id):
            Task rows, asks, or rollouts of an earlier run (each prompt once; what only a judge may see is read back
            from the run store).

    Raises:
        [`DataError`]: A row without a prompt, or with a script that cannot be read.
    """
    if isinstance(source, list) and source and all(isinstance(ask, str) for ask in source):
        source = [{"prompt": ask} for ask in source]
    rows = view(source)
    check_prompts(rows)
    scripted = _has_turns(rows)
    ran = rows.has("final_text") or rows.has("steps")
    # What a run did and what was thought of it is about its own rollouts, not about the tasks.
    names = [name for name in rows.columns if not ran or _describes_task(name)]
    keys = group_keys(rows)
    counts = Counter(keys)
    places: dict[Group, int] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, place)
    foreign = Features({name: feature for name, feature in foreign_features(rows).items() if name in names})
    tasks: Sequence[Row] = TaskRows(rows, names, list(places.values()), foreign, _hidden(rows) if ran else {})
    if not isinstance(rows.source, Dataset):
        tasks = list(tasks)  # nothing to decode, so what does not fit is found before the run starts
    if not ran:
        _check_unique(rows, keys)
    twinned = frozenset(name for name in rows.column("twin_of") if name) if rows.has("twin_of") else frozenset()
    planned = {k for k in rows.column("group_planned_k") if k}
    return PinnedTasks(
        tasks, list(places), sorted(planned or set(counts.values())) if ran else [], foreign, scripted, twinned
    )


def _has_turns(rows: RowView) -> bool:
    """Whether the script of any task has user turns; every script is read, so that a wrong one is found now."""
    found = False
    for index, script in enumerate(rows.column("script") if rows.has("script") else ()):
        try:
            found = any(turn.user or turn.simulate for turn in read_script(script)) or found
        except DataError as error:
            raise DataError(f"task {index}: {error}") from None
    return found


def _check_unique(rows: RowView, keys: Sequence[Group]) -> None:
    """Two tasks of one identity would share a world and a pass rate; a prompt given twice is played once."""
    seen: dict[Any, int] = {}
    for index, identity in enumerate(zip(rows.column("scenario_id"), rows.column("phrasing"), strict=True)):
        if identity[0] is None:
            continue
        first = seen.setdefault(identity, index)
        if first != index:
            raise DataError(
                f"tasks {first} and {index} have the same scenario_id {identity[0]!r}; give each task its own, or "
                "tell wordings of one situation apart by the column 'phrasing'"
            )
    twice = len(keys) - len(set(keys))
    if twice:
        _logger.warning(f"{twice} of {len(keys)} tasks repeat an earlier prompt and are played once")


def _describes_task(name: str) -> bool:
    return name in task_features() or name not in known_features()


def _hidden(rows: RowView) -> dict[tuple[Any, str], Row]:
    """What only a judge may see of the tasks of earlier runs, from the run store."""
    known: dict[tuple[Any, str], Row] = {}
    for run in dict.fromkeys(rows.column("run_id")):
        if run:
            known.update(read_privileged(run))
    return known


def config_for(pinned: PinnedTasks, config: SimulationConfig) -> SimulationConfig:
    """The knobs of a pinned run: repeats are inherited from the source unless given, the budget is all of it."""
    for name in ("situations", "phrasings"):
        if getattr(config, name) is not None:
            raise ConfigurationError(
                f"{name}={getattr(config, name)} with tasks=: the tasks are given as they are; leave {name} out, or "
                "select the tasks you mean"
            )
    if config.mode == "adaptive":
        raise ConfigurationError(
            "mode='adaptive' with tasks=: it draws its tasks; use another mode, or leave tasks out"
        )
    if config.repeats is None and len(pinned.repeats) > 1:
        raise ConfigurationError(
            f"the run in tasks= has {', '.join(map(str, pinned.repeats[:-1]))} and {pinned.repeats[-1]} rollouts a "
            "prompt: which is meant? pass repeats="
        )
    inherited = pinned.repeats[0] if pinned.repeats else None
    repeats = config.repeats or inherited or config.topology().repeats
    budget = config.budget or len(pinned.tasks) * repeats * (2 if config.twins else 1)
    return dataclasses.replace(config, repeats=repeats, phrasings=1, situations=None, budget=budget)
