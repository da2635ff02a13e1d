"""as_reward: a judge in the shape TRL calls, on batches as TRL passes them."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from typing import Any

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify import All, ExactMatch, Includes, Numeric, ToolCalls, verifier
from whileai_hf.score.verify.reward import as_reward, rows_of


class Log:
    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.extra: dict[str, list[Any]] = {}

    def arguments(self) -> dict[str, Any]:
        return {
            "completion_ids": [[1], [2]],
            "trainer_state": object(),
            "log_metric": self.metrics.__setitem__,
            "log_extra": self.extra.__setitem__,
            "environments": [object(), object()],
        }


def test_texts_and_gold_columns() -> None:
    reward = Numeric().as_reward()
    found = reward(prompts=["6*7?", "6*7?", "?"], completions=["It is 42.", "41", "7"], answer=[42, "42", None])
    assert found == [1.0, 0.0, None]
    assert ExactMatch(field="meta.key").as_reward()(["q"], ["x"], meta=[{"key": "x"}]) == [1.0]
    assert ExactMatch().as_reward()(prompts=["q"], completions=["x"], privileged=[{"reference": "x"}]) == [1.0]
    assert Numeric().as_reward()(prompts=[], completions=[]) == []


def test_an_echo_of_the_prompt_is_caught() -> None:
    prompts = [[{"role": "system", "content": "s"}, {"role": "user", "content": "Is it Paris or Rome?"}]]
    completions = [[{"role": "assistant", "content": "Is it Paris or Rome?"}]]
    assert Includes().as_reward()(prompts=prompts, completions=completions, answer=["Paris"]) == [0.0]


CALL = {"type": "function", "function": {"name": "get", "arguments": {"id": "A1"}}}
TURNS = [
    {"role": "assistant", "content": "One moment.", "tool_calls": [CALL]},
    {"role": "tool", "name": "get", "content": '{"status": "ok"}'},
    {"role": "assistant", "content": "<think>Is it? Perhaps 41.</think>It is 42."},
]


def test_conversations_with_tools() -> None:
    row = rows_of([[{"role": "user", "content": "?"}]], [TURNS], {"answer": [42]})[0]
    assert row["final_text"] == "It is 42."
    assert row["steps"] == [
        {"text": "One moment."},
        {"tool": "get", "arguments": {"id": "A1"}, "result": '{"status": "ok"}'},
    ]
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "tool", "assistant"]
    judge = All(Numeric(), ToolCalls(expected=[{"tool": "get", "arguments": {"id": "A1"}}]))
    assert judge.as_reward()(prompts=[row["messages"][:1]], completions=[TURNS], answer=[42]) == [1.0]
    cut = judge.as_reward()(prompts=[row["messages"][:1]], completions=[TURNS[:2]], answer=[42])
    assert cut == [0.0]  # it never answered


@pytest.mark.parametrize(
    "completion", ["", None, [], [None, "x"], [{"role": "assistant", "content": None}], "<think>42"]
)
def test_completions_that_say_nothing(completion: Any) -> None:
    assert Numeric().as_reward()(prompts=["q"], completions=[completion], answer=[42]) == [0.0]


def test_what_the_trainer_passes_is_used_and_kept_from_the_judge() -> None:
    seen = []

    @verifier(name="polite")
    def polite(candidate: str) -> dict[str, Any]:
        return {"reward": 1, "reason": candidate, "markers": {"thanks": "thanks" in candidate}}

    def judge(row: dict[str, Any]) -> Any:
        seen.append(sorted(row))
        return polite(row)

    log = Log()
    found = as_reward(judge, name="manners")(
        prompts=["a", "b"], completions=["thanks", "no"], split=["train", "eval"], **log.arguments()
    )
    assert found == [1.0, 1.0]
    assert seen == [["final_text", "messages", "prompt", "split", "steps"]] * 2
    assert log.metrics == {"manners/thanks": 0.5, "manners/unjudged": 0.0}
    assert log.extra == {"manners/reason": ["thanks", "no"]}


def test_a_judge_that_raises_gives_none_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    def broken(row: dict[str, Any]) -> float:
        raise OSError("no network")

    log = Log()
    assert as_reward(broken)(prompts=["a", "b"], completions=["x", "y"], **log.arguments()) == [None, None]
    assert log.metrics == {"broken/unjudged": 1.0}
    assert "2 of 2" in caplog.text and "no network" in caplog.text


def test_names() -> None:
    assert Numeric().as_reward().__name__ == "numeric"
    assert Numeric(name="total").as_reward().__name__ == "total"
    assert as_reward(ExactMatch(), name="x").__name__ == "x"


def test_it_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(Numeric().as_reward()))
    assert copy(prompts=["q"], completions=["42"], answer=[42]) == [1.0]
    assert copy.__name__ == "numeric"


def test_a_judge_that_awaits() -> None:
    running = peak = 0

    async def judge(row: dict[str, Any]) -> float:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.001)
        running -= 1
        return float(row["final_text"])

    reward = as_reward(judge, concurrency=3)
    assert inspect.iscoroutinefunction(reward.__call__)  # type: ignore[operator]
    completions = [str(index) for index in range(7)]
    found = asyncio.run(reward(prompts=["q"] * 7, completions=[*completions[:-1], "x"]))
    assert found == [0, 1, 2, 3, 4, 5, None]
    assert peak == 3


@pytest.mark.parametrize(
    "build", [lambda: as_reward(3), lambda: as_reward(Numeric), lambda: as_reward(Numeric(), concurrency=0)]
)
def test_what_cannot_work(build: Any) -> None:
    with pytest.raises(ConfigurationError):
        build()


def test_unequal_lengths() -> None:
    with pytest.raises(ConfigurationError):
        Numeric().as_reward()(prompts=["a"], completions=[])


@pytest.mark.slow  # importing the trainer takes most of a minute
def test_in_the_reward_step_of_trl() -> None:
    """TRL's own code calls both kinds of reward function, and reads `None` as no reward."""
    trainer = pytest.importorskip("trl.trainer.grpo_trainer")
    import threading
    from types import SimpleNamespace

    import torch
    from accelerate import PartialState
    from trl.trainer.utils import get_callable_name

    PartialState(cpu=True)

    async def length(row: dict[str, Any]) -> float:
        return float(len(row["final_text"]))

    functions = [Numeric().as_reward(), as_reward(length)]
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    log = Log()
    fake = SimpleNamespace(
        accelerator=SimpleNamespace(device=torch.device("cpu"), is_main_process=True),
        reward_funcs=functions,
        reward_processing_classes=[None, None],
        reward_func_names=[get_callable_name(function) for function in functions],
        state=SimpleNamespace(global_step=1),
        args=SimpleNamespace(report_to=[]),
        environments=None,
        async_loop=loop,
        _log_completion_extra=log.extra.__setitem__,
        _log_metric=log.metrics.__setitem__,
    )
    inputs = [{"prompt": "6*7?", "answer": answer} for answer in (42, 41, None)]
    completions = ["It is 42."] * 3
    rewards = trainer.GRPOTrainer._calculate_rewards(fake, inputs, ["6*7?"] * 3, completions, [[1]] * 3)
    loop.call_soon_threadsafe(loop.stop)
    assert fake.reward_func_names == ["numeric", "length"]
    assert rewards[:2].tolist() == [[1.0, 9.0], [0.0, 9.0]]
    assert torch.isnan(rewards[2, 0])
    assert log.metrics["numeric/unjudged"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("awaits", [False, True])
def test_an_environment_makes_the_rows_itself(awaits):
    def rows(prompts, completions, columns):
        return [
            {"final_text": f"{prompt} {completion} {columns['n'][0]}"}
            for prompt, completion in zip(prompts, completions, strict=True)
        ]

    async def slowly(row):
        return len(row["final_text"])

    reward = as_reward(slowly if awaits else lambda row: len(row["final_text"]), name="length", rows=rows)
    given = reward(prompts=["a", "bb"], completions=["c", "d"], n=[7, 8])
    assert (asyncio.run(given) if awaits else given) == [5.0, 6.0]
