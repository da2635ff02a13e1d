"""
The words that `rules/needles.json` says an alternative needs are in whatever it matches.

After a change of rules, `UPDATE_EXPECTED=1 pytest tests/markers/style/test_needles.py` writes the list anew.
"""

import json
import os
import re._constants as constants
import re._parser as parser
from pathlib import Path

import pytest
from make_needles import NEEDLES, NeedleMaker, write_needles

from whileai_hf.markers.style import STYLE_MARKERS
from whileai_hf.markers.style.replies import canonical, sentences
from whileai_hf.markers.style.rules import Rule, alternatives, rule


WORDINGS = Path(__file__).parent / "wordings"
if os.environ.get("UPDATE_EXPECTED"):
    write_needles()
LISTED = json.loads(NEEDLES.read_text("utf-8"))
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)


def is_needed(words: frozenset[str], tokens: list) -> bool:
    """Whether one of the words is in every text that a parsed pattern matches."""
    written = ""
    for kind, told in tokens:
        if kind is constants.LITERAL:
            written += chr(told)
            continue
        if any(word in written for word in words):
            return True
        written = ""
        if kind is constants.BRANCH:
            found = all(is_needed(words, list(branch)) for branch in told[1])
        elif kind is constants.SUBPATTERN:
            found = is_needed(words, list(told[3]))
        elif kind in _REPEATS:
            found = told[0] >= 1 and is_needed(words, list(told[2]))
        elif kind is constants.ASSERT:
            found = is_needed(words, list(told[1]))
        else:
            found = False
        if found:
            return True
    return any(word in written for word in words)


@pytest.mark.parametrize("name", LISTED)
def test_every_match_has_a_needed_word(name: str) -> None:
    lines = alternatives(*name.split("/"))
    assert len(lines) == len(LISTED[name]), "rules/needles.json is of other rules"
    for line, words in zip(lines, LISTED[name], strict=True):
        assert not any(" " in word for word in words)
        assert not words or is_needed(frozenset(words), list(parser.parse(line))), line


@pytest.mark.parametrize("name", ["answering/decline", "answering/promise", "hedging/remark", "boilerplate/let_know"])
def test_finds_what_one_expression_finds(name: str) -> None:
    quick: Rule = rule(*name.split("/"))
    whole = quick.pattern
    replies = [line[2:] for marker in STYLE_MARKERS for line in (WORDINGS / f"{marker}.txt").read_text().splitlines()]
    for text in {canonical(raw) for reply in replies for raw in sentences(reply)}:
        found = [match.start() for match in quick.finditer(text)]
        assert found[:1] == [match.start() for match in whole.finditer(text)][:1]
        assert bool(quick.search(text)) == bool(whole.search(text)) and bool(quick.match(text)) == bool(
            whole.match(text)
        )


def test_the_rarest_needed_word_is_taken() -> None:
    maker = NeedleMaker(["a cat eats", "a dog eats", "cat food", "nothing"])
    assert maker.of(r"\b(?:cat|dog)s? (?:\w+ )?food\b") == ["food"]
    assert maker.of(r"(?:cat|dog)(?: eats)?") == ["cat", "dog"]
    assert maker.of(r"(?:cat|\w+) ?") == []
