"""How long to wait before asking again: full jitter, what the server asked for, and when to give up."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from whileai_hf.rows.rng import unit


@dataclass(frozen=True)
class Patience:
    """
    Bounds on asking again. Tests bring a clock and a sleep of their own.

    Args:
        tries (`int`, *optional*, defaults to `8`):
            Times one call is sent before it is given up. With the waits between them, a server may be away for a
            minute.
        first (`float`, *optional*, defaults to `0.5`):
            Longest wait before the second try, in seconds; it doubles from try to try.
        longest (`float`, *optional*, defaults to `30.0`):
            Longest wait between two tries, in seconds.
        total (`float`, *optional*, defaults to `300.0`):
            Seconds after which a call is sent no more. A server that says "busy" does not use up tries, only this.
        sleep (`Callable`, *optional*):
            Awaited with seconds.
        clock (`Callable`, *optional*):
            Monotonic seconds.
    """

    tries: int = 8
    first: float = 0.5
    longest: float = 30.0
    total: float = 300.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic

    def ceiling(self, failed: int) -> float:
        """The longest wait after `failed` failures, at least one."""
        return float(min(self.longest, self.first * 2 ** min(failed - 1, 30)))

    def delay(self, failed: int, call: int) -> float:
        """
        A wait after `failed` failures of call number `call`, anywhere below the ceiling.

        Drawn anew in each process: clients that were refused together must not come back together. No row depends on
        it.
        """
        return self.ceiling(failed) * unit(os.getpid(), "retry", call, failed)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """
    Seconds a server asks to wait, `None` when it does not say. Headers are looked up by lower-case name.

    Examples:
    ```python
    >>> retry_after({"retry-after": "2"})
    2.0
    >>> retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"})
    30.0

    ```
    """
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            # NaN and negative waits are no waits.
            return max(0.0, float(text) * scale)
        except ValueError:
            then = _date(text)
        if then is not None:
            # By the server's own clock where it tells it: ours may be minutes off.
            now = _date(headers.get("date", ""))
            return max(0.0, then - (time.time() if now is None else now))
    return None


def _date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
