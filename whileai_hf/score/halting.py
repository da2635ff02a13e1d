"""When the model behind a judge answers no more: its quota is spent, its key is refused, it does not exist.

Asking it about every further row would cost calls and give the same error each time. So the first such error ends the
asking: verdicts given before it are kept, and the rows after it stay unjudged and say why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whileai_hf.errors import ModelStopError
from whileai_hf.score.lanes import Row
from whileai_hf.score.verdicts import Verdict, failed


class Halt:
    """
    Remembers the error that ended the asking.

    Args:
        judge_row (`Callable[[dict], Verdict]`, or one that awaits):
            Judges one row; lets a [`ModelStopError`] through.
    """

    def __init__(self, judge_row: Callable[[Row], Any]) -> None:
        self._judge_row = judge_row
        self.error: ModelStopError | None = None
        self.answered = False
        """Whether the judge was heard before the error."""

    def ask(self, row: Row) -> Verdict:
        """The verdict on a row."""
        if self.error is not None:
            return failed(self.error)
        try:
            verdict: Verdict = self._judge_row(row)
        except ModelStopError as error:
            return self._stop(error)
        self.answered = True
        return verdict

    async def ask_async(self, row: Row) -> Verdict:
        """[`ask`] for a judge that awaits."""
        if self.error is not None:
            return failed(self.error)
        try:
            verdict: Verdict = await self._judge_row(row)
        except ModelStopError as error:
            return self._stop(error)
        self.answered = True
        return verdict

    def _stop(self, error: ModelStopError) -> Verdict:
        self.error = self.error or error
        return failed(error)

    def check(self) -> None:
        """Raises the error if nothing was judged before it: then there is nothing to keep."""
        if self.error is not None and not self.answered:
            raise self.error
