"""Which process trains a run, whether it still lives, and which of several it is.

A killed process writes no last word. So a record names its process, and whoever reads the record asks whether that
process is still there: by its number and the moment it started, since numbers are given out again.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any


# Seconds without a new point after which the run of another machine, whose processes cannot be seen, counts as dead.
STALE_SECONDS = 3600.0
# What the host of a job on the Hub is called here begins with this; its id follows.
JOB_HOST = "hf-jobs:"
# Fields of /proc/<pid>/stat, counted from behind the name of the program: state, and clock ticks at the start.
_STATE, _STARTED = 0, 19
_GONE = frozenset("ZX")  # a zombie and a dead process: nothing runs in them any more
_LAUNCH = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID")


def rank() -> int:
    """This process's number among those of one training, 0 when it is alone."""
    text = os.environ.get("RANK", "0")
    return int(text) if text.isdigit() else 0


def launch() -> str | None:
    """What the processes of one training have in common, `None` for a single one."""
    found = [os.environ.get(name, "") for name in _LAUNCH]
    return "|".join(found) if "RANK" in os.environ else None


def _fields(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def this_process() -> dict[str, Any]:
    """What tells this process from every other one."""
    pid = os.getpid()
    fields = _fields(pid)
    started = fields[_STARTED] if fields else None
    return {"host": socket.gethostname(), "boot": _boot(), "pid": pid, "started": started}


def is_this(process: dict[str, Any] | None) -> bool:
    """Whether a process that was written down is this one."""
    return process is not None and process == this_process()


def is_job(process: dict[str, Any] | None) -> bool:
    """Whether it is a job on the Hub that was written down: how that is, the Hub knows."""
    return process is not None and str(process["host"]).startswith(JOB_HOST)


def is_alive(process: dict[str, Any] | None, touched: float) -> bool:
    """
    Whether a process that was written down still runs.

    Args:
        process (`dict`, *optional*):
            From [`this_process`].
        touched (`float`):
            When it last wrote something, in seconds since the epoch: all there is to go by on another machine.
    """
    if process is None:
        return False
    if process["host"] != socket.gethostname() or os.name != "posix":  # elsewhere, signal 0 ends what it reaches
        return time.time() - touched < STALE_SECONDS
    if process["boot"] != _boot():
        return False
    fields = _fields(process["pid"])
    if fields is not None:
        return fields[_STATE] not in _GONE and fields[_STARTED] == process["started"]
    return process["started"] is None and _answers(process["pid"])


def _answers(pid: int) -> bool:
    # Where there is no /proc. Signal 0 reaches nobody and says whether there is somebody to reach.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
