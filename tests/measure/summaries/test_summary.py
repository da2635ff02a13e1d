"""Levels of metrics and markers."""

import math

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.metrics import metric_names, task_means
from whileai_hf.measure.summaries import marker_names, marker_summary, metric_summary
from whileai_hf.rows import open_rows
from whileai_hf.stats import bootstrap_mean_ci


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
def test_means_over_tasks_with_their_bootstrap(form):
    rows = form(ROWS)
    found = metric_summary(rows)
    assert list(found.metrics) == ["pass_at_1", "reward", "honest", "polite"] == metric_names(rows)
    level = found.metrics["polite"]
    assert (level.mean, level.n_tasks, level.n_rows, level.n_missing) == (pytest.approx(2 / 3), 20, 60, 0)
    honest = found.metrics["honest"]
    assert honest.ci95 == bootstrap_mean_ci([task / 20 for task in range(20)])
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
