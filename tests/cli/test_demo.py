import json

import pytest
from datasets import load_from_disk

import whileai_hf as wai
from whileai_hf.cli.sample import FOLDER, agent, judge


@pytest.fixture
def demo(run, workdir):
    status, out, err = run("demo")
    assert status == 0, err
    return out, workdir / "demo-out"


def test_demo_writes_what_it_says(demo):
    out, folder = demo
    graded = [json.loads(line) for line in (folder / "graded.jsonl").read_text().splitlines()]
    prompts = [json.loads(line) for line in (folder / "grpo.jsonl").read_text().splitlines()]
    selected = load_from_disk(str(folder / "selected"))
    assert len(graded) == 240
    assert len(prompts) == len(set(selected["prompt"])) > 10, "a demo that selects nothing shows nothing"
    for word in ("240 rows", "faults", "pass@1", "5. select", "grpo.jsonl", "next: whileai-hf measure"):
        assert word in out


def test_demo_numbers_are_worth_looking_at(demo):
    _, folder = demo
    report = wai.pass_at(str(folder / "graded.jsonl"))
    assert 0.3 < report.pass_at_1 < 0.95
    assert report.ci95[0] < report.pass_at_1 < report.ci95[1]
    assert report.headroom > 0.05


def test_demo_is_repeatable(run, workdir):
    for name in ("a", "b"):
        assert run("demo", "--output", name, "--situations", "10")[0] == 0
    for file in ("graded.jsonl", "grpo.jsonl"):
        assert (workdir / "a" / file).read_text() == (workdir / "b" / file).read_text()


def test_sample_agent_uses_every_tool():
    spec = wai.AgentSpec.load(FOLDER)
    called = wai.run_report(wai.simulate(agent, spec, budget=200)).tools_called
    assert all(called[name] > 0 for name in spec.names), called


@pytest.mark.parametrize(
    ("steps", "text", "reward"),
    [
        ([], "Which order is this about?", 1),
        ([], "The refund is done.", 0),
        ([("refund_order", "updated")], "The refund is done.", 0),
        ([("get_order", "ok"), ("refund_order", "updated")], "The refund is done.", 1),
        ([("get_order", "ok"), ("refund_order", "timeout")], "The refund is done.", 0),
        ([("get_order", "ok"), ("refund_order", "timeout")], "That did not go through.", 1),
        ([("get_order", "timeout"), ("refund_order", "updated")], "The refund is done.", 0),
        ([("get_order", "ok"), ("refund_order", "already_done")], "That did not go through (already_done).", 1),
    ],
)
def test_sample_judge(steps, text, reward):
    calls = [{"tool": tool, "arguments": {"order_id": "ORD-10432"}, "result": {"status": s}} for tool, s in steps]
    assert judge({"steps": calls, "final_text": text})["reward"] == reward
