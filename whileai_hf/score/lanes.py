"""Judging many rows at once, each within its time, in the order of the rows.

A lane judges one row after another: a daemon thread for a judge that blocks, a task on the background loop for one
that awaits. Lanes take rows from one shared iterator, so rows are decoded only when their turn comes and a slow row
holds up nobody. A lane whose row is overdue is abandoned where it stands and replaced, so a judge that hangs costs its
row, not the run, and never keeps the interpreter from exiting.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from whileai_hf.actors.loop import background_loop, replace_if_blocked
from whileai_hf.score.verdicts import Verdict, failed, overdue


Row = dict[str, Any]
Progress = Callable[[int], None]


def own(value: Any) -> Any:
    """A copy of JSON values down to the bottom; rows share cells, so a judge that changes one would change others."""
    if type(value) is dict:
        return _own_dict(value)
    return _own_list(value) if type(value) is list else value


def _own_dict(value: Row) -> Row:
    # Copied whole and mended where it nests: most values do not, and are text.
    copy = value.copy()
    for key, item in value.items():
        kind = type(item)
        if kind is str:
            continue
        if kind is dict:
            copy[key] = _own_dict(item)
        elif kind is list:
            copy[key] = _own_list(item)
    return copy


def _own_list(value: list[Any]) -> list[Any]:
    # Of dicts, nearly always.
    return [_own_dict(item) if type(item) is dict else own(item) for item in value]


# Seconds between two updates of the progress bar.
_TICK = 0.1
# Abandoned calls that may hang at the same time; each one keeps a thread, so there has to be an end.
_MAX_HUNG = 256


class _Lane:
    """One worker, until it has no more rows or is abandoned."""

    def __init__(self) -> None:
        self.index = -1
        """Position of the row under way."""
        self.started = 0.0
        self.task: asyncio.Task[None] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def cancel(self) -> None:
        if self.task is not None and self.loop is not None:
            self.loop.call_soon_threadsafe(self.task.cancel)


class Board:
    """
    The rows still to judge, the verdicts so far and the lanes at work.

    Args:
        rows (`Iterator[dict]`):
            The rows; read under a lock, by whichever lane is free.
        timeout (`float`, *optional*):
            Seconds a row may take.
    """

    def __init__(self, rows: Iterator[Row], timeout: float | None) -> None:
        self.timeout = timeout
        self.verdicts: list[Verdict | None] = []
        self._rows = rows
        self._changed = threading.Condition()
        self._lanes: set[_Lane] = set()
        self._hung = 0
        self._done = 0
        self._failure: BaseException | None = None

    def enter(self) -> _Lane:
        """A new lane at work."""
        lane = _Lane()
        with self._changed:
            self._lanes.add(lane)
        return lane

    def exchange(self, lane: _Lane, verdict: Verdict | None) -> Row | None:
        """Hands in the verdict of the lane's row (`None` at first) and takes the next row; `None` ends the lane."""
        with self._changed:
            if lane not in self._lanes:  # abandoned: its row has its verdict already
                self._hung -= 1
                return None
            if verdict is not None:
                self.verdicts[lane.index] = verdict
                self._done += 1
            row = self._next()
            if row is None:
                self._leave(lane)
                return None
            lane.index = len(self.verdicts)
            self.verdicts.append(None)
            if self.timeout is not None:
                lane.started = time.monotonic()
            return row

    def abandoned(self, lane: _Lane) -> bool:
        """Whether the lane was given up."""
        with self._changed:
            return lane not in self._lanes

    def fail(self, lane: _Lane, error: BaseException) -> None:
        """Ends the run because of something that is not a verdict (an interrupt, an exit)."""
        with self._changed:
            if lane in self._lanes:
                self._failure = self._failure or error
                self._leave(lane)

    def _leave(self, lane: _Lane) -> None:
        self._lanes.discard(lane)
        self._changed.notify()

    def _next(self) -> Row | None:
        if self._failure is not None:
            return None
        try:
            return next(self._rows, None)
        except Exception as error:  # reading rows failed: raised to the caller by `run`, not a verdict
            self._failure = error
            return None

    def run(self, start: Callable[[], None], width: int, progress: Progress | None) -> list[Verdict]:
        """
        Starts `width` lanes with `start`, replaces overdue ones, and returns the verdicts when all rows have one.
        """
        try:
            for _ in range(width):
                start()
            while True:
                with self._changed:
                    if self._lanes:
                        self._changed.wait(self._patience(progress))
                    done, finished, overdue_lanes = self._done, not self._lanes, self._expire()
                if progress is not None:
                    progress(done)
                if finished:
                    break
                self._replace(overdue_lanes, start)
            if self._failure is not None:
                raise self._failure
            return [verdict for verdict in self.verdicts if verdict is not None]
        finally:
            self._abandon_all()

    def _patience(self, progress: Progress | None) -> float | None:
        """Seconds until something may have to be done; rows taken later are due later."""
        waits = [] if progress is None else [_TICK]
        if self.timeout is not None:
            now = time.monotonic()
            waits.append(self.timeout)
            waits.extend(max(0.0, lane.started + self.timeout - now) for lane in self._lanes if lane.index >= 0)
        return min(waits) if waits else None

    def _expire(self) -> list[_Lane]:
        if self.timeout is None:
            return []
        limit = time.monotonic() - self.timeout
        late = [lane for lane in self._lanes if lane.index >= 0 and lane.started <= limit]
        for lane in late:
            self.verdicts[lane.index] = overdue(f"no verdict within {self.timeout:g} s")
            self._done += 1
            self._hung += 1
            self._lanes.discard(lane)
        return late

    def _replace(self, late: list[_Lane], start: Callable[[], None]) -> None:
        for lane in late:
            lane.cancel()
        blocked = [loop for loop in {lane.loop for lane in late if lane.loop is not None} if replace_if_blocked(loop)]
        for _ in range(len(late) + self._drop_waiting(blocked)):
            if self._hung >= _MAX_HUNG:
                self._give_up()
                return
            start()

    def _drop_waiting(self, loops: list[asyncio.AbstractEventLoop]) -> int:
        """Gives up the lanes that never got to start on a blocked loop; how many there were."""
        with self._changed:
            waiting = [lane for lane in self._lanes if lane.index < 0 and lane.loop in loops]
            self._lanes.difference_update(waiting)
        return len(waiting)

    def _give_up(self) -> None:
        """Too many calls hang: the rows left get no judge, and say so."""
        with self._changed:
            while self._next() is not None:
                self.verdicts.append(overdue(f"not judged: {self._hung} earlier calls of the judge never returned"))
                self._done += 1

    def _abandon_all(self) -> None:
        with self._changed:
            lanes = list(self._lanes)
            self._lanes.clear()
        for lane in lanes:
            lane.cancel()


