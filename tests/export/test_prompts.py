import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import DataError
from whileai_hf.export import export_report, to_trl
from whileai_hf.export.formats import TAKEN, grpo_features
from whileai_hf.rows import to_dataset


def test_rollouts_of_a_prompt_collapse(rollouts, tools):
    data = to_trl(to_dataset(rollouts), "grpo")
    assert len(data) == 3
    assert data[1] == {
        "prompt": rollouts[4]["messages"][:2],
        "tools": tools,
        "prompt_text": "Where is order ORD-1041?",
        "task_id": "sc-0000000001",
        "scenario_id": "sc-0000000001",
        "world_state": "ordinary",
        "faults": rollouts[4]["faults"],
        "scenario_dimensions": {"tool": "get_order", "tool_condition": "success"},
        "seed": 1,
        "pass_rate": 0.5,
        "n_rollouts": 4,
        "n_judged": 4,
        "answer": "answer to 1",
    }
    report = export_report(data)
    assert (report.n_input, report.n_rows, report.collapsed, report.n_left_out) == (12, 3, 9, 0)
    assert report.columns_dropped == ["latency_ms"]  # differs between rollouts of a prompt, so it is not the task's


def test_list_and_dataset_give_the_same(rollouts):
    assert to_trl(rollouts, "grpo").to_list() == to_trl(to_dataset(rollouts), "grpo").to_list()


def test_a_number_beyond_the_column_is_text():
    made = to_trl([{"prompt": "q", "seed": 1 << 127}, {"prompt": "r", "seed": 5}], "grpo")
    assert made["seed"][:] == [str(1 << 127), "5"]


def test_columns_are_always_the_same(rollouts):
    bare = to_trl([{"prompt": "q"}], "grpo")
    assert bare.features == grpo_features()
    assert dict(list(to_trl(rollouts, "grpo").features.items())[: len(bare.features)]) == bare.features
    assert bare[0]["pass_rate"] is None
    assert bare[0]["n_rollouts"] == 1
    assert bare[0]["n_judged"] == 0
    assert not set(bare.column_names) & (TAKEN - {"prompt", "tools"})


def test_columns_trl_fills_itself_are_gone(rollouts):
    poison = dict.fromkeys(TAKEN - {"messages", "prompt", "tools"}, "x")
    data = to_trl([{**row, **poison} for row in rollouts], "grpo")
    assert not set(data.column_names) & (TAKEN - {"prompt", "tools"})
    assert set(poison) <= set(export_report(data).columns_dropped)


def test_unjudged_rollouts_are_not_failures(rollouts):
    for row, reward in zip(rollouts, [1.0, None, math.nan, 0.0] + [None] * 4 + [True, "1", 0.5, 1.0], strict=True):
        row["reward"] = reward
    data = to_trl(rollouts, "grpo")
    assert data["pass_rate"][:] == [0.5, None, pytest.approx(2 / 3)]
    assert data["n_judged"][:] == [2, 0, 3]
    assert data["n_rollouts"][:] == [4, 4, 4]


def test_failed_rollouts_still_ask(rollouts):
    for row in rollouts[:4]:
        row.update(rollout_status="error", messages=row["messages"][:2], final_text="", reward=None)
    assert to_trl(rollouts, "grpo")[0]["prompt"] == rollouts[0]["messages"][:2]


def test_one_prompt_of_two_tasks_and_two_prompts_of_one(rollouts):
    rows = [
        {"prompt": "p", "task_id": 0},
        {"prompt": "p", "task_id": 1},
        {"prompt": "p2", "task_id": 0},
        {"prompt": "p", "task_id": 0},
    ]
    data = to_trl(rows, "grpo")
    assert [(row["task_id"], row["prompt_text"]) for row in data.to_list()] == [("0", "p"), ("1", "p"), ("0", "p2")]


def test_rows_without_a_prompt_column_ask_what_their_user_said_first():
    rows = [
        {"messages": [{"role": "user", "content": ask}, {"role": "assistant", "content": answer}]}
        for ask, answer in (("p", "a"), ("q", "b"), ("p", "c"))
    ]
    data = to_trl(rows, "grpo")
    assert data["prompt_text"][:] == data["task_id"][:] == ["p", "q"]
    assert data["n_rollouts"][:] == [2, 1]


def test_an_agent_that_speaks_first_does_not_hide_the_ask():
    messages = [{"role": "system", "content": "S"}, {"role": "assistant", "content": "Hello!"}]
    data = to_trl([{"prompt": "q", "messages": messages}], "grpo")
    assert data[0]["prompt"] == [{"role": "system", "content": "S"}, {"role": "user", "content": "q"}]


def test_arguments_replace_prompt_and_tools(rollouts, tools):
    data = to_trl(rollouts, "grpo", tools=[tools[1]], system_prompt="New.")
    assert data[2]["tools"] == [tools[1]]
    assert data[2]["prompt"][0] == {"role": "system", "content": "New."}
    assert "tools column" in export_report(data).notes[0]
    assert to_trl(rollouts, "grpo", tools=[], system_prompt="")[0]["prompt"] == [rollouts[0]["messages"][1]]


def test_rows_that_ask_nothing_are_left_out():
    data = to_trl([{"prompt": None}, {"prompt": None}, {"prompt": "q"}], "grpo")
    report = export_report(data)
    assert data["prompt_text"][:] == ["q"]
    assert report.left_out["no_conversation"] == 2
    assert report.n_input == report.n_rows + report.collapsed + report.n_left_out
    with pytest.raises(DataError, match="no readable conversation"):
        to_trl([{"prompt": None}], "grpo")


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from([None, 0.0, 0.5, 1.0])),
        min_size=1,
        max_size=30,
    )
)
def test_groups_add_up(cells):
    rows = [{"task_id": task, "prompt": prompt, "reward": reward} for task, prompt, reward in cells]
    data = to_trl(rows, "grpo").to_list()
    assert len(data) == len({(task, prompt) for task, prompt, _ in cells})
    assert sum(row["n_rollouts"] for row in data) == len(cells)
    for row in data:
        rewards = [r for task, prompt, r in cells if (str(task), prompt) == (row["task_id"], row["prompt_text"])]
        judged = [reward for reward in rewards if reward is not None]
        assert row["n_judged"] == len(judged)
        assert row["pass_rate"] == (sum(r == 1.0 for r in judged) / len(judged) if judged else None)
