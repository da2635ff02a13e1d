"""Near-duplicate prompts: every pair, exactly as a comparison of all pairs finds them, at a fraction of the cost."""

import itertools
import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import cpu_time

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.hygiene import near_duplicate_prompts, similar
from whileai_hf.measure.hygiene.similar import similar_pairs
from whileai_hf.rows import open_rows


def jaccard(a, b):
    a, b = set(a), set(b)
    return len(a & b) / len(a | b)


def all_pairs(sets, threshold):
    return {
        (i, j) for i, j in itertools.combinations(range(len(sets)), 2) if jaccard(sets[i], sets[j]) >= threshold - 1e-9
    }


def clusters(n, pairs):
    parent = list(range(n))

    def root(node):
        while parent[node] != node:
            node = parent[node]
        return node

    for a, b in pairs:
        a, b = root(a), root(b)
        parent[max(a, b)] = min(a, b)
    return [root(node) for node in range(n)]


@st.composite
def token_sets(draw):
    """Edited copies of a text, and others; few tokens, so that many sets are similar; some nobody else has."""
    vocabulary = draw(st.sampled_from([3, 8, 200]))
    base = draw(st.lists(st.integers(0, vocabulary).map(str), min_size=1, max_size=25))
    sets = []
    for index in range(draw(st.integers(1, 25))):
        words = list(base) if draw(st.booleans()) else draw(st.lists(st.integers(0, vocabulary).map(str), min_size=1))
        for _ in range(draw(st.integers(0, 2))):
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from([f"own{index}", "1", "2"]))
        sets.append(words)
    return sets


@settings(max_examples=60, deadline=None)
@given(token_sets(), st.sampled_from([0.3, 0.5, 0.8, 0.9, 1.0]))
def test_equals_brute_force(sets, threshold):
    expected = all_pairs(sets, threshold)
    found = similar_pairs(sets, threshold)
    assert found.n_pairs == len(expected)
    assert found.cluster.tolist() == clusters(len(sets), sorted(expected))
    for a, b, value in zip(found.left.tolist(), found.right.tolist(), found.similarity.tolist(), strict=True):
        assert (min(a, b), max(a, b)) in expected
        assert value == pytest.approx(jaccard(sets[a], sets[b]))


def from_template(n, fixed, slots, values, seed=0):
    draws = random.Random(seed)
    return [
        [f"the{k}" for k in range(fixed)] + [f"slot{s}-{draws.randrange(values)}" for s in range(slots)]
        for _ in range(n)
    ]


def test_sampled_count_is_close(monkeypatch):
    monkeypatch.setattr(similar, "MOST_MEETINGS", 1000)
    monkeypatch.setattr(similar, "SAMPLED_MEETINGS", 20_000)
    sets = from_template(400, 17, 3, 6)
    pairs = all_pairs(sets, 0.8)
    exact = len(pairs)
    found = similar_pairs(sets, 0.8)
    assert found.standard_error > 0
    assert abs(found.n_pairs - exact) <= 3 * found.standard_error < 0.2 * exact
    assert similar_pairs(sets, 0.8).n_pairs == found.n_pairs
    true = clusters(len(sets), pairs)
    assert all(true[index] == true[label] for index, label in enumerate(found.cluster.tolist()))


def test_one_template_with_numbers_is_counted_without_comparing():
    """Every one of 50 million pairs is a near copy."""
    sets = [[f"the{k}" for k in range(20)] + [f"order-{n}"] for n in range(10_000)]
    with cpu_time() as spent:
        found = similar_pairs(sets, 0.8)
        assert found.n_pairs == 10_000 * 9_999 // 2
        assert not found.cluster.any()
    assert spent() < 5


@pytest.mark.slow
def test_cost_is_nearly_linear():
    def seconds(n):
        sets = from_template(n, 10, 6, 2000)
        start = time.process_time()
        similar_pairs(sets, 0.8)
        return time.process_time() - start

    seconds(1000)
    assert seconds(40_000) < 8 * max(seconds(10_000), 0.05)


def test_report():
    asks = [
        "Please refund order 4412, it came broken",
        "please refund ORDER 4412: it came broken!",
        "Please refund order 4412 - it came broken today",
        "Where is my parcel",
        None,
        "?!",
        "Please refund order 4412, it came broken",
    ]
    for rows in ([{"prompt": ask} for ask in asks], open_rows([{"prompt": ask} for ask in asks])):
        found = near_duplicate_prompts(rows)
        assert (found.n_rows, found.n_prompts, found.n_pairs, found.n_prompts_involved) == (7, 4, 3, 3)
        assert found.clusters == [[0, 1, 2]]
        assert (found.method, found.n_pairs_se) == ("exact", None)
        assert found.examples[0]["rows"] == [0, 1] and found.examples[0]["jaccard"] == 1.0
        assert found.notes == ["2 rows have no prompt with a word in it; they are left out"]
        assert "3 pairs among 4 prompts" in str(found)
        assert found.warnings and "clusters" not in found.warnings[0].split(";")[0]


def test_threshold_is_inclusive():
    rows = [{"prompt": "a b c d"}, {"prompt": "a b c d e"}]
    assert near_duplicate_prompts(rows, threshold=0.8).n_pairs == 1
    assert near_duplicate_prompts(rows, threshold=0.81).n_pairs == 0


def test_prompts_of_messages():
    said = [[{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}] for text in ("a b", "A b!")]
    assert near_duplicate_prompts([{"prompt": cell} for cell in said]).n_pairs == 1
    assert near_duplicate_prompts([{"messages": cell} for cell in said]).n_prompts == 2


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, "0.8", float("nan")])
def test_bad_threshold(threshold):
    with pytest.raises(ConfigurationError, match="above 0 and at most 1"):
        near_duplicate_prompts([{"prompt": "a"}], threshold=threshold)


def test_bad_rows():
    with pytest.raises(DataError, match="empty"):
        near_duplicate_prompts([])
    with pytest.raises(MissingColumnError, match="'prompt'"):
        near_duplicate_prompts([{"reward": 1}])
    assert near_duplicate_prompts([{"prompt": None}]).n_prompts == 0


def test_odd_texts():
    huge = "word " * 200_000
    rows = [
        {"prompt": text} for text in (huge, huge + "more", "\ud800 x", "注文はどこですか", "注文はどこですか。", 4412)
    ]
    found = near_duplicate_prompts(rows)
    assert found.clusters == [[3, 4]] or [3, 4] in found.clusters
    assert np.isfinite(found.n_pairs)


def test_a_list_and_a_dataset_agree_whatever_else_the_rows_hold():
    rows = [
        {"prompt": f"where is parcel {k // 2} of mine {'now' * (k % 2)}", "steps": [{"tool": "x"}]} for k in range(40)
    ]
    assert near_duplicate_prompts(rows).clusters == near_duplicate_prompts(open_rows(rows)).clusters
