"""Which texts are one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.measure.hygiene.words import cell_text, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Where is ORDER 4412?", "where is order 4412"),
        ("Don\u2019t cancel", "don't cancel"),
        ("fu\u00dfball stra\u00dfe", "FUSSBALL STRASSE"),
        ("\uff37\uff48\uff45\uff52\uff45 is it", "where is it"),  # full width
        ("ﬁne", "fine"),  # a ligature
        ("cafe\u0301 now", "café now"),  # two code points for one letter
        ("zero\u200bwidth", "zerowidth"),
        ("12 \u2212 5 \u00d7 3", "12 - 5 * 3"),
        ("a,b;c", "a b c"),
        ("注文は、どこ?", "注文はどこ"),
    ],
)
def test_same(one, other):
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 + 5", "12 - 5"),
        ("12*5", "12/5"),
        ("x < y", "x > y"),
        ("resume", "résumé"),
        ("हिन्दी", "हिन्दु"),  # vowel signs are marks, and part of the word
        ("👍", "👎"),
    ],
)
def test_different(one, other):
    assert words(one) != words(other)


def test_scripts_without_spaces_have_words():
    assert len(words("注文はどこですか")) == 8
    assert len(words("สวัสดี")) >= 4


@given(st.text())
def test_any_text(text):
    made = words(text)
    assert all(word and not word.isspace() for word in made)
    assert words(" ".join(made)) == words(" ".join(words(" ".join(made))))


def test_punctuation_of_ascii_and_unicode_texts_falls_alike():
    assert words("ORD-1: 2-3, (4)-5") == words("ORD-1: 2-3, (4)-5 \u00e9")[:-1]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, None),
        ("x", "x"),
        ([{"type": "text", "text": "a"}, {"type": "image"}], "a"),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}]}, {"role": "assistant", "content": "b"}], "a"),
        ({"text": ["a", "b"]}, "a\nb"),
        (4412, "4412"),
        ([], ""),
    ],
)
def test_cells(cell, text):
    assert cell_text(cell) == text
