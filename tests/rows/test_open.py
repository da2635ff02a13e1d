import json

import pytest
from datasets import Dataset, DatasetDict, load_dataset

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError, SourceNotFoundError
from whileai_hf.rows import open_rows, view


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"prompt": "a"}\n{"prompt": \n')
    with pytest.raises(DataError, match=r"rows\.jsonl:2 is not JSON"):
        open_rows(path)


def test_a_line_that_is_no_object_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"prompt": "a"}\n[1]\n')
    with pytest.raises(DataError, match=r"rows\.jsonl:2 holds a list"):
        open_rows(path)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_an_empty_file_is_an_error(tmp_path, name):
    path = tmp_path / name
    path.write_text("\n")
    with pytest.raises(DataError, match=r"no rows|is empty"):
        open_rows(path)


def test_empty_rows_are_an_error():
    with pytest.raises(DataError, match="empty"):
        open_rows([])
    with pytest.raises(DataError, match="empty"):
        view(Dataset.from_dict({"prompt": []}))


def test_neither_path_nor_repo_names_both_tries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceNotFoundError, match=r"neither an existing path .* nor a dataset repo"):
        open_rows("nobody/nothing")
    with pytest.raises(SourceNotFoundError, match="cannot be a dataset repo id"):
        open_rows("no such file.jsonl")


def test_an_existing_path_wins_over_a_repo_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "set").write_text(json.dumps({"prompt": "from disk"}) + "\n")
    assert open_rows("org/set")[0]["prompt"] == "from disk"


def test_other_containers_are_refused_with_what_to_do():
    with pytest.raises(ConfigurationError, match="pass a Dataset"):
        view({"prompt": ["a"]})
    with pytest.raises(DataError, match="splits train"):
        view(DatasetDict({"train": Dataset.from_dict({"prompt": ["a"]})}))
    with pytest.raises(DataError, match="row 1 is a str"):
        view([{"prompt": "a"}, "b"])


def test_a_missing_column_says_what_there_is_and_what_to_do():
    with pytest.raises(MissingColumnError, match=r"no column 'reward' \(columns: prompt\); grade first"):
        view([{"prompt": "a"}]).require("reward", "grade first")


def test_json_arrays_jsonl_under_a_json_name_and_folders(tmp_path):
    (tmp_path / "a.json").write_text('[{"prompt": "a"}, {"prompt": "b"}]')
    assert open_rows(tmp_path / "a.json")["prompt"][:] == ["a", "b"]
    (tmp_path / "b.json").write_text('{"prompt": "a"}\n{"prompt": "b"}\n')
    assert len(open_rows(tmp_path / "b.json")) == 2
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "1.jsonl").write_text('{"prompt": "a"}\n')
    (tmp_path / "f" / "2.jsonl").write_text('{"prompt": "b"}\n')
    assert open_rows(tmp_path / "f")["prompt"][:] == ["a", "b"]


def test_a_rewritten_parquet_file_is_read_anew(tmp_path):
    path = tmp_path / "rows.parquet"
    Dataset.from_dict({"prompt": ["old"]}).to_parquet(path)
    assert open_rows(path)["prompt"][:] == ["old"]
    Dataset.from_dict({"prompt": ["new"]}).to_parquet(path)
    assert open_rows(path)["prompt"][:] == ["new"]


def test_a_parquet_file_that_is_none_and_an_empty_path(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"x\.parquet is not a Parquet file"):
        open_rows(tmp_path / "x.parquet")
    with pytest.raises(SourceNotFoundError, match="empty path"):
        open_rows("")


def test_lists_are_viewed_as_they_are():
    rows = [{"prompt": "a", "x": object()}]
    assert next(view(rows).rows()) is rows[0]
    assert view(rows).column("absent", 7) == [7]


def test_values_of_mixed_types_in_a_json_file_are_read_as_they_were(tmp_path):
    """`load_dataset` types such a column as JSON text inside a struct."""
    rows = [{"a": {"value": value, "name": name}} for value, name in ((1, "x"), ("A1", "y"), ({"b": [None]}, "z"))]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    loaded = load_dataset("json", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    assert "Json" in str(loaded.features["a"])
    assert [row["a"] for row in view(loaded).rows()] == view(loaded).column("a") == [row["a"] for row in rows]
