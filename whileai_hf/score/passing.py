"""The rows that passed and those that failed; a row without a verdict is in neither."""

from __future__ import annotations

from datasets import Dataset

from whileai_hf.rows import open_rows, select_rows, view
from whileai_hf.rows.view import Source
from whileai_hf.score.scrubbing import without_privileged
from whileai_hf.score.verdicts import as_number


# A row passes from here on: the reward of an outright success.
PASS_REWARD = 1.0


def _pick(data: Source, passed: bool) -> Dataset:
    rows = view(data)
    rewards = [as_number(value) for value in rows.require("reward", "grade them first: grade(data, judge=...)")]
    picked = [i for i, reward in enumerate(rewards) if reward is not None and (reward >= PASS_REWARD) == passed]
    # An empty pick of a list would have no columns, so the list becomes a Dataset first.
    return without_privileged(select_rows(rows, picked) if picked else open_rows(data).select([]))


def passes(data: Source) -> Dataset:
    """
    The rows that passed: a reward of 1 or more.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows.

    Returns:
        `datasets.Dataset`: In the order of `data`; unjudged rows are left out.

    Raises:
        [`MissingColumnError`]: The rows have no `reward`.

    Examples:
    ```python
    >>> from whileai_hf.score import passes
    >>> rows = [{"prompt": "a", "reward": 1}, {"prompt": "b", "reward": None}, {"prompt": "c", "reward": 0}]
    >>> passes(rows)["prompt"][:]
    ['a']

    ```
    """
    return _pick(data, passed=True)


def failed_traces(data: Source) -> Dataset:
    """
    The rows that failed: judged, with a reward under 1.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows.

    Returns:
        `datasets.Dataset`: In the order of `data`; unjudged rows are left out.

    Raises:
        [`MissingColumnError`]: The rows have no `reward`.

    Examples:
    ```python
    >>> from whileai_hf.score import failed_traces
    >>> rows = [{"prompt": "a", "reward": 1}, {"prompt": "b", "reward": None}, {"prompt": "c", "reward": 0}]
    >>> failed_traces(rows)["prompt"][:]
    ['c']

    ```
    """
    return _pick(data, passed=False)
