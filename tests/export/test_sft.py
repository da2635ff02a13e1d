import logging

import pytest
from datasets import Dataset

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export import export_report, to_trl
from whileai_hf.export.formats import TAKEN, sft_features
from whileai_hf.rows import canonical, to_dataset


def roles(messages):
    return " ".join(message["role"] for message in messages)


def one(messages, **columns):
    """The exported messages of a single row."""
    return to_trl([{"prompt": "q", "messages": messages, **columns}], "sft")[0]["messages"]


def with_call(tool_call, tools=None):
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [tool_call]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "assistant", "content": "answer"},
    ]
    return {"prompt": "q", "messages": messages, "tools": tools}


def test_columns_are_always_the_same(rollouts):
    bare = to_trl([{"prompt": "q", "final_text": "a"}], "sft")
    assert bare.features == to_trl(rollouts, "sft").features == sft_features()
    assert not set(bare.column_names) & (TAKEN - {"messages", "tools"})


def test_a_row_of_a_run(rollouts, tools):
    row = to_trl(to_dataset(rollouts), "sft")[1]
    assert row == {
        "messages": rollouts[1]["messages"],
        "tools": tools,
        "prompt_text": "Where is order ORD-1040?",
        "task_id": "sc-0000000000",
        "scenario_id": "sc-0000000000",
        "run_id": "run-1",
        "reward": 0.0,
    }


def test_list_dataset_and_file_give_the_same(rollouts, tmp_path):
    data = to_dataset(rollouts)
    data.to_json(tmp_path / "rows.jsonl")
    data.to_parquet(tmp_path / "rows.parquet")
    expected = to_trl(rollouts, "sft").to_list()
    assert to_trl(data, "sft").to_list() == expected
    assert to_trl(tmp_path / "rows.jsonl", "sft").to_list() == expected
    assert to_trl(str(tmp_path / "rows.parquet"), "sft").to_list() == expected
    shuffled = to_trl(data.select([5, 0, 3]), "sft").to_list()
    assert shuffled == [expected[5], expected[0], expected[3]]


def test_columns_trainers_misread_are_gone(rollouts):
    poison = dict.fromkeys(TAKEN - {"messages", "prompt", "tools"}, "x")
    data = to_trl([{**row, **poison} for row in rollouts], "sft")
    assert set(data.column_names) == set(sft_features())
    assert set(export_report(data).columns_dropped) == {*poison, "answer", "latency_ms"}


@pytest.mark.parametrize(
    "arguments", [{"k": 1}, '{"k":1}', '"{\\"k\\": 1}"'], ids=["dict", "json text", "json text twice"]
)
@pytest.mark.parametrize("flat", [False, True])
def test_arguments_become_dicts(arguments, flat):
    inner = {"name": "f", "arguments": arguments}
    messages = to_trl([with_call({"id": "c1", **(inner if flat else {"type": "function", "function": inner})})], "sft")
    assert messages[0]["messages"][1] == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"k": 1}}}],
    }


@pytest.mark.parametrize("arguments", ["", None, "{}", "null"])
def test_no_arguments_is_an_empty_dict(arguments):
    row = with_call({"function": {"name": "f", "arguments": arguments}})
    assert to_trl([row], "sft")[0]["messages"][1]["tool_calls"][0]["function"]["arguments"] == {}


@pytest.mark.parametrize(
    "tool_call",
    [
        {"type": "function", "function": {}},
        {"function": {"name": "f", "arguments": '{"q":"a"}{"q":"b"}'}},
        {"function": {"name": "f", "arguments": "look up A1"}},
        {"function": {"name": "f", "arguments": [1]}},
        {"function": {"name": "f", "arguments": {"malformed": "look up A1"}}},
        {"name": "", "arguments": {}},
        "f()",
    ],
)
def test_malformed_calls_are_never_exported(tool_call, caplog):
    good = {"prompt": "q", "final_text": "a"}
    with caplog.at_level(logging.WARNING, "whileai_hf"):
        data = to_trl([good, with_call(tool_call), good], "sft")
    report = export_report(data)
    assert len(data) == report.n_rows == 2
    assert report.left_out["malformed_calls"] == report.n_left_out == 1
    assert report.first_left_out["malformed_calls"] == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "left out 1 of 3 rows" in caplog.text


def test_a_call_without_a_content_key_is_kept():
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"a": 1}}]},
        {"role": "tool", "content": "r"},
        {"role": "assistant", "content": "answer"},
    ]
    made = one(messages)[1]
    assert made["content"] == ""
    assert made["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": 1}}


def test_a_parameter_called_malformed_is_a_parameter(tools):
    tools[0]["function"]["parameters"]["properties"]["malformed"] = {"type": "string"}
    row = with_call({"function": {"name": "get_order", "arguments": {"malformed": "yes"}}}, tools)
    assert len(to_trl([row], "sft")) == 1


