"""Judges that see all rollouts of an ask together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, ModelStopError
from whileai_hf.rows import open_rows
from whileai_hf.score import Score, grade


def _row(ask: str, text: str, **more: Any) -> dict[str, Any]:
    return {"scenario_id": ask, "prompt": ask, "final_text": text, **more}


ROWS = [_row("a", "long one"), _row("b", "x"), _row("a", "short"), _row("b", "xyz"), _row("a", "longest one")]


class Longest:
    """The longest reply of a group gets 1."""

    name = "longest"

    def __init__(self) -> None:
        self.groups: list[list[str]] = []

    async def judge_group(self, rows: Sequence[dict[str, Any]]) -> list[float]:
        self.groups.append([row["final_text"] for row in rows])
        most = max(len(row["final_text"]) for row in rows)
        return [float(len(row["final_text"]) == most) for row in rows]


@pytest.mark.parametrize("data", [ROWS, open_rows(ROWS)], ids=["list", "dataset"])
def test_it_sees_each_group_once_and_whole(data: Any) -> None:
    judge = Longest()
    graded = grade(data, judge)
    assert sorted(map(sorted, judge.groups)) == [["long one", "longest one", "short"], ["x", "xyz"]]
    assert graded["reward"][:] == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert set(graded["judge_name"]) == {"longest"}
    assert graded["final_text"][:] == [row["final_text"] for row in ROWS]


def test_rollouts_that_did_not_take_place_are_not_compared() -> None:
    judge = Longest()
    graded = grade([*ROWS, _row("a", "the very longest one", rollout_status="error")], judge)
    assert graded["reward"][:] == [0.0, 0.0, 0.0, 1.0, 1.0, None]
    assert all("the very longest one" not in group for group in judge.groups)


def test_a_wrong_number_of_answers_leaves_the_group_unjudged() -> None:
    class Short(Longest):
        async def judge_group(self, rows: Sequence[dict[str, Any]]) -> list[float]:
            return [1.0] * 2

    graded = grade(ROWS, Short())
    assert graded["judge_status"][:] == ["invalid_result", "ok", "invalid_result", "ok", "invalid_result"]


def test_errors_and_slow_groups_stay_in_their_group() -> None:
    class Moody(Longest):
        async def judge_group(self, rows: Sequence[dict[str, Any]]) -> list[float]:
            if len(rows) == 2:
                raise ValueError("no idea")
            await asyncio.sleep(5)
            return []

    graded = grade(ROWS, Moody(), timeout=0.05)
    assert graded["judge_status"][:] == ["timeout", "error", "timeout", "error", "timeout"]


def test_a_model_that_stops_is_raised() -> None:
    class Spent(Longest):
        async def judge_group(self, rows: Sequence[dict[str, Any]]) -> list[float]:
            raise ModelStopError("the allowance is spent", "quota_spent")

    with pytest.raises(ModelStopError, match="spent"):
        grade(ROWS, Spent())


def test_where_groups_may_be_cut_it_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="compares all rollouts"):
        open_rows(ROWS).map(Score(Longest()), batched=True)
    with pytest.raises(ConfigurationError, match="grade after the run"):
        wai.simulate(lambda message: "Hi.", budget=2, grader=Longest())


def test_groups_judged_before_a_model_stops_are_kept() -> None:
    class Spent(Longest):
        async def judge_group(self, rows: Sequence[dict[str, Any]]) -> list[float]:
            if len(rows) == 2:
                raise ModelStopError("the allowance is spent", "quota_spent")
            return [1.0] * len(rows)

    graded = grade(ROWS, Spent(), concurrency=1)
    assert graded["reward"][:] == [1.0, None, 1.0, None, 1.0]
    assert "spent" in graded["judge_meta"][1]["error"]


def test_prompts_may_be_conversations() -> None:
    asked = [{"role": "user", "content": "q"}]
    rows = [{"prompt": asked, "final_text": text, "run_id": "none"} for text in ("long one", "x")]
    assert grade(rows, Longest())["reward"][:] == [1.0, 0.0]
    tasks = [{"prompt": asked, "privileged": {"reference": "x"}}]
    seen = grade(rows, lambda row: row["privileged"]["reference"] == row["final_text"], tasks=tasks)
    assert seen["reward"][:] == [0.0, 1.0]
