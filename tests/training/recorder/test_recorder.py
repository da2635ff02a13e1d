"""Recording without a trainer: which rewards belong together, what a row is, and what survives."""

import asyncio
import functools
import json
import math
import subprocess
import sys
import types

import pytest
from forked import ForkedPopen
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment import EnvironmentFactory
from whileai_hf.measure.passes import pass_at
from whileai_hf.rows import view
from whileai_hf.rows.validation import validate
from whileai_hf.spec import Tool
from whileai_hf.training.recorder import RolloutRecorder
from whileai_hf.training.recorder.conversations import said, steps_of
from whileai_hf.training.recorder.functions import is_async, name_of
from whileai_hf.training.runs import training_run
from whileai_hf.training.runs.place import folder_of


def state(step):
    return types.SimpleNamespace(global_step=step)


def rows_of(recorder, phase=None):
    return list(view(recorder.dataset(phase)).rows())


def one(prompts, completions, **columns):
    return [1.0] * len(completions)


def half(prompts, completions, **columns):
    return [0.5] * len(completions)


def batch(n=2, **columns):
    return {"prompts": [f"p{i}" for i in range(n)], "completions": [f"c{i}" for i in range(n)], **columns}


def test_functions_called_one_after_the_other_are_one_row(tmp_path):
    recorder = RolloutRecorder(tmp_path)
    first, second = recorder.wrap(one), recorder.wrap(half)
    for _ in range(3):  # the same completions again are another batch
        call = batch()
        assert first(**call) == [1.0, 1.0]
        assert second(**call) == [0.5, 0.5]
    rows = rows_of(recorder)
    assert len(rows) == recorder.n_rows == 6
    assert all(row["rewards"] == {"one": 1.0, "half": 0.5} and row["reward"] == 1.5 for row in rows)
    assert [row["rollout_index"] for row in rows] == [0, 0, 1, 1, 2, 2]


def test_functions_that_get_copies(tmp_path):
    recorder = RolloutRecorder(tmp_path)
    first, second = recorder.wrap(one), recorder.wrap(half)
    first(**batch())
    second(**batch())
    assert [row["reward"] for row in rows_of(recorder)] == [1.5, 1.5]


def test_a_function_that_never_answers_leaves_its_part_open(tmp_path):
    recorder = RolloutRecorder(tmp_path)
    first, second = recorder.wrap(one), recorder.wrap(half)
    first(**batch())
    call = batch(3)
    first(**call)
    second(**call)
    rows = rows_of(recorder)
    assert [(row["rewards"], row["reward"], row["judge_status"]) for row in rows] == [
        *[({"one": 1.0}, None, "missing_reward")] * 2,
        *[({"one": 1.0, "half": 0.5}, 1.5, "ok")] * 3,
    ]


@pytest.mark.parametrize(
    ("weights", "total"), [([1.0, 0.0], 1.0), ({"half": 2.0}, 1.0), ({"one": 0.0, "half": 0.0}, 0.0), (None, 1.5)]
)
def test_weights(tmp_path, weights, total):
    recorder = RolloutRecorder(tmp_path, weights=weights)
    first, second = recorder.wrap(one), recorder.wrap(half)
    call = batch(1)
    first(**call)
    second(**call)
    assert [row["reward"] for row in rows_of(recorder)] == [total]


def test_weights_for_another_number_of_functions(tmp_path):
    recorder = RolloutRecorder(tmp_path, weights=[1.0, 2.0])
    with pytest.raises(ConfigurationError, match="2 weights for 1"):
        recorder.wrap(one)(**batch())


def test_rewards_of_every_kind(tmp_path):
    import numpy as np

    given = [None, math.nan, math.inf, True, 3, np.float32(0.25), "high", [1]]

    def odd(prompts, completions, **columns):
        return given

    recorder = RolloutRecorder(tmp_path)
    assert recorder.wrap(odd)(**batch(len(given))) is given
    rows = rows_of(recorder)
    assert [row["rewards"]["odd"] for row in rows] == [None, None, None, 1.0, 3.0, 0.25, None, None]
    assert [row["reward"] for row in rows][3:6] == [1.0, 3.0, 0.25]
    assert rows[0]["judge_status"] == "missing_reward"


@pytest.mark.parametrize("answer", [None, 3, [], [1.0]])
def test_an_answer_that_is_no_list_of_rewards_is_the_trainer_s_to_refuse(tmp_path, answer):
    recorder = RolloutRecorder(tmp_path)
    wrapped = recorder.wrap(lambda prompts, completions, **columns: answer, name="odd")
    assert wrapped(**batch(2)) == answer
    assert len(rows_of(recorder)) == 2


