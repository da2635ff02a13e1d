"""Putting rubrics onto tasks, and finding the one of a row.

A rubric is for the judge's eyes: it is kept under `privileged.rubric`, beside the hidden state and the reference, and
reaches a judge the way these do, through `grade(rollouts, judge, tasks=tasks)`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from datasets import Dataset

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import RowView, add_columns, open_rows, task_keys, view
from whileai_hf.rows.view import Row, Source
from whileai_hf.score.rubrics.parsing import name_of, read_rubric, written_rubric
from whileai_hf.score.rubrics.rubric import Criterion, Rubric


logger = logging.getLogger(__name__)

# Columns only a rollout has.
_ROLLOUT_COLUMNS = ("messages", "steps", "rollout_index")
ON_ROLLOUTS = (
    "the rubrics are on rollouts, where grading uses them once and drops them; to keep them, put them on the task set "
    "and pass it: grade(rollouts, rubric_judge(), tasks=tasks)"
)


def rubric_of(row: Mapping[str, Any]) -> Rubric | None:
    """
    The rubric of a row.

    Args:
        row (`Mapping`):
            A row; read are `privileged.rubric` and a column `rubric`.

    Returns:
        [`Rubric`] or `None`: `None` when the row has none.

    Raises:
        [`DataError`]: What is there cannot be read as a rubric.

    Examples:
    ```python
    >>> rubric_of({"privileged": {"rubric": ["Looks the order up first."]}}).names
    ('looks_the_order_up_first',)

    ```
    """
    privileged = row.get("privileged")
    found = privileged.get("rubric") if isinstance(privileged, Mapping) else None
    found = row.get("rubric") if found is None else found
    if found is None or found == "":
        return None
    try:
        # Never a path: rows come from elsewhere, and must not name files of this machine.
        return written_rubric(found)
    except ConfigurationError as error:
        raise DataError(f"the row's rubric cannot be used: {error}") from error


def is_privileged(row: Mapping[str, Any]) -> bool:
    """Whether the row's rubric is for the judge's eyes only."""
    privileged = row.get("privileged")
    return isinstance(privileged, Mapping) and privileged.get("rubric") is not None


def neutral(rubric: Rubric) -> Rubric:
    """
    The rubric with `c1`, `c2`, ... for names that were made out of the criteria's texts.

    Names become markers and failure classes, which stay on rows; those an author chose are meant for that.

    Examples:
    ```python
    >>> neutral(written_rubric(["Names Maria as the owner.", {"name": "polite", "text": "Is polite."}])).names
    ('c1', 'polite')

    ```
    """
    taken = {item.name for item in rubric.criteria}
    criteria = []
    for number, item in enumerate(rubric.criteria, start=1):
        made = name_of(item.text)
        is_made = item.name == made or (item.name.startswith(f"{made}_") and item.name[len(made) + 1 :].isdigit())
        name = f"c{number}"
        while is_made and name in taken:
            name += "_"
        criteria.append(Criterion(name, item.text, item.weight) if is_made else item)
    return Rubric(tuple(criteria), rubric.note)


def attach_rubric(
    data: Source, rubric: Rubric | str | Sequence[Any] | Mapping[Any, Any] | Callable[[Row], Any]
) -> Dataset:
    """
    Tasks with a rubric each.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The tasks. Rollouts are taken, too, but grading drops the rubric from them.
        rubric ([`Rubric`], `str`, `list`, `dict` or `Callable`):
            One for all, in any form [`read_rubric`] takes; a mapping of task key (`scenario_id`, else `task_id`, else
            `prompt`) to rubric; or a function of the row. Tasks the mapping or function has none for (`None`) keep
            what they have.

    Returns:
        `datasets.Dataset`: The rows; other privileged keys are kept.

    Raises:
        [`ConfigurationError`]: A rubric that cannot be used.
        [`DataError`]: A mapping none of whose keys is a task of the data.

    Examples:
    ```python
    >>> tasks = attach_rubric([{"task_id": "t1", "prompt": "Refund A1."}], {"t1": "- Looks the order up first."})
    >>> rubric_of(tasks[0]).names
    ('looks_the_order_up_first',)

    ```
    """
    rows = view(data)
    rubrics = _per_row(rows, rubric)
    if on_rollouts(rows):
        logger.warning(ON_ROLLOUTS)
    return with_rubrics(rows, rubrics)


def with_rubrics(rows: RowView, rubrics: Sequence[Rubric | None]) -> Dataset:
    """The rows with the given rubrics under `privileged.rubric`; `None` leaves a row as it is."""
    cells = []
    for privileged, rubric in zip(rows.column("privileged"), rubrics, strict=True):
        if privileged is not None and not isinstance(privileged, Mapping):
            raise DataError(f"privileged is a {type(privileged).__name__}; expected a dict to put the rubric into")
        cells.append(privileged if rubric is None else {**(privileged or {}), "rubric": rubric.to_dict()})
    source = rows.source
    dataset = source if isinstance(source, Dataset) else open_rows(source)
    return add_columns(dataset, {"privileged": cells})


def on_rollouts(rows: RowView) -> bool:
    """Whether the rows are rollouts that carry nothing privileged yet."""
    return any(rows.has(name) for name in _ROLLOUT_COLUMNS) and not rows.has("privileged")


def _per_row(rows: RowView, rubric: Any) -> list[Rubric | None]:
    if callable(rubric):
        made = (rubric(row) for row in rows.rows())
        return [None if found is None else written_rubric(found) for found in made]
    keys = task_keys(rows)
    if _is_by_task(rubric, keys):
        known = {key: _maybe(value) for key, value in rubric.items()}
        return [known.get(key) for key in keys]
    return [read_rubric(rubric)] * len(rows)


def _maybe(found: Any) -> Rubric | None:
    return None if found is None else read_rubric(found)


def _is_by_task(rubric: Any, keys: Sequence[Any]) -> bool:
    """Whether a mapping is by task; one of criteria has `criteria`, or texts under names that are no tasks."""
    if not isinstance(rubric, Mapping) or "criteria" in rubric:
        return False
    if not set(rubric).isdisjoint(keys):
        return True
    if all(isinstance(value, str) for value in rubric.values()):
        return False  # name to text
    raise DataError(
        f"rubric is a mapping with the keys {', '.join(map(repr, list(rubric)[:3]))}, none of which is a task of the "
        f"data (for instance {', '.join(map(repr, list(dict.fromkeys(keys))[:3]))}); key it by scenario_id, task_id "
        "or prompt"
    )
