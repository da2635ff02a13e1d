"""Earlier states of one rollout's world, for answers that are out of date."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from whileai_hf.sandbox.breaker import Line
from whileai_hf.sandbox.outcomes import Outcome, Reply
from whileai_hf.sandbox.responder import Responder
from whileai_hf.sandbox.state import Snapshot
from whileai_hf.sandbox.toolset import Profile


# Writes an out-of-date answer may look back over, at least.
_LOOK_BACK = 16


@dataclass(frozen=True)
class Past:
    """
    The world before a write.

    Args:
        state ([`Snapshot`]):
            What the rollout had changed by then.
        writes (`int`):
            Calls that had taken effect by then.
        overall (`int`):
            The call that wrote, counted over all tools.
        line ([`Line`], *optional*):
            The fault that keeps this write from being seen for a while.
    """

    state: Snapshot
    writes: int
    overall: int
    line: Line | None

    @property
    def lag(self) -> int:
        """Calls for which the write is not seen."""
        return int(self.line.entry["lag"]) if self.line is not None and not self.line.over else 0


class History:
    """The states before the last writes of one rollout."""

    def __init__(self, responder: Responder, lag: int) -> None:
        self._responder = responder
        self._past: deque[Past] = deque(maxlen=max(_LOOK_BACK, lag + 1))

    def remember(self, overall: int, line: Line | None) -> None:
        """Keep the state as it is, just before the `overall`-th call writes."""
        records = self._responder.records
        self._past.append(Past(records.state.snapshot(), len(records.writes), overall, line))

    def outdated(self, profile: Profile, arguments: Any, outcome: Outcome) -> Reply | None:
        """
        What a read would have been answered before this rollout's last write that made a difference to it.

        A record created since is not there yet, a deleted one still is. `None` when no write matters to the answer.
        """
        if profile.effect != "read":
            return None
        for past in reversed(self._past):
            earlier = self._at(past, profile, arguments)
            if earlier != outcome.reply:
                return earlier
        return None

    def behind(self, profile: Profile, arguments: Any, overall: int, line: Line | None) -> tuple[Reply, Line] | None:
        """
        What a read is answered that lags behind the writes, and the fault it is due to; `None` when it does not lag.

        Args:
            profile ([`Profile`]):
                The reading tool.
            arguments (`dict`):
                Its arguments.
            overall (`int`):
                Number of the call, over all tools.
            line ([`Line`], *optional*):
                The fault that makes this tool lag behind every write.
        """
        own = int(line.entry["lag"]) if line is not None else 0
        for past in self._past:
            age = overall - past.overall
            cause = line if age <= own else past.line
            if cause is not None and age <= max(own, past.lag):
                return self._at(past, profile, arguments), cause
        return None

    def _at(self, past: Past, profile: Profile, arguments: Any) -> Reply:
        records = self._responder.records
        writes = records.writes
        with records.state.looking_back(past.state):
            records.writes = writes[: past.writes]
            try:
                return self._responder.answer(profile, arguments).reply
            finally:
                records.writes = writes
