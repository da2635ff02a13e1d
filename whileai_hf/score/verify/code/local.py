"""Running a candidate in a sandbox of this machine."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from whileai_hf.errors import JudgeError
from whileai_hf.score.verify.code.command import Isolation, resolve, start
from whileai_hf.score.verify.code.conversation import Conversation, EndedError, SilentError
from whileai_hf.score.verify.code.outcome import Limits, Outcome
from whileai_hf.score.verify.code.suite import Pair, Suite


# Seconds in which the sandbox has to say that its limits hold; a loaded machine takes one or two.
_START_SECONDS = 30.0
_MIB = 2**20
# All files together, in files of the largest size.
_FILES = 4


class LocalRunner:
    """
    The [`Runner`] that starts one sandbox for each candidate on this machine.

    Args:
        isolation (`str`, *optional*, defaults to `"auto"`):
            `"bubblewrap"`, `"process"`, or `"auto"`: bubblewrap where it works, else a process, unless that were root.
    """

    def __init__(self, isolation: Isolation = "auto") -> None:
        self.isolation: Isolation = isolation

    def __call__(self, code: str, tests: Suite, limits: Limits) -> Outcome:
        """
        Runs a candidate against its tests.

        Args:
            code (`str`):
                The candidate.
            tests ([`Suite`]):
                The tests.
            limits ([`Limits`]):
                What the candidate may use.

        Raises:
            ConfigurationError: When the isolation cannot be had here.
            JudgeError: When the sandbox does not start.
        """
        run = _run_pairs if tests.pairs else _run_tests
        with _sandbox(self.isolation, "program" if tests.pairs else "tests", limits) as conversation:
            conversation.tell([[_clean(tests.prelude), _clean(code)]])
            return run(conversation, tests, limits)


@contextlib.contextmanager
def _sandbox(isolation: Isolation, mode: str, limits: Limits) -> Iterator[Conversation]:
    kind = resolve(isolation)
    folder = tempfile.mkdtemp(prefix="whileai-code-")
    try:
        begin = start(kind, folder, _FILES * limits.file_mb * _MIB)
        order = {
            "mode": mode,
            "uid": begin.uid,
            "keep_reading": begin.keep_reading,
            "others": begin.others,
            "alone": begin.alone,
            "limits": {
                "memory": limits.memory_mb * _MIB,
                "file": limits.file_mb * _MIB,
                "files": limits.open_files,
                "processes": limits.processes,
                "output": limits.output_bytes,
                "cpu": math.ceil(limits.timeout),
            },
        }
        with Conversation(begin, folder) as conversation:
            conversation.tell([order])
            try:
                conversation.hear(_START_SECONDS)
            except (SilentError, EndedError) as error:
                raise JudgeError(
                    f"the sandbox does not start ({conversation.complaint()}); nothing was judged"
                ) from error
            yield conversation
    finally:
        shutil.rmtree(folder, onerror=_remove_anyway)


def _remove_anyway(remove: Callable[..., Any], path: str, _: Any) -> None:
    """What the candidate made unwritable is made writable; what goes meanwhile, or cannot go, stays behind."""
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            remove(path)


def _clean(text: str) -> str:
    """Source a compiler takes: no lone halves of characters, which JSON text can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _heard(conversation: Conversation, limits: Limits) -> dict[str, Any]:
    result = conversation.hear(limits.timeout)
    if not isinstance(result, dict):
        raise EndedError
    if "trouble" in result:
        raise JudgeError(f"the sandbox cannot work ({result['trouble']}); nothing was judged")
    return result


def _run_tests(conversation: Conversation, tests: Suite, limits: Limits) -> Outcome:
    order = {
        "sources": [_clean(source) for source in tests.sources],
        "calls": [list(call) for call in tests.calls],
        "entry": tests.entry,
        "partial": True,
    }
    conversation.tell([order])
    try:
        result = _heard(conversation, limits)
    except SilentError:
        return Outcome(0, 1, f"no result within {limits.timeout:g} s", timed_out=True)
    except EndedError:
        return Outcome(0, 1, "the candidate used up its time or memory, or ended the process that holds the tests")
    if "broken" in result:
        return Outcome(0, 0, broken=str(result["broken"]))
    return Outcome(int(result["passed"]), int(result["total"]), result["reason"])


def _run_pairs(conversation: Conversation, tests: Suite, limits: Limits) -> Outcome:
    passed, total = 0, len(tests.pairs)
    first: str | None = None
    for number, pair in enumerate(tests.pairs, 1):
        conversation.tell([{"stdin": pair.stdin}])
        try:
            wrong = _wrong(_heard(conversation, limits), pair, limits)
        except SilentError:
            reason = first or f"test {number} of {total} failed: no end within {limits.timeout:g} s"
            return Outcome(passed, total, reason, timed_out=True)
        except EndedError:
            reason = first or f"test {number} of {total} failed: the program ended the sandbox"
            return Outcome(passed, total, reason)
        passed += wrong is None
        if wrong is not None and first is None:
            first = f"test {number} of {total} failed: {wrong}"
    return Outcome(passed, total, first)


def _wrong(result: dict[str, Any], pair: Pair, limits: Limits) -> str | None:
    if result["exit"] != pair.exit_code:
        return f"the program ended with {result['exit']} instead of {pair.exit_code}"
    if result["cut"]:
        return f"the program printed more than {limits.output_bytes} bytes"
    return None if _lines(result["stdout"]) == _lines(pair.stdout) else "another output than expected"


def _lines(text: str) -> list[str]:
    """Lines without the white space at their ends, and without empty ones at the end of the text."""
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines
