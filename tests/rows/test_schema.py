import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import DataError, WhileaiError
from whileai_hf.rows import group_keys, scrub, task_key, task_keys, view
from whileai_hf.rows.schema import Calibration, calibration_of, from_row, to_row
from whileai_hf.rows.validation import row_errors, row_schema, validate


ROW = {
    "schema_version": "1",
    "scenario_id": "sc-1",
    "prompt": "Where is it?",
    "steps": [{"tool": "get_order", "arguments": {"order_id": "A1"}, "result": {"status": "ok"}}],
    "final_text": "It shipped.",
    "reward": 0.0,
    "judge_status": "ok",
    "markers": {"grounded": 1.0},
    "rollout_index": 0,
    "my_column": "kept",
    "calibration": {"task_id": "sc-1", "n": 8, "pass_rate": 0.5, "pass_rate_ci95": [0.2, 0.8]},
}


def test_a_row_survives_the_typed_view():
    assert to_row(*from_row(ROW)) == ROW


def test_the_parts_are_where_they_belong():
    task, rollout, judgment, markers = from_row(ROW)
    assert (task.key, rollout.steps, judgment.reward) == ("sc-1", ROW["steps"], 0.0)
    assert [(marker.name, marker.value) for marker in markers] == [("grounded", 1.0)]
    assert rollout.extra["my_column"] == "kept"
    assert calibration_of(ROW) == Calibration("sc-1", 8, 0.5, (0.2, 0.8))
    assert calibration_of({}) is None


def test_a_row_no_judge_has_seen_has_no_judgment_and_a_failed_judge_leaves_one():
    assert from_row({"prompt": "a", "steps": [], "final_text": ""}).judgment is None
    failed = from_row({"prompt": "a", "reward": None, "judge_status": "timeout"}).judgment
    assert failed.reward is None and failed.judge_status == "timeout"


@pytest.mark.parametrize("steps", ["steps", "tool_trace", "trace"])
@pytest.mark.parametrize("final", ["final_text", "final", "output", "response"])
def test_version_0_rows_load_by_shape(steps, final):
    old = {"prompt": "a", steps: [{"tool": "f", "arguments": {}}], final: "done"}
    parts = from_row(old)
    assert (parts.rollout.steps, parts.rollout.final_text) == (old[steps], "done")
    assert validate([old]) == 1


def test_validate_names_row_and_place():
    bad = {**ROW, "steps": [{"arguments": {}}], "reward": "1"}
    with pytest.raises(DataError, match=r"row 1: reward: .*row 1: steps\.0"):
        validate([ROW, bad])
    assert row_errors({**ROW, "schema_version": "9"})[0].startswith("schema_version is '9'")


def test_rows_of_another_version_and_things_that_are_no_rows_are_refused():
    with pytest.raises(DataError, match="schema_version '99'"):
        from_row({**ROW, "schema_version": "99"})
    with pytest.raises(DataError, match="got a NoneType"):
        from_row(None)


def test_the_shipped_schema_is_a_schema():
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(row_schema())


def test_task_identity():
    assert task_key({"scenario_id": None, "task_id": 0, "prompt": "a"}) == 0
    assert task_key({"prompt": "a"}) == "a"
    rows = [{"scenario_id": "s", "prompt": "a"}, {"task_id": 0, "prompt": "b"}, {"prompt": "c"}]
    assert task_keys(view(rows)) == [task_key(row) for row in rows] == ["s", 0, "c"]
    assert group_keys(view(rows))[1] == (0, "b")


def test_same_words_are_not_the_same_task(load_case):
    case = load_case("O037")
    keys = task_keys(view(case["input"]["rows"]))
    assert len(set(keys)) == case["expected"]["n_tasks"]
    assert set(keys) == set(case["expected"]["groups"])


NESTED = st.recursive(
    st.text(max_size=3),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["privileged", "vector", "a"]), inner),
)


@given(NESTED)
def test_scrub_leaves_no_privileged_key_at_any_depth(value):
    def keys(item):
        if isinstance(item, dict):
            return set(item) | {k for v in item.values() for k in keys(v)}
        return {k for v in item for k in keys(v)} if isinstance(item, list) else set()

    cleaned = scrub(value)
    assert keys(cleaned) <= {"a"}
    assert scrub(cleaned) == cleaned


def test_errors_pickle():
    for kind in (DataError, WhileaiError):
        assert str(pickle.loads(pickle.dumps(kind("what was given")))) == "what was given"
