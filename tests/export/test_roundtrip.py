"""An export is the same after every way a Dataset can go, and what is privileged goes none of them."""

import pyarrow.parquet as pq
import pytest
from datasets import Dataset, load_dataset, load_from_disk

from whileai_hf.export import to_trl
from whileai_hf.rows import canonical, to_dataset


@pytest.fixture(params=["sft", "grpo"])
def exported(request, rollouts) -> Dataset:
    return to_trl(to_dataset(rollouts), request.param)


def same(data, exported) -> bool:
    return canonical(list(data)) == canonical(exported.to_list())


def test_parquet(exported, tmp_path):
    path = str(tmp_path / "rows.parquet")
    exported.to_parquet(path)
    back = Dataset.from_parquet(path, cache_dir=str(tmp_path))
    assert back.features == exported.features
    assert same(back, exported)
    assert same(load_dataset("parquet", data_files=path, split="train", streaming=True), exported)


def test_jsonl(exported, tmp_path):
    path = str(tmp_path / "rows.jsonl")
    exported.to_json(path)
    assert same(load_dataset("json", data_files=path, split="train", cache_dir=str(tmp_path)), exported)
    typed = load_dataset(
        "json", data_files=path, split="train", cache_dir=str(tmp_path / "typed"), features=exported.features
    )
    assert typed.features == exported.features
    assert same(typed, exported)


def test_saved_and_streamed(exported, tmp_path):
    exported.save_to_disk(tmp_path / "saved")
    back = load_from_disk(tmp_path / "saved")
    assert back.features == exported.features
    assert same(back, exported)
    assert same(exported.to_iterable_dataset(num_shards=2), exported)


def test_map_and_filter(exported):
    assert same(exported.map(lambda row: row), exported)
    assert same(exported.filter(lambda row: True), exported)


def test_nothing_privileged_in_any_file(exported, rollouts, secret, tmp_path):
    assert secret in str(rollouts)
    exported.to_parquet(tmp_path / "rows.parquet")
    # Once more without compression, which would hide a text from the search.
    pq.write_table(pq.read_table(tmp_path / "rows.parquet"), tmp_path / "plain.parquet", compression="none")
    assert b"order desk" in (tmp_path / "plain.parquet").read_bytes()
    exported.to_json(tmp_path / "rows.jsonl")
    exported.save_to_disk(tmp_path / "saved")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            written = path.read_bytes()
            for forbidden in (secret, "privileged", "expected_calls", "hidden_state"):
                assert forbidden.encode() not in written, f"{forbidden} in {path.name}"


def test_nothing_privileged_inside_the_user_s_columns(rollouts, secret):
    for row in rollouts:
        row["notes"] = {"kept": 1, "privileged": {"reference": secret}}
    data = to_trl(rollouts, "grpo")
    assert data["notes"][:] == [{"kept": 1}] * 3
    assert secret not in str(data.to_list())
