"""A judge whose model answers no more is not asked again; what it said before is kept."""

from __future__ import annotations

from typing import Any

import pytest

from whileai_hf.errors import ModelStopError
from whileai_hf.rows import open_rows
from whileai_hf.score import Score, grade


ROWS = [{"final_text": str(index)} for index in range(40)]


class Failing:
    """Answers some calls, then none."""

    def __init__(self, answers: int) -> None:
        self.answers, self.asked = answers, 0

    def __call__(self, row: dict[str, Any]) -> int:
        self.asked += 1
        if self.asked > self.answers:
            raise ModelStopError("the allowance is spent", "quota_spent")
        return 1


def _waiting(judge: Failing) -> Any:
    async def ask(row: dict[str, Any]) -> int:
        return judge(row)

    return ask


@pytest.mark.parametrize("awaits", [False, True])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_verdicts_before_the_end_are_kept_and_the_rest_say_why(awaits: bool, concurrency: int) -> None:
    judge = Failing(10)
    graded = grade(ROWS, _waiting(judge) if awaits else judge, concurrency=concurrency)
    assert graded["judge_status"][:].count("ok") == 10
    assert graded["judge_status"][:].count("error") == 30
    assert judge.asked <= 10 + concurrency
    late = [row for row in graded if row["reward"] is None]
    assert all("allowance is spent" in row["judge_meta"]["error"] for row in late)


@pytest.mark.parametrize("awaits", [False, True])
def test_a_judge_that_never_answered_is_the_callers_trouble(awaits: bool) -> None:
    judge = Failing(0)
    with pytest.raises(ModelStopError, match="allowance"):
        grade(ROWS, _waiting(judge) if awaits else judge)
    assert judge.asked <= 8
    with pytest.raises(ModelStopError, match="allowance"):
        open_rows(ROWS).map(Score(Failing(0)), batched=True)


def test_rows_that_are_skipped_do_not_count_as_answers() -> None:
    rows = [{"final_text": "x", "rollout_status": "error"}, *ROWS]
    with pytest.raises(ModelStopError, match="allowance"):
        grade(rows, Failing(0))


def test_what_earlier_batches_gave_is_kept() -> None:
    mapped = open_rows(ROWS).map(Score(Failing(15), concurrency=1), batched=True, batch_size=10)
    assert [reward is None for reward in mapped["reward"][:]] == [False] * 15 + [True] * 25