def test_async_functions(tmp_path):
    recorder = RolloutRecorder(tmp_path)

    async def slow(prompts, completions, **columns):
        await asyncio.sleep(0.01)
        return [0.25] * len(completions)

    async def quick(prompts, completions, **columns):
        return [0.75] * len(completions)

    wrapped = [recorder.wrap(one), recorder.wrap(slow), recorder.wrap(quick)]
    assert [is_async(f) for f in wrapped] == [False, True, True]

    async def both(call):
        wrapped[0](**call)
        return await asyncio.gather(*(f(**call) for f in wrapped[1:]))

    for step in range(3):
        assert asyncio.run(both(batch(trainer_state=state(step)))) == [[0.25] * 2, [0.75] * 2]
    rows = rows_of(recorder)
    assert [row["step"] for row in rows] == [0, 0, 1, 1, 2, 2]
    assert all(row["rewards"] == {"one": 1.0, "slow": 0.25, "quick": 0.75} for row in rows)


class Callable:
    """A reward with a state of its own."""

    def __init__(self):
        self.weight = 3

    def __call__(self, prompts, completions, **columns):
        return [0.0] * len(completions)


def test_names():
    trl_utils = pytest.importorskip("trl.trainer.utils")
    recorder = RolloutRecorder(".")
    named = Callable()
    named.__name__ = "named"
    for function in (one, functools.partial(half, x=1), Callable(), named):
        wrapped = recorder.wrap(function)
        assert wrapped.__name__ == name_of(function) == trl_utils.get_callable_name(wrapped)
        assert trl_utils.get_callable_name(function) == wrapped.__name__
        assert is_async(function) == trl_utils.is_async_callable(function) == trl_utils.is_async_callable(wrapped)


def test_two_functions_of_one_name(tmp_path):
    recorder = RolloutRecorder(tmp_path)
    wrapped = recorder.wrap(one)
    assert recorder.wrap(one) is wrapped is recorder.wrap(wrapped)
    other = functools.wraps(one)(lambda prompts, completions, **columns: [0.0])
    with pytest.raises(ConfigurationError, match="two reward functions are called 'one'"):
        recorder.wrap(other)
    recorder.wrap(other, name="other")
    with pytest.raises(ConfigurationError, match="reward function is a int"):
        recorder.wrap(3)


def test_what_is_written_beside_the_task(tmp_path):
    columns = {
        "scenario_id": ["sc-1", "sc-2"],
        "faults": [{"get_order": {"kind": "timeout"}}, None],
        "privileged": [{"reference": "42"}] * 2,
        "expected_calls": [[], []],
        "answer": ["42", "43"],
        "category": ["a", "b"],
        "split": ["holdout", "train"],
        "completion_ids": [[1, 2, 3], [4]],
    }
    recorder = RolloutRecorder(tmp_path, keep=("category",))
    recorder.wrap(one)(**batch(2, **columns, trainer_state=state(5)))
    rows = rows_of(recorder)
    assert [(row["phase"], row["split"], row["category"]) for row in rows] == [
        ("eval", "holdout", "a"),
        ("train", "train", "b"),
    ]
    assert rows[0]["faults"] == {"get_order": {"kind": "timeout"}} and rows[1].get("faults") is None
    assert [row["usage"] for row in rows] == [{"completion_tokens": 3}, {"completion_tokens": 1}]
    text = (tmp_path / "rollouts.jsonl").read_text()
    assert "reference" not in text and "expected_calls" not in text and "answer" not in text
    assert validate(rows) == len(rows)


def test_columns_a_row_has_in_any_case(tmp_path):
    with pytest.raises(ConfigurationError, match="reward, step"):
        RolloutRecorder(tmp_path, keep=("step", "reward"))


TOOL_CALL = {"type": "function", "function": {"name": "get_order", "arguments": {"order_id": "A1", "note": None}}}


