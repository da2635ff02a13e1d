"""Recorded rollouts read back: what a judge sees of them, and what is left in the record."""

import asyncio
import copy
import json

import pytest

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export.environment import load_environment
from whileai_hf.export.package import load_package
from whileai_hf.export.package.tasks import agent_said
from whileai_hf.export.verifiers import evaluate, from_traces
from whileai_hf.export.verifiers.gold import gold_passes, played_again
from whileai_hf.export.verifiers.judging import path_of, rollout_row
from whileai_hf.export.verifiers.memory import as_package
from whileai_hf.export.verifiers.tasks import data_of
from whileai_hf.score.conduct import task_checklist
from whileai_hf.traces import read_verifiers_run


@pytest.fixture(scope="module")
def datas(package):
    opened = load_package(package)
    return {line["scenario_id"]: data_of(opened, line) for line in opened.lines("holdout")}


def recorded(row, data, reward=1.0):
    """The episode verifiers would write of a rollout."""
    nodes = []
    for message in row["messages"]:
        made = dict(message)
        if "tool_calls" in made:
            made["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "name": call["function"]["name"],
                    "arguments": call["function"]["arguments"].get("malformed")
                    or json.dumps(call["function"]["arguments"]),
                }
                for call in made["tool_calls"]
            ]
        nodes.append({"message": made, **({"parent": len(nodes) - 1} if nodes else {})})
    tail = []
    while nodes[-1]["message"]["role"] == "tool":  # results that no request carried
        tail.insert(0, nodes.pop()["message"])
    trace = {
        "nodes": nodes,
        "info": {"whileai_hf": {"tail": tail, "judgment": {"markers": row["markers"], "reason": row["reason"]}}},
        "rewards": {"reward": {"score": reward, "weight": 1.0}},
        "ok": True,
    }
    return {"task": {"key": row["scenario_id"], "data": data}, "traces": [trace], "ok": True}


def test_rows_are_read_back(simulated, datas):
    episodes = [recorded(row, datas[row["scenario_id"]], row["reward"]) for row in simulated]
    rows = list(from_traces(episodes))
    for row, twin in zip(rows, simulated, strict=True):
        for name in (
            "prompt",
            "messages",
            "steps",
            "final_text",
            "finish_reason",
            "state_digest",
            "faults_fired",
            "tools",
        ):
            assert row[name] == twin[name], name
        assert (row["reward"], row["markers"], row["reason"]) == (twin["reward"], twin["markers"], twin["reason"])
        assert row["judge_status"] == "ok"
    assert [row["rollout_index"] for row in rows] == [row["rollout_index"] for row in simulated]


def test_the_key_stays_in_the_record(simulated, datas, secrets):
    episodes = [recorded(row, datas[row["scenario_id"]]) for row in simulated]
    assert any(secret in json.dumps(episodes) for secret in secrets)
    text = json.dumps(list(from_traces(episodes)))
    assert not [secret for secret in secrets if secret in text] and '"privileged"' not in text


def test_a_judge_sees_the_key(simulated, datas):
    row = simulated[0]
    data = datas[row["scenario_id"]]
    seen = rollout_row(data, recorded(row, data)["traces"][0])
    assert seen["privileged"] == data["info"]["privileged"]
    assert "gold" not in seen and "calibration" not in seen


def test_failed_rollouts_have_no_reward(simulated, datas):
    episode = recorded(simulated[0], datas[simulated[0]["scenario_id"]])
    failed = copy.deepcopy(episode)
    failed["ok"] = failed["traces"][0]["ok"] = False
    failed["traces"][0]["errors"] = [{"type": "ProviderError", "message": "sk-secret was refused"}]
    failed["traces"][0]["rewards"] = {"reward": None}
    lost = {**copy.deepcopy(episode), "ok": False, "traces": [], "errors": [{"type": "EnvError", "message": "x"}]}
    first, second, third = from_traces([episode, failed, lost])
    assert (first["rollout_status"], first["reward"]) == ("ok", 1.0)
    assert (second["rollout_status"], second["error"], second["reward"]) == ("error", "ProviderError", None)
    assert (third["rollout_status"], third["error"], third["reward"]) == ("error", "EnvError", None)
    assert "sk-secret" not in json.dumps([first, second, third])


