"""Curricula: who is trainable, in which order, and agreement with the selector."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, MissingColumnError
from whileai_hf.rows import open_rows, to_dataset
from whileai_hf.select import curriculum, next_round, optimize, retire_solved


def rows_of(groups, **more):
    return [
        {"scenario_id": task, "prompt": f"ask {task}", "final_text": f"reply {i}", "reward": r, **more}
        for task, rewards in groups.items()
        for i, r in enumerate(rewards)
    ]


GROUPS = {f"{c}": [1] * c + [0] * (10 - c) for c in range(11)} | {"one": [1], "none": [None, None]}


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_tasks_are_sorted(as_source):
    found = curriculum(as_source(rows_of(GROUPS)))
    assert found.schedule == ["8", "7", "6", "5", "4", "3", "2"]
    assert found.tiers == [["8", "7", "6"], ["5", "4"], ["3", "2"]]
    assert (found.retired, found.not_ready, found.unmeasured) == (["10", "9"], ["1", "0"], ["one", "none"])
    assert (found.n_tasks, found.n_trainable, found.n_solved, found.n_not_ready, found.n_in_band) == (13, 7, 2, 2, 7)
    assert found["schedule"] == found.schedule
    assert "7 of 13 tasks" in str(found) and "tier 1: 3 tasks, 0.80 to 0.60" in str(found)
    assert any("as few as 10" in warning for warning in found.warnings)
    json.dumps(found.to_dict())


def test_edges_and_tiers():
    rows = rows_of(GROUPS)
    found = curriculum(rows, solved=0.5, floor=0.3, tiers=2)
    assert found.tiers == [["5", "4"], ["3"]]
    assert curriculum(rows, tiers=20).tiers[7:] == [[]] * 13
    assert curriculum(rows, solved=1.0, floor=0.0).n_in_band == 7
    for wrong in ({"solved": 0.1}, {"floor": -1}, {"solved": 2}, {"tiers": 0}, {"solved": None}, {"tiers": True}):
        with pytest.raises(ConfigurationError):
            curriculum(rows, **wrong)
    with pytest.raises(MissingColumnError, match="grade the rows first"):
        curriculum([{"task_id": 1}])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0, 1, 0.25, 0.5]), min_size=2, max_size=8), min_size=1, max_size=12))
def test_agrees_with_the_selector_about_every_task(drawn):
    rows = rows_of({f"t{i}": rewards for i, rewards in enumerate(drawn)})
    found = curriculum(rows)
    parts = [*found.schedule, *found.retired, *found.not_ready, *found.unmeasured]
    assert sorted(parts) == sorted({row["scenario_id"] for row in rows})
    assert [task for tier in found.tiers for task in tier] == found.schedule
    rates = [found.rates[task] for task in found.schedule]
    assert rates == sorted(rates, reverse=True)
    kept = set(optimize(rows)[0]["scenario_id"])
    mixed = {f"t{i}" for i, rewards in enumerate(drawn) if len(set(rewards)) > 1}
    assert kept == set(found.schedule) & mixed
    left = set(retire_solved(rows)["scenario_id"])
    assert left == set(parts) - set(found.retired)


def test_a_selection_is_judged_by_its_stamps():
    rows = rows_of({"a": [1] * 6 + [0] * 2})
    for row in rows[:4]:
        row["finish_reason"] = "length"
    kept, _ = optimize(rows)
    assert len(kept) == 4
    found = curriculum(kept)
    assert (found.rates["a"], found.n_stamped) == (0.75, 1)
    assert curriculum(kept.remove_columns("calibration")).rates["a"] == 0.5


def test_retired_tasks_go_with_all_their_rows_and_nothing_else_changes():
    rows = rows_of({"done": [1] * 5 + [None], "half": [1, 0, None]}, privileged={"reference": "x"}, mine={"a": 1})
    kept = retire_solved(open_rows(rows))
    assert kept["scenario_id"][:] == ["half"] * 3
    assert "privileged" not in kept.column_names and kept["mine"][0] == {"a": 1}
    assert len(retire_solved(rows, solved=0.4)) == 0


def test_next_round_plays_the_prompts_inside_the_band():
    rows = rows_of(GROUPS, world_state="shipped", faults={"*": {"kind": "timeout"}}, expected_calls=[], run_id="r")
    rows += [{**row, "prompt": "ask 5 otherwise"} for row in rows if row["scenario_id"] == "5"]
    tasks, report = next_round(rows)
    assert tasks["scenario_id"][:] == ["8", "7", "6", "5", "5", "4", "3", "2"]
    assert (report.n_tasks, report.n_prompts, report.n_solved, report.n_not_ready) == (7, 8, 2, 2)
    assert set(tasks.column_names) == {"scenario_id", "prompt", "world_state", "faults"}
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    assert next_round(shuffled)[1].prompt_set_sha == report.prompt_set_sha
    assert next_round(rows, band=(0.3, 0.7))[1].prompt_set_sha != report.prompt_set_sha
    empty, said = next_round(rows_of({"a": [1, 1]}))
    assert len(empty) == 0 and any("nothing to play" in warning for warning in said.warnings)


def test_next_round_of_tasks_without_an_id_beside_others_with_one():
    rows = rows_of({"a": [1, 1, 1, 1]}) + [{"prompt": "where?", "reward": reward} for reward in (0, 1, 0, 1)]
    for source in (rows, to_dataset(rows)):
        tasks, report = next_round(source)
        assert (tasks["prompt"][:], report.n_solved) == (["where?"], 1)


def test_training_on_an_evaluation_is_warned_of():
    rows = rows_of({"a": [1, 0]}, lineage={"source": "eval"})
    assert curriculum(rows).eval_sourced == 2
    assert any("evaluation" in warning for warning in curriculum(rows).warnings)
    assert any("evaluation" in warning for warning in next_round(rows)[1].warnings)
