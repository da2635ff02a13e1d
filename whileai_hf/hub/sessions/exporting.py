"""`export_session_traces`: a folder of traces from rollout rows."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.hub.pushing.cleaning import Sentences, withheld
from whileai_hf.hub.pushing.hiding import Hiding
from whileai_hf.hub.sessions.transcript import TRANSCRIPT_COLUMNS, transcript
from whileai_hf.rows import Report, RowView, dumps, task_key, view
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Row, Source


HARNESS = "whileai-hf"
# How every file written here begins.
_OPENING = b'{"type":"session"'
# What else is said about a session, from the columns of the same name.
_TOLD = (
    "run_id",
    "scenario_id",
    "task_id",
    "rollout_index",
    "policy_version",
    "judge_name",
    "reward",
    "reason",
    "rollout_status",
    "finish_reason",
    "error",
    "tier",
    "scenario_dimensions",
    "faults_fired",
    "markers",
)
_READ = (*TRANSCRIPT_COLUMNS, *_TOLD, "model_version", "lineage", "privileged", "expected_calls")
# Characters of a title in the list of sessions, and of the readable part of a file's name.
_TITLE, _STEM = 80, 60
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
# A folder on this machine before the last part of a name; an address, with two slashes, is none.
_FOLDERS = re.compile(r"(?:(?<=[:@])|^)(?:~|[A-Za-z]:)?[/\\](?![/\\])[^#]*[/\\]")


@dataclasses.dataclass(frozen=True)
class SessionTraces(Report):
    """
    What [`export_session_traces`] wrote.

    Args:
        folder (`str`):
            Where.
        n_rows (`int`):
            Rows given.
        n_files (`int`):
            Sessions written, one a file.
        n_messages (`int`):
            Messages in them.
        n_tool_calls (`int`):
            Calls in them.
        n_skipped (`int`):
            Rows that hold no conversation.
    """

    folder: str
    n_rows: int
    n_files: int
    n_messages: int
    n_tool_calls: int
    n_skipped: int

    def __str__(self) -> str:
        skipped = f"; {self.n_skipped} rows hold no conversation" if self.n_skipped else ""
        return (
            f"{self.n_files} sessions ({self.n_messages} messages, {self.n_tool_calls} tool calls) in {self.folder}"
            f"{skipped}"
        )


def export_session_traces(
    data: Source | RowView, folder: str | os.PathLike[str], *, harness: str = HARNESS
) -> SessionTraces:
    """
    Writes every rollout as a session that the Hub's trace viewer opens.

    Upload the folder into a dataset repo as a folder of its own, as `traces/`, or into a bucket. It is for reading:
    `load_dataset` reads the repo's Parquet, and traces next to it do not get in its way. Failed rollouts are written
    too; what only a judge may see is not.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollout rows, read one at a time.
        folder (`str` or `PathLike`):
            A folder of its own; made when absent. One that holds anything but traces is refused.
        harness (`str`, *optional*, defaults to `"whileai-hf"`):
            Name under which the viewer shows the sessions.

    Returns:
        [`SessionTraces`]: The counts.

    Raises:
        [`ConfigurationError`]: The folder holds other files, or is a file.
        [`DataError`]: No row holds a conversation.

    Examples:
    ```python
    >>> import tempfile
    >>> rows = [{"task_id": 1, "prompt": "Where is A1?", "final_text": "On its way.", "rollout_index": 0}]
    >>> export_session_traces(rows, tempfile.mkdtemp()).n_messages
    2

    ```
    """
    rows = view(data)
    place = _folder(folder)
    columns = [name for name in _READ if rows.has(name)]
    cleaner = _Cleaner()
    taken: dict[str, int] = {}
    counts = {"n_files": 0, "n_messages": 0, "n_tool_calls": 0, "n_skipped": 0}
    for row in rows.rows(columns):
        messages = transcript(row, _model(row))
        if not messages:
            counts["n_skipped"] += 1
            continue
        name = _name(row, taken)
        lines = _lines(row, name, harness, messages, cleaner)
        (place / f"{name}.jsonl").write_bytes(b"\n".join([*lines, b""]))
        counts["n_files"] += 1
        counts["n_messages"] += len(messages)
        counts["n_tool_calls"] += sum(len(message.get("toolCalls", ())) for message in messages)
    if not counts["n_files"]:
        raise DataError(
            f"none of the {len(rows)} rows holds a conversation; sessions are made of messages, or of prompt, steps "
            "and final_text"
        )
    return SessionTraces(str(place), len(rows), **counts)


def _folder(given: str | os.PathLike[str]) -> Path:
    folder = Path(given).expanduser()
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file; pass the folder that traces go into")
    others = sorted(path.name for path in folder.iterdir() if not _is_trace(path)) if folder.exists() else []
    if others:
        raise ConfigurationError(
            f"{folder} holds other files ({', '.join(others[:3])}); traces go into a folder of their own, such as "
            f"{folder / 'traces'}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _is_trace(path: Path) -> bool:
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_OPENING)) == _OPENING


class _Cleaner:
    """What of a session must not leave the machine, as for a push."""

    def __init__(self) -> None:
        self._told, self._said = Hiding(), Hiding(narrow=True)
        self._sentences = Sentences(())

    def told(self, value: Any, row: Row) -> Any:
        """What is said about a session; judges quote what they were shown."""
        return withheld(self._told.value(value), self._sentences.of_row(row))

    def said(self, value: Any) -> Any:
        """What was said in it."""
        return self._said.value(value)


def _lines(row: Row, name: str, harness: str, messages: list[dict[str, Any]], cleaner: _Cleaner) -> Iterator[bytes]:
    title = next((text for message in messages if message["role"] == "user" if (text := message["content"])), name)
    told = {key: row[key] for key in _TOLD if row.get(key) is not None}
    about = {"id": name, "name": _title(cleaner.said(title)), "metadata": cleaner.told(told, row)}
    yield dumps({"type": "session", "harness": harness, **about})
    for message in messages:
        yield dumps({"type": "message", "message": cleaner.said(message)})


def _title(text: str) -> str:
    line = " ".join(text[: 4 * _TITLE].split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "\u2026"


def _model(row: Row) -> str | None:
    """What played the agent, without the folders of this machine that a local model is named by."""
    name = row.get("model_version")
    return _FOLDERS.sub("", name) if isinstance(name, str) and name else None


def _name(row: Row, taken: dict[str, int]) -> str:
    """A name for the session that depends on the rollout alone; rollouts that are the same one are numbered."""
    key, lineage = task_key(row), row.get("lineage")
    run = lineage.get("eval_run") if isinstance(lineage, Mapping) else None
    which = digest(row.get("run_id"), key, row.get("prompt"), row.get("rollout_index"), run)
    readable = _UNSAFE.sub("-", str(row.get("scenario_id") or row.get("task_id") or "session"))[:_STEM].strip("-")
    index = row.get("rollout_index")
    parts = [readable, str(index) if isinstance(index, int) else "", which]
    name = "-".join(part for part in parts if part)
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"
