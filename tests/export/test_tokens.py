"""Labels are exactly the agent's own tokens: decoded, they are what the agent said and called, and nothing else."""

import json
import random

import pytest

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export import export_report, to_sft, to_trl


# A line per message; the prompt ends with a space, which a tokenizer likes to join with the word that follows.
LINES = """{%- for tool in tools or [] %}Tool: {{ tool.function.name }}
{% endfor -%}
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
Agent: {{ m.content }}{{ '' }}
{%- for c in m.tool_calls or [] %} [[{{ c.function.name }} {{ c.function.arguments | tojson }}]]{% endfor -%}
{{ '<|endoftext|>' }}
{% else -%}
{{ m.role }}: {{ m.content }}
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}Agent: {% endif -%}"""
# Tags with one value each, no JSON object anywhere, no special token at the end of a turn.
TAGS = """{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
<agent>{% for c in m.tool_calls or [] %}<call to="{{ c.function.name }}">
{%- for k, v in c.function.arguments | items %}<{{ k }}>{{ v if v is string else v | tojson }}</{{ k }}>{% endfor -%}
</call>{% endfor %}{{ m.content }}</agent>
{%- else -%}
<{{ m.role }}>{{ m.content }}</{{ m.role }}>
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}<agent>{% endif -%}"""
# The last turn has an end of its own.
ENDS = """{%- for m in messages -%}
{{ m.role }}: {{ m.content }}{% if m.role == 'assistant' %}{{ ' END' if loop.last else ' end' }}{% endif %}
{% endfor -%}
{%- if add_generation_prompt %}assistant: {% endif -%}"""
# Earlier turns lose their text once there is a later one.
FORGETFUL = """{%- for m in messages -%}
{{ m.role }}: {% if m.role != 'assistant' or loop.last %}{{ m.content }}{% endif %}
{% endfor -%}
{%- if add_generation_prompt %}assistant: {% endif -%}"""

PARAMETERS = {"type": "object", "properties": {f"key_{i}": {} for i in range(3)}}
TOOLS = [
    {"type": "function", "function": {"name": f"tool_{i}", "description": "", "parameters": PARAMETERS}}
    for i in range(2)
]


def dumped(value):
    return json.dumps(value, ensure_ascii=False)


