"""Rubrics on tasks."""

import logging

import pytest

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import scrub, to_dataset, view
from whileai_hf.score import grade
from whileai_hf.score.rubrics import attach_rubric, read_rubric, rubric_of


TASKS = [
    {
        "scenario_id": "sc-1",
        "prompt": "Refund A1.",
        "privileged": {"reference": "Look A1 up.", "hidden_state": "A1 is late."},
    },
    {"scenario_id": "sc-2", "prompt": "Where is A2?", "privileged": None},
]
RUBRIC = "- **lookup** (weight 2): Looks it up.\n- **polite**: Is polite."


@pytest.mark.parametrize("form", [lambda rows: rows, to_dataset])
def test_one_rubric_for_all_beside_what_else_is_privileged(form):
    tasks = attach_rubric(form(TASKS), RUBRIC)
    assert [rubric_of(row) for row in tasks] == [read_rubric(RUBRIC)] * 2
    assert tasks[0]["privileged"]["reference"] == "Look A1 up."
    assert set(tasks.column_names) == set(TASKS[0])
    assert TASKS[1]["privileged"] is None


def test_by_task_and_by_function():
    by_task = attach_rubric(TASKS, {"sc-2": RUBRIC})
    assert [rubric_of(row) is None for row in by_task] == [True, False]
    by_row = attach_rubric(TASKS, lambda row: ["Names A1."] if "A1" in row["prompt"] else None)
    assert rubric_of(by_row[0]).names == ("names_a1",)
    assert rubric_of(by_row[1]) is None
    again = attach_rubric(by_row, {"sc-2": RUBRIC})
    assert [rubric_of(row).names[0] for row in again] == ["names_a1", "lookup"]


def test_a_mapping_of_names_is_one_rubric():
    assert rubric_of(attach_rubric(TASKS, {"lookup": "Looks it up."})[1]).names == ("lookup",)


def test_keys_that_are_no_tasks():
    with pytest.raises(DataError, match=r"'sc-9', none of which is a task.*'sc-1'"):
        attach_rubric(TASKS, {"sc-9": ["Is polite."]})


def test_without_criteria():
    for rubric in ("", [], {}):
        with pytest.raises(ConfigurationError, match="no criteria"):
            attach_rubric(TASKS, rubric)
    with pytest.raises(DataError, match="rubric cannot be used: a rubric has no criteria"):
        rubric_of({"privileged": {"rubric": {"criteria": []}}})


def test_what_has_no_rubric():
    for row in (
        {},
        {"privileged": None},
        {"privileged": {}},
        {"privileged": "text"},
        {"rubric": None},
        {"rubric": ""},
    ):
        assert rubric_of(row) is None
    assert rubric_of({"rubric": "- Is polite."}).names == ("is_polite",)


def test_privileged_of_another_shape():
    with pytest.raises(DataError, match="privileged is a list"):
        attach_rubric([{"prompt": "x", "privileged": [1]}], RUBRIC)


def test_on_rollouts_it_says_where_it_belongs(caplog):
    rollouts = [{"prompt": "x", "steps": [], "final_text": "y"}]
    with caplog.at_level(logging.WARNING, logger="whileai_hf"):
        marked = attach_rubric(rollouts, RUBRIC)
    assert "tasks=tasks" in caplog.text
    assert scrub(marked[0]).keys() == rollouts[0].keys()


def test_judges_get_it_from_the_task_set_and_graded_rows_do_not_keep_it():
    tasks = attach_rubric(TASKS, RUBRIC)
    rollouts = [{"scenario_id": "sc-1", "prompt": "Refund A1.", "final_text": "Done."}]
    seen = []
    rows = grade(rollouts, lambda row: seen.append(rubric_of(row)) or 1, tasks=tasks)
    assert seen == [read_rubric(RUBRIC)]
    assert not view(rows).has("privileged")


def test_a_row_names_no_file_of_this_machine(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("- The password is hunter2.", encoding="utf-8")
    for row in ({"rubric": str(path)}, {"privileged": {"rubric": str(path)}}):
        assert "hunter2" not in str(rubric_of(row))
    tasks = attach_rubric([{"prompt": "q", "rubric": str(path)}], lambda row: row["rubric"])
    assert "hunter2" not in str(rubric_of(tasks[0]))
