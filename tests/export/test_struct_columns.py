"""Files of other stacks come with struct types: keys of all rows on every row, and JSON text where types mix."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset, load_dataset

from whileai_hf.errors import DataError
from whileai_hf.export import to_trl
from whileai_hf.rows import to_dataset


# Types that mix, as "string" and ["string", "null"] do, make a JSON column inside the struct.
OPTIONAL = {"type": ["string", "null"], "default": None}
GET = {"type": "object", "properties": {"id": {"type": "string"}, "note": OPTIONAL}, "required": ["id"]}
PUT = {"type": "object", "properties": {"x": {"type": "integer"}, "deep": {"type": "object"}}}


def tool(name, parameters):
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


def rollout(index, tools):
    called = {"get": {"id": f"A{index}"}, "put": {"x": index, "deep": {"k": [{"z": index}]}}}
    calls = [{"id": name, "function": {"name": name, "arguments": arguments}} for name, arguments in called.items()]
    ask = {"role": "user", "content": f"do {index // 2}"}
    acted = {"role": "assistant", "content": "Both.", "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": name, "content": "ok"} for name in called]
    answer = {"role": "assistant", "content": f"Did {index}."}
    whole = {"prompt": ask["content"], "messages": [ask, acted, *results, answer], "final_text": answer["content"]}
    return {**whole, "tools": tools, "reward": float(index % 2)}


def sources(rows, folder):
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = {"json": folder / "rows.jsonl"}
    try:
        pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
        found["parquet"] = folder / "rows.parquet"
    except pa.ArrowInvalid:  # types mix: only JSON can hold them
        pass
    for form, path in found.items():
        for streaming in (False, True):
            cache = str(folder / "cache")
            yield load_dataset(form, data_files=str(path), split="train", streaming=streaming, cache_dir=cache)
    if "parquet" in found:
        yield pq.read_table(found["parquet"]).to_pylist()  # a struct column that became Python rows


MIXED = [tool("get", GET), tool("put", {**PUT, "properties": {**PUT["properties"], "note": {"type": "string"}}})]
PLAIN = [tool("get", {**GET, "properties": {"id": {"type": "string"}}}), tool("put", PUT)]


@pytest.mark.parametrize("kind", ["sft", "kto", "preference", "grpo"])
@pytest.mark.parametrize("tools", [MIXED, PLAIN], ids=["mixed types", "one type"])
def test_a_file_gives_what_the_rows_give(kind, tools, tmp_path):
    rows = [rollout(index, tools) for index in range(4)]
    expected = to_trl(rows, kind).to_list()
    assert expected[0]["tools"] == tools
    n_sources = 0
    for given in sources(rows, tmp_path):
        n_sources += 1
        assert to_trl(given, kind).to_list() == expected
    assert n_sources == (2 if tools is MIXED else 5)


def test_trl_s_own_columns_are_read_like_messages(tmp_path):
    rows = []
    for index in range(2):
        ask, *rest = rollout(index, None)["messages"]
        rows.append({"prompt": [ask], "completion": rest})
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    given = load_dataset(
        "parquet", data_files=str(tmp_path / "rows.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert to_trl(given, "sft").to_list() == to_trl(rows, "sft").to_list()
    assert "null" not in json.dumps(to_trl(given, "sft")["completion"][:])


def test_none_in_json_is_the_agent_s_own(tmp_path):
    rows = [rollout(index, MIXED) for index in range(2)]
    rows[0]["messages"][1]["tool_calls"][0]["function"]["arguments"] = {"id": "A", "note": None}
    for given in (rows, *sources(rows, tmp_path)):
        if isinstance(given, list) and given is not rows:
            continue
        call = to_trl(given, "sft")[0]["messages"][1]["tool_calls"][0]
        assert call["function"]["arguments"] in ({"id": "A", "note": None}, {"id": "A"})
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = load_dataset(
        "json", data_files=str(tmp_path / "rows.jsonl"), split="train", cache_dir=str(tmp_path / "other")
    )
    call = to_trl(given, "sft")[0]["messages"][1]["tool_calls"][0]
    assert call["function"]["arguments"] == {"id": "A", "note": None}


def test_a_null_default_is_kept_by_json_and_lost_by_a_struct(tmp_path):
    given = {"type": "object", "properties": {"id": {"type": "string", "default": None}}}
    rows = [rollout(0, [tool("get", given)])]
    assert to_trl(rows, "sft")[0]["tools"][0]["function"]["parameters"] == given
    assert to_trl(to_dataset(rows), "sft")[0]["tools"][0]["function"]["parameters"] == given
    struct = Dataset(pa.Table.from_pylist(rows))
    stored = to_trl(struct, "sft")[0]["tools"][0]["function"]["parameters"]
    assert stored == {"type": "object", "properties": {"id": {"type": "string"}}}


def test_parameters_as_json_text_are_the_schema():
    rows = [{"prompt": "a", "final_text": "b", "tools": [tool("get", json.dumps(GET))]}]
    assert to_trl(rows, "sft")[0]["tools"] == [tool("get", GET)]
    with pytest.raises(DataError, match="row 0: tools"):
        to_trl([{**rows[0], "tools": [tool("get", "[1]")]}], "sft")


def test_a_stream_whose_masks_change_is_refused_in_words(tmp_path):
    def row(index):
        turns = [{"role": role, "content": f"{role} {index}"} for role in ("user", "assistant") * 2]
        return (
            {"messages": turns[:2], "loss_mask": [0, 1]}
            if index < 5000
            else {"messages": turns, "loss_mask": [0, 0, 0, 1]}
        )

    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row(index)) for index in range(5010)), encoding="utf-8")
    stream = load_dataset("json", data_files=str(path), split="train", streaming=True)
    with pytest.raises(DataError, match="rows from 4096 on"):
        to_trl(stream, "sft")


@pytest.mark.parametrize("role", [["user"], {"a": 1}, None, 5])
def test_a_role_that_is_no_text_is_no_conversation(role):
    rows = [{"messages": [{"role": role, "content": "x"}, {"role": "assistant", "content": "y"}]}]
    with pytest.raises(DataError, match="no readable conversation"):
        to_trl(rows, "sft")
