"""The local memory of runs, by `run_id`: the report, the task details only a judge may see, and the rows themselves.

It lives in the assets cache of `huggingface_hub` (`HF_ASSETS_CACHE`), next to what other libraries keep there. Rows
that are loaded on another machine find nothing here, which is the point: the privileged part never travels with them.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import orjson
from huggingface_hub import constants

from whileai_hf.errors import DataError
from whileai_hf.store.journal import Journal, read_lines


_RUN_ID = re.compile(r"[\w.-]+")
_REPORT = "report-"
_PRIVILEGED = "privileged-"


def _place(run_id: str) -> Path:
    # The layout of `huggingface_hub.cached_assets_path`, which would make the folder of every run asked about.
    if not _RUN_ID.fullmatch(run_id):
        raise DataError(f"run_id {run_id!r} cannot name a folder; expected letters, digits, '.', '_' or '-'")
    return Path(constants.HF_ASSETS_CACHE) / "whileai_hf" / "runs" / run_id


def run_folder(run_id: str) -> Path:
    """The folder of a run, made when absent."""
    folder = _place(run_id)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file in one step: a reader sees the old or the new content, never half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


def write_report(run_id: str, name: str, report: dict[str, Any]) -> None:
    """Keeps a run's report; `name` is that of its task set, as for [`PrivilegedWriter`]."""
    replace_file(run_folder(run_id) / f"{_REPORT}{name}.json", orjson.dumps(report))


def read_reports(run_id: str) -> dict[str, dict[str, Any]]:
    """The reports of a run by the name of the task set, latest last; empty when this machine has not seen it."""
    paths = sorted(_place(run_id).glob(f"{_REPORT}*.json"), key=lambda path: path.stat().st_mtime_ns)
    return {path.stem.removeprefix(_REPORT): orjson.loads(path.read_bytes()) for path in paths}


class PrivilegedWriter:
    """
    Keeps the privileged part of a run's tasks as they are drawn.

    Args:
        run_id (`str`):
            The run.
        name (`str`):
            Names the task set: runs that differ in nothing else share a `run_id` and keep these files side by side.
    """

    def __init__(self, run_id: str, name: str) -> None:
        self._journal = Journal(run_folder(run_id) / f"{_PRIVILEGED}{name}.jsonl")

    def add(self, *lines: bytes) -> None:
        """Appends the JSON texts of some `[scenario_id, prompt, privileged, expected_calls]`."""
        self._journal.append(*lines)

    def close(self) -> None:
        """Closes the file."""
        self._journal.close()


def read_privileged(run_id: str) -> dict[tuple[str | None, str], dict[str, Any]]:
    """
    What a run's judge may see beyond its rows.

    Args:
        run_id (`str`):
            The run.

    Returns:
        `dict`: `(scenario_id, prompt)` to `{"privileged": ..., "expected_calls": ...}`; empty when this machine has
        not seen the run.
    """
    found: dict[tuple[str | None, str], dict[str, Any]] = {}
    for path in sorted(_place(run_id).glob(f"{_PRIVILEGED}*.jsonl")):
        for line in read_lines(path):
            scenario_id, prompt, privileged, expected_calls = orjson.loads(line)
            found[scenario_id, prompt] = {"privileged": privileged, "expected_calls": expected_calls}
    return found
