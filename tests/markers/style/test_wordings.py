"""Wordings collected in many registers, each with what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from whileai_hf.markers.style import STYLE_MARKERS, apology, boilerplate, hedging, style_of, sycophancy
from whileai_hf.markers.style.replies import canonical, sentences


WORDINGS = Path(__file__).parent / "wordings"


def wordings(marker: str) -> list[tuple[str, str, float]]:
    found = []
    for line in (WORDINGS / f"{marker}.txt").read_text("utf-8").splitlines():
        if line.startswith(("+ ", "- ")):
            ask, _, reply = line[2:].rpartition(" || ")
            found.append((ask, reply.replace("\\n", "\n"), 0.0 if line[0] == "+" else 1.0))
    return found


@pytest.mark.parametrize("marker", STYLE_MARKERS)
def test_every_wording_is_told(marker: str) -> None:
    cases = wordings(marker)
    assert sum(1 for case in cases if case[2] == 0.0) >= 70 and sum(1 for case in cases if case[2] == 1.0) >= 60
    assert [case for case in cases if style_of(case[1], case[0]).get(marker, 1.0) != case[2]] == []


@pytest.mark.parametrize("marker", STYLE_MARKERS)
def test_case_quotes_and_spacing_change_nothing(marker: str) -> None:
    for ask, reply, value in wordings(marker):
        assert style_of(f"  {reply} ", ask).get(marker, 1.0) == value, reply
        if value == 0.0 and "'" in reply:
            assert style_of(reply.replace("'", "\u2019"), ask).get(marker, 1.0) == value, reply


@pytest.mark.parametrize("marker", [name for name in STYLE_MARKERS if name != "answered"])
def test_a_tic_in_quotes_or_code_is_not_said(marker: str) -> None:
    for ask, reply, value in wordings(marker):
        if value == 0.0 and not set('"`') & set(reply):
            assert style_of(f"The note on the door:\n```\n{reply}\n```\nIt hangs there since May.", ask)[marker] == 1.0
            assert style_of(f'The bot wrote "{reply}" on 3 May.', ask)[marker] == 1.0, reply
            assert style_of("Their answer was this.\n> " + reply.replace("\n", "\n> "), ask)[marker] == 1.0, reply


def test_the_words_of_a_sentence_never_hide_a_match() -> None:
    checks = {
        "no_boilerplate": (boilerplate.WORDS, boilerplate.is_stock),
        "no_hedging": (hedging.WORDS, hedging.hedges),
        "no_apology": (apology.WORDS, apology.apologises),
        "no_sycophancy": (sycophancy.WORDS, sycophancy.flatters),
    }
    texts = {
        canonical(raw) for marker in STYLE_MARKERS for _, reply, _ in wordings(marker) for raw in sentences(reply)
    }
    for known, check in checks.values():
        hidden = [text for text in texts if known.isdisjoint("".join(c if c.isalpha() else " " for c in text).split())]
        assert [text for text in hidden if check(text)] == []
