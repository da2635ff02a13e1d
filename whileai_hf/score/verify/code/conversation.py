"""Talking to a sandbox: messages with a deadline, of bounded size, to a process that may be gone or say nothing."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from whileai_hf.errors import JudgeError
from whileai_hf.score.verify.code.command import Start
from whileai_hf.score.verify.code.guest.frames import LONGEST, pack, unpack


# Bytes read or written at once.
_PIECE = 2**16
# Bytes kept of what a sandbox that does not start complains about.
_COMPLAINT = 4000
# Seconds a sandbox is given to end what it started before it is killed itself.
_END_SECONDS = 2.0


class SilentError(Exception):
    """No message within the time."""


class EndedError(Exception):
    """The sandbox has ended, or sent something that is no message."""


class Conversation:
    """
    A sandbox process and the pipes to it. Use it as a context manager: on leaving, the process and its children end.

    Args:
        start ([`Start`]):
            How to start it.
        folder (`str`):
            Working directory of the process.

    Raises:
        JudgeError: When it cannot be started.
    """

    def __init__(self, start: Start, folder: str) -> None:
        self._inside = start.argv[0].endswith("bwrap")
        self._buffer = bytearray()
        self._messages: list[Any] = []
        self._unsent = memoryview(b"")
        self._overdue = False
        try:
            self._process = subprocess.Popen(
                start.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=start.environment,
                cwd=folder,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise JudgeError(f"the sandbox cannot be started ({error}); nothing was judged") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._err = self._process.stderr.fileno()
        os.set_blocking(self._in, False)

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self._unsent = memoryview(b"")
        if self._process.stdin is not None:
            self._process.stdin.close()
        ended = not self._overdue and self._await_end()
        if not ended and not self._inside:
            self._process.terminate()
            self._await_end()
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # nobody of the session is left
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _await_end(self) -> bool:
        """Whether the sandbox closes its side, which it does when it has ended what it started."""
        deadline = time.monotonic() + _END_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._out], [], [], left)[0] and not os.read(self._out, _PIECE):
                return True
        return False

    def tell(self, messages: Sequence[Any]) -> None:
        """Queues messages; they are written while the next answer is waited for."""
        self._unsent = memoryview(bytes(self._unsent) + b"".join(map(pack, messages)))

    def hear(self, seconds: float) -> Any:
        """
        The next message.

        Raises:
            SilentError: When none came within `seconds`.
            EndedError: When none will.
        """
        deadline = time.monotonic() + seconds
        while not self._messages:
            left = deadline - time.monotonic()
            if left <= 0:
                self._overdue = True
                raise SilentError
            readable, writable, _ = select.select([self._out], [self._in] if self._unsent else [], [], left)
            if writable:
                self._write()
            if readable:
                self._read()
        return self._messages.pop(0)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent[:_PIECE]) :]
        except BrokenPipeError:  # what it has said before can still be read
            self._unsent = memoryview(b"")

    def _read(self) -> None:
        data = os.read(self._out, _PIECE)
        if not data:
            raise EndedError
        self._buffer += data
        try:
            self._messages += unpack(self._buffer)
        except (ValueError, RecursionError) as error:
            raise EndedError from error
        if len(self._buffer) > LONGEST + _PIECE:
            raise EndedError

    def complaint(self) -> str:
        """The last line the sandbox wrote to its error output; for one that did not start."""
        self._process.kill()
        self._process.wait()
        os.set_blocking(self._err, False)
        try:
            lines = os.read(self._err, _COMPLAINT).decode("utf-8", "replace").strip().splitlines()
        except BlockingIOError:
            lines = []
        return lines[-1] if lines else f"it ended with {self._process.returncode}"
