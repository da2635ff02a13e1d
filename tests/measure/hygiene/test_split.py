"""Train and holdout: by task, by hash, for good."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.hygiene import split
from whileai_hf.rows import open_rows


def rows_of(tasks):
    return [{"scenario_id": task, "prompt": f"ask {task}", "n": index} for index, task in enumerate(tasks)]


def held(parts):
    return set(parts["holdout"]["scenario_id"])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 30).map(str), min_size=2, max_size=60).filter(lambda tasks: len(set(tasks)) > 1),
    st.floats(0.01, 0.99),
    st.integers(0, 3),
)
def test_laws(tasks, share, seed):
    parts = split(rows_of(tasks), holdout=share, seed=seed)
    train = set(parts["train"]["scenario_id"])
    assert train and held(parts)
    assert not train & held(parts)
    assert sorted([*parts["train"]["n"], *parts["holdout"]["n"]]) == list(range(len(tasks)))
    again = split(open_rows(rows_of(list(reversed(tasks)))), holdout=share, seed=seed)
    assert held(again) == held(parts)


def test_adding_tasks_moves_none():
    small, large = rows_of([f"t{k}" for k in range(50)]), rows_of([f"t{k}" for k in range(500)])
    assert held(split(small)) <= held(split(large))
    assert set(split(small)["train"]["scenario_id"]) <= set(split(large)["train"]["scenario_id"])
    assert held(split(large, holdout=0.1)) <= held(split(large, holdout=0.3))
    assert held(split(large, seed=1)) != held(split(large))
    assert 0.15 < len(held(split(large))) / 500 < 0.25


def test_the_side_of_a_task_is_pinned():
    """Another hash would move tasks between a holdout somebody keeps and their next training set."""
    assert held(split(rows_of([f"t{k}" for k in range(12)]), holdout=0.4)) == PINNED


def test_a_small_holdout_is_not_empty():
    for seed in range(5):
        parts = split(rows_of(["a", "b"]), holdout=0.01, seed=seed)
        assert len(held(parts)) == 1
        assert len(set(split(rows_of(["a", "b"]), holdout=0.99, seed=seed)["train"]["scenario_id"])) == 1


def test_prompts_name_tasks_where_nothing_else_does():
    parts = split([{"prompt": text} for text in ("a", "a", "b", "c", None)], holdout=0.5)
    assert len(parts["train"]) + len(parts["holdout"]) == 5
    assert not set(parts["train"]["prompt"]) & set(parts["holdout"]["prompt"])


def test_numbers_and_their_text_are_on_one_side():
    """JSON keeps a task id as it is; a table may not."""
    numbers = split([{"task_id": k, "prompt": "p"} for k in range(40)])["holdout"]["task_id"]
    texts = split([{"task_id": str(k), "prompt": "p"} for k in range(40)])["holdout"]["task_id"]
    assert [str(k) for k in numbers] == list(texts)


@pytest.mark.parametrize("share", [0, 1, -0.1, 20, True, "0.2", float("nan")])
def test_bad_share(share):
    with pytest.raises(ConfigurationError, match="between 0 and 1"):
        split(rows_of("ab"), holdout=share)


def test_bad_rows():
    with pytest.raises(DataError, match="cannot be on two sides"):
        split(rows_of("aaa"))
    with pytest.raises(DataError):
        split([])
    with pytest.raises(MissingColumnError, match="task"):
        split([{"reward": 1}])


PINNED = {"t4", "t6", "t7", "t9", "t11"}
