import json
import math

import pytest
from datasets import Dataset, Features, Json, List
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whileai_hf.rows import canonical, dumps, loads, to_dataset, view
from whileai_hf.rows.canonical import canonical_float


# Any text, lone surrogates included: that is what a model's broken output contains.
ANY_TEXT = st.text(st.characters(codec=None), max_size=20)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(1 << 80), max_value=1 << 80)
    | st.floats()
    | st.floats(-1e6, 1e6).map(lambda x: round(x, 4))
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.lists(st.dictionaries(ANY_TEXT, JSON_VALUES, max_size=4), max_size=4)


def through_datasets(messages):
    features = Features({"messages": List(Json())})
    return Dataset.from_list([{"messages": messages}], features=features)[0]["messages"]


@given(JSON_VALUES)
def test_canonical_is_idempotent(value):
    once = canonical(value)
    assert canonical(once) == once


@given(JSON_VALUES)
def test_dumps_writes_the_canonical_value(value):
    assert json.loads(dumps(value)) == canonical(value)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(MESSAGES)
def test_a_canonical_value_survives_the_json_feature(messages):
    born = canonical(messages)
    assert canonical(through_datasets(born)) == born
    # And a second trip through decode and encode leaves the raw text with the same value.
    again = through_datasets(through_datasets(born))
    assert canonical(again) == born


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_floats_survive_the_json_feature_to_the_last_bit_after_canonicalisation(number):
    born = canonical_float(number)
    assert canonical_float(through_datasets([{"x": born}])[0]["x"]) == born


def test_what_json_cannot_hold_takes_its_documented_form():
    assert canonical(float("nan")) is None
    assert canonical(-math.inf) is None
    assert canonical(1 << 70) == str(1 << 70)
    assert canonical("a\ud83d") == "a�"
    assert canonical("\ud83d\ude00") == "😀"
    assert canonical((1, 2)) == [1, 2]
    assert canonical({1: "x"}) == {"1": "x"}
    assert math.copysign(1, canonical(-0.0)) == 1


@pytest.mark.parametrize("number", [0.7, 99.99, 0.1 + 0.2, 1e-9, 123456.789, 1e22, 1 / 3])
def test_raw_reading_and_datasets_reading_agree(number):
    dataset = to_dataset([{"steps": [{"tool": "f", "arguments": {"x": number}}]}])
    raw = next(view(dataset).rows())
    mapped = dataset.map(lambda row: row)
    assert raw == canonical(raw) == canonical(dataset[0]) == next(view(mapped).rows())


def test_loads_reads_the_tokens_python_writes_for_missing_numbers():
    assert loads('{"x": NaN, "y": -Infinity}') == {"x": None, "y": None}
