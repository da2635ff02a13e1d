"""What leaves a trace in the signature of a behaviour, and what does not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.actors.signature import behavior_signature


def call(tool, result=None, **arguments):
    return {"tool": tool, "arguments": arguments, "result": {"status": "ok"} if result is None else result}


def sign(*steps, reply="Done.", ask="Refund order ORD-12 for 1,200 dollars, please."):
    return behavior_signature(steps, reply, ask)


SAME = [
    (sign(call("refund", id="ORD-12")), sign(call("refund", id="7"), ask="Refund 7.", reply="It is done.")),
    (sign(call("refund", a="ORD-12", b=1200)), sign(call("refund", a="x", b="ORD-12"), ask="x and ORD-12")),
    (sign(call("refund", id="ORD-12", force=True)), sign(call("refund", id="ORD-12", force=False))),
    (sign({"text": "hm"}, call("refund", id="ORD-12")), sign(call("refund", id="ORD-12"))),
    (sign(call("refund", id="ord-12", amount=1200.0)), sign(call("refund", id="ORD-12", amount=1200))),
]
DIFFERENT = [
    (sign(), sign(call("refund", id="ORD-12"))),
    (sign(call("refund", id="ORD-12")), sign(call("cancel", id="ORD-12"))),
    # Half an id, or a number inside another one, is not what the person said.
    (sign(call("refund", id="ORD-12")), sign(call("refund", id="ORD-1"))),
    (sign(call("refund", id="ORD-12")), sign(call("refund", id=None))),
    (sign(call("refund", id="ORD-12")), sign(call("refund", {"status": "timeout"}, id="ORD-12"))),
    (sign(call("refund", id="ORD-12")), sign(call("refund", {"error": "x"}, id="ORD-12"))),
    (sign(call("get", {"user": "u_9"}), call("get", id="u_9")), sign(call("get"), call("get", id="u_9"))),
    (sign(call("a"), call("b")), sign(call("b"), call("a"))),
    (sign(), sign(reply="I'm sorry, I can\u2019t do that.")),
    (sign(), sign(reply="word " * 40)),
]


@pytest.mark.parametrize("one, other", SAME)
def test_values_and_wording_leave_no_trace(one, other):
    assert one == other and len(one) == 12 and int(one, 16) >= 0


@pytest.mark.parametrize("one, other", DIFFERENT)
def test_what_was_done_does(one, other):
    assert one != other


def test_what_the_person_says_later_is_theirs_too():
    said = {"user": "The amount is 55."}
    assert sign(said, call("refund", amount=55)) == sign(call("refund", amount=55), ask="Refund 55.")
    assert sign(call("refund", amount=55), said) != sign(said, call("refund", amount=55))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.fixed_dictionaries({"tool": st.text(max_size=5), "arguments": JSON, "result": JSON}), max_size=4))
def test_any_steps_have_a_signature(steps):
    assert behavior_signature(steps, "ok", "hello \ud800") == behavior_signature(steps, "ok", "hello \ud800")
    behavior_signature([{"text": "x"}, {"tool": "f"}, {"tool": "f", "result": {3: 2**70, "bad": "\ud800"}}], "", "")
    odd = [call("f", {"x": "\ud800"}), call("f", id="zzz")]
    assert behavior_signature(odd, "", "") == behavior_signature(odd, "", "")
