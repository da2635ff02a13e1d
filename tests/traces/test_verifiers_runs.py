"""Runs of verifiers: one that verifiers 0.4 wrote (`data`), and episodes of that shape."""

import copy
import shutil
from pathlib import Path

import pytest

from whileai_hf.errors import DataError, SourceNotFoundError
from whileai_hf.rows import dumps, loads, view
from whileai_hf.traces import read_verifiers_run
from whileai_hf.traces.verifiers_runs import load_verifiers_run


RUN = Path(__file__).parent / "data" / "traces.jsonl"


@pytest.fixture
def episode():
    return loads(RUN.read_text().splitlines()[0])


def test_a_run_verifiers_wrote():
    rows = list(view(read_verifiers_run(RUN)).rows())
    raw = [loads(line) for line in RUN.read_text().splitlines()]
    assert [row["task_id"] for row in rows] == [one["task"]["key"] for one in raw]
    assert [row["reward"] for row in rows] == [one["traces"][0]["rewards"]["reward"]["score"] for one in raw]
    first = rows[0]
    assert first["prompt"] == "Order A102 arrived broken. Please refund it."
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    function = first["messages"][2]["tool_calls"][0]["function"]
    assert function == {"name": "lookup_order", "arguments": {"order_id": "A102"}}
    assert first["final_text"] == "Order A102 has been refunded."
    assert {tool["function"]["name"] for tool in first["tools"]} == {"lookup_order", "refund_order"}
    assert first["markers"]["faults_hit"] == 1.0
    assert (first["model_version"], first["judge_status"], first["rollout_status"]) == ("mixed", "ok", "ok")
    assert load_verifiers_run(RUN).reward_weights == {"reward": 1.0}


def test_the_answer_key_stays_behind(episode):
    secret = "the-answer-key"
    for task in (episode["task"], episode["traces"][0]["task"]):
        task["data"] |= {"answer": secret, "info": {"privileged": {"reference": secret}}, "description": secret}
    trace = episode["traces"][0]
    trace["info"] = {"judge_calls": [secret]}
    trace["state"] = {"world": secret}
    trace["ok"], trace["errors"] = False, [{"type": "TaskError", "message": secret, "traceback": secret}]
    rows = list(view(read_verifiers_run([episode])).rows())
    assert secret not in dumps(rows).decode()
    assert rows[0]["error"] == "TaskError"


def test_rewards_add_up_with_their_weights(episode):
    trace = episode["traces"][0]
    trace["rewards"] = {"right": {"score": 1.0, "weight": 2.0}, "long": {"score": 3.0, "weight": -0.5}}
    loaded = load_verifiers_run([episode])
    assert loaded.rows.column("reward") == [0.5]
    assert loaded.rows.column("rewards") == [{"right": 1.0, "long": 3.0}]
    assert loaded.reward_weights == {"right": 2.0, "long": -0.5}


def test_a_function_that_failed_leaves_no_verdict(episode):
    episode["traces"][0]["rewards"]["more"] = None
    assert load_verifiers_run([episode]).rows.column("reward") == [None]


@pytest.mark.parametrize("change", [{"ok": False}, {"rewards": {}}, {"ok": False, "is_timeout": True}])
def test_a_trace_that_failed_has_no_reward(episode, change):
    episode["traces"][0] |= change
    rows = load_verifiers_run([episode]).rows
    assert rows.column("reward") == [None]
    assert rows.column("judge_status") == ["missing_reward"]


def test_an_episode_without_a_trace_is_counted(episode):
    episode |= {"traces": [], "ok": False, "errors": [{"type": "ProviderError", "message": "m"}]}
    row = next(iter(load_verifiers_run([episode]).rows.rows()))
    assert (row["task_id"], row["reward"], row["error"]) == ("holdout-1", None, "ProviderError")
    assert row["prompt"].startswith("Order A102")


def test_the_last_branch_is_the_conversation(episode):
    nodes = episode["traces"][0]["nodes"]
    nodes.append({"parent": 1, "message": {"role": "assistant", "content": "Another way."}, "sampled": True})
    row = next(iter(load_verifiers_run([episode]).rows.rows()))
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
    assert row["final_text"] == "Another way."


def test_a_graph_that_goes_in_circles_ends(episode):
    nodes = episode["traces"][0]["nodes"]
    nodes[0]["parent"] = 1
    assert len(load_verifiers_run([episode]).rows) == 1


def test_agents_that_are_scored_are_rows_of_their_own(episode):
    other = copy.deepcopy(episode["traces"][0])
    other["agent"]["name"] = "checker"
    judge = copy.deepcopy(other)
    judge["rewards"] = {}
    episode["traces"] += [other, judge]
    rows = load_verifiers_run([episode, episode]).rows
    assert rows.column("task_id") == ["holdout-1/agent", "holdout-1/checker"] * 2
    assert rows.column("rollout_index") == [0, 0, 1, 1]


def test_limits_are_told_from_ends(episode):
    cut = copy.deepcopy(episode)
    cut["traces"][0]["stop_condition"] = "max_turns"
    long = copy.deepcopy(episode)
    long["traces"][0]["calls"][-1]["finish_reason"] = "length"
    assert load_verifiers_run([episode, cut, long]).rows.column("finish_reason") == ["stop", "length", "length"]


def test_steps_and_logprobs_of_a_trainer(episode):
    episode["run"] = {"type": "train", "id": "r", "work": {"type": "train", "step": 7}}
    episode["traces"][0]["nodes"][-1]["logprobs"] = [-0.5, -0.25]
    row = next(iter(load_verifiers_run([episode]).rows.rows()))
    assert (row["training_step"], row["token_logprobs"]) == (7, [-0.5, -0.25])


def test_folders(tmp_path):
    (tmp_path / "runs" / "one").mkdir(parents=True)
    with pytest.raises(SourceNotFoundError, match="holds 0 runs"):
        read_verifiers_run(tmp_path)
    shutil.copy(RUN, tmp_path / "runs" / "one" / "traces.jsonl")
    assert read_verifiers_run(tmp_path / "runs" / "one").num_rows == 4
    assert read_verifiers_run(tmp_path).num_rows == 4
    (tmp_path / "runs" / "two").mkdir()
    shutil.copy(RUN, tmp_path / "runs" / "two" / "traces.jsonl")
    with pytest.raises(SourceNotFoundError, match="holds 2 runs"):
        read_verifiers_run(tmp_path)


@pytest.mark.parametrize("row", [{"prompt": "x"}, {"task": {}, "traces": "none"}, {"task": None, "traces": []}])
def test_other_lines_are_refused(row):
    with pytest.raises(DataError, match="episode 1 has no list of traces"):
        read_verifiers_run([row])


@pytest.mark.parametrize("odd", [None, 3, "text", [], [None], {"nodes": None}, {"nodes": [None, {"message": 3}]}])
def test_odd_traces_are_rows_all_the_same(odd, episode):
    episode["traces"] = [odd]
    assert load_verifiers_run([episode]).rows.column("reward") == [None]
