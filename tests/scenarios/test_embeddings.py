"""What prompts are compared by, and the memory of the earlier ones."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.scenarios.diversity import Archive, HashEmbedder, as_embedder, pick, temperature, whole
from whileai_hf.scenarios.diversity.archive import cosines, nearest


def likeness(*texts):
    vectors = HashEmbedder()(texts)
    return float(vectors[0] @ vectors[1])


def test_values_do_not_tell_prompts_apart_and_words_do():
    assert likeness("Where is order ORD-4412?", "where is order ORD-9, ") > 0.999
    assert likeness("Where is order 4412?", "Refund order 4412 please") < 0.6
    assert likeness("Where is my order?", "Convert noon in Lisbon to Tokyo time") < 0.2
    assert likeness("Move the file to the folder", "Move the folder to the file") < 0.95
    assert (
        likeness("\u6ce8\u6587\u306f\u3069\u3053\u3067\u3059\u304b", "\u6ce8\u6587\u306f\u3069\u3053\u304b\u306a")
        > 0.5
    )
    assert likeness("\u6ce8\u6587\u306f\u3069\u3053\u3067\u3059\u304b", "\u5929\u6c17\u3092\u6559\u3048\u3066") < 0.3


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_any_text_has_a_vector_that_does_not_depend_on_its_company(texts):
    together = HashEmbedder()(texts)
    assert together.dtype == np.float32 and np.isfinite(together).all()
    lengths = np.linalg.norm(together, axis=1)
    assert all(length == pytest.approx(1, abs=1e-5) or length == 0 for length in lengths)
    embedder = HashEmbedder()
    alone = np.concatenate([embedder([text]) for text in reversed(texts)])[::-1]
    assert np.array_equal(together, alone)


TABLE = arrays(np.float32, st.tuples(st.integers(1, 40), st.just(24)), elements=st.floats(-1, 1, width=32))


@settings(deadline=None, max_examples=40)
@given(TABLE, TABLE)
def test_products_are_exact_in_any_order(one, other):
    first, second = as_embedder(lambda _: one)([""] * len(one)), as_embedder(lambda _: other)([""] * len(other))
    first, second = whole(first), whole(second)
    exact = first.astype(np.int64) @ second.astype(np.int64).T
    found = cosines(first, second)
    assert np.array_equal(found, (exact / np.float32(2048**2)).astype(np.float32))
    backwards = cosines(np.ascontiguousarray(first[:, ::-1]), np.ascontiguousarray(second[:, ::-1]))
    assert np.array_equal(found, backwards)
    assert np.array_equal(nearest(first, second), np.maximum(found.max(axis=1), 0))


def test_the_archive_forgets_the_middle_but_no_exact_copy():
    draws = np.random.default_rng(0).normal(size=(200, 32))
    vectors = whole((draws / np.linalg.norm(draws, axis=1, keepdims=True)).astype(np.float32))
    archive = Archive(capacity=16)
    assert archive.likeness(vectors[:2]).tolist() == [0, 0]
    for start in range(0, 200, 7):
        archive.add(vectors[start : start + 7])
        assert len(archive) <= 16
        assert archive.likeness(vectors[max(0, start - 1) : start + 7]).min() > 0.999
    assert archive.likeness(vectors).min() == 1.0
    slightly_off = vectors + 8 * np.eye(200, 32, dtype=np.float32)
    assert archive.likeness(slightly_off[195:]).min() > 0.99 and archive.likeness(slightly_off[:100]).min() < 0.9


def test_the_least_familiar_are_picked_and_no_two_alike():
    vectors = whole(np.eye(4, 8, dtype=np.float32)[[0, 0, 1, 2]])
    familiar = np.array([0.0, 0.0, 0.8, 0.1], dtype=np.float32)
    assert pick(vectors, familiar, 3, [0.0] * 4, 0.12) == [0, 3, 2]
    assert pick(vectors, familiar, 9, [0.0] * 4, 0.12)[-1] == 1
    # While it is warm, chance may put the familiar first; once it is cold, not.
    assert pick(vectors, np.array([0.0, 0.0, 0.3, 0.3]), 1, [0, 0, 1, 0], temperature(0)) == [2]
    assert pick(vectors, np.array([0.0, 0.0, 0.3, 0.3]), 1, [0, 0, 1, 0], temperature(500)) == [0]


def test_a_function_can_be_the_embedder():
    def lengths(texts):
        return [[len(text), 3.0] for text in texts]

    embedder = as_embedder(lengths)
    assert embedder.name == "lengths" and embedder(["abcd"]).tolist() == [[pytest.approx(0.8), pytest.approx(0.6)]]
    assert as_embedder(embedder) is embedder and as_embedder("hash").name == as_embedder(None).name == "hash"


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda texts: [1.0 for _ in texts], r"shape \(2,\) for 2 texts"),
        (lambda texts: [[1.0]], r"shape \(1, 1\) for 2 texts"),
        (lambda texts: [[float("nan")] for _ in texts], "NaN or infinity"),
    ],
)
def test_an_embedder_that_returns_something_else_is_named(function, said):
    with pytest.raises(DataError, match=said):
        as_embedder(function)(["a", "b"])


def test_the_width_of_the_vectors_must_stay():
    widths = iter([2, 3])
    embedder = as_embedder(lambda texts: [[1.0] * next(widths)])
    embedder(["a"])
    with pytest.raises(DataError, match=r"expected \(1, 2\)"):
        embedder(["b"])


@pytest.mark.parametrize("source", ["glove", "model2vec:", 3, "hash "])
def test_an_unknown_embedder_lists_the_known_ones(source):
    with pytest.raises(ConfigurationError, match='"wordllama", "model2vec:<repo or folder>"'):
        as_embedder(source)


@pytest.mark.parametrize("source, package", [("wordllama", "wordllama"), ("model2vec:some/repo", "model2vec")])
def test_a_missing_package_says_what_to_install(source, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigurationError, match=rf"needs the package {package}; pip install .*embeddings"):
        as_embedder(source)
