"""Labels on rows: which rollout a key names, what several people's labels come to, and what is never guessed."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.measure.trust import attach_labels, label_sheet, rollout_keys
from whileai_hf.measure.trust.attaching import majority
from whileai_hf.rows import open_rows
from whileai_hf.rows.view import RowView
from whileai_hf.score.gold import read_gold


@pytest.fixture
def rows():
    """Two rollouts of each of three tasks, one of a fourth."""
    made = [
        {"run_id": "r", "scenario_id": f"sc-{task}", "prompt": f"ask {task}", "rollout_index": at, "final_text": "x"}
        for task in range(3)
        for at in range(2)
    ]
    return [*made, {"run_id": "r", "scenario_id": "sc-3", "prompt": "ask 3", "rollout_index": 0, "final_text": "y"}]


def gold(labelled):
    return labelled["gold_reward"][:]


def test_every_form_of_a_key(rows):
    keys = rollout_keys(rows)
    for row, ident in zip(rows, "abcdefg", strict=True):
        row["id"] = ident
    records = [
        {"key": keys[0], "label": 1},
        {"key": ["sc-0", 1], "label": 0},
        (("sc-1", 0), True),
        {"scenario_id": "sc-1", "rollout_index": 1, "label": 0.0},
        {"id": "e", "label": 1},
        {"key": {"scenario_id": "sc-2", "rollout_index": 1.0}, "label": 0},
        {"key": "sc-3", "label": 1},
    ]
    labelled, report = attach_labels(rows, records, annotator="ana")
    assert gold(labelled) == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    assert set(labelled["gold_kind"][:]) == {"human"}
    assert labelled["gold_labels"][0] == [{"annotator": "ana", "label": 1, "kind": "human", "random": None}]
    assert (report.n_gold, report.passes, report.by_annotator) == (7, 4, {"ana": 7})
    assert report.warnings == [] and "7 of 7 rows" in str(report)


def test_a_task_of_several_rollouts_names_none_of_them(rows):
    labelled, report = attach_labels(rows, {"sc-0": 1, "nobody": 0, "sc-3": 1, ("sc-9", 0): 1})
    assert gold(labelled) == [None] * 6 + [1.0]
    assert (report.ambiguous, report.unknown) == (["sc-0"], ["nobody", ("sc-9", 0)])
    assert "fit several rollouts, the first 'sc-0'" in str(report) and "name no row" in str(report)
    assert "2 labels name no row here, the first 'nobody'" in report.warnings[0]


def test_two_runs_need_to_be_told_apart(rows):
    both = rows + [{**row, "run_id": "s"} for row in rows]
    pair = {"scenario_id": "sc-0", "rollout_index": 0}
    labelled, report = attach_labels(both, [{**pair, "label": 1}])
    assert report.n_ambiguous == 1 and gold(labelled) == [None] * 14
    labelled, report = attach_labels(both, [{**pair, "run_id": "s", "label": 1}])
    assert [at for at, value in enumerate(gold(labelled)) if value is not None] == [7]
    # The same rollout kept twice is one rollout.
    labelled, report = attach_labels(rows + rows[:1], [{"key": ("sc-0", 0), "label": 1}])
    assert gold(labelled) == [1.0, *[None] * 6, 1.0] and report.n_labelled == 2


def test_rows_without_an_index_are_told_by_their_reply():
    rows = [{"prompt": "Where?", "final_text": text} for text in ("Here.", "There.", "There.")]
    one, two, three = rollout_keys(rows)
    assert one != two == three
    labelled, _ = attach_labels(rows, {two: 0})
    assert gold(labelled) == [None, 0.0, 0.0]
    for odd in (None, 3, [1], {"a": 1}, "\ud800"):
        rollout_keys([{"prompt": odd, "final_text": odd, "run_id": odd, "rollout_index": None}])


def test_people_disagree(rows):
    first, _ = attach_labels(rows, {("sc-0", 0): 1, ("sc-0", 1): 1, ("sc-1", 0): 0}, annotator="ana")
    second, report = attach_labels(first, {("sc-0", 0): 0, ("sc-0", 1): 1}, annotator="ben")
    assert gold(second)[:3] == [None, 1.0, 0.0]
    assert (report.conflicts, report.ties, report.n_gold) == (1, 1, 2)
    assert "as many labels for as against" in report.warnings[0]
    third, report = attach_labels(second, {("sc-0", 0): 0}, annotator="cleo")
    assert gold(third)[0] == 0.0 and (report.conflicts, report.ties) == (1, 0)
    assert [entry["annotator"] for entry in third["gold_labels"][0]] == ["ana", "ben", "cleo"]


def test_one_file_may_hold_several_people(rows, tmp_path):
    path = tmp_path / "labels.jsonl"
    said = [("ana", 1), ("ben", 0), ("cleo", 1), (None, 1)]
    lines = [{"key": ["sc-0", 0], "label": label, "annotator": who} for who, label in said]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    labelled, report = attach_labels(rows, path, annotator="rest")
    assert gold(labelled)[0] == 1.0 and report.conflicts == 1
    assert report.by_annotator == {"ana": 1, "ben": 1, "cleo": 1, "rest": 1}
    assert attach_labels(rows, str(path))[1].by_annotator["unnamed"] == 1


def test_a_later_label_of_the_same_person_is_a_correction(rows):
    twice = [{"key": ("sc-0", 0), "label": 1}, {"key": ("sc-0", 0), "label": 0}]
    labelled, report = attach_labels(rows, twice, annotator="ana", random=True)
    assert gold(labelled)[0] == 0.0 and report.corrected == 1 and len(labelled["gold_labels"][0]) == 1
    again, report = attach_labels(labelled, {("sc-0", 0): 1}, annotator="ana")
    assert gold(again)[0] == 1.0 and report.corrected == 1 and report.conflicts == 0
    assert again["gold_labels"][0][0]["random"] is True  # how the row was drawn does not change
    unnamed, report = attach_labels(rows, twice)  # two people who gave no name
    assert gold(unnamed)[0] is None and report.ties == 1 and report.corrected == 0


def test_a_models_labels_are_no_gold(rows):
    labelled, report = attach_labels(rows, {("sc-0", 0): 1, ("sc-0", 1): 1}, kind="model", annotator="gpt")
    assert labelled["gold_kind"][:2] == ["model", "model"]
    assert (report.n_gold, report.n_other_gold) == (0, 2) and "no gold" in str(report)
    assert read_gold(RowView(labelled)).index.size == 0
    people, report = attach_labels(labelled, {("sc-0", 0): 0}, annotator="ana")
    assert gold(people)[:2] == [0.0, 1.0] and people["gold_kind"][:2] == ["human", "model"]
    assert (report.n_gold, report.n_other_gold, report.conflicts) == (1, 1, 0)
    after, _ = attach_labels(people, {("sc-0", 0): 1}, kind="model")
    assert gold(after)[0] == 0.0  # a model does not outvote a person


def test_gold_nobody_signed_is_replaced_and_kept_elsewhere(rows):
    for row in rows:
        row["gold_reward"] = 1
    labelled, report = attach_labels(rows, {("sc-0", 0): 0}, annotator="ana")
    assert gold(labelled) == [0.0] + [1.0] * 6 and report.unsigned == 1
    assert labelled["gold_kind"][:2] == ["human", None]
    assert "nobody signed" in report.warnings[0]


def test_blanks_are_counted(rows):
    blank = {("sc-0", 0): None, ("sc-0", 1): math.nan, ("sc-1", 0): "", ("sc-1", 1): 1}
    labelled, report = attach_labels(rows, blank)
    assert report.blank == 3 and report.n_labelled == 1 and gold(labelled)[3] == 1.0


@pytest.mark.parametrize("value", [2, -1, 0.5, "1", "pass", [1], math.inf, 10**400])
def test_other_labels_are_refused(rows, value):
    with pytest.raises(DataError, match=r"has the label .*; a label is 0 \(fail\) or 1 \(pass\), or blank"):
        attach_labels(rows, {"sc-3": value})


def test_what_is_no_labels(rows, tmp_path):
    with pytest.raises(SourceNotFoundError, match="is not a file"):
        attach_labels(rows, "nowhere.jsonl")
    with pytest.raises(DataError, match="label 1 has no 'label'"):
        attach_labels(rows, [{"key": "sc-3", "label": 1}, {"key": "sc-3", "gold": 1}])
    with pytest.raises(DataError, match="label 0 has no 'key'"):
        attach_labels(rows, [{"label": 1}])
    with pytest.raises(DataError, match="label 0 is a int"):
        attach_labels(rows, [1])
    with pytest.raises(ConfigurationError, match="given as a int"):
        attach_labels(rows, 3)
    with pytest.raises(ConfigurationError, match="kind='program'"):
        attach_labels(rows, {}, kind="program")
    with pytest.raises(ConfigurationError, match="random='yes'"):
        attach_labels(rows, {}, random="yes")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"key": "sc-3", "label": 1}\n{"key": \n', encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl:2 is not JSON"):
        attach_labels(rows, bad)
    one = tmp_path / "one.json"
    one.write_text('{"sc-3": 1}', encoding="utf-8")
    assert attach_labels(rows, one)[1].n_gold == 1
    one.write_text('{"key": "sc-3", "label": 1}', encoding="utf-8")
    assert attach_labels(rows, one)[1].n_gold == 1


def test_the_rows_themselves_stay_as_they_are(rows):
    before = json.dumps(rows)
    data = open_rows(rows)
    for source in (rows, data):
        labelled, report = attach_labels(source, {"sc-3": 1})
        assert [name for name in labelled.column_names if not name.startswith("gold")] == data.column_names
        assert report.n_gold == 1
    assert json.dumps(rows) == before and "gold_reward" not in data.column_names
    nothing, report = attach_labels(rows, {})
    assert gold(nothing) == [None] * 7 and report.n_labelled == 0
    reopened, report = attach_labels(nothing, {"sc-3": 0})
    assert gold(reopened)[6] == 0.0


def test_a_sheet_goes_out_and_comes_back(rows, tmp_path):
    rows = [{**row, "reward": 1.0, "reason": "SECRET"} for row in rows]
    path = tmp_path / "sheet.jsonl"
    sheet = label_sheet(rows, 4, seed=3, path=path)
    assert sheet == label_sheet(open_rows(rows), 4, seed=3) and sheet != label_sheet(rows, 4, seed=4)
    assert "SECRET" not in path.read_text("utf-8") and "reward" not in sheet[0]
    filled = [{**entry, "label": at % 2} for at, entry in enumerate(sheet)]
    labelled, report = attach_labels(rows, filled, annotator="ana", random=True)
    assert (report.n_labelled, report.n_unknown, report.random) == (4, 0, True)
    keys = dict(zip(rollout_keys(rows), gold(labelled), strict=True))
    assert [keys[entry["key"]] for entry in sheet] == [0.0, 1.0, 0.0, 1.0]
    assert len(label_sheet(rows, 100)) == 7
    with pytest.raises(ConfigurationError, match="n=0"):
        label_sheet(rows, 0)


@settings(deadline=None)
@given(st.lists(st.sampled_from([("human", 1), ("human", 0), ("model", 1), ("model", 0)]), max_size=7))
def test_majority(said):
    found = majority([{"kind": kind, "label": label} for kind, label in said])
    people = [label for kind, label in said if kind == "human"]
    counted = people or [label for _, label in said]
    if not counted or 2 * sum(counted) == len(counted):
        assert found.reward is None
    else:
        assert found.reward == float(2 * sum(counted) > len(counted))
        assert found.kind == ("human" if people else "model")
    assert found.unanimous == (len(set(counted)) <= 1)


def test_the_same_rollout_of_another_evaluation_is_another_rollout():
    rows = [
        {"run_id": "r", "task_id": 1, "rollout_index": 0, "reward": 1, "lineage": {"eval_run": run}}
        for run in range(3)
    ]
    keys = rollout_keys(rows)
    assert len(set(keys)) == 3
    labelled, _ = attach_labels(rows, {keys[1]: 0}, annotator="ana")
    assert labelled["gold_reward"][:] == [None, 0.0, None]
