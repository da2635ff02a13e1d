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


def stopped_rows(groups):
    """Rows of `{prompt: (rewards, status, inclusion)}` probed with 3 of 8."""
    return [
        {
            "prompt": prompt,
            "rollout_index": index,
            "reward": reward,
            "group_status": status,
            "group_planned_k": 8,
            "group_probe": 3,
            "group_inclusion_p": chance,
        }
        for prompt, (rewards, status, chance) in groups.items()
        for index, reward in enumerate(rewards)
    ]


def test_stopped_groups_are_unanimous_so_far():
    groups = {
        "split": ([1, 0, 1, 1, 1, 1, 0, 1], "complete", 1.0),
        "carried on, split later": ([1, 1, 1, 1, 1, 1, 0, 1], "complete", 0.1),
        "stopped": ([1, 1, 1], "stopped", 0.1),
        "stopped failing": ([0, 0, 0], "stopped", 0.1),
        "lost one": ([0, 0, None], "partial", 0.1),
    }
    for source in (stopped_rows(groups), open_rows(stopped_rows(groups))):
        found = group_signal(source)
        assert (found.mixed, found.all_pass, found.all_fail) == (2, 1, 2)
        assert (found.stopped, found.saved) == (2, 10)
        assert found.mixed_rate == 2 / 5
        assert 0 <= found.expected_mixed_rate_ci95[0] <= found.expected_mixed_rate <= found.expected_mixed_rate_ci95[1]
        assert "2 stopped early | 10 rollouts saved | expected mixed rate at k" in str(found)
        assert any("unanimous need not be at k" in note for note in found.notes)


def test_nothing_is_expected_where_nothing_was_stopped():
    found = group_signal(stopped_rows({"a": ([1, 0, 1], "complete", 1.0), "b": ([1, 1, 1], "complete", 1.0)}))
    assert (found.stopped, found.saved) == (0, 0)
    assert (found.expected_mixed_rate, found.expected_mixed_rate_ci95) == (None, None)
    assert "stopped" not in str(found)


def test_conversations_the_user_spoiled_do_not_count():
    rows = [{"prompt": "a", "reward": reward, "sim_ok": ok} for reward, ok in ((1, True), (1, None), (0, False))]
    rows.append({"prompt": "b", "reward": 0, "sim_ok": False})
    for source in (rows, open_rows(rows)):
        found = group_signal(source)
        assert (found.all_pass, found.mixed, found.ungraded) == (1, 0, 1)
        assert found.notes == ["2 of 4 rollouts failed by the simulated user (sim_ok is false); they are left out"]
