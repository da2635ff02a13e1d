"""Rows as other stacks hold them: TRL's own columns, calls and results of older or torn logs, images, odd numbers."""

import json
import math

import pytest
from datasets import Dataset

import whileai_hf as wai
from whileai_hf.export import export_report, to_sft, to_trl, training_rows
from whileai_hf.rows import to_dataset


USER, ANSWER = {"role": "user", "content": "Where is A1?"}, {"role": "assistant", "content": "It was sent."}
FIND = {"name": "find", "parameters": {"type": "object", "properties": {"id": {}, "n": {}}}}
HISTORY = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}, USER]


def asked(arguments, **call):
    return {"role": "assistant", "content": "", "tool_calls": [{"name": "find", "arguments": arguments, **call}]}


def said(result, **keys):
    return {"role": "tool", "content": result, **keys}


def left_out(row, kind="sft"):
    """Why a row is left out, counted beside one that is not."""
    good = {"prompt": "q", "messages": [{"role": "user", "content": "q"}, ANSWER], "reward": 1.0}
    data = to_trl([good, row], kind)
    found = {reason: n for reason, n in export_report(data).left_out.items() if n}
    assert len(data) == 2 - sum(found.values())
    return found


# Results and calls


@pytest.mark.parametrize(
    "messages",
    [
        [USER, asked({"id": "A1"}, id="c1"), said("sent", tool_call_id="c2"), ANSWER],
        [USER, said("sent", tool_call_id="c1"), ANSWER],
        [said("sent"), USER, ANSWER],
        [USER, ANSWER, said("sent"), asked({"id": "A1"}), said("sent"), ANSWER],
        [USER, asked({"id": "A1"}), said("a", tool_call_id="c1"), said("b", tool_call_id="c2"), ANSWER],
    ],
)
@pytest.mark.parametrize("kind", ["sft", "kto"])
def test_a_result_without_its_call_is_left_out(messages, kind):
    assert left_out({"prompt": "q", "messages": messages, "reward": 0.0}, kind) == {"orphan_result": 1}


@pytest.mark.parametrize(
    "messages",
    [
        [
            USER,
            asked({"id": "A1"}, id="c"),
            said("x", tool_call_id="c"),
            asked({}, id="c"),
            said("y", tool_call_id="c"),
        ],
        [USER, asked({"id": "A1"}), said("sent", tool_call_id="c1")],  # calls without ids are paired by their order
        [USER, asked({"id": "A1"}, id="c1"), said("sent")],
        [USER, {"role": "assistant", "content": "<call>find A1</call>"}, said("sent", tool_call_id="1")],
    ],
)
def test_results_that_have_their_call_stay(messages):
    assert left_out({"prompt": "q", "messages": [*messages, ANSWER]}) == {}


def test_an_orphan_in_a_pair_is_left_out():
    pairs = [
        {"prompt": [USER], "chosen": [ANSWER], "rejected": "no"},
        {"prompt": [USER, asked({}, id="c1"), said("x", tool_call_id="c9")], "chosen": [ANSWER], "rejected": "no"},
    ]
    assert export_report(to_trl(pairs, "preference")).left_out["orphan_result"] == 1


