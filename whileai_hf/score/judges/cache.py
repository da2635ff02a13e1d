"""Verdicts kept by what was asked, so that grading the same rows again costs nothing.

A key is the judge (model, sampling, prompts, rubric, scale) and everything it is shown of a row. Only verdicts are
kept: what could not be read, or failed, is asked again. The file is read once and held open for appending.
"""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Any

import orjson
from huggingface_hub import constants

from whileai_hf.rows import dumps
from whileai_hf.rows.rng import digest
from whileai_hf.store import Journal, read_lines


logger = logging.getLogger(__name__)

_KEY_DIGITS = 32


def default_path(version: str) -> Path:
    """Where the verdicts of a judge are kept when nobody says: beside the store of runs."""
    return Path(constants.HF_ASSETS_CACHE) / "whileai_hf" / "judgments" / f"{digest(version, length=16)}.jsonl"


class VerdictCache:
    """
    A JSONL file of verdicts.

    Args:
        path (`str` or `Path`):
            The file; made with the first verdict. Threads share an object, processes share a file.

    Examples:
    ```python
    >>> import tempfile
    >>> cache = VerdictCache(Path(tempfile.mkdtemp()) / "verdicts.jsonl")
    >>> cache.put(cache.key("judge", "run"), {"value": 1.0})
    >>> cache.get(cache.key("judge", "run")), cache.hits
    ({'value': 1.0}, 1)

    ```
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        self._fresh()

    def _fresh(self) -> None:
        self.hits = 0
        self._known: dict[str, Any] | None = None
        self._journal: Journal | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = state["path"]
        self._fresh()

    def __repr__(self) -> str:
        return f"VerdictCache({str(self.path)!r})"

    @staticmethod
    def key(*asked: object) -> str:
        """The key of what was asked."""
        return digest(*asked, length=_KEY_DIGITS)

    def _load(self) -> dict[str, Any]:
        if self._known is None:
            self._known = {}
            odd = 0
            for line in read_lines(self.path) if self.path.exists() else ():
                try:
                    entry = orjson.loads(line)
                except ValueError:  # torn by a killed writer; that verdict is asked for again
                    continue
                if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
                    self._known[entry[0]] = entry[1]
                else:
                    odd += 1
            if odd:
                logger.warning("%s holds %d lines that are no verdicts of ours; they are ignored", self.path, odd)
        return self._known

    def get(self, key: str) -> Any:
        """What was kept under the key, `None` when nothing was."""
        with self._lock:
            found = self._load().get(key)
            self.hits += found is not None
            return found

    def put(self, key: str, value: Any) -> None:
        """Keeps a value."""
        with self._lock:
            self._load()[key] = value
            if self._journal is None:
                self._journal = Journal(self.path, append=True)
            self._journal.append(dumps([key, value]))

    def close(self) -> None:
        """Closes the file; the next verdict opens it again."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None
