"""How large an eval has to be, and whether an eval does what it promises."""

import numpy as np
import pytest

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.compare import detectable_effect, holdout_size, self_check
from whileai_hf.stats.power import Population, smallest_effect, tasks_needed


def rows_of(n_tasks, k, base=0.6, spread=0.25, seed=0, **extra):
    generator = np.random.default_rng(seed)
    total = base * (1 - base) / spread**2 - 1
    rates = generator.beta(base * total, (1 - base) * total, n_tasks)
    return [
        {"task_id": task, "rollout_index": i, "reward": int(generator.random() < rates[task]), **extra}
        for task in range(n_tasks)
        for i in range(k)
    ]


def test_numbers_are_those_of_the_population_named():
    found = detectable_effect(30, base=0.5, k=2, spread=0.2)
    population = Population(0.5, 2, 0.2)
    assert found.paired == smallest_effect(30, population)
    assert found.unpaired == smallest_effect(30, population, paired=False)
    assert found.notes == [] and (found.base, found.k, found.spread) == (0.5, 2, 0.2)
    size = holdout_size(0.3, base=0.5, k=2, spread=0.2)
    assert (size.paired, size.unpaired) == tuple(tasks_needed(0.3, population, paired=how) for how in (True, False))


def test_population_is_read_from_rows():
    found = detectable_effect(rows_of(400, 4))
    assert (found.n_tasks, found.k) == (400, 4)
    assert found.base == pytest.approx(0.6, abs=0.04)
    assert found.spread == pytest.approx(0.25, abs=0.04)
    assert holdout_size(0.1, data=rows_of(400, 4)).paired == pytest.approx(
        holdout_size(0.1, base=0.6, k=4, spread=0.25).paired, rel=0.15
    )


def test_below_six_tasks_and_out_of_reach():
    few = detectable_effect(5)
    assert (few.paired, few.unpaired) == (None, None)
    assert any("below 6" in note for note in few.notes)
    six = detectable_effect(6, base=0.6, k=4, spread=0.0)
    assert six.paired is None
    assert any("to 1" in note for note in six.notes)
    assert any("assumed" in note for note in few.notes)


@pytest.mark.parametrize("call", [lambda: detectable_effect(0), lambda: detectable_effect(True)])
def test_no_number_of_tasks(call):
    with pytest.raises(ConfigurationError, match="number of tasks"):
        call()


def test_rows_that_cannot_tell():
    with pytest.raises(DataError, match="grade the rows first"):
        detectable_effect([{"task_id": 1, "reward": None}])
    with pytest.raises(DataError, match="same verdict"):
        holdout_size(data=[{"task_id": i, "reward": 1} for i in range(9)])
    with pytest.raises(ConfigurationError, match="no rise"):
        holdout_size(0.5, base=0.6)


def test_text():
    assert str(detectable_effect(5, base=0.5, k=1, spread=0.1)).startswith("5 tasks see nothing paired, nothing")
    assert "tasks paired" in str(holdout_size(0.3, base=0.5, k=4, spread=0.1))


def test_self_check_finds_the_power_that_was_promised():
    rows = rows_of(60, 4)
    effect = detectable_effect(rows).paired
    found = self_check(rows, effect=effect, trials=600)
    assert found.false_positive_ci95[0] <= 0.05
    assert found.power == pytest.approx(0.8, abs=0.08)
    weak = self_check(rows, effect=effect / 4, trials=200)
    assert weak.ok is False and weak.power < 0.5


def test_self_check_of_other_metrics():
    generator = np.random.default_rng(0)
    rows = [
        {"task_id": task, "reward": float(generator.normal(task % 5, 0.4)), "rollout_index": i}
        for task in range(40)
        for i in range(4)
    ]
    found = self_check(rows, metric="reward", effect=0.4 * 2.8 * np.sqrt(2 / 4 / 40), trials=600)
    assert found.false_positive_rate < 0.09
    assert found.power == pytest.approx(0.8, abs=0.1)


def test_self_check_of_almost_nothing():
    few = self_check(rows_of(5, 4))
    assert (few.false_positive_rate, few.power, few.ok, few.trials) == (None, None, None, 0)
    assert "below 6" in few.notes[0]
    with pytest.raises(ConfigurationError, match="effect=0"):
        self_check(rows_of(8, 4), effect=0)
    with pytest.raises(ConfigurationError, match="does not fit"):
        self_check(rows_of(8, 4), effect=0.9)
    with pytest.raises(ConfigurationError, match="trials=0"):
        self_check(rows_of(8, 4), trials=0)


def test_self_check_is_deterministic():
    rows = rows_of(20, 3)
    assert self_check(rows, trials=100) == self_check(rows[::-1], trials=100)


def test_an_eval_that_passes_everything_is_still_compared_with_itself():
    rows = [{"task_id": task, "reward": 1, "rollout_index": i} for task in range(20) for i in range(3)]
    found = self_check(rows, trials=100)
    assert (found.false_positive_rate, found.effect, found.power, found.ok) == (0.0, None, None, None)
    assert any("a rise of 0.05 does not fit" in note for note in found.notes)
    assert "0.0% of 100 trials" in str(found) and "rise of" not in str(found).splitlines()[0]
    with pytest.raises(ConfigurationError, match=r"effect=0\.05 does not fit"):
        self_check(rows, effect=0.05)
    assert self_check(rows_of(8, 4), trials=50).effect == 0.05


def test_copies_are_noted():
    rows = rows_of(10, 3)
    for found in (self_check(rows + rows[:2], trials=20), detectable_effect(rows + rows[:2], k=2)):
        assert any("2 row(s) repeat a rollout" in note for note in found.notes)
    assert not any("repeat" in note for note in self_check(rows, trials=20).notes)


@pytest.mark.parametrize(
    "call",
    [
        lambda: holdout_size("x"),
        lambda: holdout_size(rows_of(8, 2)),
        lambda: holdout_size(None),
        lambda: holdout_size(0.1, base="x"),
        lambda: holdout_size(0.1, k="x"),
        lambda: holdout_size(0.1, spread=[1]),
        lambda: holdout_size(0.1, power="x"),
        lambda: holdout_size(0.1, seed="x"),
        lambda: detectable_effect(2.5),
        lambda: detectable_effect(20, seed=None),
        lambda: self_check(rows_of(8, 2), effect="x"),
        lambda: self_check(rows_of(8, 2), seed="x"),
        lambda: self_check(rows_of(8, 2), trials="x"),
    ],
)
def test_wrong_arguments_are_one_short_sentence(call):
    with pytest.raises(ConfigurationError, match=r"^\w+=") as caught:
        call()
    assert len(str(caught.value)) < 200
