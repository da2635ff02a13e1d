"""What chat templates would lose without a word is refused or rewritten, and counted."""

import pytest

from whileai_hf.errors import DataError
from whileai_hf.export import check_template, export_report, to_sft, to_trl


@pytest.fixture(scope="module")
def with_template(tiny_model):
    def make(name):
        tokenizer = tiny_model.make_tokenizer(name)
        tokenizer.bos_token = "<|endoftext|>"  # some templates print it
        return tokenizer

    return make


def call(name, arguments, place=0):
    return {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": arguments}}


def result(place=0):
    return {"role": "tool", "tool_call_id": f"c{place}", "content": f"result {place}"}


ASK = {"role": "user", "content": "Where is A1?"}
END = {"role": "assistant", "content": "On its way."}
GET = call("get_order", {"order_id": "A1"})
ONE = [ASK, {"role": "assistant", "content": "", "tool_calls": [GET]}, result(), END]
BESIDE = [ASK, {"role": "assistant", "content": "Let me look.", "tool_calls": [GET]}, result(), END]
REFUND = call("refund_order", {"order_id": "A1", "reason": "late"}, 1)
PARALLEL = [ASK, {"role": "assistant", "content": "", "tool_calls": [GET, REFUND]}, result(1), result(), END]
ROWS = [{"messages": messages} for messages in (ONE, BESIDE, PARALLEL, [ASK, END])]


@pytest.mark.parametrize(
    ("template", "shown", "refused", "calls_lost", "text_lost"),
    [
        ("qwen3_instruct_2507", 4, 0, 0, 0),
        ("qwen2_5", 4, 0, 0, 0),
        ("qwen3_instruct_2507_training", 4, 0, 0, 0),
        ("glm4moe", 4, 0, 0, 0),  # tags
        ("qwen3_5_nothink", 4, 0, 0, 0),  # other tags
        ("llama3_1", 2, 1, 0, 1),
        ("gptoss", 2, 0, 1, 1),
    ],
)
def test_check(with_template, tools, template, shown, refused, calls_lost, text_lost):
    report = check_template(ROWS, with_template(template), tools=tools)
    assert (report.n_rows, report.n_shown) == (4, shown)
    assert (report.refused, report.calls_lost, report.text_lost) == (refused, calls_lost, text_lost)
    assert report.n_after_split == 4
    assert report.ok == (shown == 4)
    assert ("split" in str(report)) == (shown < 4)


@pytest.mark.parametrize("kind", ["sft", "kto"])
@pytest.mark.parametrize("template", ["llama3_1", "gptoss"])
def test_rows_are_refused_or_split_and_counted(with_template, tools, template, kind):
    rows = [{**row, "reward": float(i % 2)} for i, row in enumerate(ROWS)]
    tokenizer = with_template(template)
    options = {"mask_mode": "final"} if kind == "sft" else {}  # GPT-OSS ends the last turn in a way of its own
    refused = export_report(to_trl(rows, kind, tools=tools, tokenizer=tokenizer, **options))
    assert (refused.n_rows, refused.n_left_out, refused.split_rows) == (2, 2, 0)
    split = export_report(to_trl(rows, kind, tools=tools, tokenizer=tokenizer, parallel_calls="split", **options))
    assert (split.n_rows, split.n_left_out, split.split_rows) == (4, 0, 2)


def test_split_rows_show_every_call_and_text(with_template, tools):
    tokenizer = with_template("llama3_1")
    data = to_sft(ROWS[1:3], tokenizer, tools=tools, parallel_calls="split")
    for row, parts in zip(
        data, (["Let me look.", '"get_order"'], ['"get_order"', '"refund_order"', '"late"']), strict=True
    ):
        ids = [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100]
        learnt = tokenizer.decode(ids)
        assert sorted(parts, key=learnt.index) == parts
        assert "result" not in learnt
        assert "result 0" in tokenizer.decode(row["input_ids"])


def test_splitting_without_a_tokenizer_keeps_calls_beside_their_results(tools):
    row = to_trl(ROWS[2:3], "sft", tools=tools, parallel_calls="split")[0]
    assert [message["role"] for message in row["messages"]] == ["user", *["assistant", "tool"] * 2, "assistant"]
    assert [m["tool_call_id"] for m in row["messages"] if m["role"] == "tool"] == ["c0", "c1"]
    assert [len(m["tool_calls"]) for m in row["messages"] if "tool_calls" in m] == [1, 1]


def test_calls_and_results_that_do_not_match_stay_together(tools):
    messages = [ASK, PARALLEL[1], result(), END]
    data = to_trl([{"messages": messages}], "sft", tools=tools, parallel_calls="split")
    assert data[0]["messages"] == messages
    assert export_report(data).split_rows == 0


@pytest.mark.parametrize(
    "arguments",
    ["{{ c.function.arguments | tojson | tojson }}", "{{ {} | tojson }}", '{"order_id": "A2"}', "{{ '' }}"],
    ids=["encoded twice", "gone", "another value", "nothing"],
)
def test_arguments_that_change_are_seen(with_template, tools, arguments):
    tokenizer = with_template("qwen3_instruct_2507")
    for call_text in (
        '{"name": "{{ c.function.name }}", "arguments": ARGUMENTS}',
        "to={{ c.function.name }} ARGUMENTS",
    ):
        tokenizer.chat_template = (
            "{% for m in messages %}{{ m.role }}: {{ m.content }}{% for c in m.tool_calls or [] %}"
            + call_text.replace("ARGUMENTS", arguments)
            + "{% endfor %}{% endfor %}"
        )
        assert check_template(ROWS[:1], tokenizer, tools=tools).calls_lost == 1
        tokenizer.chat_template = tokenizer.chat_template.replace(arguments, "{{ c.function.arguments | tojson }}")
        assert check_template(ROWS[:1], tokenizer, tools=tools).ok


def test_a_template_that_drops_results(with_template, tools):
    tokenizer = with_template("qwen3_instruct_2507")
    tokenizer.chat_template = (
        "{% for m in messages if m.role != 'tool' %}{{ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ c | tojson }}{% endfor %}{% endfor %}"
    )
    report = check_template(ROWS, tokenizer, tools=tools)
    assert (report.text_lost, report.first["text_lost"]) == (3, 0)
    with pytest.raises(DataError, match="drops text"):
        to_trl(ROWS[:3], "sft", tokenizer=tokenizer)
    # What cannot be trained on at all is no matter of the template.
    assert check_template([{"prompt": "q", "final_text": ""}], tokenizer).unreadable == 1


def test_prompts_are_checked_too(with_template, tools):
    tokenizer = with_template("qwen3_instruct_2507")
    tokenizer.chat_template = "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}"
    rows = [{"prompt": "q", "final_text": "a"}]
    assert len(to_trl(rows, "grpo", tokenizer=tokenizer)) == 1
    with pytest.raises(DataError, match="drops text"):
        to_trl(rows, "grpo", tokenizer=tokenizer, system_prompt="Be brief.")
