"""Preference, reward-model and KTO rows."""

import json

import pytest

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.export import export_preference, export_report, to_trl
from whileai_hf.export.formats import TAKEN, kto_features, pair_features
from whileai_hf.rows import to_dataset
from whileai_hf.select import build_preference_pairs


ASK = [{"role": "system", "content": "S"}, {"role": "user", "content": "q"}]
GOOD = [{"role": "assistant", "content": "good answer"}]
BAD = [{"role": "assistant", "content": "bad"}]


def pair(**columns):
    return {"prompt": ASK, "chosen": GOOD, "rejected": BAD, "scenario_id": "sc-1", "run_id": "r", **columns}


def test_columns(rollouts):
    for kind in ("preference", "reward"):
        data = to_trl([pair(cut="first_divergence", margin=0.5, other=1)], kind)
        assert data.features == pair_features()
        assert export_report(data).columns_dropped == ["other"]
        assert not set(data.column_names) & (TAKEN - {"prompt", "chosen", "rejected", "tools"})
        row = data[0]
        assert (row["prompt"], row["chosen"], row["rejected"]) == (ASK, GOOD, BAD)
        assert (row["prompt_text"], row["task_id"], row["run_id"]) == ("q", "sc-1", "r")
        assert (row["reward_margin"], row["length_delta"]) == (0.5, len("good answer") - len("bad"))


@pytest.mark.parametrize("source", [list, to_dataset])
def test_pairs_of_other_shapes(source):
    shapes = [
        pair(prompt="q", chosen=[*ASK, *GOOD], rejected=[*ASK, *BAD]),  # whole conversations on both sides
        pair(chosen="good answer", rejected="bad"),
        pair(prompt=ASK, chosen=[*ASK, *GOOD], rejected=[*ASK, *BAD]),
    ]
    for shape in shapes:
        row = to_trl(source([shape]), "preference")[0]
        assert (row["prompt"], row["chosen"], row["rejected"]) == (ASK, GOOD, BAD)
    row = to_trl(source([pair(prompt="q", chosen="good answer", rejected="bad")]), "preference", system_prompt="S")[0]
    assert (row["prompt"], row["chosen"]) == (ASK, GOOD)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"chosen": None}, "no_pair"),
        ({"rejected": []}, "no_pair"),
        ({"rejected": GOOD}, "same_sides"),
        ({"prompt": None}, "no_conversation"),
        ({"prompt": 3}, "no_conversation"),
        ({"chosen": [{"role": "tool", "content": "r"}]}, "no_final_answer"),
        ({"chosen": [{"role": "assistant", "content": [{"type": "image_url", "image_url": {}}]}]}, "not_text"),
        ({"chosen": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "x"}]}]}, "malformed_calls"),
    ],
)
def test_pairs_left_out(columns, reason):
    data = to_trl([pair(), pair(**columns)], "preference")
    report = export_report(data)
    assert report.left_out == {**dict.fromkeys(report.left_out, 0), reason: 1}
    assert report.first_left_out[reason] == 1
    assert report.n_input == report.n_rows + report.n_left_out == 2
    assert "1 rows from 2 pairs" in str(report)


def test_tool_results_in_the_loss_are_noted(rollouts):
    tail = rollouts[0]["messages"][2:]
    whole = pair(chosen=tail, rejected=BAD)
    assert (
        "1 rows have tool results inside a completion"
        in export_report(to_trl([whole, pair()], "preference")).notes[-1]
    )
    assert export_report(to_trl([pair()], "preference")).notes == []
    call_only = to_trl([pair(chosen=tail[:1])], "preference", tools=rollouts[0]["tools"])
    assert export_report(call_only).notes == []
    assert export_report(call_only).tool_call_roundtrip["calls"] == 1


def test_long_output_and_parallel_calls_of_pairs_are_counted_once(rollouts):
    prompt = [dict(message) for message in rollouts[0]["messages"][:4]]
    prompt[3]["content"] = "x" * 50
    prompt[2] = {**prompt[2], "content": "Let me look."}
    data = to_trl([pair(prompt=prompt)], "preference", max_tool_output_chars=10, parallel_calls="split")
    report = export_report(data)
    assert (report.truncated_tool_messages, report.truncated_tool_chars, report.split_rows) == (1, 40, 1)
    assert [m["role"] for m in data[0]["prompt"]] == ["system", "user", "assistant", "assistant", "tool"]
    assert (data[0]["chosen"], data[0]["rejected"]) == (GOOD, BAD)


@pytest.mark.parametrize("kind", ["preference", "reward"])
def test_rollouts_are_accounted_for_when_pairs_are_made_of_them(rollouts, kind):
    rollouts[0]["reward"] = None
    for row in rollouts[4:8]:  # all of one task pass, and no pair is in it
        row["reward"] = 1.0
    report = export_report(to_trl(rollouts, kind, tools=[]))
    _, built = build_preference_pairs(rollouts)
    assert (report.unit, report.n_input) == ("rollouts", len(rollouts))
    assert report.unpaired == built.dropped
    assert report.n_used == 2 * report.n_rows == 2 * built.n_pairs > 0
    assert report.n_input == report.n_used + report.n_left_out + sum(report.unpaired.values())
    assert f"{report.n_rows} rows from 12 rollouts, {sum(built.dropped.values())} of which are in no pair" in str(
        report
    )


