"""Where the records of training runs lie: one folder a run, in the assets cache of `huggingface_hub`.

The folder of a run holds `run.json` (what it is and how it ended, replaced whole), `points.jsonl` (what was logged,
only ever appended to) and whatever a recorder adds.
"""

from __future__ import annotations

import re
from pathlib import Path

from huggingface_hub import constants

from whileai_hf.errors import DataError


RECORD, POINTS, LOCK = "run.json", "points.jsonl", "lock"
_ID = re.compile(r"[\w.-]+")


def runs_folder() -> Path:
    """The folder of all runs; it need not exist."""
    return Path(constants.HF_ASSETS_CACHE) / "whileai_hf" / "training"


def folder_of(run_id: str) -> Path:
    """The folder of one run; it need not exist."""
    if not _ID.fullmatch(run_id) or set(run_id) == {"."}:
        raise DataError(f"run id {run_id!r} cannot name a folder; pass the id of a training run, like run-0a1b2c3d4e")
    return runs_folder() / run_id


def known_ids() -> list[str]:
    """Ids of the runs recorded on this machine."""
    return sorted(path.parent.name for path in runs_folder().glob(f"*/{RECORD}"))
