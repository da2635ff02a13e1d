"""What tells the process of a server from every other one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whileai_hf.training.runs.processes import this_process


# Fields of /proc/<pid>/stat, counted from behind the name of the program: clock ticks at the start.
_STARTED = 19


def process_of(pid: int) -> dict[str, Any]:
    """
    A child of this process, in the words of `runs.processes`.

    Args:
        pid (`int`):
            Its number.

    Returns:
        `dict`: Host, boot, number, and when it started where there is a `/proc`.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        started = text.rpartition(")")[2].split()[_STARTED]
    except OSError:
        started = None
    return {**this_process(), "pid": pid, "started": started}
