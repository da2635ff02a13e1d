"""Which messages are trained on, how much of a tool's output is kept, and the two shapes rows are written in."""

import json

import pytest

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export import export_report, loss_mask, to_trl, training_rows


def mask_of(row):
    return [int(message["role"] == "assistant") for message in row["messages"]]


def test_openai_rows(rollouts, tools):
    rows = training_rows(rollouts)
    assert len(rows) == len(rollouts)
    for made, row in zip(rows, rollouts, strict=True):
        assert made["prompt"] == row["prompt"]
        assert made["loss_mask"] == mask_of(row)
        assert made["tools"] == tools
        for message, original in zip(made["messages"], row["messages"], strict=True):
            calls = [call["function"] for call in message.pop("tool_calls", [])]
            expected = [call["function"] for call in original.get("tool_calls", [])]
            assert all(isinstance(call["arguments"], str) for call in calls)
            assert [{**call, "arguments": json.loads(call["arguments"])} for call in calls] == expected
            assert message == {key: value for key, value in original.items() if key != "tool_calls"}


def test_rows_without_values_have_no_keys():
    row = training_rows([{"prompt": "q", "final_text": "a"}])[0]
    assert set(row) == {"messages", "loss_mask", "prompt", "task_id"}


def test_the_same_reshape_on_rows_already_held(rollouts):
    expected = to_trl(rollouts, "sft")
    for name in ("training", "sft"):
        again = to_trl(training_rows(rollouts), name)
        assert again["messages"][:] == expected["messages"][:]
        assert export_report(again).tool_call_roundtrip == {"encoding": "dict", "calls": 18, "invalid": 0}
    assert training_rows(rollouts, format="trl")[0] == expected[0]


def test_final(rollouts):
    for made, row in zip(training_rows(rollouts, mask_mode="final"), rollouts, strict=True):
        assert made["loss_mask"] == [0] * (len(row["messages"]) - 1) + [1]
    data = to_trl(rollouts, "sft", mask_mode="final")
    for made, row in zip(data, rollouts, strict=True):
        assert (made["prompt"], made["completion"]) == (row["messages"][:-1], row["messages"][-1:])
    report = export_report(data)
    n_messages = sum(len(row["messages"]) for row in rollouts)
    assert (report.trained_messages, report.masked_messages) == (len(rollouts), n_messages - len(rollouts))
    assert "messages: 12 trained" in str(report)


def test_unrolled_every_turn_trains_once_in_its_own_context(rollouts):
    rows = training_rows(rollouts, unroll=True)
    expected = [
        row["messages"][: place + 1]
        for row in rollouts
        for place, message in enumerate(row["messages"])
        if message["role"] == "assistant"
    ]
    assert [len(row["messages"]) for row in rows] == list(map(len, expected))
    assert all(row["loss_mask"] == [0] * (len(row["messages"]) - 1) + [1] for row in rows)
    data = to_trl(rollouts, "sft", unroll=True)
    assert [[*row["prompt"], *row["completion"]] for row in data] == expected
    report = export_report(data)
    assert (report.n_input, report.n_used, report.n_rows) == (12, 12, len(expected))
    assert report.trained_messages == len(expected)
    # Unrolled rows of the other shape say the same.
    assert to_trl(rows, "training")["completion"][:] == data["completion"][:]


def test_masks_that_differ_in_kind_need_labels(rollouts):
    rows = [{**row, "loss_mask": mask_of(row)} for row in rollouts]
    assert to_trl(rows, "sft").column_names[0] == "messages"
    rows[3]["loss_mask"] = [0] * (len(rows[3]["messages"]) - 1) + [1]
    with pytest.raises(DataError, match="tokenizer="):
        to_trl(rows, "sft")


def test_a_mask_in_which_someone_else_s_words_count_is_corrected():
    talk = [{"role": role, "content": "x"} for role in ("system", "user", "assistant", "tool", "assistant")]
    assert loss_mask(talk, given=[1, 1, 1, 1, 1]) == [0, 0, 1, 0, 1]
    assert loss_mask(talk, "final", given=[1, 1, 1, 1, 0]) == [0, 0, 1, 0, 0]
    assert loss_mask(talk[:2]) == [0, 0]
    assert loss_mask(talk[:2], "final") == [0, 0]


def test_the_mask_needs_no_template(load_case):
    case = load_case("O010")
    assert training_rows([case["input"]["row"]])[0]["loss_mask"] == case["expected"]["loss_mask"]


def test_one_level_of_encoding(load_case):
    case = load_case("O012")
    row = training_rows([case["input"]["row"]])[0]
    arguments = row["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == case["expected"]["json_loads_gives"]


@pytest.mark.parametrize("limit", [0, 5, 10_000])
def test_tool_output_is_cut_aloud(rollouts, limit):
    long = "é" * 100 + "END"
    rollouts[0]["messages"][3]["content"] = long
    data = to_trl(rollouts, "sft", max_tool_output_chars=limit)
    messages = data["messages"][0]
    report = export_report(data)
    over = [
        max(0, len(message["content"]) - limit)
        for row in rollouts
        for message in row["messages"]
        if message["role"] == "tool"
    ]
    if limit < 103:
        assert messages[3]["content"] == long[:limit] + f"[... {103 - limit} chars of tool output truncated]"
        assert data["tool_chars_cut"][0] == 103 - limit
    else:
        assert messages[3]["content"] == long
        assert data["tool_chars_cut"][0] == 0
    assert report.truncated_tool_chars == sum(over) == sum(data["tool_chars_cut"])
    assert report.truncated_tool_messages == sum(map(bool, over))
    assert [m for m in messages if m["role"] != "tool"] == [m for m in rollouts[0]["messages"] if m["role"] != "tool"]


def test_encodings_are_named(rollouts, tmp_path):
    from whileai_hf.export import export_dataset

    wire = export_dataset(rollouts, tmp_path / "wire.jsonl")
    assert wire.tool_call_roundtrip == {"encoding": "json_string", "calls": 18, "invalid": 0}
    plain = export_dataset(rollouts, tmp_path / "plain.jsonl", format="trl")
    assert plain.tool_call_roundtrip == {"encoding": "dict", "calls": 18, "invalid": 0}


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("sft", {"mask_mode": "last"}, "mask_mode='last' is not one of 'all', 'final'"),
        ("sft", {"parallel_calls": "drop"}, "parallel_calls="),
        ("sft", {"unroll": 1}, "neither true nor false"),
        ("sft", {"max_tool_output_chars": -1}, "pass a number from 0"),
        ("sft", {"max_lenght": 5}, "did you mean 'max_length'"),
        ("sft", {"max_length": 5}, "pass tokenizer="),
        ("grpo", {"mask_mode": "final"}, "'grpo' has no mask"),
        ("kto", {"unroll": True}, "kind='sft' only"),
        ("grpo", {"tasks": []}, "kind='grpo' does not read it"),
    ],
)
def test_knobs_that_would_do_nothing_are_refused(kind, options, message):
    with pytest.raises(ConfigurationError, match=message):
        to_trl([{"prompt": "q", "final_text": "a", "reward": 1}], kind, **options)
