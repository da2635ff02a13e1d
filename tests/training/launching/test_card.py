"""The card beside the weights: numbers with their intervals, or that there are none."""

import yaml

from whileai_hf.training.launching.card import training_card
from whileai_hf.training.launching.publishing import record_bytes
from whileai_hf.training.runs import training_run


def graded(share, n=24):
    return [{"task_id": str(task), "reward": float(task % 12 < share * 12)} for task in range(n)]


def test_numbers_come_with_intervals(store):
    run = training_run("refunds", dataset="me/refunds", base_model="Qwen/Qwen3-0.6B", parameters={"seed": 3})
    run.delta(graded(0.25), graded(0.9))
    run.alarm("divergence", 8, "proxy up, gold down")
    run.finish()
    card = training_card(run, method="grpo", adapter=True)
    header = yaml.safe_load(card.split("---")[1])
    assert header["base_model"] == "Qwen/Qwen3-0.6B"
    assert header["library_name"] == "peft"
    assert header["whileai"] == {"run": run.id, "word": "Better"}
    block = run.holdout_summary
    for side in (block["before"], block["after"]):
        assert f"{side['value']:.3g} | {side['ci95'][0]:.3g} to {side['ci95'][1]:.3g} | 24 |" in card
    assert f"{block['ci95'][0]:+.3g} to {block['ci95'][1]:+.3g}" in card
    assert "- divergence at step 8: proxy up, gold down" in card
    assert "- `seed`: 3" in card


def test_what_was_not_measured_is_said(store):
    run = training_run("refunds")
    run.finish("stopped", reason="out of time")
    card = training_card(run, method="sft", adapter=False)
    assert "**Not measured**" in card
    assert "stopped (out of time)" in card


def test_no_place_of_this_machine_is_named(store, tmp_path):
    (tmp_path / "secret-place" / "rows").mkdir(parents=True)
    (tmp_path / "secret-place" / "base").mkdir()
    place = tmp_path / "secret-place"
    run = training_run("r", dataset=str(place / "rows"), base_model=str(place / "base"))
    run.log(1, loss=0.5)
    run.finish(adapter=str(place))
    assert "secret-place" not in training_card(run, method="sft", adapter=True)
    assert b"secret-place" not in record_bytes(run)
    assert b'"loss": 0.5' in record_bytes(run)
