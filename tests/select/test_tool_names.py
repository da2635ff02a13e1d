"""Tools have parameters that are called like what only a judge may see; what a judge may see is in JSON text, too."""

import copy
import json

import pytest
from datasets import Dataset, load_dataset

from whileai_hf.rows import to_dataset
from whileai_hf.select import build_preference_pairs, optimize


SECRET = "A right agent refunds it at once."
ARGUMENTS = {"image": "db", "privileged": True, "vector": [0.5, 1.0]}
PROPERTIES = {"image": {"type": "string"}, "privileged": {"type": "boolean"}, "vector": {"type": "array"}}
PARAMETERS = {"type": "object", "properties": PROPERTIES}
TOOLS = [{"type": "function", "function": {"name": "start", "description": "", "parameters": PARAMETERS}}]
SOURCES = {"list": list, "rows": to_dataset, "structs": Dataset.from_list}


def rollout(ask, index, result):
    function = {"name": "start", "arguments": {**ARGUMENTS, "image": f"db{index}"}}
    messages = [
        {"role": "system", "content": "Privileged data stays here; expected_calls: none."},
        {"role": "user", "content": ask},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "content": result, "tool_call_id": "c"},
        {"role": "assistant", "content": f"done {index}"},
    ]
    step = {"tool": "start", "arguments": function["arguments"], "result": result}
    answer = {"final_text": f"done {index}", "reward": float(index % 2)}
    return {"prompt": ask, "messages": messages, "steps": [step], "tools": TOOLS, **answer}


def rollouts(result):
    return [rollout(ask, index, result) for ask in ("one", "two") for index in range(4)]


def calls(row, columns=("messages",)):
    messages = [message for name in columns for message in row[name]]
    return [call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or []]


@pytest.mark.parametrize("source", SOURCES)
def test_calls_and_schemas_stay_as_the_agent_saw_them(source):
    given = rollouts('{"privileged": true, "vector": [1]}')
    before = copy.deepcopy(given)
    kept, report = optimize(SOURCES[source](given))
    assert len(kept) == 8
    assert not any("privileged" in warning for warning in report.warnings)
    for row in kept:
        assert [{**arguments, "image": "db"} for arguments in calls(row)] == [ARGUMENTS]
        assert row["steps"][0]["arguments"] == calls(row)[0]
        assert row["tools"] == TOOLS
        assert json.loads(row["messages"][3]["content"]) == {"privileged": True, "vector": [1]}
    pairs, _ = build_preference_pairs(SOURCES[source](given))
    assert len(pairs) == 2
    for row in pairs:
        assert [{**found, "image": "db"} for found in calls(row, ("chosen", "rejected"))] == [ARGUMENTS] * 2
        assert row["tools"] == TOOLS
    assert given == before


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("block", [{"privileged": {"reference": SECRET}}, {"a": [{"expected_calls": [SECRET]}]}])
def test_a_block_in_the_json_text_of_a_result_goes(source, block):
    twice = json.dumps({"body": json.dumps({"id": 1, **block})})
    for result in (json.dumps({"id": 1, **block}), twice):
        kept, _ = optimize(SOURCES[source](rollouts(result)))
        assert len(kept) == 8
        assert SECRET not in json.dumps(kept.to_list())
        assert '"id' in json.dumps(kept[0]["messages"][3]).replace("\\", "")
        assert SECRET not in json.dumps(build_preference_pairs(SOURCES[source](rollouts(result)))[0].to_list())


def test_a_block_among_the_arguments_of_a_call_goes():
    given = rollouts("ok")
    for row in given:
        row["messages"][2]["tool_calls"][0]["function"]["arguments"]["privileged"] = {"reference": SECRET}
        row["steps"][0]["arguments"]["expected_calls"] = SECRET
        row["tools"] = [{**TOOLS[0], "privileged": SECRET}]
    kept, _ = optimize(given)
    assert SECRET not in json.dumps(kept.to_list())
    assert kept[0]["tools"] == TOOLS


def test_structs_with_json_in_them_are_neither_rewritten_nor_called_secret(tmp_path):
    mixed = {**PARAMETERS, "properties": {**PROPERTIES, "image": {"type": ["string", "null"]}}}
    tools = [TOOLS[0], {"type": "function", "function": {"name": "stop", "description": "", "parameters": mixed}}]
    rows = [{**row, "tools": tools} for row in rollouts("ok")]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert "Json" in str(given.features["tools"])
    kept, report = optimize(given)
    assert kept.features["tools"] == given.features["tools"]
    assert kept[0]["tools"] == tools
    assert not any("tools" in warning for warning in [*report.warnings, *report.notes])
    pairs, _ = build_preference_pairs(given)
    assert pairs[0]["tools"] == tools
