"""Running judges: sync and async, within their time, in order, whatever they raise."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from whileai_hf.score.judging import default_concurrency, is_async, judge_name, judge_rows
from whileai_hf.score.verify import ExactMatch


ROWS = [{"n": n} for n in range(40)]


def odd(row: dict[str, Any]) -> int:
    return row["n"] % 2


async def odd_async(row: dict[str, Any]) -> int:
    await asyncio.sleep(0.001 * (row["n"] % 3))
    return row["n"] % 2


class Odd:
    def __call__(self, row: dict[str, Any]) -> int:
        return row["n"] % 2

    def method(self, row: dict[str, Any]) -> int:
        return row["n"] % 2


class OddAsync:
    async def __call__(self, row: dict[str, Any]) -> int:
        return await odd_async(row)


def scaled(row: dict[str, Any], by: int) -> int:
    return by * (row["n"] % 2)


@pytest.mark.parametrize(
    "judge",
    [
        odd,
        odd_async,
        Odd(),
        Odd().method,
        OddAsync(),
        functools.partial(scaled, by=1),
        functools.partial(odd_async),
        lambda row: odd_async(row),
    ],
    ids=["function", "async", "object", "method", "async-object", "partial", "async-partial", "returns-awaitable"],
)
@pytest.mark.parametrize("concurrency", [None, 1, 3, 100])
@pytest.mark.parametrize("timeout", [None, 30])
def test_every_kind_of_judge_gives_one_verdict_per_row_in_order(
    judge: Any, concurrency: int | None, timeout: float | None
) -> None:
    verdicts = judge_rows(judge, ROWS, concurrency=concurrency, timeout=timeout)
    assert [v.reward for v in verdicts] == [n % 2 for n in range(40)]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_what_a_judge_raises_is_a_verdict_on_its_row_only(concurrency: int) -> None:
    def judge(row: dict[str, Any]) -> int:
        if row["n"] == 1:
            raise ValueError("first line\nsecond line")
        if row["n"] == 2:
            raise TimeoutError("the endpoint is slow")
        if row["n"] == 3:
            raise StopIteration
        return 1

    verdicts = judge_rows(judge, ROWS[:5], concurrency=concurrency)
    assert [v.status.value for v in verdicts] == ["ok", "error", "timeout", "error", "ok"]
    assert verdicts[1].meta["error"] == "ValueError: first line"
    assert [v.reward for v in verdicts] == [1.0, None, None, None, 1.0]


def test_an_async_judge_that_raises_or_cancels_costs_its_row_only() -> None:
    async def judge(row: dict[str, Any]) -> int:
        if row["n"] == 0:
            raise KeyError("x")
        if row["n"] == 1:
            raise asyncio.CancelledError
        return 1

    assert [v.status.value for v in judge_rows(judge, ROWS[:4])] == ["error", "error", "ok", "ok"]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit])
def test_a_judge_that_cancels_or_exits_costs_its_row_only(error: type[BaseException], concurrency: int) -> None:
    def judge(row: dict[str, Any]) -> int:
        if row["n"] == 1:
            raise error
        return 1

    async def judge_async(row: dict[str, Any]) -> int:
        return judge(row)

    for each in (judge, judge_async):
        verdicts = judge_rows(each, ROWS[:3], concurrency=concurrency)
        assert [v.status.value for v in verdicts] == ["ok", "error", "ok"]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_interrupt_is_not_a_verdict(concurrency: int) -> None:
    def judge(row: dict[str, Any]) -> int:
        if row["n"] == 3:
            raise KeyboardInterrupt
        return 1

    with pytest.raises(KeyboardInterrupt):
        judge_rows(judge, ROWS, concurrency=concurrency)


def test_rows_that_cannot_be_read_raise_instead_of_being_lost() -> None:
    def broken() -> Any:
        yield {"n": 1}
        raise RuntimeError("disk gone")

    for concurrency in (1, 4):
        with pytest.raises(RuntimeError, match="disk gone"):
            judge_rows(odd, broken(), concurrency=concurrency)


def test_concurrency_bounds_the_calls_under_way() -> None:
    lock, now, peak = threading.Lock(), 0, 0

    def judge(row: dict[str, Any]) -> int:
        nonlocal now, peak
        with lock:
            now += 1
            peak = max(peak, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        return 1

    judge_rows(judge, ROWS, concurrency=5)
    assert peak == 5


def test_a_slow_judge_is_spread_over_threads() -> None:
    started = time.monotonic()
    judge_rows(lambda row: time.sleep(0.05) or 1, ROWS, concurrency=20)
    assert time.monotonic() - started < 1.0  # one after the other it would take 2 s


def threads_of(waits: Callable[[int], float]) -> list[bool]:
    """Whether each row was judged in another thread than the caller's, by a judge that waits so many seconds."""
    caller, elsewhere = threading.current_thread(), [False] * len(ROWS)

    def judge(row: dict[str, Any]) -> int:
        elsewhere[row["n"]] = threading.current_thread() is not caller
        time.sleep(waits(row["n"]))
        return 1

    judge_rows(judge, ROWS)
    return elsewhere


def test_a_judge_that_waits_gets_threads_with_its_second_row() -> None:
    assert threads_of(lambda n: 0.02) == [False, False, *[True] * 38]


