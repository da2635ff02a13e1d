"""Rollouts that repeat another one of the same ask: they add weight and no information to what is trained on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from datasets import Dataset

from whileai_hf.errors import MissingColumnError
from whileai_hf.measure.hygiene.columns import read_texts
from whileai_hf.measure.hygiene.decontaminate import keep
from whileai_hf.measure.lists import fetch_columns
from whileai_hf.measure.passes.codes import (
    TASK_COLUMNS,
    IntArray,
    arrow_of,
    combine,
    task_codes,
)
from whileai_hf.measure.passes.rewards import read_rewards
from whileai_hf.rows import Report, RowView, dumps
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.columns import decode_column
from whileai_hf.rows.view import Source


# Where the agent's side of a rollout may stand.
_CONTENT = ("final_text", "steps", "messages")
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


@dataclasses.dataclass(frozen=True)
class Duplicates(Report):
    """
    What [`dedupe_groups`] returns beside the rows it keeps.

    Args:
        n_rows (`int`):
            Rows given.
        n_kept (`int`):
            Rows that repeat no other one.
        n_dropped (`int`):
            Rows that do.
        n_groups (`int`):
            Groups: one prompt of one task each.
        n_groups_affected (`int`):
            Groups that lost a row.
        n_groups_single (`int`):
            Groups of several rollouts of which one is left: the agent always does the same there.
        n_conflicting (`int`):
            Dropped rows with another reward than the rollout they repeat.
        rows (`list[int]`):
            The rows dropped.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What speaks against using the rows as they are.
    """

    n_rows: int
    n_kept: int
    n_dropped: int
    n_groups: int
    n_groups_affected: int
    n_groups_single: int
    n_conflicting: int
    rows: list[int]
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        lines = [
            f"duplicates: {self.n_dropped} of {self.n_rows} rollouts repeat another one of their group "
            f"({self.n_groups_affected} of {self.n_groups} groups; {self.n_groups_single} have one rollout left)"
        ]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _plain(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    folded: str = text.casefold()
    # Most replies are one line with single spaces: all other white space is unprintable, and nothing has to be split.
    if folded.isprintable() and "  " not in folded and folded == folded.strip():
        return folded
    return " ".join(folded.split())


def _sorted_text(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=_SORTED)
    except TypeError:  # big integers, lone surrogates, foreign types
        return orjson.dumps(orjson.loads(dumps(value)), option=_SORTED)


def _told(step: Any) -> Any:
    """What a step says, wherever the harness adds numbers of its own (costs, log probabilities)."""
    if not isinstance(step, Mapping):
        return step
    if "tool" in step:
        return [step["tool"], step.get("arguments"), step.get("result")]
    said = next((name for name in ("user", "text") if name in step), None)
    return [said, _plain(step[said])] if said else step


def _cells(rows: RowView, name: str, indices: IntArray) -> list[Any]:
    column = arrow_of(rows, name)
    if column is not None:
        return decode_column(column.take(indices))
    values = rows.column(name)
    return [values[index] for index in indices.tolist()]


def _groups(rows: RowView) -> IntArray:
    tasks = task_codes(rows)
    named = rows.has("prompt") or rows.has("messages")
    return combine(tasks.index, read_texts(rows, "prompt").code) if named else tasks.index


def _replies(rows: RowView) -> tuple[IntArray, int]:
    """A code for the wording of every reply, and the code of those that say nothing (-1: all say something)."""
    if not rows.has("final_text"):
        return np.zeros(len(rows), np.int64), 0
    texts = read_texts(rows, "final_text")
    seen: dict[str, int] = {}
    same = np.array([seen.setdefault(_plain(text), len(seen)) for text in texts.distinct], np.int64)
    return same[texts.code], seen.get("", -1)


def first_alike(rows: RowView, groups: IntArray, order: IntArray) -> IntArray:
    """
    Which rollout of its group every rollout repeats.

    Two are the same when their tool calls with arguments and results are, what was said in between, and their replies
    but for case and white space. Rollouts of which nothing is known (no reply, no steps, no messages) repeat none.

    Args:
        rows (`RowView`):
            Rollouts.
        groups (`np.ndarray` of shape `(rows,)`):
            Group of each.
        order (`np.ndarray`):
            Rows looked at; of equal ones the first in this order is the one that is repeated.

    Returns:
        `np.ndarray` of shape `(rows,)`: A row for every row, itself where it repeats none.
    """
    replies, silent = _replies(rows)
    first = np.arange(groups.size)
    joint = combine(groups[order], replies[order])
    # Most rollouts differ in the reply already: only the others have their steps decoded.
    several = np.bincount(joint)[joint] > 1
    candidates, codes = order[several], joint[several]
    steps = _cells(rows, "steps", candidates)
    # Rows of other harnesses may say everything in their messages.
    mute = [not cell and replies[row] == silent for row, cell in zip(candidates.tolist(), steps, strict=True)]
    bare = candidates[np.array(mute, dtype=bool)]
    messages = dict(zip(bare.tolist(), _cells(rows, "messages", bare), strict=True))
    seen: dict[tuple[int, bytes], int] = {}
    for row, cell, code in zip(candidates.tolist(), steps, codes.tolist(), strict=True):
        if row in messages:
            if not messages[row]:
                continue  # nothing is known of what the agent did, so nothing says it did the same
            trace = _sorted_text(messages[row])
        else:
            trace = _sorted_text([_told(step) for step in cell] if isinstance(cell, list) else cell)
        first[row] = seen.setdefault((code, trace), row)
    return first


@no_collection()
def duplicate_report(data: Source) -> Duplicates:
    """
    Which rollouts repeat another one of their group. See [`dedupe_groups`], which also takes them out.

    Returns:
        [`Duplicates`]: `rows` are the ones to drop.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import duplicate_report
    >>> said = [{"prompt": "Where is it?", "final_text": text} for text in ("It shipped.", "it  shipped.", "Lost.")]
    >>> duplicate_report(said).rows
    [1]

    ```
    """
    return _search(data)[1]


def _search(data: Source) -> tuple[RowView, Duplicates]:
    rows = fetch_columns(data, (*TASK_COLUMNS, *_CONTENT, "reward"))
    if not any(rows.has(name) for name in _CONTENT):
        raise MissingColumnError(
            f"the rows have none of the columns {', '.join(_CONTENT)} (columns: {', '.join(rows.columns)}), so "
            "nothing says what the agent did; load traces into rows first"
        )
    groups = _groups(rows)
    rewards = read_rewards(rows).values if rows.has("reward") else np.full(len(rows), np.nan)
    scored = ~np.isnan(rewards)
    # One with a verdict is worth more.
    first = first_alike(rows, groups, np.argsort(~scored, kind="stable").astype(np.int64))
    copy = first != np.arange(first.size)
    given = np.bincount(groups)
    left = np.bincount(groups[~copy], minlength=given.size)
    other = copy & scored & scored[first] & (rewards != rewards[first])
    conflicting = int(np.count_nonzero(other))
    single = int(np.count_nonzero((given > 1) & (left == 1)))
    return rows, Duplicates(
        n_rows=len(rows),
        n_kept=int(np.count_nonzero(~copy)),
        n_dropped=int(np.count_nonzero(copy)),
        n_groups=int(given.size),
        n_groups_affected=int(np.count_nonzero(left < given)),
        n_groups_single=single,
        n_conflicting=conflicting,
        rows=np.flatnonzero(copy).tolist(),
        notes=["read pass rates on all rollouts: those of an agent that repeats itself are no copies of the data"]
        if copy.any()
        else [],
        warnings=[
            f"{conflicting} rollouts got another reward than the rollout they repeat: the judge contradicts itself"
        ]
        if conflicting
        else [],
    )


@no_collection()
def dedupe_groups(data: Source) -> tuple[Dataset, Duplicates]:
    """
    Takes out rollouts that repeat another one of their group.

    A group is one prompt of one task. Two of its rollouts are the same when their tool calls with arguments and
    results are, their replies but for case and white space, and what was said in between; the first stays, of
    those with a verdict where there are any. Rollouts of which nothing is known (no reply, no steps, no messages)
    stay.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.

    Returns:
        `tuple[Dataset, Duplicates]`: The rows kept, in their order, and what was found. A list of dicts becomes a
        Dataset, which costs more than the search; [`duplicate_report`] only searches.

    Raises:
        [`MissingColumnError`]: Nothing names the task, or nothing says what the agent did.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import dedupe_groups
    >>> said = [{"prompt": "Where is it?", "final_text": text} for text in ("It shipped.", "it  shipped.", "Lost.")]
    >>> rows, found = dedupe_groups(said)
    >>> rows["final_text"][:], found.n_dropped
    (['It shipped.', 'Lost.'], 1)

    ```
    """
    rows, found = _search(data)
    kept = np.ones(len(rows), bool)
    kept[found.rows] = False
    return keep(rows, kept), found