@pytest.mark.parametrize("arguments", [{"id": "A1"}, '{"id": "A1"}'])
def test_calls_from_before_there_were_tools(arguments):
    messages = [
        USER,
        {"role": "assistant", "content": None, "function_call": {"name": "find", "arguments": arguments}},
        {"role": "function", "name": "find", "content": "sent"},
        {**ANSWER, "function_call": None},
    ]
    (row,) = to_trl([{"messages": messages}], "sft", tools=[FIND])
    call = {"type": "function", "function": {"name": "find", "arguments": {"id": "A1"}}}
    assert row["messages"] == [
        USER,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "find", "content": "sent"},
        ANSWER,
    ]
    messages[1]["function_call"] = {"name": "find", "arguments": "{"}
    assert left_out({"messages": messages}) == {"malformed_calls": 1}


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1 << 70, str(1 << 70)),
        (math.nan, None),
        (math.inf, None),
        (2.5 + 1e-13, 2.5),
        ("\ud800", "\ufffd"),
        (True, True),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_number_is_the_same_whatever_the_rows_become(tokenizer, tmp_path, value, kept, nested):
    arguments = {"id": "A1", "n": [value] if nested else value}
    rows = [{"messages": [USER, asked(arguments, id="c1"), said("sent", tool_call_id="c1"), ANSWER]}]
    expected = {"id": "A1", "n": [kept] if nested else kept}
    sft = to_trl(rows, "sft", tools=[FIND])
    assert sft[0]["messages"][1]["tool_calls"][0]["function"]["arguments"] == expected
    (wire,) = training_rows(rows, tools=[FIND])
    assert json.loads(wire["messages"][1]["tool_calls"][0]["function"]["arguments"]) == expected
    wai.export_dataset(rows, tmp_path / "rows.jsonl", format="trl", tools=[FIND])
    assert json.loads((tmp_path / "rows.jsonl").read_text())["messages"] == sft[0]["messages"]
    direct = to_sft(rows, tokenizer, tools=[FIND])
    assert direct["input_ids"][0] == to_sft(sft, tokenizer)["input_ids"][0]
    assert json.dumps(expected, ensure_ascii=False) in tokenizer.decode(direct["input_ids"][0])


# TRL's own columns


SOURCES = {"list": list, "ours": to_dataset, "theirs": lambda rows: Dataset.from_list(rows, on_mixed_types="use_json")}


@pytest.mark.parametrize("source", SOURCES)
def test_prompt_and_completion_stay_what_they_are(source, tokenizer):
    rows = [
        {"prompt": HISTORY, "completion": [ANSWER], "tools": None},
        {"prompt": [USER], "completion": [asked({"id": "A1"}), said("sent"), ANSWER], "tools": None},
        {"prompt": [USER], "completion": [asked({"id": "A1"})], "tools": None},
    ]
    data = to_trl(SOURCES[source](rows), "sft", tools=[FIND])
    call = {"type": "function", "function": {"name": "find", "arguments": {"id": "A1"}}}
    turn = {"role": "assistant", "content": "", "tool_calls": [call]}
    assert data["prompt"][:] == [HISTORY, [USER], [USER]]
    assert data["completion"][:] == [[ANSWER], [turn, said("sent"), ANSWER], [turn]]
    assert export_report(data).columns_dropped == []
    assert "1 rows have tool results inside a completion" in export_report(data).notes[-1]
    again = to_trl(data, "sft")
    assert (again["prompt"][:], again["completion"][:]) == (data["prompt"][:], data["completion"][:])
    tokens = to_sft(SOURCES[source](rows), tokenizer, tools=[FIND])
    trained = tokenizer.decode([label for label in tokens["labels"][0] if label != -100])
    assert "It was sent." in trained
    assert "hello" not in trained


def test_prompt_and_completion_as_text():
    (row,) = to_trl([{"prompt": "Where is A1?", "completion": "It was sent."}], "sft")
    assert (row["prompt"], row["completion"], row["prompt_text"]) == ([USER], [ANSWER], "Where is A1?")
    (wire,) = training_rows([{"prompt": HISTORY, "completion": [ANSWER]}])
    assert wire["loss_mask"] == [0, 0, 0, 1]


def test_a_completion_beside_messages_is_another_column():
    row = {"messages": [USER, ANSWER], "completion": "x"}
    data = to_trl([row], "sft")
    assert data["messages"][0] == row["messages"]
    assert export_report(data).columns_dropped == ["completion"]


