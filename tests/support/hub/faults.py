"""Replies the server gives instead of its own, for a while."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field


@dataclass
class Fault:
    """
    A reply for requests whose `"METHOD /path"` the pattern is found in.

    After `after` matching requests it answers `times` of them with `status`. `status=0` cuts the connection. With
    `hold` the request is first held until the event is set (or `hold_for` seconds have passed), and then served as
    usual when `status` is `None`; `reached` is set when the first one arrives.
    """

    pattern: str
    status: int | None = 500
    message: str = "made to fail"
    times: int = 1_000_000
    after: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    hold_for: float = 30.0
    reached: threading.Event = field(default_factory=threading.Event)
    seen: int = 0

    def strikes(self, line: str) -> bool:
        """Whether this request is answered by the fault; counts it."""
        if not re.search(self.pattern, line):
            return False
        self.seen += 1
        return self.after < self.seen <= self.after + self.times
