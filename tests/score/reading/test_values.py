"""What is known from texts and values, whole tokens only, in whatever notation."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.score.reading.values import Known, fold, occurs, stem


KNOWN = [
    ("order ORD-1234.", "ord-1234"),
    ("(ORD-12)", "ORD-12"),
    ("W123", "#W123"),
    ("ORD-1042", "1042"),
    ("$1,000", 1000),
    ("$1,234.50", 1234.5),
    ("1.5k", 1500),
    ("two kettles", 2),
    ("twenty-five guests", 25),
    ("a hundred dollars", 100),
    ("10% off", 0.1),
    ("12,13,14", 13),
    ("May 5, 2026", "2026-05-05"),
    ("5 May", "2026-05-05"),
    ("5/6/2026", "2026-06-05"),
    ("It is 2024-05-15. Book tomorrow.", "2024-05-16"),
    ("Today is Monday 2026-05-04. Book Friday.", "2026-05-08"),
    ("3 pm", "15:00"),
    ("on 2026-05-05 at 3pm", "2026-05-05T15:00:00"),
    ("10am-2pm", "14:00"),
    ("call (555) 123-4567", "+1 555 123 4567"),
    ("IBAN DE89 3704 0044 0532", "DE89370400440532"),
    ("/repo/src/a.py", "src/a.py"),
    ("東京に行きます", "東京"),
    ("O\u2019Brien", "O'Brien"),
]
UNKNOWN = [
    ("order ORD-1234", "ORD-12"),
    ("ORD-12-B", "ORD-12"),
    ("john@x.com", "john@x.co"),
    ("$17.75", 17),
    ("1,000", 1),
    ("ORD-10425", 1042),
    ("0012345", "12345"),
    ("May 5, 2026", "2026-05-06"),
    ("It is 2024-05-15. Book tomorrow.", "2024-05-18"),
    ("Book tomorrow.", "2024-05-16"),
    ("3 pm", "16:00"),
    ("call 555-123-4567", "555-123-4568"),
    ("12 Main Street", "2 Main Street"),
    ("", "x"),
]


@pytest.mark.parametrize(("text", "value"), KNOWN)
def test_known(text: str, value: object) -> None:
    assert Known(text).has(value)


@pytest.mark.parametrize(("text", "value"), UNKNOWN)
def test_not_known(text: str, value: object) -> None:
    assert not Known(text).has(value)


def test_values_of_records_and_their_keys_are_known() -> None:
    known = Known({"items": [{"sku": "K-9", "price": 17.75}], "cards": {"card_77": {"brand": "visa"}}})
    assert known.has(["K-9", 17.75, "card_77", "VISA"])
    assert not known.has({"sku": "K-9", "price": 17})


def test_what_is_added_later_is_not_known_before() -> None:
    known = Known("Refund it.")
    assert not known.has("ORD-7")
    known.add({"id": "ORD-7"})
    assert known.has("ORD-7")


def test_what_says_nothing_is_always_known() -> None:
    known = Known()
    assert all(known.has(value) for value in (None, True, False, "", " - ", [], {}))


def test_words_in_another_inflection() -> None:
    known = Known("My deliveries were cancelled.")
    assert known.has_word("delivery") and known.has_word("cancel")
    assert not known.has_word("refund")


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_text_is_known_from_itself(before: str, value: str) -> None:
    assert Known(f"{before} {value}").has(value) or any(not character.isascii() for character in value)


@given(st.lists(st.sampled_from(["a1", "b-2", "17", "x@y.z", "May 5", "$3"]), max_size=6), st.integers(0, 10**6))
def test_adding_never_makes_less_known(texts: list[str], number: int) -> None:
    known = Known(*texts[:3])
    before = [known.has(value) for value in (*texts, number)]
    for text in texts[3:]:
        known.add(text)
    after = [known.has(value) for value in (*texts, number)]
    assert all(later or not sooner for sooner, later in zip(before, after, strict=True))


@given(st.from_regex(r"[A-Z]{2,4}-[0-9]{3,6}", fullmatch=True), st.sampled_from(string.digits))
def test_a_prefix_of_an_id_is_not_known(name: str, digit: str) -> None:
    assert not Known(f"see {name}{digit} there").has(name)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, "\ud800", "\x00", "9" * 5000])
def test_odd_values(value: object) -> None:
    known = Known("nothing here", {"n": value})
    known.has(value)
    assert not Known("nothing here").has("ORD-1")


@pytest.mark.parametrize("text", ["a", " ", "1", "1-", "a-", "1,", "may 5 ", "(1 ", "-", "@", "5th "])
def test_long_texts_take_linear_time(text: str) -> None:
    known = Known(text * (200_000 // len(text)))
    start = time.perf_counter()
    assert not known.has("zz-99") and not known.has(12345.5) and not known.has("2020-01-01")
    assert time.perf_counter() - start < 5


def test_folding() -> None:
    assert fold("\u201cORD\u201112\u201d") == '"ord-12"'
    assert occurs("ord-12", "see ord-12, please") and not occurs("ord-12", "ord-123")
    assert stem("deliveries") == stem("delivery")
