"""The labelled rows as arrays: what people said, what the judge said, of which task, and how long the reply is."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from whileai_hf.errors import MissingColumnError
from whileai_hf.measure.passes.codes import TASK_COLUMNS, FetchedView, IntArray, arrow_of, column_codes, task_codes
from whileai_hf.measure.passes.rewards import GRADE_FIRST, read_rewards
from whileai_hf.measure.passes.stops import faulty
from whileai_hf.rows import RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import HUMAN, Confusion, Gold, confusion_of, read_gold


BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
_COLUMNS = ("reward", "judge_status", "gold_reward", "gold_kind", "sim_ok", *TASK_COLUMNS)


@dataclasses.dataclass(frozen=True)
class GoldRows:
    """
    All rows, and the labelled ones among them.

    Args:
        rows ([`RowView`]):
            The rows.
        fetched ([`FetchedView`]):
            The same, with the columns that are read anyway at hand.
        rewards (`np.ndarray`):
            The judge's, `nan` where there is no verdict.
        passed (`np.ndarray` of `bool`):
            Which rows the judge passed.
        task (`np.ndarray` of `int`):
            Code of each row's task.
        task_keys (`list`):
            Tasks by code.
        gold ([`Gold`]):
            The labels that count.
        spoilt (`int`):
            Rows a simulated user spoiled: they count nowhere.
        threshold (`float`):
            Reward from which a row counts as passed.
    """

    rows: RowView
    fetched: FetchedView
    rewards: FloatArray
    passed: BoolArray
    task: IntArray
    task_keys: list[Any]
    gold: Gold
    spoilt: int
    threshold: float

    @property
    def judged(self) -> BoolArray:
        """Which rows have a verdict."""
        return ~np.isnan(self.rewards)

    @property
    def compared(self) -> tuple[IntArray, BoolArray]:
        """Rows with both a label and a verdict, and their labels."""
        both = self.judged[self.gold.index]
        return self.gold.index[both], self.gold.label[both]

    @property
    def confusion(self) -> Confusion:
        """The judge beside gold."""
        return confusion_of(self.gold, self.rewards, self.threshold)

    def only(self, keep: BoolArray) -> GoldRows:
        """The same with some of the labels (one entry of `keep` per label) only."""
        gold = dataclasses.replace(self.gold, index=self.gold.index[keep], label=self.gold.label[keep])
        return dataclasses.replace(self, gold=gold)

    def lengths(self, index: IntArray) -> FloatArray:
        """Characters of the replies of some rows, `nan` where there is none."""
        column = arrow_of(self.rows, "final_text")
        if column is not None and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            found = pc.utf8_length(column.take(pa.array(index)))
            return np.asarray(found.cast(pa.float64()).to_numpy(), dtype=np.float64)
        texts = self.fetched.column("final_text")
        return np.array(
            [len(text) if isinstance(text := texts[at], str) else np.nan for at in index.tolist()], dtype=np.float64
        )


def read_gold_rows(data: Source, threshold: float, allow_model_gold: bool, *more: str) -> GoldRows:
    """
    Reads rows with their labels.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows.
        threshold (`float`):
            Reward from which a row counts as passed.
        allow_model_gold (`bool`):
            Count every label, whoever wrote it.
        *more (`str`):
            Further columns that will be read.

    Raises:
        [`MissingColumnError`]: The rows are not graded.
    """
    given = view(data)
    rows = FetchedView(given, (*_COLUMNS, *more))
    if not rows.has("reward"):
        raise MissingColumnError(f"the rows have no reward to compare with labels; {GRADE_FIRST}")
    spoilt, unsound = faulty(rows), _unsound(rows)
    rewards = np.where(spoilt | unsound, np.nan, read_rewards(rows).values)
    gold = read_gold(rows, allow_model_gold)
    if spoilt.any():
        keep = ~spoilt[gold.index]
        gold = dataclasses.replace(gold, index=gold.index[keep], label=gold.label[keep])
    if any(rows.has(name) for name in TASK_COLUMNS):
        codes = task_codes(rows)
        task, keys = codes.index, codes.keys
    else:  # rows that name no task stand for themselves
        task, keys = np.arange(len(rows)), list(range(len(rows)))
    passed = np.greater_equal(rewards, threshold)
    return GoldRows(given, rows, rewards, passed, task, keys, gold, int(np.count_nonzero(spoilt)), threshold)


def _unsound(rows: FetchedView) -> BoolArray:
    """Rows whose judge says that its verdict is none."""
    if not rows.has("judge_status"):
        return np.zeros(len(rows), dtype=bool)
    codes = column_codes(rows, "judge_status")
    return np.array([key is not None and key != "ok" for key in codes.keys], dtype=bool)[codes.index]


def why_not_measured(found: GoldRows) -> str | None:
    """One sentence when there is no label to measure by, `None` when there is."""
    if found.compared[0].size:
        return None
    if found.gold.index.size:
        return f"none of the {found.gold.index.size} labelled rows has a verdict; {GRADE_FIRST}"
    if found.gold.refused:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(found.gold.by_kind.items()) if kind != HUMAN)
        return (
            f"{found.gold.refused} labels are not known to be a person's ({kinds}) and do not count; attach people's "
            "with attach_labels(rows, labels), or pass allow_model_gold=True to measure one model by another"
        )
    return "no row has a label; label 50 by hand (label_sheet draws them) and attach_labels(rows, labels)"
