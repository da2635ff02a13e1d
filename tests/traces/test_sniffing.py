"""Whose rows these are."""

from pathlib import Path

import pytest

from whileai_hf.errors import ConfigurationError, SourceNotFoundError
from whileai_hf.rows import open_rows, to_dataset
from whileai_hf.traces import read_any, read_trl_completions
from whileai_hf.traces.sniffing import load_any


DATA = Path(__file__).parent / "data"
OURS = [{"scenario_id": "sc-1", "prompt": "Hi", "final_text": "Hello", "steps": [], "reward": 1.0}]


def test_formats():
    assert load_any(DATA / "conv_00001.parquet").format == "trl_completions"
    assert load_any(str(DATA / "traces.jsonl")).format == "verifiers_run"
    assert load_any(open_rows(DATA / "text_00001.parquet")).format == "trl_completions"
    assert load_any(open_rows(DATA / "traces.jsonl")).format == "verifiers_run"
    assert load_any(OURS).format == "rows"


def test_rows_of_ours_stay_as_they_are():
    dataset = to_dataset(OURS)
    assert read_any(dataset) is dataset
    assert load_any(OURS).rows.source is OURS


def test_what_was_read_reads_the_same_again():
    rows = read_trl_completions(DATA / "text_00001.parquet")
    assert load_any(rows).format == "rows"
    assert read_any(rows) is rows


def test_rows_of_messages_get_their_ask():
    loaded = load_any(
        [{"messages": [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Again"}], "reward": 1}]
    )
    assert loaded.rows.column("prompt") == ["Hi"]


def test_rewards_under_other_names():
    rows = [{"prompt": "a", "final_text": str(i), "format_reward": 1.0, "right_reward": float(i)} for i in range(2)]
    loaded = load_any(rows)
    assert loaded.rows.column("reward") == [1.0, 2.0]
    assert "reward" not in rows[0]
    assert load_any(rows, reward_weights={"right_reward": 3.0}).rows.column("reward") == [0.0, 3.0]


def test_refusals():
    with pytest.raises(ConfigurationError, match="records its weights"):
        load_any(DATA / "traces.jsonl", reward_weights={"reward": 1.0})
    with pytest.raises(SourceNotFoundError):
        load_any(DATA / "nothing.parquet")
