"""Groups are counted once each, by whether their rewards differ."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.measure import group_signal
from whileai_hf.rows import open_rows


def rows_of(groups):
    return [{"prompt": prompt, "reward": reward} for prompt, rewards in groups.items() for reward in rewards]


def test_kinds_of_group():
    groups = {
        "mixed": [1, 0, None],
        "mixed above the threshold": [1.0, 1.5],
        "all pass": [1, 1],
        "all fail": [0, 0, 0],
        "equal partial credit": [0.5, 0.5],
        "single": [1, None],
        "ungraded": [None, math.nan],
    }
    for rows in (rows_of(groups), open_rows(rows_of(groups))):
        found = group_signal(rows)
        assert (found.mixed, found.all_pass, found.all_fail, found.single, found.ungraded) == (2, 1, 2, 1, 1)
        assert found.mixed_rate == 2 / 5
        assert found.mixed_rate_ci95[0] < 0.4 < found.mixed_rate_ci95[1]
        assert "2 mixed | 1 all pass | 2 all fail" in str(found)


def test_two_phrasings_are_two_groups():
    rows = [{"scenario_id": "s", "prompt": prompt, "reward": reward} for prompt, reward in (("a", 1), ("b", 0))]
    found = group_signal(rows)
    assert (found.n_groups, found.single, found.mixed_rate, found.mixed_rate_ci95) == (2, 2, None, None)
    assert any("repeat each prompt" in note for note in found.notes)


def test_ungraded_rows():
    found = group_signal(rows_of({"a": [None, None]}))
    assert (found.ungraded, found.mixed_rate) == (1, None)
    assert found.notes[0].startswith("not graded")


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=3), st.lists(st.none() | st.sampled_from([0, 0.1, 0.5, 1]), min_size=1), min_size=1
    )
)
def test_counts_add_up(groups):
    found = group_signal(rows_of(groups))
    assert found.n_groups == len(groups)
    assert found.n_groups == found.mixed + found.all_pass + found.all_fail + found.single + found.ungraded
    assert found.mixed == sum(len({r for r in rewards if r is not None}) > 1 for rewards in groups.values())
