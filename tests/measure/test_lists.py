"""Columns fetched from a list in one pass are those a plain view reads."""

from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.measure.lists import fetch_columns
from whileai_hf.rows import view
from whileai_hf.select import curriculum


NAMES = ("reward", "scenario_id", "prompt", "lineage")
CELLS = st.none() | st.integers(0, 3) | st.text(max_size=2) | st.dictionaries(st.text(max_size=1), st.booleans())
ROWS = st.lists(st.dictionaries(st.sampled_from([*NAMES, "other"]), CELLS), min_size=1, max_size=12)


@given(ROWS, st.sets(st.sampled_from([*NAMES, "nowhere"])))
def test_fetched_columns_are_those_of_a_plain_view(rows, names):
    fetched, plain = fetch_columns(rows, sorted(names)), view(rows)
    for name in (*NAMES, "other", "nowhere"):
        assert fetched.has(name) == plain.has(name)
        assert fetched.column(name) == plain.column(name)
        assert fetched.column(name, 7) == plain.column(name, 7)
    assert fetched.columns == plain.columns
    assert len(fetched) == len(plain)


def test_a_column_only_late_rows_have():
    rows = [{"reward": 1}] * 600 + [{"reward": 0, "sim_ok": False}]
    fetched = fetch_columns(rows, ["reward", "sim_ok"])
    assert fetched.column("sim_ok") == [None] * 600 + [False]
    assert fetched.column("reward")[-2:] == [1, 0]


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.sampled_from([0, 1, None])),
        min_size=1,
        max_size=20,
    )
)
def test_tasks_named_in_several_columns_are_those_of_the_first_that_names_them(given_rows):
    rows = [
        {"scenario_id": one, "task_id": other, "prompt": "p", "final_text": str(i), "reward": reward}
        for i, (one, other, reward) in enumerate(given_rows)
    ]
    named = [
        row | {"scenario_id": repr(next(k for k in (row["scenario_id"], row["task_id"], "p") if k))} for row in rows
    ]
    found, plain = curriculum(rows), curriculum(named)
    assert list(map(repr, found.schedule)) == plain.schedule
    assert found.n_tasks == plain.n_tasks
