"""When the model behind a judge answers no more: its quota is spent, its key is refused, it does not exist.

Asking it about every further row would cost calls and give the same error each time. So the first such error ends the
asking: verdicts given before it are kept, and the rows after it stay unjudged and say why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from whileai_hf.errors import ModelStopError
from whileai_hf.score.lanes import Row
from whileai_hf.score.verdicts import JudgeStatus, Verdict, failed


def not_judged(row: Row) -> Verdict | None:
    """A rollout that did not take place has no verdict: an agent that crashed has not failed its task."""
    status = row.get("rollout_status")
    if status is None or status == "ok":
        return None
    message = f"not judged: the rollout has rollout_status {status!r}"
    return Verdict(None, JudgeStatus.MISSING_REWARD, meta={"error": message})


@dataclass
class Heard:
    """Whether a judge has given a reward yet; kept from batch to batch of one `map`."""

    yes: bool = False


class Halt:
    """
    Remembers the error that ended the asking.

    Args:
        judge_row (`Callable[[dict], Verdict]`, or one that awaits):
            Judges one row; lets a [`ModelStopError`] through.
        heard ([`Heard`], *optional*):
            What is known from earlier rows.
    """

    def __init__(self, judge_row: Callable[[Row], Any], heard: Heard | None = None) -> None:
        self._judge_row = judge_row
        self._heard = heard or Heard()
        self.error: ModelStopError | None = None

    def ask(self, row: Row) -> Verdict:
        """The verdict on a row."""
        if self.error is not None:
            return not_judged(row) or failed(self.error)
        try:
            verdict: Verdict = self._judge_row(row)
        except ModelStopError as error:
            return self._stop(error)
        # A row that was skipped, or has nothing to judge, says nothing about the model.
        self._heard.yes = self._heard.yes or verdict.reward is not None
        return verdict

    async def ask_async(self, row: Row) -> Verdict:
        """[`ask`] for a judge that awaits."""
        if self.error is not None:
            return not_judged(row) or failed(self.error)
        try:
            verdict: Verdict = await self._judge_row(row)
        except ModelStopError as error:
            return self._stop(error)
        self._heard.yes = self._heard.yes or verdict.reward is not None
        return verdict

    def _stop(self, error: ModelStopError) -> Verdict:
        self.error = self.error or error
        return failed(error)

    def check(self) -> None:
        """Raises the error if no row got a reward before it: then there is nothing to keep."""
        if self.error is not None and not self._heard.yes:
            raise self.error
