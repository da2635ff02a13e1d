"""Every value a row can have is told to the writer, or is one of those that go without saying."""

import pytest

from whileai_hf.scenarios.axes import HISTORIES, STANCES, TIERS, WORLD_STATES
from whileai_hf.scenarios.phrases import data
from whileai_hf.scenarios.writing.texts import angles, circumstances, instructions


PEOPLE = {
    "persona": ("personas", {"plain"}),
    "tone": ("tones", {"neutral"}),
    "typing": ("typing", {"standard"}),
    "room": ("length", set()),
}


@pytest.mark.parametrize("name", PEOPLE)
def test_people(name):
    key, silent = PEOPLE[name]
    assert {label for label in data("people")[key] if not circumstances(name, label)} == silent


def test_situations():
    assert {stance for stance in STANCES if not circumstances("stance", stance)} == {"ordinary", "adversarial"}
    assert {past for past in HISTORIES if not circumstances("history", past)} == {"fresh"}
    assert all(circumstances("world_state", state) for state in WORLD_STATES)
    assert all(circumstances("topic", kind) for kind in ("ordinary", "boundary"))


def test_no_circumstance_gives_orders_in_adjectives():
    """A trait named is a trait overdone; what happens around a person is what shows in their words."""
    for tone in data("people")["tones"]:
        for phrase in circumstances("tone", tone):
            assert tone not in phrase.text.lower() and not phrase.text.lower().startswith(("be ", "write "))


def test_angles():
    assert {tier for tier, _ in angles()} == set(TIERS.values())
    assert len({text for _, text in angles()}) == len(angles()) >= 20


@pytest.mark.parametrize("name", ["write", "repair", "invent"])
def test_instructions_name_the_service_once(name):
    assert instructions(name).count("{service}") == 1
