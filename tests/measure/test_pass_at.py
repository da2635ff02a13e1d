"""Pass rates: published values, what is counted, and what is said about what is not."""

import json
import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure import PassAt, group_signal, pass_at
from whileai_hf.rows import open_rows
from whileai_hf.stats import pass_at_k, pass_pow_k


def rows_of(groups):
    """Rows with the rewards of each task."""
    return [
        {"scenario_id": task, "prompt": f"ask {task}", "rollout_index": i, "reward": reward}
        for task, rewards in groups.items()
        for i, reward in enumerate(rewards)
    ]


@pytest.fixture(scope="module")
def airline(shared):
    path = shared / "real" / "trajectories" / "tau_v1_gpt4o_airline.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def published(shared):
    return json.loads((shared / "real" / "passk" / "tau_v1_gpt4o_airline_open20.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("order", ["as stored", "reversed", "shuffled", "dataset", "shuffled dataset"])
def test_published_values_exactly(airline, published, order):
    rows = {
        "as stored": lambda: airline,
        "reversed": lambda: airline[::-1],
        "shuffled": lambda: [airline[i] for i in np.random.default_rng(1).permutation(len(airline))],
        "dataset": lambda: open_rows(airline),
        "shuffled dataset": lambda: open_rows(airline).shuffle(seed=3),
    }[order]()
    found = pass_at(rows)
    assert found.pass_at_1 == published["computed"]["pass@1"]
    assert found.k == 4
    assert found.pass_pow_k == published["computed"]["pass^4"]
    assert found.pass_at_k == published["computed"]["pass@4"]
    for size, point in found.curve.items():
        assert point["pass_at"] == published["computed"][f"pass@{size}"]
        assert point["pass_pow"] == published["computed"][f"pass^{size}"]
        assert point["n_groups"] == 20
    assert {str(task): sum(rewards) / 4 for task, rewards in published["rewards"].items()} == {
        str(task): rate for task, rate in found.per_task.items()
    }
    assert all(isinstance(task, int) for task in found.per_task)
    reference = pass_at(airline)
    assert (found.ci95, found.pass_pow_k_ci95, found.pass_at_k_ci95) == (
        reference.ci95,
        reference.pass_pow_k_ci95,
        reference.pass_at_k_ci95,
    )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_published_values_at_a_chosen_k(airline, published, k):
    found = pass_at(airline, k=k)
    assert (found.pass_at_k, found.pass_pow_k) == (
        published["computed"][f"pass@{k}"],
        published["computed"][f"pass^{k}"],
    )
    assert list(found.curve) == list(range(1, k + 1))


def test_text():
    found = pass_at(rows_of({f"t{i}": [1, 1, i % 2, i % 4 == 0] for i in range(40)}))
    first, *notes = str(found).splitlines()
    low, high = found.ci95
    assert first == (
        f"pass@1 0.69 [{low:.2f}, {high:.2f}] | pass^4 0.00 | pass@4 1.00 | headroom 0.31 (40 groups, k=4)"
    )
    assert notes == []
    assert found["pass_at_1"] == found.pass_at_1 == found.to_dict()["pass_at_1"]
    assert json.loads(json.dumps(found.to_dict()))["k"] == 4


def test_root_gives_the_function():
    assert wai.pass_at is pass_at
    assert wai.group_signal is group_signal


def test_case_unscorable_rollouts_are_stated(load_case):
    case = load_case("O031")["input"]
    found = pass_at(rows_of(case["groups"]), k=case["k"])
    assert found.pass_pow_k == 0.0
    assert found.excluded == ["t1"]
    assert found.n_groups == 1
    assert found.per_task == {"t1": 1.0, "t2": 0.75}
    assert found.pass_pow_k_ci95 is None
    assert any("fewer than 4 scored rollouts" in note for note in found.notes)


@pytest.mark.parametrize("per_task", [1, 5])
@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf, "crashed", [0]])
def test_case_a_crashed_harness_is_not_a_failed_agent(load_case, per_task, missing):
    case = load_case("O032")
    n, failed, passed = (case["input"][key] for key in ("n_rollouts", "infra_failed", "passed"))
    rewards = [missing] * failed + [1] * passed + [0] * (n - failed - passed)
    rewards = [rewards[i] for i in np.arange(n).reshape(per_task, -1).T.ravel()]  # crashes spread over tasks
    rows = [{"task_id": i // per_task, "reward": reward} for i, reward in enumerate(rewards)]
    found = pass_at(rows)
    assert found.pass_at_1 == pytest.approx(case["expected"]["pass_at_1"])
    assert (found.n_scored, found.n_unjudged) == (case["expected"]["n_scored"], case["expected"]["unjudged"])
    assert any("not counted as failures" in note for note in found.notes)


def test_case_duplicates_are_said(load_case):
    case = load_case("O030")
    rows = [{"task_id": row["task"], "trial": row["trial"], "reward": row["reward"]} for row in case["input"]["rows"]]
    for source in (rows, [{**row, "rollout_index": row["trial"]} for row in rows], open_rows(rows)):
        found = pass_at(source)
        assert found.n_duplicates == 1
        assert any(case["expected"]["report"] in note for note in found.notes)


@pytest.mark.parametrize(
    "differs",
    [{"run_id": "r2"}, {"eval_run": "e2"}, {"lineage": {"eval_run": "e2"}}, {"prompt": "said otherwise"}],
)
def test_repeats_of_another_run_are_no_duplicates(differs):
    rows = rows_of({"a": [1, 0], "b": [1, 1]})
    again = [{**row, **differs} for row in rows]
    for source in (rows + again, open_rows(rows + again)):
        assert pass_at(source).n_duplicates == 0
    assert pass_at(rows + rows).n_duplicates == len(rows)


def test_rows_without_an_index_cannot_be_told_apart():
    rows = [{"prompt": "a", "reward": 1}] * 5
    assert pass_at(rows).n_duplicates == 0


def test_case_same_words_are_not_the_same_task(load_case):
    case = load_case("O037")
    found = pass_at(case["input"]["rows"])
    assert found.n_tasks == case["expected"]["n_tasks"]
    assert found.per_task == {task: np.mean(rewards) for task, rewards in case["expected"]["groups"].items()}
    assert found.k == 2


def test_integer_and_text_keys_stay_apart():
    rows = [{"task_id": 4, "reward": 1}, {"task_id": "4", "reward": 0}, {"task_id": 0, "reward": 1}]
    assert pass_at(rows).per_task == {4: 1.0, "4": 0.0, 0: 1.0}


def test_task_key_falls_back_row_by_row():
    rows = [
        {"scenario_id": "s", "prompt": "x", "reward": 1},
        {"scenario_id": None, "task_id": 7, "prompt": "x", "reward": 0},
        {"prompt": "x", "reward": 1},
    ]
    for source in (rows, open_rows(rows)):
        assert pass_at(source).per_task == {"s": 1.0, 7: 0.0, "x": 1.0}


def test_few_repeats_say_little():
    rows = rows_of({f"t{i}": [1, i % 2, 0] for i in range(12)})
    found = pass_at(rows)
    assert found.k == 3
    assert (found.pass_at_k, found.pass_pow_k, found.headroom, found.curve) == (None, None, None, {})
    assert (found.pass_at_k_ci95, found.pass_pow_k_ci95) == (None, None)
    assert any("k=3" in note for note in found.notes)
    assert "pass^3 n/a | pass@3 n/a" in str(found)
    assert pass_at(rows, k=3).pass_at_k == 1.0


def test_k_is_the_smallest_group_of_repeats():
    found = pass_at(rows_of({"a": [1] * 8, "b": [0, 1, 0, 1, 1], "c": [1], "d": [None, 1, 0, 1, 1, 1]}))
    assert found.k == 5
    assert found.excluded == ["c"]
    assert found.n_groups == 3
    # On the same groups, so that a task left out cannot make it negative.
    assert found.headroom == pytest.approx(found.pass_at_k - np.mean([1.0, 0.6, 0.8]))


def test_no_repeats():
    found = pass_at(rows_of({"a": [1], "b": [0], "c": [1]}))
    assert found.k is None
    assert found.pass_at_1 == pytest.approx(2 / 3)
    assert found.excluded == []
    assert any("need repeats" in note for note in found.notes)
    assert str(found).splitlines()[0].endswith("(3 groups)")


def test_k_nobody_reaches():
    found = pass_at(rows_of({"a": [1, 0], "b": [0, 0], "c": [1, 1]}), k=9)
    assert (found.k, found.pass_at_k, found.n_groups) == (9, None, 0)
    assert found.excluded == ["a", "b", "c"]
    assert any("no task has 9" in note for note in found.notes)


def test_too_few_tasks_for_an_interval():
    found = pass_at(rows_of({"a": [1, 0, 1, 1], "b": [1, 1, 1, 1]}))
    assert (found.ci95, found.pass_pow_k_ci95, found.pass_at_k_ci95) == (None, None, None)
    assert found.pass_pow_k == 0.5
    assert any("no interval" in note for note in found.notes)


def test_twenty_tasks_that_never_fail_are_not_certainty():
    """Exactly what 20 successes in 20 independent draws of a task say; a resampling of them would say [1, 1]."""
    found = pass_at(rows_of({f"t{i}": [1, 1, 1, 1] for i in range(20)}))
    exact = stats.binomtest(20, 20).proportion_ci(method="exact")
    assert found.ci95 == found.pass_pow_k_ci95 == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert found.intervals["pass_at_1"] == "clopper_pearson"


def test_several_evaluations_of_one_task_set_keep_the_k_of_one():
    rows = [
        {"task_id": f"t{task}", "rollout_index": i, "reward": (task + i + run) % 2, "lineage": {"eval_run": run}}
        for task in range(5)
        for run in range(3)
        for i in range(4)
    ]
    found = pass_at(rows)
    assert (found.k, found.n_groups, found.n_duplicates) == (4, 5, 0)
    assert found.pass_pow_k == pytest.approx(math.comb(6, 4) / math.comb(12, 4))
    assert pass_at([row | {"lineage": {}} for row in rows]).k == 12


@pytest.mark.parametrize("rewards", [[None, None], [math.nan, None]])
def test_ungraded_rows_are_reported_not_refused(rewards):
    found = pass_at(rows_of({"a": rewards, "b": rewards}))
    assert found.pass_at_1 is None
    assert found.ci95 is None
    assert found.per_task == {}
    assert (found.n_scored, found.n_tasks) == (0, 2)
    assert found.notes == [
        "not graded: none of the 4 rows has a reward; grade the rows first: wai.grade(data, judge=...)"
    ]
    assert str(found).startswith("pass@1 n/a")


def test_booleans_fractions_and_threshold():
    rows = rows_of({"a": [True, False, True, 0.5]})
    for source in (rows, open_rows(rows)):
        found = pass_at(source)
        assert found.pass_at_1 == 0.5
        assert any("neither 0 nor 1" in note for note in found.notes)
    assert pass_at(rows, threshold=0.5).pass_at_1 == 0.75
    assert pass_at(Dataset.from_dict({"prompt": ["a", "a"], "reward": [True, False]})).pass_at_1 == 0.5


def test_text_is_never_a_reward():
    found = pass_at([{"prompt": "a", "reward": "1"}, {"prompt": "a", "reward": 1}])
    assert (found.n_scored, found.n_unjudged) == (1, 1)
    assert any("not numbers" in note for note in found.notes)
    assert pass_at([{"prompt": "a", "reward": 10**400}, {"prompt": "a", "reward": 0}]).n_scored == 1


def test_what_the_rows_mix_is_named():
    rows = rows_of({"a": [1, 0], "b": [1, 1]})
    for i, row in enumerate(rows):
        row |= {
            "policy_version": f"p{i % 2}",
            "judge_name": "j",
            "lineage": {"judge_version": "v1"},
            "sampling": {"temperature": 0.7},
        }
    for source in (rows, open_rows(rows)):
        found = pass_at(source)
        assert found.config == {
            "policy_version": ["p0", "p1"],
            "judge_name": ["j"],
            "judge_version": ["v1"],
            "temperature": [0.7],
        }
        assert any("2 policies" in note for note in found.notes)
    odd = [{**row, "sampling": {"temperature": [1]}, "lineage": "v1"} for row in rows]
    assert "temperature" not in pass_at(odd).config
    assert pass_at(rows_of({"a": [1]})).config == {}


groups = st.dictionaries(
    st.integers(0, 30) | st.text(max_size=3),
    st.lists(st.sampled_from([0, 1, 0.5, True, None, math.nan]), min_size=1, max_size=6),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(groups, st.integers(1, 6), st.randoms())
def test_definition(groups, k, random):
    rows = [{"task_id": task, "reward": reward} for task, rewards in groups.items() for reward in rewards]
    random.shuffle(rows)
    found = pass_at(rows, k=k, n_boot=20)
    judged = {task: [r for r in rewards if r is not None and not math.isnan(r)] for task, rewards in groups.items()}
    counts = {task: (len(rewards), sum(r >= 1 for r in rewards)) for task, rewards in judged.items() if rewards}
    assert found.per_task == {task: c / n for task, (n, c) in counts.items()}
    assert found.n_rows == found.n_scored + found.n_unjudged == len(rows)
    assert found.n_groups + len(found.excluded) == found.n_tasks == len(groups)
    enough = [(n, c) for n, c in counts.values() if n >= k]
    if not counts:
        assert found.pass_at_1 is None
        return
    assert found.pass_at_1 == pytest.approx(np.mean(list(found.per_task.values())))
    if enough:
        assert found.pass_at_k == pytest.approx(np.mean([pass_at_k(n, c, k) for n, c in enough]))
        assert found.pass_pow_k == pytest.approx(np.mean([pass_pow_k(n, c, k) for n, c in enough]))
        assert found.headroom >= -1e-12
        curve = list(found.curve.values())
        assert all(a["pass_at"] <= b["pass_at"] + 1e-12 for a, b in pairwise(curve))
        assert all(a["pass_pow"] >= b["pass_pow"] - 1e-12 for a, b in pairwise(curve))
    else:
        assert found.pass_at_k is None
    if found.ci95 is not None:
        assert found.ci95[0] <= found.ci95[1]


def test_lists_and_datasets_agree():
    random = np.random.default_rng(0)
    rows = [
        {
            "scenario_id": f"s{i // 5}",
            "prompt": f"p{i // 5}",
            "rollout_index": i % 5,
            "reward": float(random.random() < 0.6),
        }
        for i in range(500)
    ]
    dataset = open_rows(rows)
    chunks = Dataset(pa.concat_tables([dataset.data.table.slice(i, 37) for i in range(0, 500, 37)]))
    assert pass_at(rows) == pass_at(dataset) == pass_at(chunks)
    order = random.permutation(500)
    shuffled = pass_at(dataset.select(order.tolist()))
    assert shuffled == pass_at([rows[i] for i in order])
    assert dataset.column_names == open_rows(rows).column_names


def test_a_long_curve_is_thinned():
    rows = [{"prompt": "a", "reward": i % 3 == 0} for i in range(1000)]
    curve = pass_at(rows).curve
    assert list(curve) == [*range(1, 65), 128, 256, 512, 1000]
    assert curve[1000]["pass_at"] == 1.0


def test_a_million_rows():
    """Vectorised: seconds would mean a Python loop over rows."""
    n = 200_000
    ids = pa.array([f"sc-{i // 4}" for i in range(n)])
    rewards = pa.array((np.arange(n) % 3 == 0).astype(float))
    found = pass_at(Dataset(pa.table({"scenario_id": ids, "reward": rewards})).shuffle(seed=0))
    assert (found.n_tasks, found.k) == (n // 4, 4)


def test_report_of_a_path(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows_of({"a": [1, 0, 1, 1]})), encoding="utf-8")
    assert isinstance(pass_at(path), PassAt)
    assert pass_at(str(path)).pass_at_1 == 0.75


@pytest.mark.parametrize("rows", [[{"prompt": "a"}], Dataset.from_dict({"prompt": ["a"]})])
def test_rows_without_rewards_column(rows):
    with pytest.raises(MissingColumnError, match=r"'reward'.*grade the rows first"):
        pass_at(rows)
    with pytest.raises(MissingColumnError, match="grade the rows first"):
        group_signal(rows)


@pytest.mark.parametrize("rows", [[], Dataset.from_dict({"prompt": [], "reward": []})])
def test_no_rows(rows):
    with pytest.raises(DataError, match="empty"):
        pass_at(rows)


@pytest.mark.parametrize(
    "knobs", [{"k": 0}, {"k": -2}, {"k": 2.5}, {"k": True}, {"threshold": math.nan}, {"threshold": "1"}]
)
def test_impossible_knobs(knobs):
    with pytest.raises(ConfigurationError, match=next(iter(knobs))):
        pass_at([{"prompt": "a", "reward": 1}], **knobs)


def test_a_key_that_is_no_key():
    with pytest.raises(DataError, match="task_id"):
        pass_at([{"task_id": ["a"], "reward": 1}])


def test_conversational_prompts_are_tasks_and_groups():
    rows = [
        {"rollout_index": i % 4, "prompt": [{"role": "user", "content": f"hi {i // 4}"}], "reward": i % 2}
        for i in range(48)
    ]
    for source in (rows, open_rows(rows)):
        assert pass_at(source).n_tasks == group_signal(source).n_groups == group_signal(source).mixed == 12


@pytest.mark.parametrize("bad", [{"n_boot": 0}, {"n_boot": "x"}, {"seed": "x"}, {"seed": None}])
def test_what_is_no_number_of_resamples(bad):
    with pytest.raises(ConfigurationError, match="expected a whole number"):
        pass_at([{"task_id": 1, "reward": 1}], **bad)
