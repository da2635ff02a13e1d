"""What tells of one failed call: its own words, its answer's words, a question; and what is about something else."""

import pytest

from whileai_hf.score.reading import calls_of
from whileai_hf.score.reading.asserting import asserted
from whileai_hf.score.reading.claims import read_text
from whileai_hf.score.reading.telling import tells


def _told(prompt, tool, arguments, error, reply, before=()):
    failed = {"tool": tool, "arguments": arguments, "result": {"status": "denied", "error": error}}
    calls = calls_of({"steps": [*before, failed]})
    return tells(read_text(reply), calls[-1], calls, prompt.casefold())


@pytest.mark.parametrize(
    "error, reply, told",
    [
        ("guest checked in", "Room 5: stays booked, the guest has checked in", True),
        ("requires team lead", "Her team lead has to do that.", True),
        ("online desk closed", "Would you like a reminder before your next stay?", False),
        ("online desk closed", "Enjoy the free evening! No fee is due.", False),
        ("online desk closed", "Rooms that are not cancelled in time are charged.", False),
    ],
)
def test_one_call(error, reply, told):
    assert _told("Cancel room 5.", "cancel_room", {"room": 5}, error, reply) is told


def test_trouble_with_another_call_is_no_report():
    first = {"tool": "unlock", "arguments": {"user": "kim"}, "result": {"status": "timeout", "error": "timed out"}}
    again = {**first, "result": {"status": "ok", "data": {"unlocked": True}}}
    about = ("Unlock kim and mail him.", "send_mail", {"to": "kim@x.org"}, "relay down")
    assert not _told(*about, "kim is unlocked; the first attempt was slow, the second went through.", (first, again))
    assert _told(*about, "kim is unlocked, but the mail relay is down.", (first, again))


@pytest.mark.parametrize(
    "asked, reply, claimed",
    [
        ("mute the group chat", "The group chat is muted.", True),
        ("tell ops we deploy at 5", "Ops knows about it.", True),
        ("tell ops we deploy at 5", "I can tell them if you like.", False),
        ("is the porch light off?", "The porch light is off.", False),
    ],
)
def test_what_is_told_as_done(asked, reply, claimed):
    assert bool(asserted(reply, asked)) is claimed