def test_kto_rows_keep_their_label():
    rows = [{"prompt": HISTORY, "completion": [ANSWER], "label": label} for label in (True, False, None)]
    data = to_trl(rows, "kto")
    assert (data["prompt"][:], data["label"][:]) == ([HISTORY, HISTORY], [True, False])
    assert export_report(data).left_out["no_reward"] == 1
    graded = to_trl([{**row, "reward": 1.0 - (row["label"] or 0)} for row in rows[:2]], "kto")
    assert graded["label"][:] == [False, True]  # a grade says more than a label that came along


def test_prompts_keep_their_history():
    other = [HISTORY[0], {"role": "assistant", "content": "hey"}, USER]
    data = to_trl([{"prompt": HISTORY}, {"prompt": other}, {"prompt": HISTORY}], "grpo")
    assert data["prompt"][:] == [HISTORY, other]
    assert data["n_rollouts"][:] == [2, 1]


def test_pairs_of_trl():
    no = {"role": "assistant", "content": "no"}
    row = {"prompt": HISTORY, "chosen": [ANSWER], "rejected": [no]}
    shapes = [
        row,
        {"chosen": [*HISTORY, ANSWER], "rejected": [*HISTORY, no]},  # the prompt is what both share
        {"prompt": HISTORY, "chosen": [*HISTORY, ANSWER], "rejected": [*HISTORY, no]},
    ]
    for shape in shapes:
        for kind in ("preference", "reward"):
            (made,) = to_trl([shape], kind)
            assert {name: made[name] for name in row} == row
    (text,) = to_trl([{"prompt": "Where is A1?", "chosen": "It was sent.", "rejected": "no"}], "preference")
    assert (text["prompt"], text["chosen"], text["rejected"]) == ([USER], [ANSWER], [no])


# Images and lengths


@pytest.mark.parametrize("kind", ["sft", "kto", "grpo"])
@pytest.mark.parametrize(
    "columns",
    [
        {"images": [{"bytes": b"x", "path": None}]},
        {"image": {"bytes": b"x", "path": None}},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "image"}]}, ANSWER]},
        {"messages": [{"role": "user", "content": {"type": "image_url", "image_url": {"url": "data:"}}}, ANSWER]},
    ],
)
def test_images_are_left_out(kind, columns):
    row = {"task_id": "other", "messages": [USER, ANSWER], "reward": 0.0, **columns}
    reasons = {"not_text"} if "messages" not in columns or kind != "grpo" else {"not_text", "no_conversation"}
    assert set(left_out(row, kind)) <= reasons
    assert left_out(row, kind)


def test_images_in_results_and_pairs_are_left_out():
    blocks = [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]
    messages = [USER, asked({"id": "A1"}), said(blocks), ANSWER]
    assert left_out({"messages": messages}) == {"not_text": 1}
    messages[2] = said(blocks[0])
    assert left_out({"messages": messages}) == {"not_text": 1}
    pairs = [{"prompt": "q", "chosen": "a", "rejected": "b", "images": images} for images in ([], [{"bytes": b"x"}])]
    assert export_report(to_trl(pairs, "preference")).left_out["not_text"] == 1


@pytest.mark.parametrize("kind", ["sft", "kto", "preference", "reward", "grpo", "opd"])
def test_rows_over_the_model_s_length_are_counted(tokenizer, kind):
    pair = {"chosen": "a", "rejected": "b"} if kind in ("preference", "reward") else {"final_text": "a", "reward": 1}
    rows = [{"prompt": "q", **pair}, {"prompt": "x" * 400, **pair}, {"prompt": "p", **pair}]
    for options, limit in (({"max_length": 100}, tokenizer.model_max_length), ({}, 100)):
        before, tokenizer.model_max_length = tokenizer.model_max_length, limit
        data = to_trl(rows, kind, tokenizer=tokenizer, **options)
        tokenizer.model_max_length = before
        report = export_report(data)
        assert (len(data), report.left_out["too_long"], report.first_left_out["too_long"]) == (2, 1, 1)
        if kind not in ("grpo", "opd"):
            assert report.longest_row <= 100
    assert len(to_trl(rows, kind)) == 3