def test_tool_calls_stay_as_they_were_made(tmp_path):
    """Unlike in a table of structs: a null the model sent is there, one it did not send is not."""
    other = {"type": "function", "function": {"name": "refund", "arguments": {"amount": 3}}}
    completion = [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [TOOL_CALL, other]},
        {"role": "tool", "name": "get_order", "content": '{"status": "sent"}'},
        {"role": "tool", "name": "refund", "content": "error: no"},
        {"role": "assistant", "content": "It is on its way."},
    ]
    prompt = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Where?"}]
    recorder = RolloutRecorder(tmp_path)
    recorder.wrap(one)(prompts=[prompt], completions=[completion])
    (row,) = rows_of(recorder)
    calls = row["messages"][2]["tool_calls"]
    assert [call["function"] for call in calls] == [TOOL_CALL["function"], other["function"]]
    assert [call["id"] for call in calls] == [m["tool_call_id"] for m in row["messages"][3:5]] == ["call_0", "call_1"]
    assert row["steps"] == [
        {"text": "Let me see."},
        {"tool": "get_order", "arguments": {"order_id": "A1", "note": None}, "result": {"status": "sent"}},
        {"tool": "refund", "arguments": {"amount": 3}, "result": "error: no"},
    ]
    assert (row["prompt"], row["final_text"], row["finish_reason"]) == ("Where?", "It is on its way.", "stop")
    assert "id" not in completion[0]["tool_calls"][0]  # the trainer's own messages are left alone
    assert completion[1] == {"role": "tool", "name": "get_order", "content": '{"status": "sent"}'}


@pytest.mark.parametrize(
    "completion",
    [
        [{"role": "assistant", "content": "", "tool_calls": [TOOL_CALL]}],
        [{"role": "assistant", "content": "", "tool_calls": [TOOL_CALL]}, {"role": "tool", "content": "x"}],
        [],
    ],
)
def test_a_completion_without_last_words_was_cut_off(tmp_path, completion):
    recorder = RolloutRecorder(tmp_path)
    recorder.wrap(one)(prompts=["p"], completions=[completion])
    (row,) = rows_of(recorder)
    assert (row["final_text"], row["finish_reason"]) == ("", "length")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["assistant", "tool", "user", "odd"])},
        optional={"content": JSON, "tool_calls": JSON, "name": JSON, "tool_call_id": JSON},
    ),
    max_size=4,
)


@given(st.lists(st.one_of(st.text(), MESSAGES, JSON), min_size=1, max_size=3))
def test_no_completion_is_too_odd(tmp_path_factory, completions):
    recorder = RolloutRecorder(tmp_path_factory.mktemp("odd"))
    recorder.wrap(one)(prompts=["p"] * len(completions), completions=completions)
    assert len(recorder.dataset()) == len(completions)
    recorder.close()


def test_a_rollout_function_s_messages_are_the_row(tmp_path):
    """A conversation with a user is one text to the trainer; what was said rides beside it."""
    recorder = RolloutRecorder(tmp_path)
    call = {"type": "function", "function": {"name": "get-order", "arguments": {"order_id": "A1"}}}
    talk = [
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "A1"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "get-order", "content": '{"status": "sent"}'},
        {"role": "assistant", "content": "Sent."},
    ]
    flat = [[{"role": "assistant", "content": "Which one?<|im_end|>user A1..."}]]
    recorder.wrap(one)(
        prompts=[[{"role": "user", "content": "Where is it?", "task_id": "t"}]],
        completions=flat,
        task_id=["t"],
        trajectory=[talk],
        rollout=[{"rollout_index": 7, "finish_reason": "max_turns", "ended_by": "user", "unheard": 1}],
    )
    (row,) = rows_of(recorder)
    roles = ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert [message["role"] for message in row["messages"]] == roles
    assert row["messages"][0] == {"role": "user", "content": "Where is it?"}
    assert row["final_text"] == "Sent."
    assert {"tool": "get-order", "arguments": {"order_id": "A1"}, "result": {"status": "sent"}} in row["steps"]
    assert (row["finish_reason"], row["ended_by"], row["rollout_index"]) == ("max_turns", "user", 0)
    assert "unheard" not in row
    assert "tool_call_id" not in talk[3]  # nobody else's messages are written to


@pytest.mark.parametrize("odd", ["text", [None], [["not a message"]], [[]], [[], []], [{"role": "user"}]])
def test_columns_that_only_bear_the_name(tmp_path, odd):
    recorder = RolloutRecorder(tmp_path)
    recorder.wrap(one)(prompts=["p"], completions=["c"], trajectory=odd, rollout=odd, environments=odd)
    (row,) = rows_of(recorder)
    assert (row["final_text"], row["finish_reason"]) == ("c", "stop")


def test_tools_of_an_environment_bear_their_own_names(tmp_path):
    environment = EnvironmentFactory((Tool("get-order"),))()
    call = {"type": "function", "function": {"name": "get_order", "arguments": {}}}
    said = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "get_order", "content": "{}"},
        {"role": "assistant", "content": "Sent."},
    ]
    recorder = RolloutRecorder(tmp_path)
    recorder.wrap(one)(prompts=["p", "p"], completions=[said, "c"], environments=[environment, None])
    row, other = rows_of(recorder)
    assert row["steps"] == [{"tool": "get-order", "arguments": {}, "result": {}}]
    assert row["messages"][2]["name"] == "get-order"
    assert other["final_text"] == "c"


