"""Conversations for chat templates: strict templates, several calls, broken calls, templates that cannot."""

from __future__ import annotations

import pytest

from whileai_hf.actors.models.templating import ChatTemplate, template_messages
from whileai_hf.errors import ConfigurationError, ModelError


def call(name, arguments, call_id="call_0"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


ASKED = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Where are A1 and A2?"}]
TWO = [
    *ASKED,
    {
        "role": "assistant",
        "content": "Wait.",
        "tool_calls": [call("get", '{"id": "A1"}'), call("get", {"id": "A2"}, "c2")],
    },
    {"role": "tool", "tool_call_id": "call_0", "name": "get", "content": "due"},
    {"role": "tool", "tool_call_id": "c2", "name": "get", "content": "late"},
]
TOOLS = [{"type": "function", "function": {"name": "get", "parameters": {"type": "object", "properties": {}}}}]
BODY = (
    "{% for t in tools or [] %}[{{ t.function.name }}]{% endfor %}"
    "{% for m in messages %}{{ m.role }}:{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<{{ c.function.name }} CALL>{% endfor %};{% endfor %}"
)
RENDERED_CALL = "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }}{% endfor %}"
ONE_CALL = (
    "{% for m in messages %}{% if m.tool_calls and m.tool_calls|length > 1 %}{{ raise_exception('one call only') }}"
    "{% endif %}{% endfor %}"
)
NINE = (
    "{% for m in messages %}{% for c in m.tool_calls or [] %}{% if c.id|length != 9 %}{{ raise_exception('nine') }}"
    "{% endif %}{% endfor %}{% if m.role == 'tool' and m.tool_call_id|length != 9 %}{{ raise_exception('nine') }}"
    "{% endif %}{% endfor %}"
)


@pytest.fixture(scope="module")
def tokenizer():
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models

    return transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))


@pytest.fixture
def render(tokenizer):
    def with_template(template, messages, tools=TOOLS, thinking=None):
        tokenizer.chat_template = template
        return ChatTemplate(tokenizer, "tiny", thinking).render(messages, tools)

    return with_template


def test_arguments_are_mappings_and_ids_match_their_results():
    made = template_messages(TWO)
    calls = made[2]["tool_calls"]
    assert [c["function"]["arguments"] for c in calls] == [{"id": "A1"}, {"id": "A2"}]
    assert [c["id"] for c in calls] == [m["tool_call_id"] for m in made[3:]]
    assert len({c["id"] for c in calls}) == 2
    assert TWO[2]["tool_calls"][0]["function"]["arguments"] == '{"id": "A1"}'  # the caller's stay as they were


def test_a_result_is_told_by_the_tool_it_is_of():
    nameless = [{key: value for key, value in message.items() if key != "name"} for message in TWO]
    assert [message.get("name") for message in template_messages(nameless)] == [None, None, None, "get", "get"]


def test_strict_ids_are_accepted(render):
    assert render(NINE + BODY, TWO).startswith("[get]system:Help.;")


def test_a_template_of_one_call_gets_one_at_a_time(render):
    text = render(ONE_CALL + BODY.replace("CALL", RENDERED_CALL), TWO)
    assert text.partition("A2?;")[2] == "assistant:Wait.<get id=A1>;tool:due;assistant:<get id=A2>;tool:late;"
    # A template that takes both gets both.
    assert "<get id=A1><get id=A2>" in render(BODY.replace("CALL", RENDERED_CALL), TWO)


def test_a_broken_call_is_shown_as_written_or_wrapped(render):
    broken = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [call("get", '{"id": A1')]}]
    assert '<get {"id": A1>' in render(BODY.replace("CALL", "{{ c.function.arguments }}"), broken)
    assert '<get malformed={"id": A1>' in render(BODY.replace("CALL", RENDERED_CALL), broken)


def test_no_template_and_templates_without_tools_are_refused(render):
    with pytest.raises(ConfigurationError, match="tiny has no chat template"):
        render(None, ASKED)
    deaf = "{% for m in messages %}{{ m.content }}{% endfor %}"
    assert render(deaf, ASKED, tools=None) == "Help.Where are A1 and A2?"
    with pytest.raises(ConfigurationError, match="tiny leaves tools out"):
        render(deaf, ASKED)


def test_a_refusal_says_why(render):
    with pytest.raises(ModelError, match="tiny refuses the conversation: no system"):
        render("{{ raise_exception('no system') }}", ASKED)


def test_thinking_reaches_the_template(render):
    template = BODY + "{{ enable_thinking }}"
    assert [render(template, ASKED, thinking=t)[-5:] for t in (True, False)] == [";True", "False"]
    assert render("{{ enable_thinking is defined }}" + BODY, ASKED).startswith("False")
