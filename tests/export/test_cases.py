"""Symptoms other people reported, with what is expected of an export."""

from functools import partial

import pytest

from whileai_hf.export import export_report, to_trl


def answered(**columns):
    return {"prompt": "q", "final_text": "a", **columns}


def test_splits_share_one_schema(load_case):
    case = load_case("O002")
    train, test = (to_trl(case["input"][split], "sft") for split in ("train", "test"))
    assert (train.features == test.features) == case["expected"]["same_features_both_splits"]
    assert test[0]["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"k": 1}


def test_each_row_shows_its_own_tools(load_case, tokenizer, tmp_path):
    given = load_case("O006")["input"]["tools_by_row"]
    data = to_trl([answered(tools=tools) for tools in given], "sft")
    data.to_parquet(tmp_path / "rows.parquet")
    back = data.from_parquet(str(tmp_path / "rows.parquet"), cache_dir=str(tmp_path))
    for index, tools in enumerate(given):
        row = back[index]
        assert row["tools"] == data[index]["tools"]
        assert [tool["function"]["parameters"] for tool in row["tools"]] == [tool["parameters"] for tool in tools]
        text = tokenizer.apply_chat_template(row["messages"], tools=row["tools"], tokenize=False)
        for place, others in enumerate(given):
            for name in others[0]["parameters"]["properties"]:
                assert (f'"{name}": {{' in text) == (place == index)
        assert "null" not in text


def test_null_content_renders_as_nothing(load_case, tokenizer):
    case = load_case("O011")
    row = to_trl([case["input"]["row"]], "sft")[0]
    text = tokenizer.apply_chat_template(row["messages"], tokenize=False)
    assert "None" not in text
    assert case["expected"]["rendered_contains"] in text


@pytest.mark.parametrize("template", ["qwen3_instruct_2507", "qwen3", "qwen2_5", "llama3_1"])
def test_an_empty_tool_list_adds_nothing(load_case, tiny_model, tokenizer, template):
    case = load_case("O040")
    render = partial(tokenizer.apply_chat_template, chat_template=tiny_model.chat_template(template), tokenize=False)
    rows = to_trl([answered(tools=case["input"]["tools"])], "sft")
    prompts = to_trl([answered(tools=case["input"]["tools"])], "grpo")
    assert render(rows[0]["messages"], tools=rows[0]["tools"]) == render(rows[0]["messages"])
    assert prompts[0]["tools"] is None


def test_text_blocks_of_a_result_are_joined(load_case):
    case = load_case("O050")
    row = to_trl([{"prompt": "read", **case["input"]}], "sft")[0]
    assert row["messages"][2]["content"] == case["expected"]["result_text"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("O046", "no_conversation"),  # text dumps of messages
        ("O051", "malformed_calls"),  # a call without a function
        ("O055", "not_text"),  # a screenshot the answer rests on
        ("O059", "malformed_calls"),  # two JSON objects as arguments
    ],
)
def test_what_cannot_be_shown_to_a_model_is_left_out(load_case, name, reason):
    data = to_trl([load_case(name)["input"], answered()], "sft")
    assert export_report(data).left_out[reason] == 1
    assert data["prompt_text"][:] == ["q"]


def test_arguments_encoded_twice(load_case):
    case = load_case("O043")
    row = to_trl([case["input"]], "sft")[0]
    calls = [call for message in row["messages"] for call in message.get("tool_calls", [])]
    assert [call["function"]["arguments"] for call in calls] == case["expected"]["steps_arguments"]


def test_tools_reach_the_prompt_of_every_kind(load_case, tokenizer):
    case = load_case("O013")
    assert case["expected"]["tools_reach_the_rendered_prompt"]
    tools = [[{"type": "function", "function": {"name": name, "parameters": {}}}] for name in ("first", "second")]
    rows = [answered(tools=offered, reward=1.0) for offered in tools]
    pairs = [
        {"prompt": "q", "chosen": "a", "rejected": "b", "tools": offered, "scenario_id": str(i)}
        for i, offered in enumerate(tools)
    ]
    for kind in ("sft", "kto", "preference", "reward"):
        data = to_trl(pairs if kind in ("preference", "reward") else rows, kind)
        for i, row in enumerate(data):
            messages = row["messages"] if kind == "sft" else row["prompt"]
            text = tokenizer.apply_chat_template(messages, tools=row["tools"], tokenize=False)
            assert ("first" in text, "second" in text) == (i == 0, i == 1)
