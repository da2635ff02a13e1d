"""Agents, traces and templates that others wrote: what goes into an export is what the model is shown."""

import json
import re

import pytest

import whileai_hf as wai
from whileai_hf.export import check_template, export_dataset, export_report, to_sft, to_trl
from whileai_hf.rows import canonical, view


SPECS = ["agentdojo_slack", "agentdojo_workspace", "mcp_everything", "mcp_fetch", "mcp_filesystem", "mcp_git"]
SPECS += ["mcp_memory", "mcp_time", "tau_airline"]
CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
TURN = re.compile(r"<\|im_start\|>assistant\n(.*?)<\|im_end\|>", re.DOTALL)


@pytest.fixture(scope="module")
def training_tokenizer(tiny_model):
    tokenizer = tiny_model.make_tokenizer("qwen3_instruct_2507_training")
    tokenizer.model_max_length = 10**30
    return tokenizer


def calls_of(messages):
    """Name and arguments of every call, however the stack writes them."""
    found = []
    for message in messages:
        for call in message.get("tool_calls") or []:
            inner = call.get("function", call)
            arguments = inner["arguments"]
            found.append((inner["name"], json.loads(arguments) if isinstance(arguments, str) else arguments))
    return found


def rendered_calls(text):
    turns = TURN.findall(text)
    return [(c["name"], c["arguments"]) for turn in turns for c in map(json.loads, CALL.findall(turn))]


def check(row, messages, tokenizer):
    given = calls_of(messages)
    text = tokenizer.apply_chat_template(row["messages"], tools=row["tools"], tokenize=False)
    assert rendered_calls(text) == given
    assert all(isinstance(arguments, dict) for _, arguments in rendered_calls(text))
    said = "".join(TURN.findall(text))
    meant = json.dumps(given) + "".join(m["content"] or "" for m in messages if m["role"] == "assistant")
    for word in ("None", "null"):
        assert said.count(word) == meant.count(word)


@pytest.mark.parametrize("name", SPECS)
def test_runs_of_real_agents(shared, training_tokenizer, name):
    spec = wai.AgentSpec.load(shared / "real" / "specs" / f"{name}.json")
    data = wai.simulate(wai.seeded_agent(spec.tools), spec, budget=30, seed=1)
    exported = to_trl(data, "sft")
    report = export_report(exported)
    assert report.n_rows == len(data)
    assert report.tool_call_roundtrip["invalid"] == 0
    n_calls = 0
    for row, original in zip(exported, view(data).rows(), strict=True):
        given = calls_of(original["messages"])
        check(row, original["messages"], training_tokenizer)
        assert row["tools"] == spec.openai_tools()
        n_calls += len(given)
    assert report.tool_call_roundtrip["calls"] == n_calls > 0
    assert check_template(data, training_tokenizer).ok


@pytest.fixture(scope="module")
def airline(shared):
    folder = shared / "real" / "trajectories"
    spec = wai.AgentSpec.load(shared / "real" / "specs" / "tau_airline.json")

    def read(name):
        return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

    first = [{"messages": row["traj"], "reward": row["reward"]} for row in read("tau_v1_gpt4o_airline.jsonl")]
    second = [{"messages": row["messages"]} for row in read("tau2_format_airline.jsonl")]
    return spec, [*first, *second]


def test_airline_trajectories(airline, training_tokenizer):
    spec, rows = airline
    data = to_trl(rows, "sft", tools=spec.openai_tools())
    report = export_report(data)
    # Trajectories that end with a transfer to a person hold no answer of the agent.
    assert (report.n_rows, report.n_left_out) == (82, 18) == (82, report.left_out["no_final_answer"])
    kept = [row for row in rows if row["messages"][-1]["role"] != "tool"]
    for made, row in zip(data, kept, strict=True):
        check(made, row["messages"], training_tokenizer)
        texts = [m["content"] for m in row["messages"] if m["role"] in ("assistant", "tool") and m["content"]]
        shown = [m["content"] for m in made["messages"] if m["role"] in ("assistant", "tool") and m["content"]]
        assert shown == texts


def test_airline_labels(airline, training_tokenizer):
    spec, rows = airline
    some = [rows[0], rows[-1], *(row for row in rows if len(row["messages"]) < 15)][:8]
    data = to_sft(some, training_tokenizer, tools=spec.openai_tools())
    assert len(data) > 3
    exported = to_trl(some, "sft", tools=spec.openai_tools())
    for made, row in zip(data, exported, strict=True):
        kept = [token for token, label in zip(made["input_ids"], made["labels"], strict=True) if label != -100]
        text = training_tokenizer.apply_chat_template(row["messages"], tools=row["tools"], tokenize=False)
        expected = "".join(f"{turn}<|im_end|>" for turn in TURN.findall(text))
        assert training_tokenizer.decode(kept) == expected
        assert training_tokenizer.decode(made["input_ids"]) == text


def test_airline_files(airline, tmp_path):
    spec, rows = airline
    export_dataset(rows, tmp_path / "wire.jsonl", tools=spec.openai_tools())
    lines = [json.loads(line) for line in (tmp_path / "wire.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = [row for row in rows if row["messages"][-1]["role"] != "tool"]
    for line, row in zip(lines, kept, strict=True):
        assert calls_of(line["messages"]) == calls_of(row["messages"])
        assert sum(line["loss_mask"]) == sum(m["role"] == "assistant" for m in line["messages"])
    # The file is a source like any other.
    again = to_trl(tmp_path / "wire.jsonl", "sft", tools=spec.openai_tools())
    expected = to_trl(rows, "sft", tools=spec.openai_tools())
    assert canonical(again["messages"][:]) == canonical(expected["messages"][:])


def test_what_other_templates_do_to_real_traces(airline, tiny_model):
    spec, rows = airline
    counts = {}
    for template in ("qwen3_instruct_2507", "llama3_1", "gptoss"):
        tokenizer = tiny_model.make_tokenizer(template)
        tokenizer.bos_token = "<|endoftext|>"
        counts[template] = check_template(rows[::10], tokenizer, tools=spec.openai_tools())
    assert counts["qwen3_instruct_2507"].ok
    for report in counts.values():
        assert report.n_rows == 10
        total = report.n_shown + report.refused + report.calls_lost + report.text_lost + report.unreadable
        assert total == 10
