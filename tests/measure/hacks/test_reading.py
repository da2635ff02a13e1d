"""What is read of a row, whatever shape and state it is in."""

import numpy as np
import pytest
from datasets import Dataset

from whileai_hf.measure.hacks import hack_scan, reward_correlations
from whileai_hf.measure.hacks.letters import COUNTED, count_letters
from whileai_hf.measure.hacks.reading import Reader
from whileai_hf.rows import open_rows, view


def read(rows, own=None):
    source = view(rows)
    return Reader(own).read(source, np.ones(len(source), bool))


AS_STEPS = {
    "steps": [{"text": "One moment."}, {"tool": "look_up", "arguments": {}, "result": "ok"}, {"user": "And?"}],
    "final_text": "It shipped.",
}
AS_MESSAGES = {
    "messages": [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": [{"type": "text", "text": "One moment."}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "look_up", "arguments": "{}"}}]},
        {"role": "tool", "content": "ok"},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "It shipped."},
    ]
}


def test_steps_and_messages_say_the_same():
    one, other = read([AS_STEPS]), read([AS_MESSAGES])
    assert one.flags.keys() == other.flags.keys() == {"tool:look_up"}
    assert {name: values.tolist() for name, values in one.numbers.items()} == {
        name: values.tolist() for name, values in other.numbers.items()
    }
    assert one.numbers["turns"].tolist() == [2.0]
    assert one.numbers["reply_length"].tolist() == [11.0]
    assert one.numbers["words"].tolist() == [4.0]
    assert one.distinct.tolist() == other.distinct.tolist()


def test_messages_are_read_where_steps_are_empty():
    assert "tool:look_up" in read([AS_MESSAGES | {"steps": [], "final_text": "It shipped."}]).flags


def test_a_completion_of_a_trainer_is_read():
    rows = [{"completion": [{"role": "assistant", "content": "It shipped."}]}, {"completion": "It shipped."}]
    assert read(rows).numbers["reply_length"].tolist() == [11.0, 11.0]


def test_numbers_that_come_with_a_row():
    rows = [
        {"final_text": "a", "markers": {"grounded": 1, "odd": "x", "none": None}, "logprob": -6.0, "n_tokens": 3},
        {"final_text": "a", "markers": {"grounded": np.float64(0.5)}, "token_logprobs": [-1.0, -3.0, None]},
        {"final_text": "a", "markers": None, "logprob": -6.0, "n_tokens": 0},
    ]
    numbers = read(rows).numbers
    assert numbers["marker:grounded"].tolist()[:2] == [1.0, 0.5]
    assert np.isnan(numbers["marker:grounded"][2])
    assert numbers["logprob_mean"].tolist()[:2] == [-2.0, -2.0]
    assert np.isnan(numbers["logprob_mean"][2])
    assert "marker:odd" not in numbers
    assert "marker:none" not in numbers


def test_flags_of_the_trajectory():
    flags = read([{"final_text": "a", "trace_flags": [{"flag": "lie.tests_claimed", "fragment": "x"}]}, {}]).flags
    assert {name: rows.tolist() for name, rows in flags.items()} == {"trace:lie.tests_claimed": [0]}


@pytest.mark.parametrize(
    ("row", "cut"),
    [
        ({"final_text": "Short", "finish_reason": "length"}, True),
        ({"steps": [{"text": "x", "truncated": True}], "final_text": "Short"}, True),
        ({"final_text": "The parcel was handed over to the courier and " * 8 + "then it"}, True),
        (
            {"final_text": "The parcel was handed over to the courier and " * 8 + "then it", "finish_reason": "stop"},
            False,
        ),
        ({"final_text": "The parcel was handed over. " * 20 + "\nKind regards,\nAna"}, False),
        ({"final_text": "The parcel was handed over. " * 20}, False),
        ({"final_text": "Yes"}, False),
    ],
)
def test_cut_off(row, cut):
    assert read([row]).numbers["truncated"].tolist() == [float(cut)]


def test_letters_of_any_script():
    counts = dict(zip(COUNTED, count_letters(["Ok: 12\nÄb.", "", "ДА нет!", "٣\ud800\U0001f600"]), strict=True))
    assert counts["digits"].tolist() == [2, 0, 0, 1]
    assert counts["newlines"].tolist() == [1, 0, 0, 0]
    assert counts["punctuation"].tolist() == [2, 0, 1, 0]
    assert counts["upper_share"].tolist() == [0.5, 0.0, 0.4, 0.0]


ODD = [
    {},
    {"final_text": None, "steps": None, "markers": [], "trace_flags": "x"},
    {"final_text": 7, "steps": "no", "markers": {"m": float("nan"), "n": 10**400}},
    {"final_text": {"type": "text", "text": "block"}, "steps": [None, 3, {"tool": 5}, {"text": ["a", {"text": 1}]}]},
    {"final_text": [{"type": "image_url"}, {"type": "text", "text": "x"}], "steps": [{"user": None}]},
    {"final_text": "\ud800 lone", "token_logprobs": ["a"], "logprob": "x", "n_tokens": True},
    {"messages": [None, {"role": "assistant", "content": None, "tool_calls": "x"}, {"role": "assistant"}]},
]


def test_nothing_on_a_row_breaks_a_scan():
    odd = [*ODD * 6, {"final_text": "x" * 1_000_000}, {"final_text": "word " * 200_000}]
    rows = [{**row, "task_id": i % 4, "reward": i % 2} for i, row in enumerate(odd)]
    report = hack_scan(rows)
    assert report.n_scored == len(rows)
    assert reward_correlations(rows).n_scored == len(rows)
    assert hack_scan([{**row, "final_text": None} for row in rows]).regime in ("no_signal", "train", "degenerate")


def test_a_dataset_reads_as_its_rows():
    rows = [
        {"task_id": i // 4, "prompt": "p", "reward": float(i % 2), "markers": {"m": float(i % 3)}, **AS_STEPS}
        | {"final_text": f"It shipped{' twice' if i % 2 else ''}. {i % 5}"}
        for i in range(80)
    ]
    data = open_rows(rows)
    assert isinstance(data, Dataset)
    assert hack_scan(data).to_dict() == hack_scan(rows).to_dict()
    assert reward_correlations(data).to_dict() == reward_correlations(rows).to_dict()


def test_own_features_get_the_whole_row_and_may_be_silent():
    rows = [{"task_id": i // 4, "reward": i % 2, "final_text": "x", "extra": {"cost": i % 2}} for i in range(80)]
    own = {"cost": lambda row: row["extra"]["cost"], "silent": lambda row: None, "text": lambda row: "no number"}
    for data in (rows, open_rows(rows)):
        scan = hack_scan(data, features=own, endorsed=["cost"])
        assert scan.top_feature == "cost"
        assert scan.n_features == 1