def said_to_qwen(message):
    parts = [message["content"]] if message["content"] else []
    for call in message.get("tool_calls", ()):
        name, arguments = call["function"]["name"], dumped(call["function"]["arguments"])
        parts.append(f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>')
    return "\n".join(parts) + "<|im_end|>"


def said_in_lines(message):
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return message["content"] + "".join(f" [[{c['name']} {dumped(c['arguments'])}]]" for c in calls) + "<|endoftext|>"


def said_in_tags(message):
    text = ""
    for call in message.get("tool_calls", ()):
        values = call["function"]["arguments"].items()
        inner = "".join(f"<{k}>{v if isinstance(v, str) else dumped(v)}</{k}>" for k, v in values)
        text += f'<call to="{call["function"]["name"]}">{inner}</call>'
    return text + message["content"] + "</agent>"


TEMPLATES = {"qwen": (None, said_to_qwen), "lines": (LINES, said_in_lines), "tags": (TAGS, said_in_tags)}
WORDS = [
    "order",
    "ORD-1042",
    " refund",
    "\n\nlist:\n- a",
    "{}",
    '{"a": 1}',
    "Größe",
    "注文",
    "🚚🚚",
    "null",
    '"quoted"',
    "\\n",
    "it's",
]


def words(draws, least=1):
    return " ".join(draws.choice(WORDS) for _ in range(draws.randint(least, 6)))


def values(draws):
    choices = [
        words(draws),
        draws.randint(-5, 9999),
        draws.random() > 0.5,
        None,
        12.5,
        [1, "two"],
        {"deep": {"er": "x"}},
    ]
    return {f"key_{i}": draws.choice(choices) for i in range(draws.randint(0, 3))}


def conversation(draws):
    messages = [{"role": "system", "content": words(draws)}] if draws.random() > 0.5 else []
    for _ in range(draws.randint(1, 3)):
        messages.append({"role": "user", "content": words(draws)})
        for number in range(draws.randint(0, 3)):
            calls = [
                {
                    "id": f"c{number}{i}",
                    "type": "function",
                    "function": {"name": f"tool_{i}", "arguments": values(draws)},
                }
                for i in range(draws.randint(1, 2))
            ]
            content = words(draws) if draws.random() > 0.5 else ""
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            messages += [{"role": "tool", "tool_call_id": call["id"], "content": words(draws)} for call in calls]
        messages.append({"role": "assistant", "content": words(draws)})
    return messages


@pytest.fixture(scope="module")
def with_template(tiny_model):
    def make(name):
        template, said = TEMPLATES[name]
        tokenizer = tiny_model.make_tokenizer()
        tokenizer.chat_template = template or tiny_model.chat_template("qwen3_instruct_2507_training")
        tokenizer.model_max_length = 10**30
        return tokenizer, said

    return make


def learnt(row, tokenizer):
    tokens = [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100]
    assert tokens == [label for label in row["labels"] if label != -100]
    return tokenizer.decode(tokens)


@pytest.mark.parametrize("name", TEMPLATES)
def test_labels_are_what_the_agent_said_and_called(with_template, name):
    tokenizer, said = with_template(name)
    draws = random.Random(name)
    rows = [{"messages": conversation(draws)} for _ in range(200)]
    data = to_sft(rows, tokenizer, tools=TOOLS)
    assert len(data) == 200
    trained = 0
    for made, row in zip(data, rows, strict=True):
        agents = [message for message in row["messages"] if message["role"] == "assistant"]
        assert learnt(made, tokenizer) == "".join(map(said, agents))
        whole = tokenizer.decode(made["input_ids"])
        assert tokenizer.apply_chat_template(row["messages"], tools=TOOLS, tokenize=False) == whole
        trained += sum(label != -100 for label in made["labels"])
    report = export_report(data)
    assert report.trained_tokens == trained
    assert report.trained_tokens + report.masked_tokens == sum(map(len, data["input_ids"]))
    assert report.longest_row == max(map(len, data["input_ids"]))
    assert report.trained_messages == sum(m["role"] == "assistant" for row in rows for m in row["messages"])


@pytest.mark.parametrize("options", [{"mask_mode": "final"}, {"unroll": True}])
def test_one_turn_at_a_time(with_template, options):
    tokenizer, said = with_template("lines")
    draws = random.Random(1)
    rows = [{"messages": conversation(draws)} for _ in range(20)]
    agents = [[m for m in row["messages"] if m["role"] == "assistant"] for row in rows]
    expected = [turn for turns in agents for turn in (turns if "unroll" in options else turns[-1:])]
    data = to_sft(rows, tokenizer, **options)
    assert [learnt(row, tokenizer) for row in data] == [said(turn) for turn in expected]


def test_the_rows_own_mask(with_template):
    tokenizer, said = with_template("qwen")
    rows = [{"messages": conversation(random.Random(i))} for i in range(20)]
    for i, row in enumerate(rows):
        draws = random.Random(i)
        # A mask may ask for the words of others; they stay out.
        row["loss_mask"] = [int(m["role"] != "assistant" or draws.random() > 0.5) for m in row["messages"]]
        row["loss_mask"][-1] = 1
    data = to_sft(rows, tokenizer, system_prompt="Another.")
    for made, row in zip(data, rows, strict=True):
        pairs = zip(row["messages"], row["loss_mask"], strict=True)
        assert learnt(made, tokenizer) == "".join(said(m) for m, one in pairs if one and m["role"] == "assistant")
    with pytest.raises(DataError, match=r"row \d+: its loss_mask leaves out some turns.*tokenizer="):
        to_trl(rows, "sft")


def test_a_mask_that_leaves_nothing(with_template):
    tokenizer, _ = with_template("qwen")
    row = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    data = to_sft([{**row, "loss_mask": [1, 0]}, {**row, "loss_mask": None}], tokenizer)
    assert export_report(data).left_out["nothing_trained"] == 1
    with pytest.raises(DataError, match="row 0: loss_mask does not have one 0 or 1 per message"):
        to_sft([{**row, "loss_mask": [1]}], tokenizer)


def test_long_rows_are_left_out_never_cut(with_template):
    tokenizer, said = with_template("qwen")
    rows = [{"prompt": "q", "final_text": "word " * n} for n in (3, 400, 5)]
    data = to_sft(rows, tokenizer, max_length=60)
    assert export_report(data).left_out["too_long"] == 1
    assert export_report(data).first_left_out["too_long"] == 1
    assert [learnt(row, tokenizer) for row in data] == [said({"content": rows[i]["final_text"]}) for i in (0, 2)]
    tokenizer.model_max_length = 60  # what the tokenizer knows counts too
    assert export_report(to_sft(rows, tokenizer)).left_out["too_long"] == 1


def test_a_template_that_is_not_prefix_preserving(with_template):
    tokenizer, _ = with_template("lines")
    tokenizer.chat_template = ENDS
    turns = [{"role": role, "content": f"{role} {i}"} for i in range(2) for role in ("user", "assistant")]
    with pytest.raises(ConfigurationError, match=r"row 0: .*get_training_chat_template\(tokenizer\), or pass unroll"):
        to_sft([{"messages": turns}], tokenizer)
    data = to_sft([{"messages": turns}], tokenizer, unroll=True)
    assert [learnt(row, tokenizer) for row in data] == ["assistant 0 END", "assistant 1 END"]
    tokenizer.chat_template = FORGETFUL
    with pytest.raises(DataError, match="drops text of a message"):
        to_sft([{"messages": turns}], tokenizer)


def test_rows_without_a_fixed_place_for_a_turn_are_left_out(with_template):
    tokenizer, _ = with_template("lines")
    tokenizer.chat_template = ENDS
    turns = [{"role": role, "content": f"{role} {i}"} for i in range(2) for role in ("user", "assistant")]
    rows = [{"messages": turns[:2]}, {"messages": turns}, {"prompt": "q", "final_text": ""}, {"messages": turns[2:]}]
    data = to_sft(rows, tokenizer)
    assert [learnt(row, tokenizer) for row in data] == ["assistant 0 END", "assistant 1 END"]
    report = export_report(data)
    assert report.left_out == {**dict.fromkeys(report.left_out, 0), "not_prefix_preserving": 1, "no_final_answer": 1}
    assert report.first_left_out["not_prefix_preserving"] == 1
    assert report.n_input == report.n_rows + report.n_left_out == 4
    assert "writes earlier turns differently" in str(report)
    with pytest.raises(ConfigurationError, match="row 0: the chat template writes earlier turns"):
        to_sft(rows[1:3], tokenizer)


class OneToken:
    """A tokenizer with one token per text, which ends nowhere inside of it."""

    all_special_tokens = ()
    chat_template = LINES
    model_max_length = 10**30

    def __call__(self, texts, **options):
        return {"input_ids": [[len(text)] for text in texts]}

    def decode(self, ids, **options):
        return str(ids)

    def apply_chat_template(self, messages, add_generation_prompt, **options):
        return "".join(m["content"] for m in messages) + " " * add_generation_prompt


def test_words_joined_across_the_edge_of_a_turn():
    with pytest.raises(ConfigurationError, match=r"row 0: the tokenizer joins the agent's words.*byte-level or BPE"):
        to_sft([{"prompt": "q", "final_text": " a"}], OneToken())


def test_an_unrolled_row_without_any_turn_is_left_out(with_template):
    tokenizer, _ = with_template("qwen")
    turns = [{"role": role, "content": f"{role} {i}"} for i in range(2) for role in ("user", "assistant")]
    long = {"messages": [{"role": "user", "content": "word " * 400}, *turns[1:]]}
    late = {"messages": [*turns[:3], {"role": "assistant", "content": "word " * 400}]}
    report = export_report(to_sft([{"messages": turns}, long, late], tokenizer, unroll=True, max_length=60))
    assert (report.n_rows, report.n_used, report.left_out["too_long"]) == (3, 2, 1)
    assert report.n_input == report.n_used + report.n_left_out == 3
    assert "1 turns of unrolled rows are left out" in report.notes


def test_the_agent_may_speak_first(with_template):
    tokenizer, said = with_template("qwen")
    turns = [{"role": role, "content": f"{role} {i}"} for i in range(2) for role in ("assistant", "user")]
    turns.append({"role": "assistant", "content": "Done."})
    row = to_sft([{"messages": turns}], tokenizer)[0]
    assert learnt(row, tokenizer) == "".join(said(turn) for turn in turns if turn["role"] == "assistant")


def test_a_tokenizer_without_template(with_template):
    tokenizer, _ = with_template("qwen")
    tokenizer.chat_template = None
    with pytest.raises(ConfigurationError, match="no chat template"):
        to_sft([{"prompt": "q", "final_text": "a"}], tokenizer)
    with pytest.raises(ConfigurationError, match="max_length= counts tokens"):
        to_trl([{"prompt": "q", "final_text": "a"}], "sft", max_length=5)


def test_a_lone_surrogate_is_its_replacement_character(tokenizer):
    rows = [{"prompt": "hi", "final_text": "a\ud800b"}]
    exact = to_sft(rows, tokenizer)
    said = tokenizer.decode([label for label in exact["labels"][0] if label != -100])
    assert "a\ufffdb" in said
    assert to_trl(rows, "sft")["messages"][0][-1]["content"] == "a\ufffdb"


def test_a_tokenizer_is_needed():
    with pytest.raises(ConfigurationError, match="needs the tokenizer"):
        to_sft([{"prompt": "hi", "final_text": "hello"}], None)