def test_malformed_steps_are_never_exported():
    rows = [
        {"prompt": "q", "steps": [{"tool": "f", "arguments": "look up A1", "malformed": True}], "final_text": "a"},
        {"prompt": "q", "steps": [{"tool": "f", "arguments": {}}], "final_text": "a"},
    ]
    assert export_report(to_trl(rows, "sft")).left_out["malformed_calls"] == 1


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"rollout_status": "error"}, "failed"),
        ({"rollout_status": "invalid"}, "failed"),
        ({"finish_reason": "length"}, "cut_off"),
        ({"final_text": ""}, "no_final_answer"),
        ({"final_text": " \n"}, "no_final_answer"),
        ({"final_text": None}, "no_final_answer"),
        ({"prompt": None}, "no_conversation"),
        ({"messages": ["role='user' content='q'", "role='assistant' content='a'"]}, "no_conversation"),
        ({"messages": "user: q"}, "no_conversation"),
        ({"messages": [{"role": "human", "content": "q"}]}, "no_conversation"),
        ({"steps": ["f"]}, "no_conversation"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "not_text"),
        ({"steps": [{"tool": "f", "arguments": {}, "result": [{"type": "image", "data": "eA=="}]}]}, "not_text"),
    ],
)
def test_what_is_left_out(columns, reason):
    good = {"prompt": "q", "final_text": "a"}
    data = to_trl([{**good, **columns}, good], "sft")
    report = export_report(data)
    assert data["prompt_text"][:] == ["q"]
    assert report.left_out == {**dict.fromkeys(report.left_out, 0), reason: 1}
    assert report.n_input == report.n_rows + report.n_left_out == 2
    assert "left out 1" in str(report)


def test_nothing_left_is_an_error():
    with pytest.raises(DataError, match=r"none of the 2 rows can be exported for sft .*no final answer"):
        to_trl([{"prompt": "q", "final_text": ""}] * 2, "sft")


def test_conversation_from_steps():
    steps = [
        {"text": "Let me look."},
        {"tool": "f", "arguments": {"a": 1}, "result": {"v": [1, None]}},
        {"tool": "g", "arguments": {}, "result": None},
        {"user": "And now?"},
    ]
    rows = [{"prompt": "q", "steps": steps, "final_text": "Done."}]
    messages = to_trl(rows, "sft", system_prompt="S")[0]["messages"]
    assert roles(messages) == "system user assistant tool assistant tool user assistant"
    assert messages[2]["content"] == "Let me look."
    assert messages[2]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": 1}}
    assert messages[3]["content"] == '{"v":[1,null]}'
    assert messages[3]["tool_call_id"] == messages[2]["tool_calls"][0]["id"]
    assert messages[5]["content"] == ""
    assert messages[-1] == {"role": "assistant", "content": "Done."}
    stored = to_trl(to_dataset([{"prompt": "p", "final_text": "a"}, *rows]), "sft", system_prompt="S")
    assert stored[1]["messages"] == messages


def test_messages_without_the_answer_are_completed():
    opening = [{"role": "system", "content": "S"}, {"role": "user", "content": "q"}]
    steps = [{"tool": "f", "arguments": {}, "result": "r"}]
    assert roles(one(opening, steps=steps, final_text="a")) == "system user assistant tool assistant"
    before_answer = [*opening, {"role": "assistant", "content": "", "tool_calls": [{"name": "f"}]}]
    before_answer.append({"role": "tool", "content": "r"})
    assert one(before_answer, final_text="a")[-1] == {"role": "assistant", "content": "a"}


def test_unanswered_user_turns_at_the_end_go():
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    longer = [*messages, {"role": "user", "content": "bye"}]
    assert one(longer) == one(longer, final_text="a") == messages


def test_content_is_text_and_keys_are_few():
    messages = [
        {"role": "developer", "content": [{"type": "text", "text": "S"}], "name": None},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}], "weight": 1},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "refusal": None, "function_call": None}
        | {"tool_calls": [{"name": "f", "arguments": {}}]},
        {"role": "tool", "content": {"v": 1}, "tool_call_id": "c"},
        {"role": "tool", "content": [{"type": "order", "id": 1}]},
        {"role": "assistant", "content": "a", "tool_calls": []},
    ]
    assert one(messages) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "a\nb"},
        {"role": "assistant", "content": "", "reasoning_content": "hm"}
        | {"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}]},
        {"role": "tool", "content": '{"v":1}', "tool_call_id": "c"},
        {"role": "tool", "content": '[{"type":"order","id":1}]'},
        {"role": "assistant", "content": "a"},
    ]


