"""What is asked of whoever runs a candidate, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from whileai_hf.score.verify.code.suite import Suite


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What a candidate may use.

    Args:
        timeout (`float`, *optional*, defaults to `5.0`):
            Seconds, of computing and of waiting, for one run: all tests together, or one input.
        memory_mb (`int`, *optional*, defaults to `1024`):
            Address space of each process in MiB.
        processes (`int`, *optional*, defaults to `64`):
            Processes and threads at the same time, our own three included.
        file_mb (`int`, *optional*, defaults to `16`):
            Largest file in MiB. With bubblewrap also all files together, four times as much.
        open_files (`int`, *optional*, defaults to `256`):
            Open files of each process.
        output_bytes (`int`, *optional*, defaults to `1000000`):
            Bytes read of what a program prints.
    """

    timeout: float = 5.0
    memory_mb: int = 1024
    processes: int = 64
    file_mb: int = 16
    open_files: int = 256
    output_bytes: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What running a candidate against tests gave.

    Args:
        passed (`int`):
            Tests that passed.
        total (`int`):
            Tests there are; those that were not reached count as failed.
        reason (`str`, *optional*):
            What went wrong first. It is kept on the row, so it must not quote the tests.
        timed_out (`bool`, *optional*, defaults to `False`):
            Whether the time was used up.
        broken (`str`, *optional*):
            What is wrong with the tests, when they cannot be run whatever the candidate is: the row gets no verdict.
    """

    passed: int
    total: int
    reason: str | None = None
    timed_out: bool = False
    broken: str | None = None


class Runner(Protocol):
    """
    Runs a candidate where it can do no harm: the local sandbox, or your own container, service or job.

    It raises when it could not run at all, and the row stays unjudged; it never answers 0 for that.
    """

    def __call__(self, code: str, tests: Suite, limits: Limits) -> Outcome:
        """
        Runs `code` against `tests`.

        Args:
            code (`str`):
                The candidate, Python source.
            tests ([`Suite`]):
                The hidden tests. Keep them out of the candidate's reach.
            limits ([`Limits`]):
                What the candidate may use.

        Returns:
            [`Outcome`]: How many tests passed.
        """
        ...
