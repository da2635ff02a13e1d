"""Completions tables: two that TRL 1.16 wrote (`data`), and tables of that shape."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whileai_hf.errors import ConfigurationError, MissingColumnError
from whileai_hf.rows import dumps, task_keys, view
from whileai_hf.traces import read_trl_completions
from whileai_hf.traces.trl_completions import load_trl_completions


DATA = Path(__file__).parent / "data"
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_order", "arguments": {"order_id": "A1", "note": None}},
}


def table(n=4, k=4, step=1, **more):
    rows = []
    for task in range(n):
        for i in range(k):
            right = float((task + i) % 2)
            row = {"step": step, "prompt": f"Ask {task}", "completion": f"Reply {i}", "right": right, "short": 0.5}
            rows.append(row | {"advantage": right - 0.5} | more)
    return rows


def write(folder, rows, step=1):
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / f"completions_{step:05d}.parquet")


@pytest.mark.parametrize("name", ["text", "conv"])
def test_a_table_trl_wrote(name):
    # A run with the weights 1, 0.25 and 0, of which the table says nothing.
    path = DATA / f"{name}_00001.parquet"
    raw = pq.read_table(path).to_pylist()
    loaded = load_trl_completions(path)
    assert loaded.reward_weights == {"short": 1.0, "vowels": 0.25, "gold": 0.0, "seen": 0.0}
    rows = read_trl_completions(path)
    assert rows["reward"][:] == pytest.approx([row["short"] + 0.25 * row["vowels"] for row in raw])
    assert [cell["gold"] for cell in rows["rewards"]] == [row["gold"] for row in raw]
    assert None in [row["gold"] for row in raw]
    assert rows["advantage"][:] == [row["advantage"] for row in raw]
    assert rows["note"][:] == ["x"] * 8
    assert rows["rollout_index"][:] == [0, 1, 2, 3] * 2
    assert len(set(rows["task_id"][:])) == 2
    assert set(rows["prompt"][:]) <= {f"Where is order {i}?" for i in range(4)}


def test_a_conversation_keeps_its_messages():
    rows = read_trl_completions(DATA / "conv_00001.parquet")
    raw = pq.read_table(DATA / "conv_00001.parquet").to_pylist()
    for row, source in zip(view(rows).rows(), raw, strict=True):
        assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
        assert row["final_text"] == source["completion"][0]["content"]


def test_what_a_table_filled_up_is_taken_out(tmp_path):
    said = [
        {"role": "assistant", "content": None, "tool_calls": [CALL], "name": None},
        {"role": "tool", "content": '{"status": "ok"}', "tool_calls": None, "name": "get_order"},
        {"role": "assistant", "content": "It is on its way.", "tool_calls": None, "name": None},
    ]
    write(tmp_path, table(1, 2, completion=said))
    messages = read_trl_completions(tmp_path)[0]["messages"]
    call = messages[1]["tool_calls"][0]["function"]
    assert call == {"name": "get_order", "arguments": {"order_id": "A1"}}
    assert messages[3] == {"role": "assistant", "content": "It is on its way."}


def test_folders_and_files_of_several_steps(tmp_path):
    calls = [{"role": "assistant", "content": "", "tool_calls": [CALL]}]
    asked = [{"role": "user", "content": "Ask 0"}]
    write(tmp_path / "completions", table(2, 4, 1))
    write(tmp_path / "completions", table(2, 4, 2, prompt=asked, completion=calls), 2)  # a schema of its own
    rows = read_trl_completions(tmp_path)
    assert rows["training_step"][:] == [1] * 8 + [2] * 8
    assert rows.to_dict() == read_trl_completions(tmp_path / "completions").to_dict()
    # The same ask as text and as a message is one task; at two steps it is two groups.
    assert rows["task_id"][0] == rows["task_id"][8]
    assert rows["rollout_index"][:] == [0, 1, 2, 3] * 2 + list(range(8))
    assert read_trl_completions(tmp_path / "completions" / "completions_00001.parquet").num_rows == 8


def test_system_prompts_make_tasks_of_their_own():
    rows = [
        {
            "prompt": [{"role": "system", "content": s}, {"role": "user", "content": "Hi"}],
            "completion": "x",
            "reward": 1.0,
        }
        for s in ("A", "B")
    ]
    assert len(set(task_keys(view(read_trl_completions(rows))))) == 2


def test_rows_without_any_verdict_have_none():
    rows = table(2, 4)
    rows[0] |= {"right": None, "short": None, "advantage": 0.0}
    read = read_trl_completions(rows)
    assert read["reward"][0] is None
    assert read["reward"][1] is not None


def test_a_reward_of_the_table_stays():
    loaded = load_trl_completions([row | {"reward": 7.0} for row in table()])
    assert loaded.rows.column("reward") == [7.0] * 16
    assert loaded.rows.column("rewards")[0] == {"right": 0.0, "short": 0.5}
    assert loaded.reward_weights == {}


def test_weights_of_the_caller():
    rows = read_trl_completions(table(), reward_weights={"right": 2.0, "short": -1.0})
    assert rows["reward"][:2] == [-0.5, 1.5]
    with pytest.raises(ConfigurationError, match="no column of numbers; there is step, right, short, advantage"):
        read_trl_completions(table(), reward_weights={"wrong": 1.0})
    with pytest.raises(ConfigurationError, match="no weight"):
        read_trl_completions(table(), reward_weights={"right": "much"})
    with pytest.raises(ConfigurationError, match="names no function"):
        read_trl_completions(table(), reward_weights={})


def test_rewards_in_one_column():
    rows = [{"prompt": "a", "completion": str(i), "rewards": {"x": float(i), "y": None}} for i in range(3)]
    assert read_trl_completions(rows)["reward"][:] == [0.0, 1.0, 2.0]


def test_no_reward_at_all():
    read = read_trl_completions([{"prompt": "a", "completion": "b", "length": 3}])
    assert "reward" not in read.column_names
    assert read["length"][:] == [3]


def test_other_ids_stay():
    rows = [row | {"scenario_id": "sc-1", "task_id": 3} for row in table(1, 2)]
    assert read_trl_completions(rows)["scenario_id"][:] == ["sc-1", "sc-1"]
    assert read_trl_completions(rows)["task_id"][:] == [3, 3]


def test_missing_columns_are_named():
    with pytest.raises(MissingColumnError, match=r"no column 'completion' \(columns: prompt\)"):
        read_trl_completions([{"prompt": "a"}])


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        {"role": "assistant", "content": [{"type": "text", "text": "blocks"}, {"type": "image"}]},
        [
            None,
            "text",
            {"content": "no role"},
            {"role": "assistant", "tool_calls": [{"function": {"arguments": "{"}}]},
        ],
        "\ud800 alone",
        "x" * 1_000_000,
        [],
    ],
)
def test_odd_cells_are_rows_all_the_same(odd):
    rows = read_trl_completions([{"prompt": odd, "completion": odd, "reward": 1.0}, *table(1, 2, reward=0.0)])
    assert rows.num_rows == 3
    assert isinstance(rows["final_text"][0], str)
    dumps(list(view(rows).rows()))


def test_infinite_rewards_are_no_verdict():
    rows = [{"prompt": "a", "completion": "b", "reward": value} for value in (np.inf, np.nan, 1.0)]
    assert read_trl_completions(rows)["reward"][:] == [None, None, 1.0]


@pytest.mark.slow
def test_a_run_of_today(tmp_path):
    """What the installed TRL writes is what the tables in `data` look like."""
    pytest.importorskip("torch")
    trl = pytest.importorskip("trl")
    import sys

    from datasets import Dataset

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tiny_model import make_model, make_tokenizer

    def short(completions, **columns):
        return [-float(len(text)) for text in completions]

    def vowels(completions, log_extra=None, **columns):
        log_extra("seen", [len(text) for text in completions])
        return [float(sum(letter in "aeiou" for letter in text)) for text in completions]

    tokenizer = make_tokenizer()
    arguments = trl.GRPOConfig(
        output_dir=str(tmp_path),
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=8,
        max_steps=1,
        logging_steps=1,
        log_completions=True,
        num_completions_to_print=0,
        reward_weights=[0.5, 1.0],
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
    )
    asks = Dataset.from_list([{"prompt": f"Where is order {i}?"} for i in range(4)])
    trainer = trl.GRPOTrainer(
        model=make_model(tokenizer),
        processing_class=tokenizer,
        reward_funcs=[short, vowels],
        train_dataset=asks,
        args=arguments,
    )
    trainer.train()
    loaded = load_trl_completions(tmp_path)
    assert len(loaded.rows) == 8
    assert loaded.reward_weights == pytest.approx({"short": 0.5, "vowels": 1.0, "seen": 0.0}, abs=0.01)
