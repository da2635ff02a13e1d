"""Text of models read as messages: every call syntax, broken calls, reasoning, and words that only look like calls."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.actors.models.markup import NAMELESS, read_text, split_reasoning
from whileai_hf.actors.replies import read_reply


A1 = {"order_id": "A1"}
CALL = json.dumps({"name": "get_order", "arguments": A1})


def calls(text, **options):
    message = read_text(text, **options)
    return [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", ())]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",  # the model ended its turn without closing
        f"[TOOL_CALLS][{CALL}]",
        f"[TOOL_CALLS] [{CALL}]",
        '[TOOL_CALLS]get_order[ARGS]{"order_id": "A1"}',
        '[TOOL_CALLS]get_order[CALL_ID]a1b2c3d4e[ARGS]{"order_id": "A1"}',
        '[TOOL_CALLS]get_order{"order_id": "A1"}',
        '{"name": "get_order", "parameters": {"order_id": "A1"}}',
        '<|python_tag|>{"type": "function", "name": "get_order", "parameters": {"order_id": "A1"}}',
        f'<tool_call>{{"type": "function", "function": {CALL}}}</tool_call>',
    ],
)
def test_every_syntax_gives_the_same_call(text):
    message = read_text(text)
    assert message == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"type": "function", "function": {"name": "get_order", "arguments": A1}}],
    }


@pytest.mark.parametrize(
    "text",
    [
        f'Let me see.\n<tool_call>{CALL}</tool_call>\n<tool_call>{{"name": "ping", "arguments": {{}}}}</tool_call>',
        f'Let me see. <tool_call>{CALL}\n{{"name": "ping"}}</tool_call>',
        f'Let me see.[TOOL_CALLS][{CALL}, {{"name": "ping", "arguments": {{}}}}]',
        'Let me see.[TOOL_CALLS]get_order[ARGS]{"order_id": "A1"}[TOOL_CALLS]ping[ARGS]{}',
        'Let me see.<|python_tag|>{"name": "get_order", "parameters": {"order_id": "A1"}}; {"name": "ping"}',
    ],
)
def test_several_calls_and_the_words_beside_them(text):
    assert calls(text) == [("get_order", A1), ("ping", {})]
    assert read_text(text)["content"] == "Let me see."


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        (
            '<tool_call>{"name": "get_order", "arguments": {"order_id": A1}}</tool_call>',
            "get_order",
            '{"order_id": A1}}',
        ),
        # Only a brace is missing, yet it was not JSON: the text as a whole, so that nobody takes it for readable.
        (
            '<tool_call>{"name": "get_order", "arguments": {"order_id": "A1"}</tool_call>',
            "get_order",
            '{"name": "get_order", "arguments": {"order_id": "A1"}',
        ),
        ('<tool_call>{"name": "get_order", "argu', "get_order", '{"name": "get_order", "argu'),
        ("<tool_call>get_order(A1)</tool_call>", NAMELESS, "get_order(A1)"),
        ('[TOOL_CALLS]get_order[ARGS]{"order_id": "A', "get_order", '{"order_id": "A'),
        ('[TOOL_CALLS][{"name": "get_order", "arguments": {"order_id": ', "get_order", '{"order_id":'),
        ('{"name": "get_order", "parameters": {"order_id": "A1', "get_order", '{"order_id": "A1'),
        ('<tool_call>{"name": "get_order", "arguments": ["A1"]}</tool_call>', "get_order", ["A1"]),
    ],
)
def test_a_broken_call_is_kept_as_written_and_known_to_be_broken(text, name, written):
    assert calls(text) == [(name, written)]
    call = read_reply(read_text(text)).calls[0]
    assert (call.readable, call.written) == (False, written)


def test_a_broken_call_leaves_the_one_beside_it_whole():
    text = f"<tool_call>{{oops}}</tool_call><tool_call>{CALL}</tool_call>"
    assert calls(text) == [(NAMELESS, "{oops}"), ("get_order", A1)]
    assert calls(f'<tool_call>{{"name": "ping", <tool_call>{CALL}</tool_call>')[1] == ("get_order", A1)


@pytest.mark.parametrize(
    "text",
    [
        "Order A1 is due.",
        '{"name": "Ada", "city": "Graz"}',
        '{"name": "Ada", "arguments": {}, "city": "Graz"}',
        '{"status": "ok"}',
        "{order}",
        'Use {"name": "get_order", "arguments": {}} for that.',
        "",
    ],
)
def test_words_are_no_calls(text):
    assert read_text(text) == {"role": "assistant", "content": text}


def test_without_tools_nothing_is_a_call():
    text = f"<tool_call>{CALL}</tool_call>"
    assert read_text(text, tools=False) == {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("text", "opened", "said", "thought"),
    [
        ("<think>\nLate?\n</think>\n\nIt is late.", False, "It is late.", "Late?"),
        ("Late?\n</think>\n\nIt is late.", True, "It is late.", "Late?"),
        ("Late?</think>It is late.", False, "It is late.", "Late?"),
        ("<think>Late? It", False, "", "Late? It"),
        ("Late? It", True, "", "Late? It"),
        ("<think></think>It is late.", False, "It is late.", ""),
        ("[THINK]Late?[/THINK]It is late.", False, "It is late.", "Late?"),
        ("It is late.", False, "It is late.", ""),
        ("I say <think>x</think> here.", False, "I say <think>x</think> here.", ""),
    ],
)
def test_reasoning_is_apart(text, opened, said, thought):
    assert split_reasoning(text, opened=opened) == (said, thought)


def test_calls_inside_of_reasoning_are_not_made():
    message = read_text(f"<think>Maybe <tool_call>{CALL}</tool_call>?</think>No need.")
    assert message == {
        "role": "assistant",
        "content": "No need.",
        "reasoning_content": f"Maybe <tool_call>{CALL}</tool_call>?",
    }


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
JSON = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=5), SCALARS, max_size=3)


@settings(max_examples=25)
@given(
    st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=3), min_size=1, max_size=3),
    st.sampled_from(["hermes", "mistral", "llama"]),
)
def test_what_is_written_is_read_back(arguments, syntax):
    entries = [{"name": f"tool_{number}", "arguments": values} for number, values in enumerate(arguments)]
    if syntax == "hermes":
        # JSON may escape "<"; a model that writes the closing tag inside of a string has closed the call.
        text = "\n".join(f"<tool_call>{json.dumps(e).replace('<', chr(92) + 'u003c')}</tool_call>" for e in entries)
    elif syntax == "mistral":
        text = "[TOOL_CALLS]" + json.dumps(entries).replace("[TOOL", "\\u005bTOOL")
    else:
        text = "; ".join(json.dumps({"name": e["name"], "parameters": e["arguments"]}) for e in entries)
    text = (
        text.replace("think>", "th\\u0069nk>").replace("THINK]", "TH\\u0049NK]").replace("<|python", "<|pyth\\u006fn")
    )
    assert calls(text) == [(e["name"], e["arguments"]) for e in entries]


@settings(max_examples=60)
@given(st.text(), st.booleans(), st.booleans())
def test_any_text_is_some_message(text, tools, opened):
    assert read_reply(read_text(text, tools=tools, opened=opened)).message([]) is not None
