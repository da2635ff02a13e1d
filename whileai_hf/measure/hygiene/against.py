"""The evaluation sets that training data must not overlap with: their questions, answers and task ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

from datasets import Dataset, DatasetDict

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.hygiene.columns import Texts, read_texts
from whileai_hf.rows import RowView, view


Against: TypeAlias = Dataset | DatasetDict | str | PathLike[str] | Sequence[Any]
# Where evaluation sets keep the question, and where they keep what a right answer says.
_QUESTIONS = ("prompt", "question", "problem", "instruction", "input", "query", "text")
_ANSWERS = ("final_text", "reference", "answer", "answers", "solution", "target", "output", "completion", "response")
# Columns in which a task is named. The prompt, which `task_key` falls back on, is compared as text.
ID_COLUMNS = ("scenario_id", "task_id")


@dataclasses.dataclass(frozen=True)
class Known:
    """
    What evaluation sets hold.

    Args:
        texts (`list[str]`):
            Distinct texts to compare a field with, in order of first appearance.
        source (`list[str]`):
            Which set each comes from and its row there, such as `"against[0] row 12"`.
    """

    texts: list[str]
    source: list[str]


def _sets(against: Any) -> list[RowView]:
    if isinstance(against, DatasetDict):
        return [part for split in against.values() for part in _sets(split)]
    if isinstance(against, Mapping):
        raise ConfigurationError(
            "against was given as a mapping; pass a Dataset, a list of row dicts, a path, a Hub dataset id, or a list "
            "of those"
        )
    if isinstance(against, Sequence) and not isinstance(against, str):
        if not len(against):
            raise DataError(
                "against holds no rows, so nothing can be found in it; pass the evaluation rows (a Dataset, a list of "
                "row dicts, a path, a Hub dataset id, or a list of those)"
            )
        if not all(isinstance(part, Mapping) for part in against):
            return [found for part in against for found in _sets(part)]
    elif not isinstance(against, str | PathLike | Dataset):
        raise ConfigurationError(
            f"against was given as a {type(against).__name__}; pass a Dataset, a list of row dicts, a path, a Hub "
            "dataset id, or a list of those"
        )
    return [view(against)]


def open_sets(against: Against) -> list[RowView]:
    """
    All evaluation sets.

    Args:
        against (`Dataset`, `DatasetDict`, `list[dict]`, path, Hub dataset id, or a list of those):
            A string is a path or an id, never a text.

    Raises:
        [`DataError`]: A set without rows.
        [`SourceNotFoundError`]: Neither a path nor a reachable repo.
    """
    return _sets(against)


def _columns(rows: RowView, field: str) -> list[Texts]:
    """What an evaluation set has to compare a field with."""
    if field != "prompt":
        return [read_texts(rows, name) for name in dict.fromkeys((field, *_ANSWERS)) if rows.has(name)]
    asked = [name for name in _QUESTIONS if rows.has(name)]
    if not asked and rows.has("messages"):
        asked = ["prompt"]
    # The first that says anything: a set may carry an empty column of ours beside its own.
    read = [read_texts(rows, name) for name in asked]
    return next(([texts] for texts in read if any(texts.distinct)), read[:1])


def known_texts(sets: Sequence[RowView], field: str) -> Known:
    """
    The texts of all sets that a field is compared with.

    Args:
        sets (`Sequence[RowView]`):
            The evaluation sets.
        field (`str`):
            `"prompt"` is compared with questions, any other field with the column of its name, answers and references.

    Raises:
        [`MissingColumnError`]: No set has such a text.
    """
    seen: dict[str, str] = {}
    found = False
    for number, rows in enumerate(sets):
        for texts in _columns(rows, field):
            found = True
            _take(seen, texts.distinct, texts.first_row, f"against[{number}]")
        if field != "prompt" and rows.has("privileged"):
            found = True
            secret = [
                cell.get("reference") if isinstance(cell, Mapping) else None for cell in rows.column("privileged")
            ]
            _take(seen, secret, range(len(secret)), f"against[{number}]")
    if not found:
        wanted = dict.fromkeys(_QUESTIONS if field == "prompt" else (field, *_ANSWERS))
        have = ", ".join(dict.fromkeys(name for rows in sets for name in rows.columns)) or "none"
        raise MissingColumnError(
            f"the evaluation rows have no column to compare {field!r} with (one of {', '.join(wanted)}; columns: "
            f"{have}); rename theirs to one of these"
        )
    return Known(list(seen), list(seen.values()))


def _take(seen: dict[str, str], texts: Iterable[Any], rows: Iterable[Any], name: str) -> None:
    for text, row in zip(texts, rows, strict=True):
        if isinstance(text, str) and text:
            seen.setdefault(text, f"{name} row {int(row)}")


def known_ids(sets: Sequence[RowView]) -> set[str | int]:
    """Every task id of the evaluation rows."""
    found: set[str | int] = set()
    for rows in sets:
        found.update(key for key in row_ids(rows) if key is not None)
    return found


def row_ids(rows: RowView) -> list[str | int | None]:
    """The task id of every row: `scenario_id`, else `task_id`, `None` where it has neither."""
    first, second = (rows.column(name) for name in ID_COLUMNS)
    ids = [other if own is None else own for own, other in zip(first, second, strict=True)]
    return [key if isinstance(key, str | int) and key != "" else None for key in ids]
