"""The same wheels under verifiers 0.3, with the command line of that generation."""

import json

import pytest
from openai_server import Server

from whileai_hf.spec import AgentSpec


pytestmark = pytest.mark.timeout(1200)
EVAL = "verifiers.legacy.scripts.eval:main"
ORDERS, TALKS = "order_desk_test", "talking_desk_test"


@pytest.fixture(scope="module")
def policy(scripted):
    with Server(scripted[1], key="sk-desk") as server:
        yield server


@pytest.fixture(scope="module")
def done(v0_home, policy):
    """Both evaluated; their rows."""
    where = ["-m", "scripted", "-b", policy.url, "-k", "DESK_KEY", "-n", "4", "-r", "2"]
    saving = ["-s", "-d", "-C", "whileai_hf"]
    jobs = {
        name: {"run": EVAL, "arguments": [name, "-a", '{"split": "holdout"}', *where, *saving, "-o", name]}
        for name in (ORDERS, TALKS)
    }
    results = v0_home.run(jobs)
    rows = {}
    for name, result in results.items():
        assert result["error"] is None, f"{name}: {result['error']}\n{result['output'][-4000:]}"
        (file,) = (v0_home.folder / name).rglob("results.jsonl")
        rows[name] = [json.loads(line) for line in file.read_text().splitlines()]
    return rows


@pytest.fixture
def pairs(request, done, simulated, simulated_talks):
    """Rows of a run beside those that `simulate` gives."""
    given = simulated if request.param == ORDERS else simulated_talks
    twins = {row["scenario_id"]: row for row in given if row["rollout_index"] == 0}
    rows = done[request.param]
    assert len(rows) == 8 and {row["info"]["scenario_id"] for row in rows} == set(twins)
    return [(row, twins[row["info"]["scenario_id"]]) for row in rows]


@pytest.mark.parametrize("pairs", [ORDERS, TALKS], indirect=True)
def test_rollouts_are_those_of_a_simulation(pairs):
    for row, twin in pairs:
        kept = row["whileai_hf"]
        assert row["error"] is None
        assert kept["said"] == twin["messages"][2:]
        assert kept["world"]["state_digest"] == twin["state_digest"]
        assert kept["world"]["faults_fired"] == twin["faults_fired"]


@pytest.mark.parametrize("pairs", [ORDERS, TALKS], indirect=True)
def test_rewards_and_metrics(pairs):
    for row, twin in pairs:
        cut = twin["finish_reason"] == "length"
        assert row["reward"] == (0.0 if cut else twin["reward"])
        calls = sum("tool" in step for step in twin["steps"])
        expected = {"n_calls": calls, "truncated": float(cut), "judge_ok": 1.0, **twin["markers"]}
        assert expected.items() <= row["metrics"].items()
        assert "trace_clean" in row["metrics"]


def test_tools_word_for_word(done, policy, scripted):
    tools = AgentSpec.from_tools(scripted[2]).openai_tools()
    shown = [[tool["function"] for tool in request["tools"]] for request in policy.requests]
    wanted = [tool["function"] for tool in tools]
    assert shown
    for functions in shown:
        assert [{name: tool[name] for name in wanted[0]} for tool in functions] == wanted


def test_nothing_of_the_key_reaches_the_policy(done, policy, secrets):
    text = json.dumps([*policy.requests])
    assert not [secret for secret in secrets if json.dumps(secret)[1:-1] in text]