def test_runs_of_others(simulated, datas):
    data = {"idx": 0, "prompt": "2+2?", "answer": "4"}
    nodes = [
        {"message": {"role": "user", "content": "2+2?"}},
        {"parent": 0, "message": {"role": "assistant", "content": "4"}, "sampled": True},
    ]
    trace = {"nodes": nodes, "rewards": {"right": {"score": 1.0, "weight": 2.0}}, "ok": True}
    other = {"task": {"key": "sum", "data": data}, "traces": [trace], "ok": True}
    assert list(from_traces([other])) == list(read_verifiers_run([other]))
    mixed = from_traces([other, recorded(simulated[0], datas[simulated[0]["scenario_id"]])])
    assert mixed["reward"] == [2.0, 1.0] and mixed["task_id"] == ["sum", simulated[0]["scenario_id"]]
    with pytest.raises(DataError, match="no run of verifiers"):
        from_traces([{"prompt": "2+2?"}])


@pytest.mark.parametrize(
    ("parents", "path"),
    [([], []), ([None], [0]), ([None, 0, 0], [0, 2]), ([1, 0], []), ([None, 0, 1, 99], [3]), ([0], [])],
)
def test_walks_end(parents, path):
    assert path_of([{"parent": parent} for parent in parents])[-2:] == path


def test_gold_is_played_again(datas, simulated):
    for row in simulated:
        data = copy.deepcopy(datas[row["scenario_id"]])
        said = agent_said(row["messages"])
        assert played_again(data, said) == row["messages"][2:]
        data["info"]["gold"] = said
        assert asyncio.run(gold_passes(data, task_checklist)) is (row["reward"] >= 1.0)


def test_without_gold_nothing_is_said_against_a_task(datas):
    for data in datas.values():
        assert asyncio.run(gold_passes(data, lambda row: 0.0)) is None


def test_an_environment_that_was_never_written(tasks, held_out, scripted):
    spec = load_environment(
        tasks,
        tools=scripted[2],
        system_prompt="Be kind.",
        reward=lambda row: {"reward": len(row["steps"])},
        max_turns=3,
    )
    package = as_package(spec)
    assert package.reward()({"steps": [1, 2]}) == {"reward": 2}
    assert (package.max_turns, package.agent.system_prompt) == (3, "Be kind.")
    assert [line["prompt"] for line in package.lines("train")] == tasks["prompt"]
    with pytest.raises(ConfigurationError, match="one judge of rows"):
        as_package(load_environment(tasks, tools=scripted[2], reward=[task_checklist, lambda row: 1.0]))


def test_evaluating_asks_for_what_it_needs(package):
    for knobs in ({"n": 0}, {"k": 0}, {"k": True}, {"split": "dev"}, {"concurrency": 0}, {"slit": "train"}):
        with pytest.raises(ConfigurationError):
            evaluate(package, lambda messages, tools: "Hi", **knobs)
    try:
        import verifiers.v1  # noqa: F401
    except ImportError:
        with pytest.raises(ConfigurationError, match=r"verifiers>=0\.4"):
            evaluate(package, lambda messages, tools: "Hi")


def test_a_split_without_tasks(tasks, scripted):
    with pytest.raises(ConfigurationError, match="no tasks in split='holdout'; pass split='train'"):
        evaluate(load_environment(tasks, tools=scripted[2]), lambda messages, tools: "Hi")


def test_from_traces_reads_files(simulated, datas, tmp_path):
    lines = [json.dumps(recorded(row, datas[row["scenario_id"]])) for row in simulated]
    (tmp_path / "traces.jsonl").write_text("\n".join(lines) + "\n")
    assert list(from_traces(tmp_path)) == list(from_traces(tmp_path / "traces.jsonl"))
    assert len(wai.pass_at(from_traces(tmp_path)).to_dict()) > 0
