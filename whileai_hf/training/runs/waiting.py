"""Waiting for a run to end, and knowing when nobody is there who could end it.

A process that was killed is noticed by whoever reads the record (`processes`). What is left is a run that this very
process has opened and trains in none of its threads: nobody ever ends that one, so silence ends the waiting.
"""

from __future__ import annotations

import logging
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.runs.processes import is_this
from whileai_hf.training.runs.record import RUNNING


if TYPE_CHECKING:
    from whileai_hf.training.runs.run import TrainingRun

logger = logging.getLogger(__name__)

# Seconds without a sign of life after which a run that no other process trains is given up. A thread of this process
# may train it: a step or a held-out evaluation has to fit in.
QUIET_SECONDS = 600.0
# Seconds between two looks at a run.
_EVERY = 1.0


def wait_for_end(run: TrainingRun, timeout: float | None, quiet: float | None, *, every: float = _EVERY) -> None:
    """
    Returns once a run has ended.

    Args:
        run ([`TrainingRun`]):
            The run; it is refreshed.
        timeout (`float`, *optional*):
            Seconds to wait at most.
        quiet (`float`, *optional*):
            Seconds of silence after which a run without a process to wait for is given up; `None` for never.
        every (`float`, *optional*, defaults to `1`):
            Seconds between two looks.

    Raises:
        [`ConfigurationError`]: `quiet` is no count of seconds.
        `TimeoutError`: It has not ended, after `timeout` or for want of anybody who could end it.
    """
    if quiet is not None and (isinstance(quiet, bool) or not isinstance(quiet, int | float) or not quiet > 0):
        raise ConfigurationError(f"quiet={quiet!r} is no count of seconds; pass one above 0, or None to wait on")
    until = math.inf if timeout is None else time.monotonic() + timeout
    told = False
    while run.refresh().status == RUNNING:
        if time.monotonic() >= until:
            raise TimeoutError(f"{run.id} is still running after {timeout:g} seconds")
        left = every
        if quiet is not None:
            silent = time.time() - _last_sign(run.folder)
            if silent >= quiet and not told:
                told = _silence(run, quiet)
            left = min(every, quiet - silent) if silent < quiet else every
        time.sleep(max(0.0, min(left, until - time.monotonic())))


def _last_sign(folder: Path) -> float:
    """When anything in the folder of a run was written last, in seconds since the epoch."""
    return max(map(_touched, folder.glob("*")), default=0.0)


def _touched(path: Path) -> float:
    """When a file was written; a file that is being replaced may be gone by now."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _silence(run: TrainingRun, quiet: float) -> bool:
    """Raises when nobody is there to be waited for; of a process that lives it is said once that it says nothing."""
    process = run.record.process
    if process is not None and not is_this(process):
        where = f"process {process['pid']} on {process['host']}"
        logger.warning("%s: %s lives and has written nothing for %g seconds", run.id, where, quiet)
        return True
    raise TimeoutError(
        f"{run.id} has nobody to wait for: no process but this one trains it, and nothing was written to {run.folder} "
        f"for {quiet:g} seconds; call run.finish() where it ended, or pass quiet=None to wait on"
    )
