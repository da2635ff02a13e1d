"""Reading a whole conversation in one pass gives what reading each of its messages gives."""

from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.export.messages import answers_nothing, read_message
from whileai_hf.export.plain import read_all
from whileai_hf.export.reasons import Reason


SCALARS = st.sampled_from(
    [
        None,
        "",
        "x",
        "\ud800",
        "c1",
        "c2",
        "f",
        "注文",
        1,
        True,
        0.1 + 0.2,
        1 << 70,
        '{"privileged": {"a": 1}}',
        '{"a": 1}',
    ]
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["a", "b", "privileged", "malformed"]), SCALARS | st.lists(SCALARS, max_size=2), max_size=2
)
FUNCTIONS = st.fixed_dictionaries({"name": SCALARS, "arguments": ARGUMENTS | SCALARS})
CALLS = st.one_of(
    st.fixed_dictionaries({"id": SCALARS, "type": st.sampled_from(["function", None, "x"]), "function": FUNCTIONS}),
    st.fixed_dictionaries({"function": FUNCTIONS}, optional={"id": SCALARS}),
    FUNCTIONS,
    SCALARS,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "developer", "human", None])
MESSAGES = st.one_of(
    st.fixed_dictionaries(
        {"role": ROLES, "content": SCALARS},
        optional={"tool_calls": st.none() | st.lists(CALLS, max_size=2), "tool_call_id": SCALARS, "name": SCALARS},
    ),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.just("")}
        | {
            "tool_calls": st.lists(
                st.fixed_dictionaries(
                    {"id": st.sampled_from(["c1", "c2"]), "type": st.just("function")}
                    | {"function": st.fixed_dictionaries({"name": st.just("f"), "arguments": ARGUMENTS})}
                ),
                min_size=1,
                max_size=2,
            )
        }
    ),
    st.fixed_dictionaries({"role": st.just("tool"), "content": st.just("r"), "tool_call_id": SCALARS}),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(MESSAGES, max_size=5), st.sampled_from([{}, {"f": {"a", "malformed"}}]))
def test_the_same_as_message_by_message(messages, declared):
    before = repr(messages)
    expected = [read_message(message, declared) for message in messages]
    refused = next((made for made in expected if isinstance(made, Reason)), None)
    read = read_all(messages, declared)
    assert repr(messages) == before
    if refused is not None:
        assert read is refused
        return
    assert read.messages == expected
    assert [list(made) for made in read.messages if "tool_calls" in made] == [
        list(made) for made in expected if "tool_calls" in made
    ]
    assert not (read.answered and answers_nothing(read.messages))


def test_what_has_the_shape_is_taken_as_it_is():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    turns += [{"role": "tool", "content": "r", "tool_call_id": "c1"}, {"role": "assistant", "content": "a"}]
    read = read_all(turns, {})
    assert read.answered
    assert [made is given for made, given in zip(read.messages, turns, strict=True)] == [True, False, True, True]
    assert read.messages[1]["tool_calls"][0] is call
