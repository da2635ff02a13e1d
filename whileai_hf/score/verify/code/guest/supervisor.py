"""The first process in the sandbox: limits itself, forks worker and examiner, and ends what they leave behind."""

from __future__ import annotations

import os
import signal
import types

from whileai_hf.score.verify.code.guest.examiner import examine
from whileai_hf.score.verify.code.guest.frames import receive, send
from whileai_hf.score.verify.code.guest.limits import (
    adopt_orphans,
    become,
    end_with_parent,
    hide_memory,
    limit,
    limit_cpu,
)
from whileai_hf.score.verify.code.guest.worker import hold, run_program


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Role = Callable[[], None]

# Set when nothing but this sandbox runs as this user, or can be seen from here: then all of it can be killed at once.
_ALONE: list[bool] = []


def _nothing() -> None:
    """What is left to do for a supervisor that is done."""


def _pipes() -> tuple[int, int]:
    """Messages come and go over descriptors that no program is given; 0 and 1 lead nowhere from here on."""
    reading, writing = os.dup(0), os.dup(1)
    _lead_nowhere(0, 1)
    return reading, writing


def _lead_nowhere(*fds: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in fds:
        os.dup2(null, fd)
    os.close(null)


def _descendants() -> set[int]:
    """Processes that come from this one; orphans among them have been adopted."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:  # it has ended meanwhile
                continue
    found: set[int] = set()
    near = {os.getpid()}
    while near:
        near = {pid for pid, parent in parents.items() if parent in near} - found
        found |= near
    return found


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _end_children() -> None:
    """Kills every descendant."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:  # none is left, as nearly always
        return
    if _ALONE:
        _signal({-1}, signal.SIGKILL)  # -1 is everybody but this process
    else:
        # Stopped first: one that multiplies fills the places of those killed, but a stopped one keeps its place.
        stopped: set[int] = set()
        while new := _descendants() - stopped:
            _signal(new, signal.SIGSTOP)
            stopped |= new
        _signal(stopped, signal.SIGKILL)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def _told_to_stop(number: int, frame: types.FrameType | None) -> None:
    _end_children()
    os._exit(1)


def _as_child(cpu: int, hidden: bool) -> None:
    end_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    limit_cpu(cpu)
    hide_memory(hidden)


def _settle(order: dict[str, Any]) -> None:
    if order["uid"] is not None:
        become(order["uid"], order["keep_reading"])
    limit(order["limits"], order["others"])
    hide_memory(True)
    adopt_orphans()
    if order["alone"]:
        _ALONE.append(True)
    signal.signal(signal.SIGTERM, _told_to_stop)


def supervise() -> Role:
    """
    Serves one run of the tests, or runs of a program until no more are asked for.

    Returns:
        `Callable`: What this process, the supervisor or one it forked, has to do next.
    """
    reading, writing = _pipes()
    order = receive(reading)
    _settle(order)
    _lead_nowhere(2)  # until here it tells why the sandbox does not start
    send(writing, {"ready": True})
    sources = receive(reading)
    serve = _serve_tests if order["mode"] == "tests" else _serve_program
    try:
        return serve(reading, writing, sources, order)
    except (OSError, MemoryError) as error:  # the machine's trouble; nothing a candidate does raises here
        send(writing, {"trouble": str(error)})
        return _nothing


def _serve_tests(reading: int, writing: int, sources: list[str], order: dict[str, Any]) -> Role:
    asked, asking = os.pipe()
    answered, answering = os.pipe()
    if os.fork() == 0:
        # The tests have not been read yet, and from here on nothing of theirs can be. The candidate does not run
        # before the examiner, which is forked next, asks for it.
        for fd in (reading, writing, asking, answered):
            os.close(fd)
        _as_child(order["limits"]["cpu"], hidden=False)
        return lambda: hold(asked, answering, sources)
    examiner = os.fork()
    if examiner == 0:
        for fd in (asked, answering):
            os.close(fd)
        _as_child(order["limits"]["cpu"], hidden=True)
        return lambda: _examine(reading, writing, answered, asking)
    for fd in (asked, asking, answered, answering):
        os.close(fd)
    os.waitpid(examiner, 0)
    _end_children()
    return _nothing


def _examine(reading: int, writing: int, answered: int, asking: int) -> None:
    send(writing, examine(answered, asking, receive(reading)))
    os._exit(0)


def _nameless_file() -> int:
    fd = os.open(".stream", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(".stream")
    return fd


def _serve_program(reading: int, writing: int, sources: list[str], order: dict[str, Any]) -> Role:
    most = order["limits"]["output"]
    while True:
        try:
            request = receive(reading)
        except EOFError:
            return _nothing
        given, taken = _nameless_file(), _nameless_file()
        os.write(given, request["stdin"].encode("utf-8", "surrogatepass"))
        os.lseek(given, 0, os.SEEK_SET)
        program = os.fork()
        if program == 0:
            os.dup2(given, 0)
            os.dup2(taken, 1)
            for fd in (reading, writing, given, taken):
                os.close(fd)
            _as_child(order["limits"]["cpu"], hidden=False)
            return lambda: run_program(sources)
        status = os.waitpid(program, 0)[1]
        _end_children()
        output = os.pread(taken, most + 1, 0)
        os.close(given)
        os.close(taken)
        text = output[:most].decode("utf-8", "replace")
        send(writing, {"stdout": text, "exit": os.waitstatus_to_exitcode(status), "cut": len(output) > most})
