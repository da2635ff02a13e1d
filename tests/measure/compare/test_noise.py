"""The spread between runs of one eval."""

import numpy as np
import pytest
from scipy import stats

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.compare import eval_variance
from whileai_hf.rows import open_rows


def evaluation(rates, tasks=("a", "b", "c", "d"), run=None):
    rows = []
    for task, rate in zip(tasks, rates, strict=True):
        for index in range(4):
            row = {
                "task_id": task,
                "reward": int(index < 4 * rate),
                "markers": {"polite": rate},
                "rollout_index": index,
            }
            rows.append(row | ({"lineage": {"eval_run": run}} if run is not None else {}))
    return rows


RUNS = [(0.25, 0.5, 1, 1), (0.5, 0.5, 1, 1), (0.25, 0.25, 0.5, 1)]
MEANS = [np.mean(rates) for rates in RUNS]


@pytest.mark.parametrize("form", [list, open_rows])
def test_sample_standard_deviation_of_run_means(form):
    together = form([row for run, rates in enumerate(RUNS) for row in evaluation(rates, run=run)])
    apart = [form(evaluation(rates)) for rates in RUNS]
    for found in (eval_variance(together), eval_variance(*apart)):
        assert found.run_std == pytest.approx(np.std(MEANS, ddof=1), abs=1e-12)
        assert list(found.runs.values()) == pytest.approx(MEANS)
        assert (found.n_runs, found.df, found.n_tasks) == (3, 2, 4)
        assert found.rerun_band == pytest.approx(stats.t.ppf(0.975, 2) * found.run_std * np.sqrt(2))
        assert found.metrics["polite"] == pytest.approx(found.run_std)


def test_two_runs_are_too_few():
    found = eval_variance(evaluation(RUNS[0]), evaluation(RUNS[1]))
    assert (found.run_std, found.rerun_band, found.metrics) == (None, None, {})
    assert "runs=3" in found.notes[0]
    assert eval_variance(evaluation(RUNS[0])).n_runs == 1


def test_only_tasks_every_run_has():
    found = eval_variance(evaluation(RUNS[0]), evaluation(RUNS[1]), evaluation(RUNS[2][:3], "abc"))
    assert found.n_tasks == 3
    assert found.run_std == pytest.approx(np.std([np.mean(rates[:3]) for rates in RUNS], ddof=1))
    assert "1 task(s) are missing" in found.notes[0]


def test_bad_input():
    with pytest.raises(ConfigurationError, match="no rows"):
        eval_variance()
    with pytest.raises(ConfigurationError, match="did you mean 'polite'"):
        eval_variance(evaluation(RUNS[0]), metric="polit")
    with pytest.raises(DataError, match="share none of their"):
        eval_variance(evaluation(RUNS[0]), evaluation(RUNS[1], "efgh"), evaluation(RUNS[2], "ijkl"))


def test_column_instead_of_lineage():
    rows = [dict(row, eval_run=run) for run, rates in enumerate(RUNS) for row in evaluation(rates)]
    assert eval_variance(rows).run_std == pytest.approx(np.std(MEANS, ddof=1))


def test_nothing_graded():
    found = eval_variance(*[[dict(row, reward=None) for row in evaluation(RUNS[0], run=run)] for run in range(3)])
    assert (found.n_runs, found.n_tasks, found.run_std) == (0, 0, None)
    together = eval_variance([dict(row, reward=None) for run in range(3) for row in evaluation(RUNS[0], run=run)])
    assert "grade the rows first" in together.notes[0]
    assert not any("-" in note.split("task")[0] for note in together.notes)


def test_evaluations_exactly_alike_are_noted():
    found = eval_variance(*[evaluation(RUNS[0])] * 3)
    assert found.run_std == 0.0
    assert any("exactly alike" in note for note in found.notes)
    assert not any("exactly alike" in note for note in eval_variance(*map(evaluation, RUNS)).notes)


def test_rows_without_a_tag_belong_to_no_evaluation():
    rows = [row for run, rates in enumerate(RUNS[:2]) for row in evaluation(rates, run=run)] + evaluation(RUNS[2])
    found = eval_variance(rows)
    assert (found.n_runs, found.run_std) == (2, None)
    assert any("16 row(s) say no eval_run" in note for note in found.notes)
