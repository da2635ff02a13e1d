"""The verifier that runs what the agent wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.score.reading.texts import text_of
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.code.blocks import program_of
from whileai_hf.score.verify.code.command import Isolation, resolve
from whileai_hf.score.verify.code.local import LocalRunner
from whileai_hf.score.verify.code.outcome import Limits, Outcome, Runner
from whileai_hf.score.verify.code.suite import Suite, read_suite
from whileai_hf.score.verify.gold import find_gold
from whileai_hf.score.verify.reply import ask_of, own_words


# Columns in which public datasets keep hidden tests, in the order they are tried after `privileged`. The columns of
# other verifiers' gold answers are not among them: there such datasets keep a solution.
TEST_COLUMNS = ("tests", "test", "test_list", "unit_tests", "test_code", "input_output")
_PRIVILEGED_KEYS = ("tests", "test", "reference")
# Candidates run at the same time at most: each is a process or two that compute.
_MOST_AT_ONCE = 8
# MiB of address space below which the sandbox does not start, with some room.
_LEAST_MEMORY = 64


class CodeExec(Verifier):
    """
    1 when the program in the reply passes hidden tests.

    The program is the last Python block of the reply, or the reply itself. Tests are source text (asserts, `test_*`
    functions, test classes, `check(candidate)` with an `entry_point`), pairs of input and output of a program, or
    arguments and results of a function; see [`read_suite`]. They come from the constructor, from `field`, from
    `privileged.tests` or `privileged.reference`, or from a column named `tests`, `test`, `test_list`, `unit_tests`,
    `test_code` or `input_output`. Tests that cannot be run leave a row unjudged, as does a sandbox that does not
    start. A program that does not run, does not end in time or ends the process scores 0.

    What the tests are safe from. They run in a process of their own, and what they call of the program are proxies:
    arguments and results are copied as plain values. The program cannot read the tests or what they expect, patch
    what they use, print or write a verdict, or end them early with one. An object it returns never equals a plain
    value, whatever its `__eq__` says; only objects are compared by their own class. It cannot pass for text or a
    collection either: `f().startswith("x")`, `.count`, `.index`, `.find`, `.isdigit()`, `.equals(3)` and their like
    fail on it unless all arguments are objects of the program. Expected outputs of programs do not enter the sandbox
    at all. What this costs: `is` between values, patching of what the program calls (`unittest.mock.patch`),
    introspection of its functions and subclassing of its classes do not work in tests.

    What the tests believe. Methods with other names are the program's own: `f().contains(2)` is called, sees the 2,
    and what it answers counts. So are all methods of an object that the test makes by calling a class with a capital
    letter, `Trie().startswith("x")`. What such methods return is compared like any other result. Tests that a
    program may try to please should compare values: `str(f())`, `list(f())` and `f().x` are safe.

    What the machine is safe from, with bubblewrap: there is no network; only a working directory in memory can be
    written; other files but the system's and Python's, and other processes, are invisible. In both ways: time, memory
    of each process, number of processes, size of files and of output are limited, the environment is empty, what was
    started is ended. As root the program runs as a user nobody has.

    What it is not safe from. Without bubblewrap the program can use the network, read whatever this user can read
    (as root: every file), write wherever this user can write (as root: what everybody can write), and, where it is
    not root, kill this user's processes. Such a process guards against accidents, not against attacks. With
    bubblewrap the kernel remains the wall, and memory is limited for each process, not for all. On macOS memory is
    not limited and a process that leaves its session survives.

    Args:
        tests (`Any`, *optional*):
            The tests of all rows; without them each row has its own.
        field (`str`, *optional*):
            Where a row keeps its tests, as a dotted path.
        timeout (`float`, *optional*, defaults to `5.0`):
            Seconds, of computing and of waiting: for all tests together, or for each input of a program.
        memory_mb (`int`, *optional*, defaults to `1024`):
            Memory of each process in MiB. At least 64; numpy needs 300.
        isolation (`str`, *optional*, defaults to `"auto"`):
            `"bubblewrap"`; `"process"`; or `"auto"`, which is bubblewrap where it works and else a process, but
            refuses to run as root without bubblewrap.
        partial (`bool`, *optional*, defaults to `False`):
            Whether the reward is the share of tests passed instead of all or nothing.
        runner (`Callable`, *optional*):
            Runs the program elsewhere, as [`Runner`] says; `isolation` is not used then.
        name (`str`, *optional*):
            Name in the rows.

    Raises:
        ConfigurationError: When a limit is no positive number, or the isolation cannot be had on this machine.
        DataError: When `tests` are no tests.

    Examples:
    ```python
    >>> from whileai_hf.score.verify.code import CodeExec, Outcome
    >>> def elsewhere(code, tests, limits):
    ...     return Outcome(passed=1, total=2, reason="test 2 of 2 failed")
    >>> judge = CodeExec("assert add(1, 2) == 3", runner=elsewhere, partial=True)
    >>> judge({"final_text": "def add(a, b): return a + b"})["reward"]
    0.5

    ```
    """

    name = "code_exec"
    # A call waits for a process that computes.
    concurrency = min(_MOST_AT_ONCE, os.cpu_count() or 1)

    def __init__(
        self,
        tests: Any = None,
        *,
        field: str | None = None,
        timeout: float = 5.0,
        memory_mb: int = 1024,
        isolation: Isolation = "auto",
        partial: bool = False,
        runner: Runner | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        for knob, value in (("timeout", timeout), ("memory_mb", memory_mb)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ConfigurationError(f"{knob}={value!r}; expected a positive number")
        if memory_mb < _LEAST_MEMORY:
            raise ConfigurationError(f"memory_mb={memory_mb!r}; the interpreter itself needs {_LEAST_MEMORY}")
        if runner is None:
            resolve(isolation)
        self.tests: Suite | None = None if tests is None else read_suite(tests)
        self.needs_gold = tests is None
        self.partial = partial
        self.limits = Limits(timeout=float(timeout), memory_mb=int(memory_mb))
        self.runner: Runner = runner or LocalRunner(isolation)

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict on a row."""
        if "final_text" not in row:
            return {"reward": None, "reason": "the row has no final_text to check"}
        candidate = text_of(row["final_text"])
        tests: Any = self.tests
        if tests is None:
            tests = _tests_of(row, self.field)
            if isinstance(tests, _Missing):
                return {"reward": None, "reason": tests}
            if isinstance(row.get("entry_point"), str) and not isinstance(tests, Suite):
                tests = {"tests": tests, "entry_point": row["entry_point"]}
        if candidate.strip() and own_words(candidate, ask_of(row.get("prompt")), cut=False) is None:
            return {"reward": 0.0, "reason": "the reply only repeats the ask"}
        return self.judge(candidate, tests)

    def columns(self) -> Sequence[str] | None:
        """The row columns that are read."""
        if not self.needs_gold:
            return ["final_text", "prompt"]
        own = [self.field.partition(".")[0], self.field] if self.field else ["privileged", *TEST_COLUMNS]
        return ["final_text", "prompt", "entry_point", *dict.fromkeys(own)]

    def check(self, candidate: str, gold: Any) -> dict[str, Any]:
        """
        Runs the program in a reply.

        Args:
            candidate (`str`):
                The reply.
            gold (`Any`):
                The tests.

        Raises:
            JudgeError: When the sandbox does not start.
        """
        try:
            tests = self.tests if self.tests is not None else read_suite(gold)
        except DataError as error:
            return {"reward": None, "reason": str(error)}
        code = program_of(candidate)
        if not code.strip():
            return {"reward": 0.0, "reason": "an empty program"}
        return self._verdict(self.runner(code, tests, self.limits))

    def _verdict(self, outcome: Outcome) -> dict[str, Any]:
        if outcome.broken is not None or outcome.total < 1:
            return {"reward": None, "reason": f"the tests cannot be run: {outcome.broken or 'there are none'}"}
        share = outcome.passed / outcome.total
        verdict: dict[str, Any] = {
            "reward": share if self.partial else float(outcome.passed == outcome.total),
            "reason": outcome.reason,
            "tests_passed": outcome.passed,
            "tests_total": outcome.total,
        }
        return {**verdict, "timed_out": True} if outcome.timed_out else verdict


class _Missing(str):
    """Why a row has no tests."""


def _tests_of(row: Mapping[str, Any], field: str | None) -> Any:
    if field is not None:
        gold = find_gold(row, field)
        return _Missing(gold.missing) if gold.missing else gold.value
    privileged = row.get("privileged")
    places = [(privileged, _PRIVILEGED_KEYS)] if isinstance(privileged, Mapping) else []
    for place, names in [*places, (row, TEST_COLUMNS)]:
        for name in names:
            value = place.get(name)
            if value is not None and value == value and value not in ("", [], {}):
                return value
    return _Missing(
        f"no tests: the row has no privileged.tests, no privileged.reference and none of {', '.join(TEST_COLUMNS)}; "
        "pass tests= or field="
    )
