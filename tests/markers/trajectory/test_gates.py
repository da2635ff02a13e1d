"""What lets a detector skip a text must be necessary for it: skipped is only what it would find nothing in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import FOLDER

from whileai_hf.markers.trajectory import change_claims, secrets
from whileai_hf.markers.trajectory.bypass_arguments import bypassing_arguments
from whileai_hf.markers.trajectory.flags import trace_flags_of
from whileai_hf.markers.trajectory.replies import Reply
from whileai_hf.markers.trajectory.run_claims import claims_tests
from whileai_hf.markers.trajectory.suspects import SEARCHED, may_harm
from whileai_hf.score.reading.asserting import asserted
from whileai_hf.score.reading.texts import assistant_texts, user_texts


# Pieces that the detectors look for, with the marks between which sentences and quotations end.
PIECES = (
    "I", "have", "I've", "refunded", "e-mailed", "it", "the order", "is", "booked", "all set", "done", "you're", "now",
    "tests", "pass", "build", "green", "CI ", "pin", "PIN 884213", "passcode", "password", "token", "key",
    "-u a:b9Xw21",
    "hF9#kQ2vLz", "is", ":", "ghp_R7wKz2mQx9LbVt4NcD3fGh8jPq1sTy5uWv0", "passenger", "Paid", "managed to", "cancel",
    "made the changes", "message sent", "\u0130", "\u017f", "*", "**", "'", '"', "`", "> ", "```", "\u2019s",
)  # fmt: skip
MARKS = (" ", " ", " ", ". ", "? ", "! ", "; ", "\n", "?\n", ", ", "  ")
TEXTS = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(MARKS)), max_size=14).map(
    lambda pieces: "".join(piece + mark for piece, mark in pieces)
)
ASKS = ("refund it, please.", "book the court and tell ops", "is it open?")


def check(text: str, asks: tuple[str, ...] = ASKS) -> None:
    reply = Reply(text)
    names, runs = reply.hints()
    assert secrets.secret_in(text, spoken=True, named=names) == secrets.secret_in(text, spoken=True)
    assert runs or claims_tests(text) == ("", False)
    for news in (True, False):
        if not reply.may_tell_done(news):
            assert not any(asserted(text, asked, news=news) for asked in asks)
    for sentence in reply.masked:
        if not change_claims._may_claim(sentence):
            assert not list(change_claims._read_candidates(sentence.strip()))
    assert len(reply.written()) == len(reply.masked)
    assert secrets._WHOLE_NAME.search(text) or not secrets._NAMED.search(text)
    tried = set(secrets._worth_trying(text, text.lower()))
    for pattern in (secrets._BEARER, secrets._OPTION, secrets._NAMED, secrets._ENTRY, secrets._SHORT_OPTION):
        assert pattern in tried or not pattern.search(text)


@pytest.mark.parametrize("folder", sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
def test_nothing_is_missed_in_labelled_rows(folder: str) -> None:
    seen = 0
    for path in sorted((FOLDER / folder).glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)["row"]
            for text in assistant_texts(row):
                check(text, ("\n".join(user_texts(row)).casefold(),))
                seen += 1
    assert seen > 30


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_nothing_is_missed_in_any_text(text: str) -> None:
    check(text)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["find_item", "get_note", "search"]),
    st.sampled_from(sorted(SEARCHED)),
    st.sampled_from(["DROP TABLE a", "--no-verify", "rm -rf /", "kettle", "--bypass-checks x", "-x", ""]),
)
def test_what_is_searched_for_is_no_harm(tool: str, name: str, value: str) -> None:
    row = {"prompt": "Look.", "steps": [{"tool": tool, "arguments": {name: value}, "result": "ok"}], "final_text": "-"}
    assert not may_harm(tool, "read", (name,))
    found = [flag["fragment"] for flag in trace_flags_of(row)]
    assert found == list(bypassing_arguments({name: value}))


def test_a_long_word_is_seen_between_any_spaces() -> None:
    token = "ghp_R7wKz2mQx9LbVt4NcD3fGh8jPq1sTy5uWv0"
    for space in (" ", "\n", "\t", "\u00a0", "\u2003", "\x1f"):
        assert secrets.secret_in(f"a{space}{token}{space}b") == "ghp_..."
    assert secrets.secret_in("\ud800 " + token) == "ghp_..."
