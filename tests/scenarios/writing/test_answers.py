"""Reading what models send back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import AgentError
from whileai_hf.scenarios.writing.answers import read_answer


ENTRIES = '[{"id": "1", "message": "where is it"}, {"id": "2", "message": "cancel it"}]'
BOTH = {"1": "where is it", "2": "cancel it"}


@pytest.mark.parametrize(
    "content",
    [
        '{"messages": ' + ENTRIES + "}",
        ENTRIES,
        "Sure, here they are:\n```json\n" + ENTRIES + "\n```\nLet me know if [you] need {more}!",
        '<think>one {"id": "1", "message": "no"} or</think>\n{"messages": ' + ENTRIES + "}",
        '{"id": "1", "message": "where is it"}\n{"id": "2", "message": "cancel it"}',
        '{"1": "where is it", "2": "cancel it"}',
        '{"1": {"message": "where is it"}, "2": {"message": "cancel it"}}',
        '["where is it", "cancel it"]',
        '{"messages": ["where is it", "cancel it"]}',
        '{"items": [{"id": 1, "text": "where is it"}, {"id": " 2", "prompt": "cancel it"}]}',
        '{"messages": [{"id": "2", "message": "cancel it"}, {"id": "1", "message": "where is it"}]}',
        '{"messages": [{"id": "1", "message": "where is it"}, {"id": "1", "message": "again"}, '
        '{"id": "2", "message": "cancel it"}, {"id": "7", "message": "whose is this"}]}',
        [{"type": "text", "text": ENTRIES}],
    ],
)
def test_the_wrapping_does_not_matter(content):
    assert read_answer(content, ["1", "2"]) == BOTH


def test_what_was_cut_off_is_left_out():
    whole = '{"messages": ' + ENTRIES + "}"
    for end in range(len(whole)):
        found = read_answer(whole[:end], ["1", "2"])
        assert found.items() <= BOTH.items(), whole[:end]
    assert read_answer(whole[:-12], ["1", "2"]) == {"1": "where is it"}


@pytest.mark.parametrize(
    "content", [None, "", "I can't help with that.", "[]", "{}", "[1, 2]", '["only one"]', "[" * 5000]
)
def test_nothing_to_be_read(content):
    assert read_answer(content, ["1", "2"]) == {}


def test_a_line_break_inside_a_string_is_read():
    assert read_answer('[{"id": "1", "message": "one\ntwo"}]', ["1"]) == {"1": "one\ntwo"}


def test_content_of_an_unknown_kind_is_an_error():
    with pytest.raises(AgentError, match="content"):
        read_answer({"id": "1"}, ["1"])


@given(st.text(max_size=300))
def test_any_text_can_be_read(text):
    assert set(read_answer(text, ["1", "2"])) <= {"1", "2"}


@given(st.dictionaries(st.sampled_from("123456"), st.text(min_size=1), min_size=1))
def test_what_was_written_is_what_is_read(messages):
    listed = json.dumps({"messages": [{"id": key, "message": text} for key, text in messages.items()]})
    assert read_answer("Here you go: " + listed, list("123456")) == messages
