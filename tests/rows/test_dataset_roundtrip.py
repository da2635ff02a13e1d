"""Rows keep their values through everything a user of datasets does with them."""

import pytest
from datasets import Dataset, DatasetDict, load_dataset, load_from_disk

from whileai_hf.errors import DataError
from whileai_hf.rows import canonical, open_rows, to_dataset, view
from whileai_hf.rows.features import rollout_features


def call(name, arguments, identifier="call_0"):
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": identifier, "type": "function", "function": function}],
    }


def rollout(index, arguments, result, tool="get_order"):
    prompt = f"Where is order {index}?"
    return {
        "schema_version": "1",
        "scenario_id": f"sc-{index}",
        "prompt": prompt,
        "messages": [
            {"role": "user", "content": prompt},
            call(tool, arguments),
            {"role": "tool", "tool_call_id": "call_0", "name": tool, "content": "{}"},
            {"role": "assistant", "content": "4412"},
        ],
        "tools": [
            {"type": "function", "function": {"name": tool, "parameters": {"properties": {"x": {"type": "string"}}}}}
        ],
        "steps": [{"tool": tool, "arguments": arguments, "result": result}],
        "final_text": "4412",  # a bare string that parses as a number must stay a string
        "seeded": [] if index % 2 else None,
        "markers": {"a": 1.0} if index % 2 else {"b": 0.5},
        "reward": None if index < 3 else 1,
    }


ROWS = [
    rollout(0, {"order_id": "A1"}, {"status": "ok", "total": 0.7}),
    rollout(1, {"order_id": "A1", "amount": 12.5}, "plain text"),
    rollout(2, {"x": [1, "two", None]}, [1, 2, 3], tool="list_things"),
    rollout(3, {"x": "one"}, None, tool="other"),
    rollout(4, {}, {"nested": {"deep": [{"a": None}]}}, tool="unicode‏🇮🇱"),
]


@pytest.fixture
def data():
    return to_dataset(ROWS, rollout_features())


def rows_of(dataset):
    return [{k: v for k, v in canonical(row).items() if v is not None} for row in view(dataset).rows()]


EXPECTED = [{k: v for k, v in canonical(row).items() if v is not None} for row in ROWS]


def test_nothing_is_added_or_lost(data):
    assert rows_of(data) == EXPECTED
    assert [{k: v for k, v in canonical(row).items() if v is not None} for row in data] == EXPECTED


def test_absent_keys_stay_absent(data):
    assert list(data[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]) == ["order_id"]
    assert set(data[2]["tools"][0]["function"]["parameters"]["properties"]) == {"x"}


@pytest.mark.parametrize("num_proc", [None, 2])
def test_map_and_filter(data, num_proc):
    mapped = data.map(lambda row: {"n_steps": len(row["steps"])}, num_proc=num_proc)
    assert rows_of(mapped.remove_columns("n_steps")) == EXPECTED
    assert rows_of(data.filter(lambda row: True, num_proc=num_proc)) == EXPECTED


def test_files(data, tmp_path):
    data.save_to_disk(tmp_path / "disk")
    assert rows_of(load_from_disk(tmp_path / "disk")) == EXPECTED
    data.to_parquet(tmp_path / "rows.parquet")
    data.to_json(tmp_path / "rows.jsonl")
    parquet = load_dataset(
        "parquet", data_files=str(tmp_path / "rows.parquet"), split="train", cache_dir=str(tmp_path)
    )
    assert rows_of(parquet) == EXPECTED
    assert parquet.features == data.features
    streamed = load_dataset("parquet", data_files=str(tmp_path / "rows.parquet"), split="train", streaming=True)
    assert [{k: v for k, v in canonical(row).items() if v is not None} for row in streamed] == EXPECTED
    for name in ("disk", "rows.parquet", "rows.jsonl"):
        assert rows_of(open_rows(tmp_path / name)) == EXPECTED