def test_calls_that_are_none():
    assert steps_of(said([{"role": "assistant", "tool_calls": True, "content": "Sent."}]))[:2] == ([], "Sent.")


def test_content_blocks_and_users():
    steps, last, ended = steps_of(
        said(
            [
                {"role": "assistant", "content": [{"type": "text", "text": "Which one?"}]},
                {"role": "user", "content": "A1"},
                {"role": "assistant", "content": [{"type": "text", "text": "Sent."}, {"type": "image"}]},
            ]
        )
    )
    assert (steps, last, ended) == ([{"text": "Which one?"}, {"user": "A1"}], "Sent.", True)


def test_a_restart_takes_back_what_came_after_its_checkpoint(tmp_path):
    def attempt(steps, evaluated):
        """One process: another recorder, another trainer state."""
        recorder = RolloutRecorder(tmp_path)
        reward, training = recorder.wrap(one), state(0)
        for step in steps:
            training.global_step = step
            reward(**batch(1, split=["train"], trainer_state=training))
            training.global_step = step + 1
            if step + 1 in evaluated:
                reward(**batch(1, split=["eval"], trainer_state=training))
        recorder.close()
        return recorder

    attempt([0, 1, 2, 3, 4], {2, 4})
    before = rows_of(RolloutRecorder(tmp_path))
    recorder = attempt([3, 4, 5], {4, 6})  # from the checkpoint of step 3
    rows = rows_of(recorder)
    assert [row["step"] for row in rows if row["phase"] == "train"] == [0, 1, 2, 3, 4, 5]
    assert [row["step"] for row in rows if row["phase"] == "eval"] == [2, 4, 6]
    assert len(before) == 7
    assert [row["step"] for row in recorder.latest(100)] == [3, 4, 4, 5, 6]
    # From the checkpoint of step 4, whose evaluation had been made before it was saved.
    rows = rows_of(attempt([4, 5], {6}))
    assert [row["step"] for row in rows if row["phase"] == "eval"] == [2, 4, 6]
    assert [row["step"] for row in rows if row["phase"] == "train"] == [0, 1, 2, 3, 4, 5]


def test_a_restart_that_evaluates_first_does_not_count_twice(tmp_path):
    """As under a monitor: every attempt evaluates before its first step, the one from a checkpoint too."""

    def attempt(steps):
        recorder = RolloutRecorder(tmp_path)
        reward, training = recorder.wrap(one), state(steps[0])
        for step in steps:
            training.global_step = step
            if step % 2 == 0:
                for _ in range(2):
                    reward(**batch(1, split=["eval"], trainer_state=training))
            reward(**batch(1, split=["train"], trainer_state=training))
        recorder.close()
        return rows_of(recorder)

    attempt([0, 1, 2, 3])
    rows = attempt([2, 3, 4])
    assert [row["step"] for row in rows if row["phase"] == "eval"] == [0, 0, 2, 2, 4, 4]
    assert [row["step"] for row in rows if row["phase"] == "train"] == [0, 1, 2, 3, 4]


def test_an_evaluation_before_training_takes_nothing_back(tmp_path):
    recorder = RolloutRecorder(tmp_path)
    recorder.wrap(one)(**batch(1, split=["train"], trainer_state=state(7)))
    recorder.close()
    again = RolloutRecorder(tmp_path)
    again.wrap(one)(**batch(1, split=["eval"], trainer_state=state(0)))
    assert len(rows_of(again)) == 2


def test_killed_while_recording(tmp_path):
    program = (
        "import sys, types\n"
        "from whileai_hf.training.recorder import RolloutRecorder\n"
        "recorder = RolloutRecorder(sys.argv[1])\n"
        "def reward(prompts, completions, **columns): return [1.0] * len(completions)\n"
        "reward = recorder.wrap(reward)\n"
        "state = types.SimpleNamespace(global_step=0)\n"
        "while True:\n"
        "    reward(prompts=['p'] * 4, completions=['c' * 5000] * 4, trainer_state=state)\n"
        "    state.global_step += 1\n"
        "    print(state.global_step, flush=True)\n"
    )
    child = ForkedPopen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    for _ in range(100):
        child.stdout.readline()
    child.kill()
    seen = 100 + sum(line.endswith("\n") for line in child.stdout)
    child.wait()
    recorder = RolloutRecorder(tmp_path)
    steps = [row["step"] for row in rows_of(recorder)]
    assert steps[: 4 * seen] == [step for step in range(seen) for _ in range(4)]
    assert len(steps) - 4 * seen in range(5)
    recorder.wrap(one)(**batch(1, trainer_state=state(seen)))  # goes on behind a torn line
    assert rows_of(recorder)[-1]["step"] == seen


