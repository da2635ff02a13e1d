"""Limits a process puts on itself, and on all it starts, before it runs code it does not trust."""

from __future__ import annotations

import ctypes
import os
import resource
import sys


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from typing import Any

_SUBREAPER, _DEATH_SIGNAL, _DUMPABLE, _KEEP_CAPABILITIES = 36, 1, 4, 8
# The one right a program of root keeps when its interpreter lies where only root may read: reading.
_READ_EVERYTHING = 1 << 2
_CAPABILITY_VERSION = 0x20080522
_KILL = 9
# Bytes that have to be left when all is set up; with fewer the supervisor itself could not work.
_WORKING_MEMORY = 16 * 2**20


def _library() -> Any:
    return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _prctl(option: int, value: int) -> None:
    library = _library()
    if library is not None and library.prctl(option, value, 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")


def adopt_orphans() -> None:
    """What a child leaves behind becomes a child of this process, which can then end it."""
    _prctl(_SUBREAPER, 1)


def end_with_parent() -> None:
    """This process is killed when the one that forked it ends."""
    _prctl(_DEATH_SIGNAL, _KILL)


def hide_memory(hidden: bool) -> None:
    """Whether other processes of this user are kept from this one's memory, open files and environment."""
    _prctl(_DUMPABLE, 0 if hidden else 1)


def become(uid: int, keep_reading: bool) -> None:
    """
    Gives up root for a user of its own, so that the number of processes is limited and nobody else's can be touched.

    Args:
        uid (`int`):
            User and group.
        keep_reading (`bool`):
            Whether files that only root may read stay readable.
    """
    if keep_reading:
        _prctl(_KEEP_CAPABILITIES, 1)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if keep_reading:
        head = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        # Effective, permitted, inheritable; once for the lower and once for the upper 32 rights.
        sets = (ctypes.c_uint32 * 6)(_READ_EVERYTHING, _READ_EVERYTHING, 0, 0, 0, 0)
        if _library().capset(head, sets):
            code = ctypes.get_errno()
            raise OSError(code, f"capset: {os.strerror(code)}")


def limit(limits: dict[str, int], others: int) -> None:
    """
    Sets the limits, for good.

    Args:
        limits (`dict`):
            `memory` and `file` in bytes, `processes`, `files`.
        others (`int`):
            Processes of this user that are not ours but are counted with ours.
    """
    os.umask(0o077)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, limits["file"])
    _set(resource.RLIMIT_NOFILE, limits["files"])
    _set(resource.RLIMIT_NPROC, limits["processes"] + others)  # also counts threads
    if sys.platform == "linux":  # elsewhere it is not honoured, or smaller than what is mapped already
        _set(resource.RLIMIT_AS, limits["memory"])
        bytearray(_WORKING_MEMORY)


def limit_cpu(seconds: int) -> None:
    """Ends this process, and each it starts, after so many seconds of computing."""
    _set(resource.RLIMIT_CPU, seconds)


def _set(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