def test_select_shuffle_and_sort_are_read_through_their_indices(data):
    shuffled = data.shuffle(seed=1)
    assert sorted(row["scenario_id"] for row in view(shuffled).rows()) == [f"sc-{i}" for i in range(5)]
    assert view(data.select([3, 1])).column("prompt") == ["Where is order 3?", "Where is order 1?"]
    assert [row["scenario_id"] for row in view(data.select([3, 1])).rows(["scenario_id"])] == ["sc-3", "sc-1"]


def test_splits_share_one_schema_whether_or_not_a_row_calls_a_tool(load_case):
    case = load_case("O002")["input"]
    splits = DatasetDict({name: to_dataset(rows) for name, rows in case.items()})
    assert splits["train"].features == splits["test"].features
    for name, rows in case.items():
        assert [row["messages"] for row in splits[name]] == [row["messages"] for row in rows]


@pytest.mark.parametrize("identifier", ["O005", "O006", "O008"])
def test_case_round_trips(load_case, identifier, tmp_path):
    case = load_case(identifier)["input"]
    rows = case.get("rows") or [case.get("row")]
    if "tools_by_row" in case:
        rows = [{"prompt": "p", "tools": tools} for tools in case["tools_by_row"]]
    dataset = to_dataset(rows)
    dataset.to_parquet(tmp_path / "x.parquet")
    assert list(view(dataset).rows()) == rows
    assert list(view(tmp_path / "x.parquet").rows()) == rows
    assert [dataset[i] for i in range(len(rows))] == rows


def test_hundreds_of_megabytes_in_one_column_do_not_overflow(load_case):
    case = load_case("O003")["input"]
    text = "x" * case["tool_output_chars_each"]
    dataset = to_dataset(
        [{"prompt": str(i), "steps": [{"tool": "f", "arguments": {}, "result": text}]} for i in range(case["rows"])]
    )
    for row in view(dataset).rows(["steps"]):
        assert len(row["steps"][0]["result"]) == case["tool_output_chars_each"]


def test_a_large_integer_comes_back_as_text_and_its_message_stays_a_message():
    dataset = to_dataset([{"messages": [{"role": "user", "content": "hi", "id": 1 << 70}]}])
    assert dataset[0]["messages"] == [{"role": "user", "content": "hi", "id": str(1 << 70)}]


def test_foreign_columns_are_kept_with_their_types():
    dataset = to_dataset(
        [
            {"prompt": "a", "difficulty": 3, "tags": ["x"], "info": {"a": 1}, "mixed": 1},
            {"prompt": "b", "mixed": "one"},
        ]
    )
    assert dataset[0]["difficulty"] == 3 and dataset[0]["tags"] == ["x"] and dataset[0]["info"] == {"a": 1}
    assert dataset["mixed"][:] == ["1", "one"]
    assert isinstance(dataset, Dataset)


@pytest.mark.parametrize("beyond", [1 << 63, 1 << 70, -(1 << 63) - 1])
@pytest.mark.parametrize("name", ["seed", "n_tokens", "foreign"])
def test_an_int_beyond_64_bit_makes_its_column_text_and_loses_nothing(name, beyond):
    rows = [{name: 5}, {name: beyond}, {name: None}]
    data = to_dataset(rows)
    assert data[name][:] == ["5", str(beyond), None]
    assert data.to_list() == to_dataset(canonical([{name: "5"}, *rows[1:]])).to_list()


@pytest.mark.parametrize("cell", [[1, "a"], [True, 2, None], [1 << 70, 1], [1 << 63], [[1], "a"], ["\ud800", "b"]])
@pytest.mark.parametrize("name", ["foreign", "sim_reasons", "token_logprobs"])
def test_lists_of_unlike_things_keep_each_as_it_is(name, cell):
    assert to_dataset([{name: cell}, {name: None}])[name][:] == [canonical(cell), None]


def test_a_cell_that_fits_nowhere_is_named():
    with pytest.raises(DataError, match=r"column 'size'.*row 1 holds 4611686018427387904: .*give its cells one type"):
        to_dataset([{"size": 0.5}, {"size": 1 << 62}])
