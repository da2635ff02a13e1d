"""The line in front of one endpoint: who may call now, and whether calling has a point at all.

Hundreds of calls run at once. When the host is down, each of them finding out on its own and asking again would be
thousands of calls; so failures are counted here, together, and while the host is silent only a few go and look.
"""

from __future__ import annotations

import asyncio

from whileai_hf.actors.models.endpoint import Endpoint
from whileai_hf.actors.models.failures import Failure, stop_error
from whileai_hf.actors.models.patience import Patience
from whileai_hf.errors import ModelStopError


# Calls that go ahead before a host has answered once.
_SCOUTS = 4
# Seconds without a failure after which a host that has not answered yet counts as slow rather than dead.
_SLOW_SECONDS = 1.0
# Silent tries in a row that close the line: three chance drops in a row are rare even at one in ten.
_CLOSED_AT = 3
# Silent tries in a row that make a host dead, when it never answered.
_DEAD_AT = 5
# A host that did answer is given time to come back, and more than one call has to meet the silence: a request that
# crashes the server costs itself, not the run.
_OUTAGE_SECONDS = 120.0
_DEAD_CALLS = 3
# Calls given up in a row, none answered between.
_MOST_GIVEN_UP = 5


class Line:
    """
    The line of one endpoint on one event loop.

    Args:
        endpoint ([`Endpoint`]):
            Named in errors.
        patience ([`Patience`]):
            Its clock and sleep.
    """

    def __init__(self, endpoint: Endpoint, patience: Patience) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._calling = 0
        self._changed = asyncio.Event()
        self._answered = False  # ever
        self._trusted = False  # answered, or slow without failing
        self._silent = 0  # tries in a row
        self._silent_calls: set[int] = set()
        self._silent_since = 0.0
        self._given_up = 0  # calls in a row
        self._not_before = 0.0  # the server asked for it
        self._pause_until = 0.0  # it is silent
        self._looks = 0  # pauses so far
        self._over: tuple[str, str] | None = None
        self._opening: asyncio.TimerHandle | None = None

    @property
    def closed(self) -> bool:
        """Whether only a scout or two may call."""
        return not self._trusted or self._silent >= _CLOSED_AT

    def _notify(self) -> None:
        # Those waiting hold on to the event they were given; the next ones get a new one.
        self._changed.set()
        self._changed = asyncio.Event()

    def _trust(self) -> None:
        self._opening = None
        if not self._answered and not self._silent:
            self._trusted = True
            self._notify()

    def error(self) -> ModelStopError | None:
        """Why no further call is made, if so; a new exception each time, for each has a traceback of its own."""
        return stop_error(self._endpoint, *self._over) if self._over else None

    def stop(self, reason: str, said: str) -> ModelStopError:
        """Ends all calls, those in line included."""
        self._over = self._over or (reason, said)
        self._notify()
        return stop_error(self._endpoint, *self._over)

    async def enter(self) -> None:
        """
        Waits for a turn. Every entry is followed by [`Line.leave`].

        Raises:
            [`ModelStopError`]: When calling has no point.
        """
        while self._over is None and self.closed and self._calling >= self._scouts():
            await self._changed.wait()
        self._calling += 1
        try:
            while self._over is None and (wait := self._wait()) > 0:
                await self._patience.sleep(wait)
            error = self.error()
            if error:
                raise error
        except BaseException:  # cancelled while it slept: its place is free again
            self.leave()
            raise
        if not self._trusted and self._opening is None:
            self._opening = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self._trust)

    def _scouts(self) -> int:
        return 1 if self._answered or self._silent else _SCOUTS

    def _wait(self) -> float:
        return max(self._not_before, self._pause_until) - self._patience.clock()

    def leave(self) -> None:
        """One call less under way."""
        self._calling -= 1
        if self.closed:
            self._notify()

    def answered(self) -> None:
        """The host spoke, whatever it said."""
        was_closed = self.closed
        self._answered = self._trusted = True
        self._silent = 0
        self._silent_calls.clear()
        self._pause_until, self._looks = 0.0, 0
        if was_closed:
            self._notify()

    def succeeded(self) -> None:
        """A call got what it asked for."""
        self._given_up = 0

    def hold(self, seconds: float) -> None:
        """Nobody calls for a while: the server asked for it."""
        self._not_before = max(self._not_before, self._patience.clock() + seconds)

    def silent(self, call: int, failure: Failure) -> None:
        """
        A try met silence.

        Raises:
            [`ModelStopError`]: When the host is dead.
        """
        if not self._silent:
            self._silent_since = self._patience.clock()
        self._silent += 1
        self._silent_calls.add(call)
        if failure.status is not None:
            self._answered = True  # a gateway that speaks may be waiting for the server behind it
        now = self._patience.clock()
        # Calls that were under way together fail together; only one that looked after the pause makes it longer.
        if self.closed and now >= self._pause_until:
            self._looks += 1
            self._pause_until = now + self._patience.ceiling(self._looks)
        if self._silent < _DEAD_AT:
            return
        # As long as other calls are under way, the host may be alive and dropping some.
        never = not self._answered and self._calling == 1
        lasted = now - self._silent_since
        if never or (self._answered and lasted >= _OUTAGE_SECONDS and len(self._silent_calls) >= _DEAD_CALLS):
            raise self.stop("model_unreachable", failure.said)

    def gave_up(self, failure: Failure) -> None:
        """
        A call used up its tries.

        Raises:
            [`ModelStopError`]: When the calls before it did, too.
        """
        self._given_up += 1
        if self._given_up >= _MOST_GIVEN_UP:
            raise self.stop("quota_spent" if failure.kind == "busy" else "model_unreachable", failure.said)
