"""Calling a judge: what it is called, whether it awaits, and how many rows it sees at once.

Sync judges run on daemon threads, judges that await on one background loop. Without a timeout, a judge asked to take
one row at a time runs in the calling thread, where it costs nothing extra, and so does any other sync judge, unless
its concurrency was asked for, until it is seen to take long for its rows.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
import types
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from whileai_hf.actors.loop import wait_for
from whileai_hf.errors import ModelStopError
from whileai_hf.rows.collecting import older_objects_aside
from whileai_hf.score.halting import Halt, Heard, not_judged
from whileai_hf.score.lanes import Progress, Row, run_in_threads, run_on_loop
from whileai_hf.score.verdicts import Named, Paced, Verdict, failed, verdict


JudgeFunction = Callable[[Row], Any]

# Rows judged at the same time when nobody says otherwise: hides most of the latency of a remote model and stays
# within what hosted endpoints allow one client.
DEFAULT_CONCURRENCY = 8
# Answers that are certainly not awaitable, which spares the question for nearly every row.
_PLAIN = frozenset({dict, int, float, bool, type(None), Verdict})
# Not exceptions by class, yet from a blocking judge they are its own affair: a cancelled call of its client, an exit
# in a library. Only an interrupt is meant for the caller.
_NOT_THE_CALLERS = (asyncio.CancelledError, SystemExit)
# A call of a judge that computes and does not wait takes less than this, in seconds, save where a busy machine makes
# it wait; a judge that does wait is known by a second long call, when they are many or cost this much in all.
_LONG_S = 0.002
_LONG_SHARE = 0.1
_LONG_TOTAL_S = 1.0
# Rows between two updates of the progress bar when judging in the calling thread.
_TICK_ROWS = 1000


def judge_name(judge: JudgeFunction) -> str:
    """
    The name a judge is recorded under: its own `name`, that of the function, or that of the object's class.

    Examples:
    ```python
    >>> judge_name(lambda row: 1)
    '<lambda>'

    ```
    """
    if isinstance(judge, functools.partial):
        return judge_name(judge.func)
    if isinstance(judge, Named) and isinstance(judge.name, str):
        return judge.name
    if isinstance(judge, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        return judge.__qualname__.rpartition("<locals>.")[2]
    return type(judge).__qualname__.rpartition("<locals>.")[2]


def is_async(judge: JudgeFunction) -> bool:
    """Whether calling the judge is known to give an awaitable (`async def`, also as `__call__` or in a partial)."""
    if isinstance(judge, functools.partial):
        return is_async(judge.func)
    return inspect.iscoroutinefunction(judge) or inspect.iscoroutinefunction(type(judge).__call__)


def default_concurrency(judge: JudgeFunction) -> int:
    """Rows at the same time: what the judge says; a verifier computes and never waits, so it says 1."""
    return judge.concurrency if isinstance(judge, Paced) else DEFAULT_CONCURRENCY


def judge_row(judge: JudgeFunction, row: Row) -> Verdict:
    """
    The verdict on one row, whatever the judge does; waits for a judge that only looks sync.

    Raises:
        [`ModelStopError`]: The judge's model answers no further call, so this is about more than the row.
    """
    if (skipped := not_judged(row)) is not None:
        return skipped
    try:
        raw = judge(row)
        if type(raw) not in _PLAIN and inspect.isawaitable(raw):
            raw = wait_for(raw)
        return verdict(raw)
    except ModelStopError:
        raise
    except (Exception, *_NOT_THE_CALLERS) as error:  # whatever a judge raises is a verdict on the row: status "error"
        return failed(error)


async def judge_row_async(judge: Callable[[Row], Awaitable[Any]], row: Row) -> Verdict:
    """[`judge_row`] for a judge that awaits."""
    if (skipped := not_judged(row)) is not None:
        return skipped
    try:
        return verdict(await judge(row))
    except ModelStopError:
        raise
    except (Exception, SystemExit) as error:  # whatever a judge raises is a verdict on the row: status "error"
        return failed(error)


def _in_this_thread(
    ask: Callable[[Row], Verdict], rows: Iterator[Row], progress: Progress | None, patient: bool
) -> list[Verdict]:
    """Judges row by row; not `patient`, it stops after a row by which the judge is known to wait."""
    verdicts: list[Verdict] = []
    long, lost = 0, 0.0
    for row in rows:
        started = time.perf_counter()
        verdicts.append(ask(row))
        took = time.perf_counter() - started
        if took > _LONG_S and not patient:
            long, lost = long + 1, lost + took
            if long > 1 and (long >= _LONG_SHARE * len(verdicts) or lost > _LONG_TOTAL_S):
                return verdicts
        if progress is not None and len(verdicts) % _TICK_ROWS == 0:
            progress(len(verdicts))
    if progress is not None:
        progress(len(verdicts))
    return verdicts


def _here_or_in_threads(
    ask: Callable[[Row], Verdict], rows: Iterator[Row], width: int, progress: Progress | None
) -> list[Verdict]:
    """A judge that only computes costs least where it is called; one that turns out to wait gets threads."""
    verdicts = _in_this_thread(ask, rows, progress, patient=width == 1)
    done = len(verdicts)
    if width > 1:
        shown = None if progress is None else lambda more: progress(done + more)
        verdicts.extend(run_in_threads(ask, rows, width=width, progress=shown))
    return verdicts


def judge_rows(
    judge: JudgeFunction,
    rows: Iterable[Row],
    *,
    concurrency: int | None = None,
    timeout: float | None = None,
    progress: Progress | None = None,
    heard: Heard | None = None,
) -> list[Verdict]:
    """
    Judges rows.

    Args:
        judge (`Callable`):
            Row to verdict, sync or async. It is called from several threads at once unless `concurrency` is 1.
        rows (`Iterable[dict]`):
            The rows, read when their turn comes.
        concurrency (`int`, *optional*, defaults to 8, to 1 for a verifier):
            Rows judged at the same time.
        timeout (`float`, *optional*):
            Seconds a row may take. At the timeout the row gets its status and the call is left to itself.
        progress (`Callable[[int], None]`, *optional*):
            Called now and then with the number of rows done.
        heard ([`Heard`], *optional*):
            Whether the judge gave a reward on earlier rows, and now on these.

    Returns:
        `list[Verdict]`: One per row, in order.

    Raises:
        [`ModelStopError`]: The judge's model answered nothing at all, and will not.
    """
    width = default_concurrency(judge) if concurrency is None else concurrency
    if is_async(judge):
        halt = Halt(functools.partial(judge_row_async, judge), heard)
        verdicts = run_on_loop(halt.ask_async, iter(rows), width=width, timeout=timeout, progress=progress)
    else:
        halt = Halt(functools.partial(judge_row, judge), heard)
        if timeout is None and (width == 1 or concurrency is None):
            with older_objects_aside():
                verdicts = _here_or_in_threads(halt.ask, iter(rows), width, progress)
        else:
            verdicts = run_in_threads(halt.ask, iter(rows), width=width, timeout=timeout, progress=progress)
    halt.check()
    return verdicts
