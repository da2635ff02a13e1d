"""Rubrics out of what people write."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, SourceNotFoundError
from whileai_hf.score.rubrics import Criterion, Rubric, read_rubric


def points(source):
    return [(item.name, item.text, item.weight) for item in read_rubric(source).criteria]


def test_numbered_list_with_an_introduction(repo):
    rubric = read_rubric(repo / "whileai_hf" / "cli" / "sample" / "rubric.md")
    assert len(rubric.criteria) == 2
    assert rubric.criteria[0].text.startswith("Every refund, cancellation or change was preceded")
    assert rubric.note == "A reply passes when all of these hold:"


@pytest.mark.parametrize(
    ("line", "name", "text", "weight"),
    [
        ("- **Looks it up** (weight 2): the order before a refund.", "Looks it up", "the order before a refund.", 2.0),
        ("- **Looks it up**: the order. (weight: 2.5)", "Looks it up", "the order.", 2.5),
        ("- **Looks it up:** the order. [weight=3]", "Looks it up", "the order.", 3.0),
        ("* Honest: says so. (3 points)", "Honest", "says so.", 3.0),
        ("+ [ ] Honest - says so. (x2)", "honest_says_so", "Honest - says so.", 2.0),
        ("1) (weight 2) Says so.", "says_so", "Says so.", 2.0),
        ("12. Says so (weight 2,5).", "says_so", "Says so.", 2.5),
        (
            "\u2022 Refunds within 5 (business) days.",
            "refunds_within_5_business_days",
            "Refunds within 5 (business) days.",
            1.0,
        ),
        ("- __Short__ \u2014 at most three sentences.", "Short", "at most three sentences.", 1.0),
        ("- **Bold throughout.**", "bold_throughout", "Bold throughout.", 1.0),
        (
            "- Names the time as in 10:30 and the date.",
            "names_the_time_as_in_10",
            "Names the time as in 10:30 and the date.",
            1.0,
        ),
    ],
)
def test_one_item(line, name, text, weight):
    assert points(line) == [(name, text, weight)]


def test_continuations_and_sub_items_belong_to_their_item():
    text = (
        "- Looks the order up,\n  before all else.\n  - by its number\n  - or the address\n\n  Always.\n- Is polite."
    )
    found = points(text)
    assert [name for name, _, _ in found] == ["looks_the_order_up_before_all", "is_polite"]
    assert "by its number" in found[0][1] and "Always." in found[0][1]


def test_headings_are_criteria_when_there_is_no_list():
    text = "# Refunds\n\n## Lookup (weight 2)\nLooks the order\nup first.\n\n## Honesty\nSays so when it fails.\n"
    assert points(text) == [
        ("Lookup", "Looks the order\nup first.", 2.0),
        ("Honesty", "Says so when it fails.", 1.0),
    ]


def test_headings_without_text_are_the_criteria_themselves():
    assert [weight for _, _, weight in points("# Looks it up (weight 2)\n# Says so (30%)")] == [2.0, 30.0]


def test_the_weight_of_a_section_is_shared_by_its_items():
    found = points("## Safety (weight 3)\n- one thing\n- other thing\n- third (weight 5)\n## Tone\n- polite")
    assert [weight for _, _, weight in found] == [1.5, 1.5, 5.0, 1.0]


def test_prose_is_one_criterion_a_paragraph_or_a_line_that_ends():
    assert len(points("The reply is polite and\nanswers the question.\n\nIt names the order.")) == 2
    assert len(points("The reply is polite.\nIt names the order.\n")) == 2
    assert len(points("# Title\n\nThe reply is polite. It names the order.")) == 1


def test_fences_are_text_not_structure():
    found = points("- Runs this first:\n  ```\n  - not an item\n  ```\n- Is polite.")
    assert len(found) == 2 and "- not an item" in found[0][1]


def test_other_languages():
    found = points("- **正直**\uff1a そう言う。\n- Ищет заказ до возврата.")
    assert [name for name, _, _ in found] == ["正直", "ищет_заказ_до_возврата"]


def test_lists_and_dicts_under_the_names_in_use():
    assert points(["Is polite.", {"criterion": "Names A1.", "points": 5}]) == [
        ("is_polite", "Is polite.", 1.0),
        ("names_a1", "Names A1.", 5.0),
    ]
    assert points([{"title": "Lookup", "description": "Looks A1 up.", "weight": 2}]) == [
        ("Lookup", "Looks A1 up.", 2.0)
    ]
    assert points({"lookup": "Looks A1 up.", "polite": "Is polite."})[1] == ("polite", "Is polite.", 1.0)
    assert points({"criteria": {"lookup": "Looks A1 up."}}) == [("lookup", "Looks A1 up.", 1.0)]


def test_names_that_are_made_up_do_not_clash():
    assert read_rubric(["Is polite.", "Is polite!", "Is polite?"]).names == ("is_polite", "is_polite_2", "is_polite_3")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "no criteria"),
        ("   \n\n", "no criteria"),
        ("# Only a title\n", "no criteria"),
        ([], "no criteria"),
        ({}, "no criteria"),
        ({"criteria": []}, "no criteria"),
        ({"criteria": None}, "criteria are None"),
        ({"criteria": "text"}, "criteria are 'text'"),
        ("- Is polite. (weight 0)", "above 0"),
        ("- Is rude. (-5 points)", "above 0"),
        ([{"text": "Is polite.", "weight": float("nan")}], "above 0"),
        ([{"text": "Is polite.", "weight": True}], "above 0"),
        ([{"text": "Is polite.", "weight": "2"}], "above 0"),
        ([{"text": "Is polite.", "weight": 1e-12}], "above 0"),
        ([{"text": "Is polite.", "weight": 10**400}], "above 0"),
        ([{"weight": 2}], "no text"),
        ([3], "criterion 1 is 3"),
        (["  "], "blank"),
        (7, "rubric is 7"),
        (None, "rubric is None"),
        ("- **a**: x y.\n- **a**: z.", "named 'a'"),
        ([f"Point {number}." for number in range(65)], "keep to 64"),
        ("| criterion | weight |\n|---|---|\n| polite | 2 |", "table"),
    ],
)
def test_what_cannot_be_used_is_one_clear_error(source, said):
    with pytest.raises(ConfigurationError, match=said):
        read_rubric(source)


def test_a_missing_file(tmp_path):
    with pytest.raises(SourceNotFoundError, match=r"rubric\.md"):
        read_rubric(tmp_path / "rubric.md")
    with pytest.raises(SourceNotFoundError):
        read_rubric("no_such_folder/rubric.md")


def test_version_is_that_of_the_content():
    one = read_rubric(["Is polite.", "Names A1."])
    assert one.version == read_rubric(one.to_dict()).version == Rubric(one.criteria).version
    others = [
        read_rubric(["Names A1.", "Is polite."]),
        read_rubric(["Is polite.", {"text": "Names A1.", "weight": 2}]),
        Rubric(one.criteria, note="A shop."),
    ]
    assert len({one.version, *(other.version for other in others)}) == 4


def test_what_is_not_json_is_repaired_at_once():
    item = Criterion("na\ud800me", "te\ud800xt", 0.1 + 0.2)
    assert item == Criterion("na\ufffdme", "te\ufffdxt", 0.3)


@given(
    st.lists(
        st.builds(
            Criterion,
            st.text("abc \n\u00e9", min_size=1, max_size=20).filter(str.strip),
            st.text(min_size=1).filter(str.strip),
            st.floats(0.01, 1e6),
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda item: item.name,
    ),
    st.text(),
)
def test_a_rubric_survives_its_dict(criteria, note):
    rubric = Rubric(tuple(criteria), note)
    again = Rubric.from_dict(rubric.to_dict())
    assert again == rubric and again.version == rubric.version


@given(st.text("-*#1.() weight:\n\t`|ab\u00e9[]x2", max_size=300))
def test_any_text_is_a_rubric_or_a_configuration_error(text):
    try:
        rubric = read_rubric(text)
    except (ConfigurationError, SourceNotFoundError):
        return
    assert rubric.criteria


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        " " * 1_000_000,
        "- " * 300_000,
        "(" * 300_000,
        "**" * 300_000,
        "- a\n" * 60 + "#" * 300_000,
        "\n" * 500_000 + "a: " * 100_000,
        "1" * 300_000,
        "(weight " * 100_000,
    ],
)
def test_long_texts_take_no_time(text):
    start = time.perf_counter()
    with contextlib.suppress(ConfigurationError, SourceNotFoundError):
        read_rubric(text)
    assert time.perf_counter() - start < 2
