"""The held-out tasks of a monitor as the trainer's evaluation set, and whether training sees any of them."""

from __future__ import annotations

from typing import Any

from datasets import Dataset, IterableDataset

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import add_columns, dumps, open_rows, task_key, to_dataset, view
from whileai_hf.training.monitor.tape import TASK_COLUMN


_IDENTITY = ("scenario_id", "task_id")
# Columns that do not say which task a row is.
_BOOKKEEPING = frozenset({TASK_COLUMN, "split", "schema_version"})
_NAMED = 3


def make_holdout(holdout: Any) -> tuple[Dataset, int]:
    """
    Held-out rows with the number of each one's task.

    Rows of one task (several phrasings, say) bear one number: they are not independent of each other.

    Args:
        holdout (`datasets.Dataset` or `list` or path or Hub repo id):
            Rows with a `prompt` and what the rewards read, or prompts alone.

    Returns:
        `tuple[datasets.Dataset, int]`: The rows, and how many tasks there are.

    Raises:
        [`ConfigurationError`]: There is none, or it has no prompts.

    Examples:
    ```python
    >>> rows, n_tasks = make_holdout(["2 + 2?", "2 + 3?"])
    >>> rows["holdout_task"][:], n_tasks
    ([0, 1], 2)

    ```
    """
    if holdout is None:
        raise ConfigurationError(
            "the monitor has no holdout; pass holdout=, prompts or rows like those of the training set that are not "
            "in it"
        )
    rows = _opened(holdout)
    if not len(rows):
        raise ConfigurationError("the holdout has no rows; 64 tasks are usual, under 32 little can be seen")
    if "prompt" not in rows.column_names:
        raise ConfigurationError(
            f"the holdout has no column prompt, but {', '.join(rows.column_names[:8])}; pass rows like those of the "
            "training set"
        )
    numbers: dict[str, int] = {}
    keys = _task_names(rows)
    tasks = [numbers.setdefault(key, len(numbers)) for key in keys]
    if TASK_COLUMN in rows.column_names:
        rows = rows.remove_columns(TASK_COLUMN)
    return add_columns(rows, {TASK_COLUMN: tasks}), len(numbers)


def check_apart(holdout: Dataset, train: Any) -> None:
    """
    Refuses a holdout that shares tasks with the training set.

    Args:
        holdout (`datasets.Dataset`):
            Held-out rows.
        train (`datasets.Dataset`):
            Training rows; a stream is not read.

    Raises:
        [`ConfigurationError`]: It does.
    """
    if train is None or isinstance(train, IterableDataset):
        return
    # By what both sides say: prompts alone are the same tasks whether or not the other side has an answer to them.
    common = frozenset(view(holdout).columns) & frozenset(view(train).columns)
    seen = set(_task_names(train, common))
    shared = [key for key in dict.fromkeys(_task_names(holdout, common)) if key in seen]
    if shared:
        named = ", ".join(f"{key:.60}" for key in shared[:_NAMED])
        raise ConfigurationError(
            f"{len(shared)} held-out tasks are in the training set as well ({named}): what the policy was trained on "
            "cannot say whether it is being hacked; take them out of one, or pass allow_overlap=True"
        )


def check_alike(holdout: Dataset, train: Any) -> None:
    """
    Refuses a holdout whose prompts reach the policy in another shape than those it is trained on.

    Args:
        holdout (`datasets.Dataset`):
            Held-out rows.
        train (`datasets.Dataset`):
            Training rows; a stream is not read.

    Raises:
        [`ConfigurationError`]: One side has texts and the other messages, which go through the chat template.
    """
    if train is None or isinstance(train, IterableDataset) or "prompt" not in train.column_names or not len(train):
        return
    shapes = {True: "text", False: "messages"}
    own, trained = (isinstance(rows[0]["prompt"], str) for rows in (holdout, train))
    if own != trained:
        raise ConfigurationError(
            f"the prompts of the holdout are {shapes[own]} and those of the training set {shapes[trained]}: only "
            "messages go through the chat template, so the policy would be asked in another way than it is trained; "
            "pass both in one shape"
        )


def same_rows(first: Any, second: Dataset) -> bool:
    """Whether two sets are the same tasks in the same order."""
    if not isinstance(first, Dataset) or len(first) != len(second):
        return False
    return _task_names(first) == _task_names(second)


def _opened(holdout: Any) -> Dataset:
    if isinstance(holdout, IterableDataset):
        raise ConfigurationError("the holdout is a stream; pass a Dataset, whose rows can be counted")
    if isinstance(holdout, list | tuple):
        rows = [{"prompt": each} if isinstance(each, str) else each for each in holdout]
        try:
            return to_dataset(rows)
        except (TypeError, AttributeError) as error:
            raise DataError(f"the holdout is no list of rows or prompts: {error}") from error
    return open_rows(holdout)


def _task_names(rows: Any, common: frozenset[str] | None = None) -> list[str]:
    """
    One text per row that is the same for the same task: its id, else everything the row says.

    Args:
        rows (`datasets.Dataset`):
            Rows.
        common (`frozenset[str]`, *optional*):
            Columns to go by; all of them without.
    """
    read = view(rows)
    columns = [name for name in read.columns if common is None or name in common]
    known = [name for name in _IDENTITY if name in columns]
    if known:
        wanted = [*known, *(["prompt"] if "prompt" in columns else [])]
        return [dumps(task_key(row)).decode() for row in read.rows(wanted)]
    wanted = sorted(name for name in columns if name not in _BOOKKEEPING)
    return [dumps([[name, row.get(name)] for name in wanted]).decode() for row in read.rows(wanted)]
