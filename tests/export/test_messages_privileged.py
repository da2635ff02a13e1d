"""What only a judge may see never reaches a training file, wherever on a row it has got to."""

import json

import pytest

import whileai_hf as wai


P = {"reference": "S3CR3T"}
FIND = {"name": "find", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}


def rows(function=FIND, arguments=None, content="sent"):
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": arguments or {"id": "A1"}}}
    return [
        {
            "prompt": "Where is A1?",
            "messages": [
                {"role": "user", "content": "Where is A1?"},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": content},
                {"role": "assistant", "content": text},
            ],
            "tools": [{"type": "function", "function": function}],
            "final_text": text,
            "reward": reward,
        }
        for text, reward in (("It was sent.", 1.0), ("I do not know.", 0.0))
    ]


@pytest.mark.parametrize(
    "leaking",
    [
        rows({**FIND, "privileged": P}),
        rows({**FIND, "parameters": {**FIND["parameters"], "privileged": P}}),
        rows(arguments={"id": "A1", "privileged": P}),
        rows(arguments={"id": "A1", "filter": {"privileged": P}}),
        rows(arguments=json.dumps({"id": "A1", "privileged": P})),
        rows(content={"status": "ok", "privileged": P}),
        rows(content=json.dumps({"status": "ok", "privileged": P})),
        rows(content=[{"type": "text", "text": json.dumps([{"expected_calls": [P]}])}]),
        rows(content=json.dumps({"status": "ok", "body": json.dumps({"privileged": P})})),
        rows(arguments={"id": "A1", "body": json.dumps({"privileged": P})}),
        rows(arguments={"id": "A1", "filter": [json.dumps({"privileged": P})]}),
        [{**row, "prompt": json.dumps({"ask": "Where?", "privileged": P})} for row in rows()],
        [{**row, "messages": row["messages"][:-1], "final_text": json.dumps({"privileged": P})} for row in rows()],
    ],
)
@pytest.mark.parametrize("kind", ["sft", "kto", "grpo", "eval", "opd"])
def test_nothing_privileged_is_exported(leaking, kind):
    assert "S3CR3T" not in json.dumps(wai.to_trl(leaking, kind)[:], default=str)


def test_a_parameter_of_that_name_is_data():
    declared = {"type": "object", "properties": {"id": {"type": "string"}, "privileged": {"type": "boolean"}}}
    (row, _) = wai.to_trl(rows({**FIND, "parameters": declared}, {"id": "A1", "privileged": True}), "sft")
    assert row["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"id": "A1", "privileged": True}
    assert "privileged" in row["tools"][0]["function"]["parameters"]["properties"]


def test_the_rest_of_a_text_stays_to_the_last_byte():
    (row, _) = wai.to_trl(rows(content='{"status":  "ok", "privileged": {"reference": "x"}, "n": 1.50}'), "sft")
    assert row["messages"][2]["content"] == '{"status":  "ok", "n": 1.50}'
    for text in ("a privileged few", '{"securityContext": {"privileged": true}}', '{"privileged": "x"} and more'):
        assert wai.to_trl(rows(content=text), "sft")[0]["messages"][2]["content"] == text
