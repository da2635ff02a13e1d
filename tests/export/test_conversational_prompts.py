"""Rows whose prompt is a list of messages and that have no messages of their own, as TRL keeps them."""

import pytest
from datasets import Dataset

import whileai_hf as wai


ROWS = [
    {
        "task_id": task,
        "prompt": [{"role": "system", "content": "S"}, {"role": "user", "content": f"hi {task}"}],
        "final_text": f"x{i}",
        "reward": i % 2,
    }
    for task in range(2)
    for i in range(4)
]
SOURCES = {"list": lambda: ROWS, "ours": lambda: wai.open_rows(ROWS), "theirs": lambda: Dataset.from_list(ROWS)}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("kind", "n"), [("sft", 8), ("kto", 8), ("grpo", 2), ("eval", 2), ("opd", 2)])
def test_they_are_read(kind, n, source):
    exported = wai.to_trl(SOURCES[source](), kind)
    assert len(exported) == n
    column = "messages" if kind == "sft" else "prompt"
    assert [message["role"] for message in exported[0][column]][:2] == ["system", "user"]
    assert exported["prompt_text"][0] == "hi 0"


@pytest.mark.parametrize("source", SOURCES)
def test_pairs_share_them(source):
    pairs, report = wai.build_preference_pairs(SOURCES[source]())
    assert report.n_pairs > 0
    assert [message["role"] for message in pairs["prompt"][0]] == ["system", "user"]
    assert pairs["chosen"][0][0]["content"] in ("x1", "x3")


def test_a_dataset_of_prompts_and_replies_alone():
    rows = Dataset.from_list([{"prompt": "hi", "final_text": "hello", "reward": 1.0}] * 2)
    assert [m["role"] for m in wai.to_trl(rows, "sft")[0]["messages"]] == ["user", "assistant"]
