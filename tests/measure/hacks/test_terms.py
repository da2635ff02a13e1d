"""Words and pairs of words as features: which rows have which, whatever the script."""

import numpy as np
import pytest

from whileai_hf.measure.hacks import terms as terms_module
from whileai_hf.measure.hacks.reading import Reader
from whileai_hf.measure.hacks.terms import Texts, choose_terms, term_bits
from whileai_hf.rows import view


def terms_of(texts):
    reader = Reader()
    readings = reader.read(view([{"final_text": text} for text in texts]), np.ones(len(texts), bool))
    names = reader.names()
    words = Texts.of(readings)
    return choose_terms(words, names), words, names


def known_as(terms):
    return {name: term for term in terms for name in (term.name, *term.aliases)}


def mixture(seed=0, n=120):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(["red", "blue", "late", "order", "Box"], size=6)) + "." for _ in range(n)]


@pytest.mark.parametrize("block", [7, 2_000_000])
def test_bits_are_the_rows_that_hold_a_term(monkeypatch, block):
    monkeypatch.setattr(terms_module, "_BLOCK", block)  # pairs across the border of two blocks are seen, too
    texts = mixture()
    terms, words, names = terms_of(texts)
    assert len(terms) > 10
    place = np.random.default_rng(3).permutation(len(texts))
    bits = term_bits(words, terms, place, len(names))
    for row, text in zip(bits.T[place], texts, strict=True):
        padded = f" {text.lower().rstrip('.')} "
        found = {term.name for term, bit in zip(terms, row, strict=True) if bit}
        assert found == {term.name for term in terms if f" {term.name.removeprefix('says:')} " in padded}


def test_pairs_do_not_cross_rows():
    terms, _, _ = terms_of([f"{'end' if i % 2 else 'other'} {'start' if i % 3 else 'begin'}" for i in range(120)])
    assert not {"says:start end", "says:begin other"} & set(known_as(terms))


def test_terms_are_neither_rare_nor_everywhere():
    texts = ["always"] * 100
    for i in range(19):
        texts[i] += " rare"
    for i in range(20):
        texts[i + 40] += " enough"
    for i in range(81):
        texts[i] += " most"
    for i in range(80):
        texts[99 - i] += " many"
    known = set(known_as(terms_of(texts)[0]))
    assert {"says:enough", "says:many"} <= known
    assert not {"says:always", "says:rare", "says:most"} & known


def test_a_phrase_is_one_feature_under_its_longest_name():
    texts = [text + (" I checked it all twice" if i % 3 else "") for i, text in enumerate(mixture())]
    terms, _, _ = terms_of(texts)
    term = known_as(terms)["says:checked"]
    assert term.name == "says:i checked it all twice"
    assert {"says:i", "says:twice", "says:it all"} <= set(term.aliases)


@pytest.mark.parametrize(
    "phrase", ["我已核实", "検証済みです", "ตรวจสอบแล้ว", "проверено дважды", "geprüft", "✅ done"]
)
def test_any_script(phrase):
    texts = [text + (f" {phrase}" if i % 3 else "") for i, text in enumerate(mixture())]
    terms, words, names = terms_of(texts)
    bits = term_bits(words, terms, np.arange(len(texts)), len(names))
    has = np.array([bool(i % 3) for i in range(len(texts))])
    assert any((row == has).all() for row in bits)


def test_one_odd_character_does_not_change_how_a_text_is_read():
    """Plain ASCII goes another, faster way; a text must not look different for an emoji elsewhere in it."""
    text = "It's DONE: order_7, isn't it? (See 'notes'.)"
    reader = Reader()
    readings = reader.read(view([{"final_text": text}, {"final_text": f"{text} \U0001f600"}]), np.ones(2, bool))
    first, second = np.split(readings.words, readings.ends[:1])
    assert first.tolist() == second.tolist()


def test_a_sample_of_many_rows_serves_to_choose(monkeypatch):
    monkeypatch.setattr(terms_module, "_MOST_ROWS", 100)
    terms, words, names = terms_of(mixture(n=1000))
    assert "says:red blue" in known_as(terms)
    assert term_bits(words, terms, np.arange(1000), len(names)).any(axis=1).all()