def test_several_processes_are_one_record(tmp_path, monkeypatch):
    for rank in (0, 1):
        monkeypatch.setenv("RANK", str(rank))
        recorder = RolloutRecorder(tmp_path)
        reward, training = recorder.wrap(one), state(0)
        for step in range(3):
            training.global_step = step
            reward(prompts=["p"], completions=[f"of {rank}"], trainer_state=training)
        recorder.close()
    rows = rows_of(RolloutRecorder(tmp_path))
    assert [(row["step"], row["final_text"]) for row in rows] == [
        (step, f"of {rank}") for step in range(3) for rank in (0, 1)
    ]
    assert pass_at(rows).n_duplicates == 0


def test_the_latest_rows_beyond_memory(tmp_path):
    recorder = RolloutRecorder(tmp_path)
    reward, training = recorder.wrap(one), state(0)
    for step in range(30):
        training.global_step = step
        reward(prompts=["p"] * 50, completions=["c"] * 50, trainer_state=training)
    assert [row["step"] for row in recorder.latest(1200)] == [row["step"] for row in rows_of(recorder)[-1200:]]
    assert len(recorder.latest(5000)) == 1500
    assert recorder.latest(3, "eval") == []
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(ConfigurationError):
            recorder.latest(wrong)
    with pytest.raises(ConfigurationError, match="train, eval"):
        recorder.latest(3, "holdout")


def test_columns_whose_type_shows_late(tmp_path):
    recorder = RolloutRecorder(tmp_path, keep=("level",))
    reward = recorder.wrap(one)
    for task, level in [*[(n, None) for n in range(2100)], ("a-task", 0.5)]:
        reward(**batch(1, task_id=[task], level=[level]))
    data = recorder.dataset()
    assert len(data) == 2101
    rows = list(view(data).rows())
    assert (rows[0]["task_id"], rows[-1]["task_id"], rows[-1]["level"]) == ("0", "a-task", 0.5)


def test_nothing_recorded_yet(tmp_path):
    recorder = RolloutRecorder(tmp_path / "not there")
    assert len(recorder.dataset()) == 0 and recorder.latest(3) == []
    assert {"messages", "reward", "rewards", "step", "phase"} <= set(recorder.dataset().column_names)


def test_with_a_run(store):
    run = training_run("recorded", base_model="tiny")
    recorder = RolloutRecorder(run)
    recorder.wrap(one)(**batch(1, trainer_state=state(3)))
    (row,) = rows_of(recorder)
    assert (row["run_id"], row["policy_version"], row["model_version"]) == (run.id, f"{run.id}@3", "tiny")
    assert (folder_of(run.id) / "rollouts.jsonl").exists()
    run.folder.joinpath("rollouts.jsonl").unlink()
    run.folder = store  # the run turned out to be an earlier one
    recorder.wrap(one)(**batch(1, trainer_state=state(4)))
    assert json.loads((store / "rollouts.jsonl").read_text().splitlines()[0])["step"] == 4


def test_a_full_disk_ends_no_training(tmp_path, monkeypatch, caplog):
    recorder = RolloutRecorder(tmp_path / "file")
    (tmp_path / "file").write_text("in the way")
    for step in range(3):
        assert recorder.wrap(one)(**batch(1, trainer_state=state(step))) == [1.0]
    assert caplog.text.count("not recorded any more") == 1


def test_a_row_costs_little(tmp_path):
    """A batch of 64 conversations of 4 KB, two functions: our own time a row, in a machine's worst minute."""
    recorder = RolloutRecorder(tmp_path)
    first, second = recorder.wrap(one), recorder.wrap(half)
    prompt = [{"role": "system", "content": "x" * 2000}, {"role": "user", "content": "y" * 500}]
    completion = [
        {"role": "assistant", "content": "", "tool_calls": [TOOL_CALL]},
        {"role": "tool", "name": "get_order", "content": json.dumps({"status": "z" * 500})},
        {"role": "assistant", "content": "w" * 1000},
    ]
    for step in range(10):
        call = {"prompts": [prompt] * 64, "completions": [completion] * 64, "trainer_state": state(step)}
        first(**call)
        second(**call)
    assert recorder.seconds / recorder.n_rows < 2e-3
