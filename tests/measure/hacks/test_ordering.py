"""The report is about the rows and not about the order they came in, nor about the process that reads them."""

import random

import numpy as np
import pytest
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st
from scanned_runs import rollouts

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hacks import hack_scan, hack_scan_diff, reward_correlations
from whileai_hf.measure.hacks.ordering import canonical_order, row_keys
from whileai_hf.measure.hacks.reading import Reader
from whileai_hf.rows import view


def mixed(seed, n_asks=30, k=4, **knobs):
    """Rollouts with markers that some rows lack, several prompts of a task, and rare words."""
    draws = random.Random(seed)
    rows = rollouts(n_asks, k, seed=seed, **knobs)
    for at, row in enumerate(rows):
        colour, tree = draws.choice(["amber", "blue", "coral", "drab"]), draws.choice(["elm", "fig", "gum"])
        row["final_text"] += f" {colour} {tree}"
        if at % 3:
            row["markers"] = {**row.get("markers", {}), "late": draws.random()}
    return rows


def shuffled(rows, seed):
    return random.Random(seed).sample(rows, len(rows))


@pytest.mark.parametrize("pays", ["shortcut", "nothing"])
def test_shuffled_rows_give_the_same_scan(pays):
    rows = mixed(1, pays=pays)
    scan = hack_scan(rows, endorsed=["marker:grounded"])
    for seed in range(3):
        assert hack_scan(shuffled(rows, seed), endorsed=["marker:grounded"]).to_dict() == scan.to_dict()
    assert hack_scan(Dataset.from_list(shuffled(rows, 9)), endorsed=["marker:grounded"]).tau == scan.tau
    assert reward_correlations(shuffled(rows, 1)).to_dict()["flagged"] == reward_correlations(rows).flagged


@pytest.mark.parametrize("shared", [True, False])
def test_shuffled_rows_give_the_same_difference(shared):
    before, after = mixed(1), mixed(2, pays="nothing")
    if not shared:
        after = [row | {"scenario_id": f"other {row['scenario_id']}"} for row in after]
    diff = hack_scan_diff(before, after)
    assert diff.paired is shared
    for seed in range(2):
        again = hack_scan_diff(shuffled(before, seed), shuffled(after, seed + 7))
        assert again.to_dict() == diff.to_dict()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_places_do_not_depend_on_the_order(pairs, draws):
    def placed(rows):
        asks = np.unique([ask for ask, _ in rows], return_inverse=True)[1].astype(np.int64)
        numbers = np.array([number for _, number in rows], np.uint64)
        ask, place = canonical_order(asks, numbers)
        assert sorted(place.tolist()) == list(range(len(rows)))
        assert (np.diff(ask[np.argsort(place)]) >= 0).all(), "the rows of an ask stand together"
        # Asks of the same numbers may stand for each other: what is at each place is what has to be the same.
        return [rows[at][1] for at in np.argsort(place)], ask[np.argsort(place)].tolist()

    other = list(pairs)
    draws.shuffle(other)
    assert placed(pairs) == placed(other)


def test_keys_tell_rows_apart_by_all_that_is_read():
    base = {"final_text": "Done.", "markers": {"a": 0.0, "b": 1.0}, "trace_flags": []}
    others = [
        base | {"final_text": "Done!"},
        base | {"markers": {"a": 1.0, "b": 0.0}},
        base | {"markers": {"a": 0.0}},
        base | {"trace_flags": ["loop"]},
        base | {"finish_reason": "length"},
        base | {"steps": [{"tool": "f", "arguments": {}, "result": {}}]},
        base,
    ]
    rows = [base, *others]
    readings = Reader().read(view(rows), np.ones(len(rows), bool))
    keys = row_keys(readings, np.array([0.0] * (len(rows) - 1) + [1.0]))
    assert len(set(keys.tolist())) == len(rows)
    assert readings.distinct[0] == -3715801041838749592  # the same in every process


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"endorsed": 3}, "endorsed=3 is no list"),
        ({"features": [1]}, "is a list"),
        ({"features": 3}, "is a int"),
        ({"features": {"a": 1}}, "'a': 1"),
        ({"features": {3: len}}, "features holds 3"),
        ({"features": {"a": lambda row: row["zz"]}}, r"features\['a'\] raised KeyError"),
        ({"seed": "a"}, "seed='a' is no seed"),
        ({"seed": -1}, "seed=-1 is no seed"),
    ],
)
def test_wrong_arguments_are_one_sentence(knobs, says):
    rows = rollouts(5, 2)
    with pytest.raises(ConfigurationError, match=says):
        hack_scan(rows, **knobs)
    with pytest.raises(ConfigurationError, match=says):
        hack_scan_diff(rows, rows, **knobs)


def test_features_that_are_no_numbers_are_said():
    rows = [row | {"markers": {"tone": "warm" if at % 2 else 1.0}} for at, row in enumerate(rollouts(30, 2))]
    scan = hack_scan(rows, features={"text": lambda row: "long", "none": lambda row: None, "fine": lambda row: 1})
    said = [note for note in scan.notes if "number" in note]
    assert said == [
        "marker:tone is no number in 30 of 60 rollouts; those count as if they lacked it",
        "none is not a number in any rollout; those count as if they lacked it",
        "text is no number in 60 of 60 rollouts; those count as if they lacked it",
    ]
    assert not any("number" in note for note in hack_scan(rollouts(30, 2)).notes)
