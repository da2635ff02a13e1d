"""Stage lineage: what fed what, and what must not be in both."""

import pytest

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.hygiene import STAGES, stage_of, stage_report, stamp_stage
from whileai_hf.rows import open_rows


ROWS = [{"scenario_id": name, "prompt": f"ask {name}", "lineage": {"judge": "j"}} for name in "abc"]


def test_stamp_adds_to_what_is_there():
    before = repr(ROWS)
    once = stamp_stage(ROWS, "sft")
    twice = stamp_stage(stamp_stage(once, "rl"), "rl")
    assert [stage_of(row) for row in twice] == ["rl"] * 3
    assert twice["lineage"][0] == {"judge": "j", "stages": ["sft", "rl"]}
    assert twice["scenario_id"][:] == ["a", "b", "c"]
    assert repr(ROWS) == before
    assert stage_of(stamp_stage([{"prompt": "x"}], "mid")[0]) == "mid"


def test_stages_of_other_tools_are_read():
    assert stage_of({"stage": "rm"}) == stage_of({"lineage": {"stage": "rm"}}) == "rm"
    assert stage_of({"stage": "unknown", "lineage": None}) is None


def test_a_task_in_training_and_evaluation_is_flagged():
    train, held = stamp_stage(ROWS[:2], "sft"), stamp_stage(ROWS[1:], "eval")
    found = stage_report(train, held)
    assert found.leaks == [{"task": "b", "stages": ["sft", "eval"]}]
    assert (found.n_leaks, found.rows["sft"], found.tasks["eval"], found.n_unstamped) == (1, 2, 2, 0)
    assert found.rows == {"sft": 2, "rm": 0, "rl": 0, "eval": 2, "mid": 0} and tuple(found.rows) == STAGES
    assert "memory" in found.warnings[0] and "'b'" in str(found)
    assert stage_report(stamp_stage(train, "eval")).n_leaks == 2
    assert stage_report(stamp_stage(train, "rl")).n_leaks == 0


def test_the_same_prompt_under_two_names():
    train = stamp_stage([{"task_id": 1, "prompt": "Where is it?"}], "rl")
    held = stamp_stage([{"task_id": 2, "prompt": "where is it"}], "eval")
    found = stage_report(train, held)
    assert (found.n_leaks, found.n_shared_prompts) == (0, 1) and "decontaminate" in found.warnings[0]


def test_unstamped_rows_are_counted():
    found = stage_report(open_rows(ROWS))
    assert (found.n_unstamped, found.n_leaks, found.warnings) == (3, 0, [])
    assert found.notes == ["3 of 3 rows carry no stage; nothing is known of them"]


def test_rows_that_name_no_task_are_not_one():
    assert stage_report([{"stage": "sft", "reward": 1}], [{"stage": "eval", "reward": 1}]).n_leaks == 0


def test_bad_input():
    with pytest.raises(ConfigurationError, match="sft, rm, rl, eval, mid"):
        stamp_stage(ROWS, "train")
    with pytest.raises(ConfigurationError, match="no rows"):
        stage_report()
    with pytest.raises(DataError):
        stage_report([])
