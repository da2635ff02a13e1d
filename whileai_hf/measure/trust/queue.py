"""The rows on which judge and people disagree, in the order in which to read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from whileai_hf.measure.trust.goldrows import GoldRows
from whileai_hf.rows import RowView, select_rows, view
from whileai_hf.score.reading.texts import final_text
from whileai_hf.score.verify.reply import ask_of


# Disagreements shown, and characters of their texts.
_MOST = 50
_EXCERPT = 200
_READ = ("prompt", "final_text", "messages", "steps", "reason")


def excerpt(text: str) -> str:
    """A text on one line, cut."""
    line = " ".join(text[: 4 * _EXCERPT].split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 3] + "..."


def review_queue(found: GoldRows) -> tuple[list[dict[str, Any]], int]:
    """
    Disagreements, passed failures first (training learns from those), and how many there are in all.

    Args:
        found ([`GoldRows`]):
            The labelled rows.
    """
    index, label = found.compared
    wrong = np.flatnonzero(found.passed[index] != label)
    # A stable order: gold failures (label False) before gold passes, rows in their order.
    wrong = wrong[np.argsort(label[wrong], kind="stable")]
    shown = wrong[:_MOST].tolist()
    texts = read_texts(found, [int(index[at]) for at in shown])
    return [
        {
            "row": int(index[at]),
            "task": found.task_keys[int(found.task[index[at]])],
            "gold": float(label[at]),
            "reward": float(found.rewards[index[at]]),
            **text,
        }
        for at, text in zip(shown, texts, strict=True)
    ], int(wrong.size)


def picked(rows: RowView, index: Sequence[int]) -> RowView:
    """Some rows, in this order; those of a list are not converted."""
    source = rows.source
    return view([source[at] for at in index] if isinstance(source, Sequence) else select_rows(rows, index))


def picked_rows(rows: RowView, index: Sequence[int], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Some columns of some rows; an empty dict for each row that has none of them."""
    known = [name for name in names if rows.has(name)]
    return picked(rows, index).rows(known) if known else iter([{} for _ in index])


def read_texts(found: GoldRows, index: Sequence[int]) -> list[dict[str, Any]]:
    """What a person has to see of some rows: `reason`, `prompt`, `reply`."""
    if not index:
        return []
    return [
        {
            "reason": row["reason"] if isinstance(row.get("reason"), str) else None,
            "prompt": excerpt(ask_of(row.get("prompt"))),
            "reply": excerpt(final_text(row)),
        }
        for row in picked_rows(found.rows, index, _READ)
    ]
