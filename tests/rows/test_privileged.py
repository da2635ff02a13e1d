"""Privileged keys go, from values and from text that is JSON; everything else stays to the last byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.rows import scrub
from whileai_hf.rows.privileged import PRIVILEGED_KEYS, scrub_text


SECRET = {"reference": "S3CR3T"}
KEYS = st.sampled_from(["a", "b", "privileged", "expected_calls", "vector", 'q"\\'])
# Values of privileged keys are ones that can give something away.
TELLING = st.one_of(
    st.text(max_size=4), st.lists(st.integers(), max_size=2), st.dictionaries(KEYS, st.text(), max_size=2)
)


def _objects(inner):
    plain = st.dictionaries(KEYS.filter(lambda key: key not in PRIVILEGED_KEYS), inner, max_size=4)
    secret = st.dictionaries(st.sampled_from(sorted(PRIVILEGED_KEYS)), TELLING, max_size=2)
    return st.tuples(plain, secret, st.randoms()).map(_shuffled)


def _shuffled(parts):
    plain, secret, random = parts
    items = [*plain.items(), *secret.items()]
    random.shuffle(items)
    return dict(items)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), _objects(inner)),
    max_leaves=12,
)


def without(value):
    if isinstance(value, dict):
        return {key: without(item) for key, item in value.items() if key not in PRIVILEGED_KEYS}
    return [without(item) for item in value] if isinstance(value, list) else value


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_text_loses_the_keys_and_nothing_else(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    clean = scrub_text(text)
    assert json.loads(clean) == without(value)
    if without(value) == value:
        assert clean == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('{"a":  1,\n "privileged": {"x": [1, "]}"]}}', '{"a":  1}'),
        ('{ "expected_calls": [{"tool": "f"}] ,  "a": 1.50}', '{ "a": 1.50}'),
        ('[{"privileged":"s","expected_calls":[]}]', "[{}]"),
        ('{"a": 1, "privileged": {}, "expected_calls": []\n}', '{"a": 1\n}'),
        ('{"privileged": {}, "a": NaN, "b": {"expected_calls": "s", "c": 2}}', '{"a": NaN, "b": {"c": 2}}'),
    ],
)
def test_the_bytes_around_stay(text, clean):
    assert scrub_text(text) == clean


def test_text_in_text():
    inner = json.dumps({"id": "é", "privileged": SECRET})
    for ascii_only in (True, False):
        text = json.dumps({"n": 1, "result": inner}, ensure_ascii=ascii_only)
        assert scrub_text(text) == json.dumps({"n": 1, "result": json.dumps({"id": "é"})}, ensure_ascii=ascii_only)
    assert scrub_text(json.dumps(inner)) == json.dumps(json.dumps({"id": "é"}))
    assert scrub([{"content": inner}]) == [{"content": json.dumps({"id": "é"})}]


@pytest.mark.parametrize(
    "text",
    [
        "the privileged few",
        '{"privileged": {"reference": "x"}} and more',
        '{"privileged": ',
        '{"securityContext": {"privileged": true}, "expected_calls": 3}',
        '["privileged", "expected_calls"]',
        '{"a": "privileged"}',
        '"privileged"',
        "\ud800 privileged",
        "[" * 100_000 + '"privileged"' + "]" * 100_000,
        '{"privileged": {' * 3,
        "",
    ],
)
def test_other_text_is_left_alone(text):
    assert scrub_text(text) == text


def test_long_text_takes_linear_time():
    rows = [{"id": n, "note": '\\" ' * 9, "privileged": SECRET} for n in range(20_000)]
    assert "S3CR3T" not in scrub_text(json.dumps(rows, indent=1))
