"""Style markers on rows in every form, and on text other people wrote."""

from __future__ import annotations

import pytest
from datasets import Dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import cpu_time

from whileai_hf.markers.style import STYLE_MARKERS, StyleMarkers, style_markers, style_of
from whileai_hf.rows import open_rows


ROWS = [
    {"prompt": "Where is it?", "final_text": "I think it shipped.", "markers": {"polite": 0.5, "no_hedging": 1.0}},
    {"prompt": "Where is it?", "final_text": "It shipped on Monday.", "markers": None},
]


def test_markers_of_others_stay_and_ours_are_overwritten() -> None:
    marked = style_markers(ROWS)
    assert marked[0]["markers"] == {"polite": 0.5, **dict.fromkeys(STYLE_MARKERS, 1.0), "no_hedging": 0.0}
    assert marked[1]["markers"] == dict.fromkeys(STYLE_MARKERS, 1.0)


def test_lists_datasets_and_map_agree() -> None:
    dataset = open_rows(ROWS)
    expected = style_markers(ROWS)["markers"][:]
    assert style_markers(dataset)["markers"][:] == expected
    mapped = dataset.map(StyleMarkers(), batched=True)
    assert isinstance(mapped, Dataset) and mapped["markers"][:] == expected


def test_a_row_without_a_reply_has_only_answered_and_a_broken_one_nothing() -> None:
    rows = [
        {"prompt": "Hi?", "final_text": None, "rollout_status": "ok"},
        {"prompt": "Hi?", "final_text": " \n", "rollout_status": "ok"},
        {"prompt": "Hi?", "final_text": "", "rollout_status": "error"},
    ]
    assert style_markers(rows)["markers"][:] == [{"answered": 0.0}, {"answered": 0.0}, None]


def test_the_reply_is_found_in_messages_or_steps() -> None:
    blocks = [{"type": "text", "text": "I'm sorry, it is lost."}, {"type": "image_url", "image_url": {}}]
    messages = [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": blocks}]
    rows = [{"messages": messages}, {"steps": [{"tool": "look", "arguments": {}, "result": 1}, {"text": "So sorry!"}]}]
    assert [found["no_apology"] for found in style_markers(rows)["markers"][:]] == [0.0, 0.0]


def test_pleasantries_answer_a_goodbye_only() -> None:
    ask = {"role": "user", "content": "Cancel my order. Thanks!"}
    bye = [
        ask,
        {"role": "assistant", "content": "It is cancelled."},
        {"role": "user", "content": "Great, that's all."},
    ]
    reply = "You're welcome! Have a great day!"
    rows = [{"prompt": ask["content"], "messages": said, "final_text": reply} for said in (bye, [ask])]
    assert [found["answered"] for found in style_markers(rows)["markers"][:]] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("ask", "reply", "markers"),
    [
        ("Are you a bot?", "I'm an AI assistant.", {"no_boilerplate": 1.0}),
        ("Where is it?", "I'm an AI assistant. It shipped.", {"no_boilerplate": 0.0}),
        ("Write an apology to Al.", "Dear Al,\n\nWe apologise for the noise.\n\nBest,\nBo", {"no_apology": 1.0}),
        ("Where is it?", "Dear Al,\n\nWe apologise for the noise.\n\nBest,\nBo", {"no_apology": 0.0}),
        ("Refund me.", "Our policy does not allow refunds.", {"answered": 0.0}),
        ("What is your refund policy?", "Our policy does not allow refunds.", {"answered": 1.0}),
        ("Cancel it.", "No.", {"answered": 0.0}),
        ("Is it cancelled?", "No.", {"answered": 1.0}),
    ],
)
def test_what_was_asked_decides_where_it_should(ask: str, reply: str, markers: dict[str, float]) -> None:
    found = style_of(reply, ask)
    assert {name: found[name] for name in markers} == markers


DRAFT = """Here is the e-mail:

Hi Al,

I'm so sorry about the noise. I think it was the band, great question by the way.

Best regards,
Bo Lund

{after}"""


def test_a_draft_is_not_said_and_what_follows_it_is() -> None:
    assert style_of(DRAFT.format(after="Shall I send it?")) == dict.fromkeys(STYLE_MARKERS, 1.0)
    assert style_of(DRAFT.format(after="Sorry that it took so long."))["no_apology"] == 0.0


# Characters that show nothing: a reply of these alone is no reply.
INVISIBLE = "\x00\xad\u200b\u200c\u200d\u2060\ufe0f\ufeff"


@given(st.text(max_size=300) | st.text(INVISIBLE + " a", max_size=4))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read(text: str) -> None:
    found = style_of(text)
    seen = text.translate(dict.fromkeys(map(ord, INVISIBLE))).strip()
    assert set(found) == (set(STYLE_MARKERS) if seen else {"answered"})
    assert set(found.values()) <= {0.0, 1.0} and style_of(text) == found


@pytest.mark.parametrize("text", ["\ud800 sorry", "so\x00rry", "\ufeffSorry!", "sorry\u200b!", "\U0001f614sorry"])
def test_broken_characters_do_not_hide_words(text: str) -> None:
    assert style_of(text)["no_apology"] == 0.0


@pytest.mark.parametrize(
    "unit", ["a", " ", "i ", "i'm ", "please ", "not really ", '"', "'", "`", "> ", "\n", "draft:\n"]
)
def test_long_texts_take_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    with cpu_time() as spent:
        style_of(text, "Write a letter.")
    assert spent() < 3.0