def test_one_long_call_is_not_a_judge_that_waits() -> None:
    assert not any(threads_of(lambda n: 0.3 if n == 0 else 0.0)[:2])
    assert any(threads_of(lambda n: 0.6 if n in (1, 30) else 0.0)[31:])  # two that cost a second are


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_hung_sync_judge_returns_at_the_timeout_and_starves_nobody(concurrency: int) -> None:
    release = threading.Event()

    def judge(row: dict[str, Any]) -> int:
        if row["n"] % 10 == 0:
            release.wait(60)
        return 1

    started = time.monotonic()
    verdicts = judge_rows(judge, ROWS, concurrency=concurrency, timeout=0.2)
    took = time.monotonic() - started
    release.set()
    assert took < 5.0
    assert [v.status.value for v in verdicts] == ["timeout" if n % 10 == 0 else "ok" for n in range(40)]
    assert verdicts[0].meta["error"] == "no verdict within 0.2 s"


def test_a_hung_async_judge_returns_at_the_timeout_even_if_it_ignores_cancelling() -> None:
    async def judge(row: dict[str, Any]) -> int:
        if row["n"] == 2:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                await asyncio.sleep(1)
        return 1

    started = time.monotonic()
    verdicts = judge_rows(judge, ROWS[:6], concurrency=2, timeout=0.2)
    assert time.monotonic() - started < 5.0
    assert [v.status.value for v in verdicts] == ["ok", "ok", "timeout", "ok", "ok", "ok"]


def test_an_async_judge_that_blocks_the_loop_is_given_up_and_the_rest_is_judged() -> None:
    release = threading.Event()

    async def judge(row: dict[str, Any]) -> int:
        if row["n"] == 0:
            release.wait(60)
        return 1

    started = time.monotonic()
    verdicts = judge_rows(judge, ROWS[:6], concurrency=3, timeout=0.3)
    took = time.monotonic() - started
    release.set()
    assert took < 10.0
    assert verdicts[0].status == "timeout"
    assert [v.status.value for v in verdicts[3:]] == ["ok"] * 3
    assert judge_rows(odd_async, ROWS[:3])[1].reward == 1.0  # and the next run has a loop that works


def test_a_late_answer_does_not_replace_the_timeout() -> None:
    verdicts = judge_rows(lambda row: time.sleep(0.3) or 1, ROWS[:1], timeout=0.1)
    time.sleep(0.4)
    assert (verdicts[0].reward, verdicts[0].status) == (None, "timeout")


def test_a_judge_that_always_hangs_ends_the_run_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whileai_hf.score.lanes._MAX_HUNG", 4)
    release = threading.Event()
    verdicts = judge_rows(lambda row: release.wait(60), ROWS, concurrency=2, timeout=0.1)
    release.set()
    assert {v.status.value for v in verdicts} == {"timeout"}
    assert len(verdicts) == 40
    assert "never returned" in verdicts[-1].meta["error"]


def test_it_works_inside_a_running_loop() -> None:
    async def main() -> list[float | None]:
        return [v.reward for v in judge_rows(odd_async, ROWS[:4])]

    assert asyncio.run(main()) == [0.0, 1.0, 0.0, 1.0]


def test_an_async_judge_may_itself_judge_rows() -> None:
    async def outer(row: dict[str, Any]) -> Any:
        return judge_rows(odd_async, [row], timeout=20)[0].reward

    assert [v.reward for v in judge_rows(outer, ROWS[:2], timeout=30)] == [0.0, 1.0]


def test_the_callers_context_reaches_the_judge() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(1)
    assert [v.reward for v in judge_rows(lambda row: variable.get(), ROWS[:3], concurrency=2)] == [1.0] * 3


def test_a_client_bound_to_a_loop_survives_several_runs() -> None:
    loops = set()

    async def judge(row: dict[str, Any]) -> int:
        loops.add(asyncio.get_running_loop())
        return 1

    for _ in range(3):
        judge_rows(judge, ROWS[:3])
    assert len(loops) == 1


@pytest.mark.parametrize("status", ["error", "invalid"])
@pytest.mark.parametrize("judge", [lambda row: 0, odd_async])
def test_a_rollout_that_did_not_take_place_is_not_judged(judge: Any, status: str) -> None:
    (verdict,) = judge_rows(judge, [{"n": 0, "rollout_status": status}])
    assert (verdict.reward, verdict.status) == (None, "missing_reward")
    assert status in verdict.meta["error"]


@pytest.mark.parametrize(
    "code",
    [
        "judge = lambda row: time.sleep(600)",
        "async def judge(row):\n    await asyncio.sleep(600)",
        "async def judge(row):\n    time.sleep(600)",
    ],
    ids=["sync", "async", "blocking-async"],
)
def test_a_hung_judge_does_not_keep_the_interpreter_from_exiting(code: str) -> None:
    program = (
        "import asyncio, time\nfrom whileai_hf.score.judging import judge_rows\n"
        + code
        + "\nprint([v.status.value for v in judge_rows(judge, [{}, {}], timeout=0.2)])"
    )
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['timeout', 'timeout']"


def test_names_and_defaults() -> None:
    assert judge_name(odd) == "odd"
    assert judge_name(Odd()) == "Odd"
    assert judge_name(Odd().method) == "Odd.method"
    assert judge_name(functools.partial(scaled, by=2)) == "scaled"
    assert judge_name(ExactMatch(name="mine")) == "mine"
    assert is_async(functools.partial(functools.partial(odd_async))) and is_async(OddAsync()) and not is_async(odd)
    assert (default_concurrency(odd), default_concurrency(ExactMatch())) == (8, 1)
