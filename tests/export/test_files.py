"""Training files: batch by batch, whole or not at all, the same rows as the Datasets."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from datasets import Dataset, concatenate_datasets, load_dataset

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export import export_dataset, export_training, files, to_trl, training_rows
from whileai_hf.rows import to_dataset


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(files, "_BATCH", 5)


def test_one_function_under_two_names():
    assert export_dataset is export_training


@pytest.mark.parametrize("source", ["list", "dataset", "shuffled", "streamed", "file"])
@pytest.mark.parametrize("kind", ["sft", "kto", "grpo", "preference"])
def test_parquet_is_the_dataset(rollouts, small_batches, tmp_path, kind, source):
    rollouts[6]["final_text"] = None
    rollouts[6]["messages"] = rollouts[6]["messages"][:2]
    data = to_dataset(rollouts)
    if source == "shuffled":
        data = data.select(range(11, -1, -1))
    given = {"list": rollouts, "dataset": data, "shuffled": data, "file": tmp_path / "rows.jsonl"}
    given["streamed"] = data.to_iterable_dataset(num_shards=2)
    data.to_json(tmp_path / "rows.jsonl")
    report = export_dataset(given[source], tmp_path / "out.parquet", kind=kind, format="trl")
    expected = to_trl(data, kind)
    back = Dataset.from_parquet(str(tmp_path / "out.parquet"), cache_dir=str(tmp_path))
    assert {name: back.features[name] for name in back.features} == dict(expected.features)
    assert back.to_list() == expected.to_list()
    assert report.n_rows == len(expected)
    assert report.n_input == len(rollouts) == report.n_used + report.n_left_out + sum(report.unpaired.values())
    if kind == "sft":
        assert (report.left_out["no_final_answer"], report.first_left_out["no_final_answer"]) == (
            1,
            5 if source == "shuffled" else 6,
        )


def test_row_groups_hold_several_batches(rollouts, small_batches, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_ROW_GROUP", 10)
    export_dataset(rollouts, tmp_path / "rows.parquet", format="trl")
    written = pq.ParquetFile(tmp_path / "rows.parquet").metadata
    assert [written.row_group(index).num_rows for index in range(written.num_row_groups)] == [10, 2]


def test_json_lines(rollouts, small_batches, tmp_path):
    export_dataset(rollouts, tmp_path / "sft.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "sft.jsonl").read_text().splitlines()]
    assert lines == training_rows(rollouts)
    export_dataset(rollouts, tmp_path / "trl.jsonl", format="trl")
    back = load_dataset("json", data_files=str(tmp_path / "trl.jsonl"), split="train", cache_dir=str(tmp_path))
    assert list(back) == to_trl(rollouts, "sft").to_list()


def test_lines_of_any_text(tmp_path):
    texts = ["\ud800 lone", "a\u2028b\nc", "é注🚚", '{"a": 1}', "\x00", "x" * 1_000_000]
    export_dataset([{"prompt": text, "final_text": text} for text in texts], tmp_path / "rows.jsonl")
    lines = (tmp_path / "rows.jsonl").read_bytes().decode().rstrip("\n").split("\n")
    said = [json.loads(line)["messages"][1]["content"] for line in lines]
    assert said == [text.replace("\ud800", "\ufffd") for text in texts]


def test_schema_does_not_depend_on_the_rows(rollouts, tmp_path):
    export_dataset(rollouts, tmp_path / "a.parquet", format="trl")
    export_dataset([{"prompt": "q", "final_text": "a"}], tmp_path / "b.parquet", format="trl")
    assert pq.read_schema(tmp_path / "a.parquet") == pq.read_schema(tmp_path / "b.parquet")


def test_mixed_agents_in_one_file(rollouts, tools, small_batches, tmp_path):
    other = [{"type": "function", "function": {"name": "other", "parameters": {}}}]
    for row in rollouts[::2]:
        row["tools"] = other
    export_dataset(rollouts, tmp_path / "rows.jsonl", format="trl")
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [line["tools"] for line in lines] == [other, tools] * 6


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_no_file_when_nothing_can_be_exported(tmp_path, name):
    before = b"what was there"
    (tmp_path / name).write_bytes(before)
    with pytest.raises(DataError, match="none of the 1 rows"):
        export_dataset([{"prompt": "q", "final_text": ""}], tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("output", "options", "message"),
    [
        ("rows.csv", {}, "ends in .jsonl, .json or .parquet"),
        ("missing/rows.jsonl", {}, "no folder"),
        ("rows.jsonl", {"format": "xml"}, "neither 'openai' nor 'trl'"),
        ("rows.jsonl", {"kind": "grpo", "format": "openai"}, "no OpenAI shape"),
        ("rows.jsonl", {"kind": "dpo"}, "kind='dpo'"),
    ],
)
def test_wrong_arguments(tmp_path, output, options, message):
    with pytest.raises(ConfigurationError, match=message):
        export_dataset([{"prompt": "q", "final_text": "a"}], tmp_path / output, **options)


# Exports a Dataset, having given up the right to more than `spare` bytes of memory of its own.
PROGRAM = """
import re, resource, sys
from datasets import load_from_disk
from whileai_hf.export import export_dataset
source, output, spare = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = load_from_disk(source)
export_dataset(data.select(range(5000)), output, format="trl")
held = int(re.search(r"VmData:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (held + spare, held + spare))
print(export_dataset(data, output, format="trl").n_rows)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_data_larger_than_memory(rollouts, tmp_path):
    rows = to_dataset([{**row, "final_text": f"{i}" * 3000, "reason": "r" * 3000} for i, row in enumerate(rollouts)])
    data = concatenate_datasets([rows] * 10_000)
    data.save_to_disk(tmp_path / "big", num_shards=4)
    size = sum(path.stat().st_size for path in (tmp_path / "big").rglob("*.arrow"))
    spare = 400_000_000
    assert size > 2 * spare
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "big"), str(tmp_path / "out.parquet"), str(spare)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) == len(data) == pq.read_metadata(tmp_path / "out.parquet").num_rows


@pytest.mark.parametrize("output", [None, 5])
def test_what_is_no_path(output):
    with pytest.raises(ConfigurationError, match="is no path"):
        export_dataset([{"prompt": "q", "final_text": "a"}], output)