def test_values_datasets_would_change_are_canonical():
    arguments = {"f": 0.1 + 0.2, "g": float("nan"), "h": 1 << 70, "s": "\ud800", "n": [0.1 + 0.2], "x": 0.5}
    data = to_trl([with_call({"function": {"name": "f", "arguments": arguments}})], "sft")
    stored = data[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    # datasets reads 0.3 back one unit in the last place too high, every time; the canonical form is what stays.
    assert canonical(stored) == {"f": 0.3, "g": None, "h": str(1 << 70), "s": "\ufffd", "n": [0.3], "x": 0.5}


def test_none_filled_by_a_struct_type_is_taken_out(rollouts, tools):
    plain = [{"prompt": r["prompt"], "messages": r["messages"], "final_text": r["final_text"]} for r in rollouts]
    filled = Dataset.from_list(plain)
    assert filled[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]["reason"] is None
    assert to_trl(filled, "sft")["messages"][:] == [row["messages"] for row in rollouts]


def test_none_filled_in_a_file_is_told_from_a_null_the_agent_wrote(tools):
    filled = with_call({"function": {"name": "get_order", "arguments": {"order_id": "A1", "reason": None}}}, tools)
    written = with_call({"function": {"name": "refund_order", "arguments": {"order_id": "A1", "reason": None}}}, tools)
    first, second = (
        row[1]["tool_calls"][0]["function"]["arguments"] for row in to_trl([filled, written], "sft")["messages"][:]
    )
    assert first == {"order_id": "A1"}
    assert second == {"order_id": "A1", "reason": None}


def test_system_prompt_replaces_adds_and_removes(rollouts):
    assert to_trl(rollouts, "sft", system_prompt="New.")[0]["messages"][:2] == [
        {"role": "system", "content": "New."},
        rollouts[0]["messages"][1],
    ]
    assert to_trl(rollouts, "sft", system_prompt="")[0]["messages"] == rollouts[0]["messages"][1:]
    added = to_trl([{"prompt": "q", "final_text": "a"}], "sft", system_prompt="New.")
    assert added[0]["messages"][0] == {"role": "system", "content": "New."}


def test_tools_argument_replaces_those_of_the_rows(rollouts, tools):
    assert to_trl(rollouts, "sft", tools=[])["tools"][:] == [None] * len(rollouts)
    for given in ([tools[0]], [tools[0]["function"]]):
        assert to_trl(rollouts, "sft", tools=given)[3]["tools"] == [tools[0]]


def test_tools_of_the_rows_keep_their_words(tools):
    tools[0]["function"].update({"return": {"type": "object"}, "strict": None})
    bare = {"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    rows = [{"prompt": "q", "final_text": "a", "tools": cell} for cell in (tools, [bare], [], None, '[{"name": "g"}]')]
    exported = to_trl(rows, "sft")["tools"][:]
    del tools[0]["function"]["strict"]
    assert exported[0] == tools
    assert exported[1][0]["function"]["parameters"] == bare["input_schema"]
    assert exported[2] is None
    assert exported[3] is None
    assert exported[4][0]["type"] == "function"


def test_calls_without_schemas_are_noted():
    row = with_call({"function": {"name": "f", "arguments": {}}})
    assert "1 rows call tools but carry no schemas" in export_report(to_trl([row], "sft")).notes[0]
    assert export_report(to_trl([row], "sft", tools=[{"name": "f"}])).notes == []


def test_report_travels_and_the_run_s_description_stays(rollouts, tmp_path):
    data = to_dataset(rollouts)
    data.info.description = '{"run_id":"run-1"}'
    exported = to_trl(data, "sft")
    assert exported.info.description.startswith('{"run_id":"run-1"}\n\n')
    again = to_trl(exported, "grpo").filter(lambda row: row["task_id"] != "sc-0000000000")
    assert export_report(again).kind == "grpo"
    exported.save_to_disk(tmp_path / "saved")
    assert export_report(Dataset.load_from_disk(tmp_path / "saved")) == export_report(exported)
    with pytest.raises(DataError, match="no export report"):
        export_report(data)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([{"prompt": "q"}], "dpo"), {}, "kind='dpo'; to_trl exports 'eval', 'sft', 'preference'"),
        (([{"prompt": "q"}], "sft"), {"system_prompt": 3}, "system_prompt is 3"),
        (([{"prompt": "q"}], "sft"), {"tools": "f"}, "tools"),
        (([], "sft"), {}, "empty"),
        (([{"final_text": "a"}, {"prompt": "q", "tools": "f"}], "sft"), {}, "row 1: tools is not a list"),
        (([{"prompt": "q", "tools": [{"parameters": {}}]}], "sft"), {}, "row 0: tools is not a list"),
    ],
)
def test_wrong_input(arguments, options, message):
    with pytest.raises((ConfigurationError, DataError), match=message):
        to_trl(*arguments, **options)
