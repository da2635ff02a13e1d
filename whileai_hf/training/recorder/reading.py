"""What recorders wrote, as rows: of every process, in the order of training, without what a restart went back on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from datasets import Dataset, Features, Json, Value, concatenate_datasets

from whileai_hf.rows import dumps, loads, to_dataset, view
from whileai_hf.rows.features import judgment_features, rollout_features
from whileai_hf.store import read_lines
from whileai_hf.training.recorder.batches import EVAL, TRAIN


Row = dict[str, Any]

FILES = "rollouts*.jsonl"
# Rows made into Arrow at a time: what is in memory as Python objects stays some megabytes.
_CHUNK = 2000
# A mark starts like this, a row does not: rows need not be parsed to be told apart from it.
_MARK = b'{"back"'
_COLUMNS = (
    *("schema_version", "run_id", "scenario_id", "prompt", "messages", "steps", "final_text", "finish_reason"),
    *("rollout_index", "rollout_status", "policy_version", "sampling", "usage"),
)


def mark_line(step: int, own: int = 0) -> bytes:
    """
    Says that training starts again behind `step`: what was sampled later, by an earlier attempt, counts no more.

    Args:
        step (`int`):
            Steps taken.
        own (`int`, *optional*, defaults to 0):
            Lines before the mark that are of this attempt: it evaluated before its first step.
    """
    return _MARK + b':%d,"own":%d}' % (step, own)


def file_of(folder: Path, rank: int) -> Path:
    """The file one process of a training writes."""
    return folder / ("rollouts.jsonl" if rank == 0 else f"rollouts-{rank}.jsonl")


def _features() -> Features:
    rollout, judgment = rollout_features(), judgment_features()
    return Features(
        {
            **{name: rollout[name] for name in _COLUMNS},
            **{name: judgment[name] for name in ("reward", "judge_status")},
            "rewards": Json(),
            "phase": Value("string"),
            "step": Value("int64"),
        }
    )


def _surviving(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that still count, with their step."""
    kept: list[tuple[str, int]] = []
    places: list[int] = []
    for at, line in enumerate(read_lines(path)):
        if line.startswith(_MARK):
            mark = loads(line)
            back, first = mark["back"], len(kept) - mark.get("own", 0)
            # Training goes on at `back` steps: it samples anew from there on, what it evaluated there it does not,
            # unless it just did.
            anew = (EVAL, back) in kept[first:]
            live = [
                n
                for n, (phase, step) in enumerate(kept)
                if step < back or (phase == EVAL and step == back and (n >= first or not anew))
            ]
            kept, places = [kept[n] for n in live], [places[n] for n in live]
        else:
            kept.append(_head(line))
            places.append(at)
    wanted = dict(zip(places, kept, strict=True))
    for at, line in enumerate(read_lines(path)):
        if at in wanted:
            yield wanted[at][1], line


def _head(line: bytes) -> tuple[str, int]:
    """Phase and step, which open every line, without parsing the conversation behind them."""
    opening, _, rest = line.partition(b',"step":')
    return (EVAL if opening.endswith(b'"eval"') else TRAIN), int(rest.partition(b",")[0])


def read_rows(folder: Path, phase: str | None = None) -> Iterator[Row]:
    """
    Rows of a folder.

    Args:
        folder (`Path`):
            That of a run.
        phase (`str`, *optional*):
            `"train"` or `"eval"`.
    """
    paths = sorted(folder.glob(FILES), key=lambda path: (len(path.name), path.name))  # by rank
    seen: Counter[tuple[Any, ...]] = Counter()
    for _, line in _in_order([_surviving(path) for path in paths]):
        row = loads(line)
        if phase is None or row["phase"] == phase:
            yield numbered(row, seen)


def numbered(row: Row, seen: Counter[tuple[Any, ...]]) -> Row:
    """The row with its number among those of its task: the same task comes up again in every epoch."""
    task = row.get("scenario_id", row.get("task_id"))
    key = (row["phase"], dumps(task), row["prompt"])
    row["rollout_index"] = seen[key]
    seen[key] += 1
    return row


def _in_order(files: list[Iterator[tuple[int, bytes]]]) -> Iterator[tuple[int, bytes]]:
    if len(files) == 1:
        return files[0]
    merged = [(step, number, line) for number, file in enumerate(files) for step, line in file]
    return ((step, line) for step, _, line in sorted(merged, key=lambda item: item[:2]))


def rows_dataset(rows: Iterator[Row]) -> Dataset:
    """Rows as a Dataset, put together piece by piece."""
    pieces: list[Dataset] = []
    chunk: list[Row] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == _CHUNK:
            pieces.append(to_dataset(chunk, _features()))
            chunk = []
    if chunk or not pieces:
        pieces.append(to_dataset(chunk, _features()))
    if any(piece.features != pieces[0].features for piece in pieces):
        # A column whose type shows only later: numbers for names, or nothing at all for a while.
        return to_dataset([row for piece in pieces for row in view(piece).rows()], _features())
    return pieces[0] if len(pieces) == 1 else concatenate_datasets(pieces)


def number_all(lines: Iterable[bytes], phase: str | None) -> list[Row]:
    """Lines as rows, numbered among themselves."""
    seen: Counter[tuple[Any, ...]] = Counter()
    rows = [loads(line) for line in lines]
    return [numbered(row, seen) for row in rows if phase is None or row["phase"] == phase]
