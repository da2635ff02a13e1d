"""Wordings are their list's alternation: what the words of a text rule out would not have matched."""

import json
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.labelled import FOLDER
from whileai_hf.score.reading.claims import mask, sentences_of
from whileai_hf.score.reading.needles import branches_of, needles_of
from whileai_hf.score.reading.texts import assistant_texts
from whileai_hf.score.reading.wordings import Wordings, _lists, pattern


LISTS = sorted(_lists())
# Pieces of the patterns themselves, so that drawn texts come near to matching.
PIECES = sorted({word for entries in _lists().values() for entry in entries for word in re.findall(r"[a-z']+", entry)})
SIGNS = [" ", ",", "-", "n't", "0", "?", "\u00a7", "s", "ed"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.sampled_from(SIGNS), max_size=12)


@cache
def sentences() -> list[str]:
    found = set()
    for file in sorted(FOLDER.glob("*/conduct.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            for text in assistant_texts(json.loads(line)["row"]):
                found.update(map(mask, sentences_of(text)))
    return sorted(found)


def same(name: str, text: str) -> None:
    plain, wordings = pattern(name), Wordings(name)
    expected, got = plain.search(text), wordings.search(text)
    assert (got and got.span()) == (expected and expected.span()), (name, text)
    assert wordings.found(text) == (expected is not None), (name, text)
    assert (wordings.match(text) is None) == (plain.match(text) is None), (name, text)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_its_alternation_on_what_agents_say(name):
    plain, wordings = pattern(name), Wordings(name)
    for text in sentences():
        expected = plain.search(text)
        got = wordings.search(text)
        assert (got and got.span()) == (expected and expected.span()), text
    for text in sentences()[::5]:
        assert wordings.sub(" ", text) == plain.sub(" ", text)


@given(st.sampled_from(LISTS), TEXTS, st.sampled_from(["", " "]))
@settings(max_examples=300, deadline=None)
def test_a_list_is_its_alternation_on_anything(name, pieces, between):
    same(name, between.join(pieces))


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_what_matches_a_pattern_holds_one_of_its_needles(data):
    entry = data.draw(st.sampled_from([one for name in LISTS for one in _lists()[name]]))
    for branch in branches_of(entry):
        text = data.draw(st.from_regex(re.compile(branch, re.ASCII)))
        needles = needles_of(branch)
        if needles is None or "\n" in text or not text.isascii():
            continue
        words = text.split()
        held = any(needle.is_at(word, at) for needle in needles for word in words for at in range(len(word)))
        assert held or re.search(branch, text) is None


def test_needles_of_what_cannot_be_told():
    assert needles_of(r"\d+|\w") is None
    assert needles_of(r"(?:foo)?x*") is None
    with pytest.raises(ValueError, match="cannot be told"):
        needles_of(r"(?:a")
    with pytest.raises(ValueError, match="cannot be told"):
        needles_of(r"(?P<name>a)+")


def test_needles_know_where_words_begin_and_end():
    (needle,) = needles_of(r"\bno\b")
    held = {word: needle.is_at(word, word.find("no")) for word in ("no", "no,", "now", "piano")}
    assert held == {"no": True, "no,": True, "now": False, "piano": False}