def run_in_threads(
    call: Callable[[Row], Verdict],
    rows: Iterator[Row],
    *,
    width: int,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> list[Verdict]:
    """
    Judges rows on `width` daemon threads.

    Args:
        call (`Callable[[dict], Verdict]`):
            Judges one row; exceptions of the judge are its business, anything it lets through ends the run.
        rows (`Iterator[dict]`):
            The rows.
        width (`int`):
            Rows judged at the same time.
        timeout (`float`, *optional*):
            Seconds a row may take.
        progress (`Callable[[int], None]`, *optional*):
            Called now and then with the number of rows done.

    Returns:
        `list[Verdict]`: One per row, in order.
    """
    board = Board(rows, timeout)

    def work(lane: _Lane) -> None:
        try:
            row = board.exchange(lane, None)
            while row is not None:
                row = board.exchange(lane, call(row))
        except BaseException as error:
            board.fail(lane, error)

    def start() -> None:
        # The caller's context variables reach the judge, as they would without threads.
        context = contextvars.copy_context()
        lane = board.enter()
        threading.Thread(target=context.run, args=(work, lane), name="whileai-judge", daemon=True).start()

    return board.run(start, width, progress)


def run_on_loop(
    call: Callable[[Row], Awaitable[Verdict]],
    rows: Iterator[Row],
    *,
    width: int,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> list[Verdict]:
    """Judges rows in `width` tasks on the background loop; arguments as for [`run_in_threads`]."""
    board = Board(rows, timeout)

    async def work(lane: _Lane) -> None:
        lane.task = asyncio.current_task()
        row = board.exchange(lane, None)
        while row is not None:
            try:
                verdict = await call(row)
            except asyncio.CancelledError as error:
                if board.abandoned(lane):
                    board.exchange(lane, None)
                    return
                verdict = failed(error)  # the judge cancelled something of its own
            except BaseException as error:
                board.fail(lane, error)
                return
            row = board.exchange(lane, verdict)

    def start() -> None:
        lane = board.enter()
        lane.loop = background_loop()
        asyncio.run_coroutine_threadsafe(work(lane), lane.loop)

    return board.run(start, width, progress)
