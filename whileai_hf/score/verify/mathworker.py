"""math-verify in a process of its own, and the conversation with it.

Its own time limits rest on a signal that only works in the main thread, and without them one expression can keep
sympy busy for ever. A process can be stopped from any thread: it is started on the first question, answers one after
the other, and is replaced when it is late. Run as a program this file is that process; it imports nothing heavy of
this library then.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import queue
import re
import subprocess
import sys
import threading
from functools import lru_cache
from typing import Any

from whileai_hf.errors import JudgeError


# Seconds the process may take to import sympy on a machine that is busy.
_START = 120.0
# Bytes of address space it may use; a power tower would take the machine's.
_MEMORY = 4 * 2**30
# Golds and answers whose parsed form is kept there: groups share their gold, and replies repeat.
_PARSED = 4096
# Verdicts kept on this side, where looking one up costs a microsecond and no conversation.
_ANSWERED = 4096
# Where sympy has sums, products, powers and what they are made of; sets, relations and matrices are elsewhere.
_ARITHMETIC = {f"sympy.core.{name}" for name in ("add", "mul", "power", "symbol", "numbers")}
# A power up to which a formula is multiplied out; beyond it that may never end.
_MOST_POWER = 12
_LOGGERS = ("math_verify.parser", "math_verify.grader")
# Asked before the process says that it is ready.
_WARMING = ((r"\frac{x+1}{2}", r"\sqrt{x}"), ("[0,1)", r"\{1,2\}"))
_MATH_SIGNS = ("$", "\\(", "\\[", "\\boxed", "\\begin")
# A word, not a product of variables: text with one in it is no bare formula.
_WORD = re.compile(r"(?<!\\)\b[^\W\d_]{4,}")


class MathWorker:
    """The process, seen from here."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="math-verify", daemon=True).start()
        self._next(_START, "math-verify did not start")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(b"")

    def _next(self, timeout: float, late: str) -> Any:
        try:
            line = self._answers.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            raise TimeoutError(late) from None
        if not line:
            self.stop()
            raise JudgeError("the math-verify process ended on this row, most likely for want of memory")
        return json.loads(line)

    def ask(self, question: dict[str, Any], timeout: float) -> Any:
        """One question, answered within the time."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            self.stop()
            raise JudgeError(f"the math-verify process is gone: {error}") from error
        return self._next(timeout, f"math-verify took longer than {timeout:g} s on this reply")

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()


class _Desk:
    """The one worker of this process and its lock; a forked child begins with its own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.worker: MathWorker | None = None

    def close(self) -> None:
        if self.worker is not None:
            self.worker.stop()
            self.worker = None


_desk = _Desk()
atexit.register(_desk.close)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_desk.__init__)  # type: ignore[misc]


@lru_cache(maxsize=_ANSWERED)
def ask_worker(golds: tuple[str, ...], answer: str, marked: bool, timeout: float) -> bool | None:
    """
    Whether an answer equals one of the gold answers.

    Args:
        golds (`tuple[str, ...]`):
            The gold answers.
        answer (`str`):
            The reply or what it marks as its answer.
        marked (`bool`):
            Whether `answer` is the answer itself, so that it may be read as a formula without signs around it.
        timeout (`float`):
            Seconds.

    Returns:
        `bool` or `None`: `None` when no gold answer is mathematics.
    """
    with _desk.lock:
        if _desk.worker is None or not _desk.worker.alive:
            _desk.worker = MathWorker()
        said = _desk.worker.ask({"golds": golds, "answer": answer, "marked": marked}, timeout)
    if isinstance(said, dict):
        raise JudgeError(f"math-verify failed: {said['error']}")
    return said  # type: ignore[no-any-return]


def _serve() -> None:
    """Answers questions from standard input until it ends."""
    from math_verify import parse, verify

    _limit_memory()
    for name in _LOGGERS:  # they warn on every call without a time limit, which is the caller's here
        logging.getLogger(name).setLevel(logging.CRITICAL)

    @lru_cache(maxsize=_PARSED)
    def read(text: str, formula: bool) -> list[Any]:
        bare = formula and not any(sign in text for sign in _MATH_SIGNS) and not _WORD.search(text)
        found = parse(f"${text}$", parsing_timeout=None) if bare else []
        return list(found or parse(text, parsing_timeout=None))

    @lru_cache(maxsize=_PARSED)
    def judge(golds: tuple[str, ...], answer: str, marked: bool) -> bool | None:
        wanted = [found for found in (read(gold, True) for gold in golds) if found]
        if not wanted:
            return None
        said = read(answer, marked)
        return any(_identical(gold, said) or verify(gold, said, timeout_seconds=None) for gold in wanted)

    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not stand between the answers
    for gold, answer in _WARMING:  # the first formulas of a parser take seconds; no row's time is spent on them
        judge((gold,), answer, True)
    out.write(b"true\n")
    out.flush()
    for line in sys.stdin.buffer:
        question = json.loads(line)
        try:
            said: Any = judge(tuple(question["golds"]), question["answer"], question["marked"])
        except Exception as error:  # told to the caller, whose row it is
            said = {"error": f"{type(error).__name__}: {error}"[:300]}
        out.write(json.dumps(said).encode() + b"\n")
        out.flush()


def _identical(gold: list[Any], said: list[Any]) -> bool:
    """Whether two formulas are one when multiplied out: the usual case, at a tenth of what `verify` takes for it."""
    if not (gold and said and {type(gold[0]).__module__, type(said[0]).__module__} <= _ARITHMETIC):
        return False
    difference = gold[0] - said[0]
    pending = [difference]
    while pending:
        node = pending.pop()
        if node.is_Pow and node.exp.is_Integer and abs(node.exp) > _MOST_POWER:
            return bool(difference == 0)
        pending.extend(node.args)
    return bool(difference.expand() == 0)


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    _serve()
