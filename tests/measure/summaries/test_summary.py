"""Levels of metrics and markers."""

import math

import numpy as np
import pytest
from scipy import stats

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.metrics import metric_names, task_means
from whileai_hf.measure.passes import pass_at
from whileai_hf.measure.summaries import marker_names, marker_summary, metric_summary
from whileai_hf.rows import open_rows
from whileai_hf.stats.shares import share_interval


ROWS = [
    {
        "task_id": task,
        "prompt": f"ask {task}",
        "reward": (task + i) % 2,
        "rollout_index": i,
        "markers": {"polite": 1.0, "honest": task / 20} if i else {"polite": 0},
    }
    for task in range(20)
    for i in range(3)
]


@pytest.mark.parametrize("form", [list, open_rows])
def test_means_over_tasks_with_their_intervals(form):
    rows = form(ROWS)
    found = metric_summary(rows)
    assert list(found.metrics) == ["pass_at_1", "reward", "honest", "polite"] == metric_names(rows)
    level = found.metrics["polite"]
    assert (level.mean, level.n_tasks, level.n_rows, level.n_missing) == (pytest.approx(2 / 3), 20, 60, 0)
    honest = found.metrics["honest"]
    expected = share_interval([task / 20 for task in range(20)], trials=40)
    assert (*honest.ci95, honest.method) == pytest.approx(expected)
    assert (honest.n_rows, honest.n_missing) == (40, 20)
    assert marker_names(rows) == ["honest", "polite"] == list(marker_summary(rows).metrics)
    assert task_means(rows, "marker:honest").means.tolist() == pytest.approx([task / 20 for task in range(20)])


def test_rows_without_markers():
    rows = [{"task_id": task, "reward": 1} for task in range(4)]
    assert marker_names(rows) == []
    assert marker_summary(rows).metrics == {}
    assert "no row has a marker" in str(marker_summary(rows))
    assert list(metric_summary(rows).metrics) == ["pass_at_1", "reward"]


def test_markers_that_are_no_numbers():
    markers = [{"a": True}, {"a": None}, {"a": "1"}, {"a": math.nan}, {"a": 10**400}, None, [], {"a": 0.5, 3: 1}]
    rows = [{"task_id": task, "markers": cell} for task, cell in enumerate(markers)]
    found = task_means(rows, "a")
    assert (found.keys, found.means.tolist()) == ([0, 7], [1.0, 0.5])
    assert marker_names(rows) == ["3", "a"]


def test_nothing_graded_and_few_tasks():
    level = metric_summary([{"task_id": 1, "reward": None}]).metrics["pass_at_1"]
    assert (level.mean, level.ci95, level.n_missing) == (None, None, 1)
    assert "not measured" in str(level)
    two = metric_summary([{"task_id": i, "reward": i} for i in range(2)])
    assert two.metrics["reward"].ci95 is None
    assert any("at least 3 tasks" in note for note in two.notes)


def test_unknown_metric():
    with pytest.raises(ConfigurationError, match=r"did you mean 'polite'.*pass_at_1, reward, honest, polite"):
        metric_summary(ROWS, ["polit"])


@pytest.mark.parametrize("n_tasks", [3, 6, 30])
@pytest.mark.parametrize("rate", [0.6, 0.97, 1.0])
def test_pass_at_1_does_not_contradict_pass_at(n_tasks, rate):
    generator = np.random.default_rng(n_tasks)
    rows = [
        {"task_id": task, "reward": int(generator.random() < rate), "rollout_index": i}
        for task in range(n_tasks)
        for i in range(4)
    ]
    level, found = metric_summary(rows).metrics["pass_at_1"], pass_at(rows)
    assert (level.mean, level.method) == (pytest.approx(found.pass_at_1), found.intervals["pass_at_1"])
    assert level.ci95 == pytest.approx(found.ci95)


def test_tasks_that_all_agree_leave_room():
    rows = [{"task_id": task, "markers": {"polite": 1.0, "seconds": 5.0}} for task in range(6)]
    found = marker_summary(rows)
    assert found.metrics["polite"].ci95 == pytest.approx((0.025 ** (1 / 6), 1.0))
    assert found.metrics["polite"].method == "clopper_pearson"
    assert found.metrics["seconds"].ci95 is None
    assert any("all tasks are alike in seconds" in note for note in found.notes)


def test_other_metrics_have_students_interval():
    values = [1.0, 4.0, 2.5, 9.0, 3.0]
    rows = [{"task_id": task, "reward": value} for task, value in enumerate(values)]
    level = metric_summary(rows, "reward").metrics["reward"]
    expected = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (level.method, level.ci95) == ("student_t", pytest.approx(expected))


@pytest.mark.parametrize("form", [list, open_rows])
def test_what_is_left_out_or_odd_is_noted(form):
    rows = [{"task_id": task, "rollout_index": 0, "markers": {"a": 1.0, "b": "x"}} for task in range(6)]
    rows[0]["markers"], rows[1]["markers"] = {"a": "yes", "b": "x"}, {"a": 3.0, "b": "x"}
    notes = marker_summary(form([*rows, rows[5]])).notes
    assert any("1 value(s) of the marker a are no numbers" in note for note in notes)
    assert any("1 value(s) of the marker a lie outside 0 to 1" in note for note in notes)
    assert any("no value of the marker b is a number (7 are something else)" in note for note in notes)
    assert any("1 row(s) repeat a rollout" in note for note in notes)
    assert marker_summary([{"task_id": t, "markers": {"a": t % 2}} for t in range(12)]).notes == []


@pytest.mark.parametrize("metrics", [3, 2.5, True])
def test_metrics_that_are_no_names(metrics):
    with pytest.raises(ConfigurationError, match="metrics="):
        metric_summary(ROWS, metrics)