def test_a_pair_left_out_is_two_rollouts(rollouts, tokenizer):
    report = export_report(to_trl(rollouts, "preference", tokenizer=tokenizer))
    longest = report.longest_row
    rollouts[0]["messages"][-1] = rollouts[1]["messages"][-1] = {"role": "assistant", "content": "word " * 2 * longest}
    report = export_report(to_trl(rollouts, "preference", tokenizer=tokenizer, max_length=longest))
    assert report.left_out["too_long"] == report.n_left_out >= 2
    assert report.n_input == len(rollouts) == report.n_used + report.n_left_out + sum(report.unpaired.values())


@pytest.mark.parametrize("kind", ["preference", "kto"])
def test_pairs_given_are_counted_as_pairs(kind):
    report = export_report(to_trl([pair(), pair(chosen=None)], kind))
    assert (report.unit, report.n_input, report.n_used, report.unpaired) == ("pairs", 2, 1, {})
    assert report.n_rows == (2 if kind == "kto" else 1)
    assert report.n_input == report.n_used + report.n_left_out


@pytest.mark.parametrize("kind", ["preference", "reward"])
def test_graded_rollouts_are_paired(rollouts, kind):
    data = to_trl(rollouts, kind)
    assert len(data) == 3
    for row in data:
        assert row["chosen_reward"] > row["rejected_reward"]
        assert row["prompt"][1]["content"] == row["prompt_text"]


def test_rows_that_are_no_pairs(rollouts):
    ungraded = [{key: value for key, value in row.items() if key != "reward"} for row in rollouts]
    with pytest.raises(MissingColumnError, match="build_preference_pairs"):
        to_trl(ungraded, "preference")
    with pytest.raises(MissingColumnError, match="grade them first"):
        to_trl(ungraded, "kto")
    alone = [{**rollouts[0], "reward": 1.0}]  # a group of one
    with pytest.raises((DataError, ValueError)):
        to_trl(alone, "preference")


def test_files(tmp_path):
    rows = [pair(chosen=[{"role": "assistant", "content": "", "tool_calls": [{"name": "f", "arguments": {"a": 1}}]}])]
    report = export_preference(rows, tmp_path / "wire.jsonl")
    assert report.tool_call_roundtrip == {"encoding": "json_string", "calls": 1, "invalid": 0}
    row = json.loads((tmp_path / "wire.jsonl").read_text())
    assert row["prompt"] == "q"
    assert row["rejected"] == [*ASK, *BAD]
    assert row["chosen"][:2] == ASK
    assert row["chosen"][2]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'
    export_preference(rows, tmp_path / "trl.jsonl", format="trl")
    row = json.loads((tmp_path / "trl.jsonl").read_text())
    assert (row["prompt"], row["rejected"]) == (ASK, BAD)
    assert row["chosen"][0]["tool_calls"][0]["function"]["arguments"] == {"a": 1}
    # And back: rows of the first shape are pairs too.
    again = to_trl(tmp_path / "wire.jsonl", "preference")[0]
    assert (again["prompt"], again["chosen"], again["rejected"]) == (ASK, row["chosen"], BAD)


def test_kto_from_rollouts(rollouts):
    rollouts[2]["reward"] = None
    rollouts[3]["reward"] = 0.5  # partial credit is no pass
    data = to_trl(rollouts, "kto")
    assert data.features == kto_features()
    report = export_report(data)
    assert (report.left_out["no_reward"], report.first_left_out["no_reward"]) == (1, 2)
    kept = [row for row in rollouts if row["reward"] is not None]
    assert data["label"][:] == [row["reward"] >= 1 for row in kept]
    for made, row in zip(data, kept, strict=True):
        assert [*made["prompt"], *made["completion"]] == row["messages"]
        assert made["completion"][0]["role"] == "assistant"
    assert "tool results inside a completion" in report.notes[0]
    final = to_trl(rollouts, "kto", mask_mode="final")
    assert final["completion"][0] == rollouts[0]["messages"][-1:]
    assert export_report(final).notes == []


def test_kto_from_pairs_and_one_sided_labels():
    data = to_trl([pair()], "kto")
    assert [(row["completion"], row["label"]) for row in data] == [(GOOD, True), (BAD, False)]
    assert export_report(data).notes == []
    rows = [{"prompt": "q", "final_text": "a", "reward": 1.0}] * 2
    assert "every label is True" in export_report(to_trl(rows, "kto")).notes[0]
    with pytest.raises(DataError, match="2: no reward"):
        to_trl([{**row, "reward": None} for row in rows], "kto")
