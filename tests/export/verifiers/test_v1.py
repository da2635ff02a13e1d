"""An exported environment under verifiers 0.4: evaluated, resumed, graded again, validated, and read back."""

import json
from pathlib import Path

import pytest
from openai_server import Server

import whileai_hf as wai
from whileai_hf.export.verifiers import from_traces
from whileai_hf.markers.trajectory import trace_flags_of
from whileai_hf.score.conduct import conduct_grade


pytestmark = pytest.mark.timeout(1200)
EVAL = "verifiers.v1.cli.eval.main:main"
REPLAY = "verifiers.v1.cli.replay:main"
VALIDATE = "verifiers.v1.cli.validate:main"
QUIET = ("--no-push", "--no-rich")
# What a rollout is, whoever played it.
SAME = (
    "scenario_id", "prompt", "messages", "steps", "final_text", "finish_reason", "tools", "faults", "faults_fired",
    "state_digest", "state_changes", "world_state", "scenario_dimensions", "seed", "rollout_status",
)  # fmt: skip


ENVIRONMENT = "order-desk-test"

# A program of somebody else's: it takes the tools over MCP and knows nothing of the world.
OTHER_HARNESS = """
import json
from contextlib import AsyncExitStack

import aiohttp
import verifiers.v1 as vf
from verifiers.v1.harnesses.utils.mcp import call_mcp, connect_mcp

__all__ = ["OtherHarness"]


class OtherConfig(vf.HarnessConfig):
    pass


class OtherHarness(vf.Harness[OtherConfig]):
    APPENDS_SYSTEM_PROMPT = SUPPORTS_MCP = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        servers = {"mcpServers": {name: {"url": url} for name, url in mcp_urls.items()}}
        async with AsyncExitStack() as stack, aiohttp.ClientSession() as http:
            tools, dispatch, live = await connect_mcp(servers, stack, set())
            trace.info["tools"] = tools
            while True:
                body = {"model": ctx.model, "messages": messages, "tools": tools}
                head = {"Authorization": f"Bearer {secret}"}
                async with http.post(f"{endpoint}/chat/completions", json=body, headers=head) as reply:
                    if reply.status >= 400:
                        return vf.ProgramResult(exit_code=1, stdout="", stderr=await reply.text())
                    message = (await reply.json())["choices"][0]["message"]
                messages.append({name: value for name, value in message.items() if value is not None})
                if not message.get("tool_calls"):
                    return vf.ProgramResult(exit_code=0, stdout="", stderr="")
                for call in message["tool_calls"]:
                    arguments = json.loads(call["function"]["arguments"])
                    content = await call_mcp(live, dispatch, call["function"]["name"], arguments)
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
"""
OVER_MCP = """
import asyncio
import verifiers.v1 as vf

async def play():
    task = {"tool_mode": "mcp", "reward": "whileai_hf.score.conduct:task_checklist"}
    given = {"taskset": {"id": "order-desk-test", "split": "holdout", "task": task}}
    given["agent"] = {"harness": {"id": "other_harness"}, "runtime": {"type": "subprocess"}, "max_turns": 5}
    env = vf.load_environment(vf.resolve_env_config(given))
    client = vf.EvalClientConfig(base_url=URL, api_key_var="DESK_KEY")
    context = vf.ModelContext(client=client, model="scripted", sampling=vf.SamplingConfig())
    async with env.serving():
        tasks = [task for task in env.taskset if task.key == KEY]
        episodes = [await env.run_episode(task, context) for task in tasks]
    return [episode.model_dump(mode="json", exclude_none=True) for episode in episodes]

result["value"] = asyncio.run(play())
"""
PLAYED = """
from whileai_hf.export.verifiers import evaluate

rows = evaluate(FOLDER, "vllm:scripted@" + URL, k=2, api_key="sk-desk")
result["value"] = list(rows)
"""
MANY = """
import asyncio, time
from whileai_hf.actors import ScriptedModel
from whileai_hf.export.verifiers import evaluate

model = ScriptedModel([{"tool_calls": [{"name": "get-order", "arguments": {"order_id": "ORD-1"}}]}, "It is there."])

async def played():  # as in a notebook, whose loop runs already
    return evaluate(FOLDER, model, split="train", n=10, k=20)

started = time.process_time()
rows = asyncio.run(played())
result["value"] = {"seconds": time.process_time() - started, "rows": list(rows)}
"""


IN_MEMORY = """
import verifiers.v1 as vf
from whileai_hf.actors import ScriptedModel
from whileai_hf.export.environment import load_environment
from whileai_hf.export.verifiers import evaluate, verifiers_environment

tools = [{"name": "ping", "parameters": {"type": "object", "properties": {"host": {"type": "string"}}}}]
spec = load_environment(
    [f"Is host {n} up?" for n in range(3)], tools=tools, execute=lambda tool, arguments: {"up": arguments["host"]},
    reward=lambda row: {"reward": float(row["steps"][0]["result"]["up"] == "a"), "markers": {"said": 4}},
)
model = ScriptedModel([{"tool_calls": [{"name": "ping", "arguments": {"host": "a"}}]}, "Yes."])
rows = evaluate(spec, model, split="train", k=2)
env = verifiers_environment(spec, split="train", max_turns=2)
asks = [task.data.prompt for task in env.taskset]
result["value"] = {"rows": list(rows), "tasks": asks, "is": isinstance(env, vf.Env)}
"""


def evaluation(url, name, *more):
    given = ("--env.taskset.split", "holdout", "-m", "scripted", "--client.base-url", url, "--client.api-key-var")
    return [ENVIRONMENT, *given, "DESK_KEY", "-n", "4", "-r", "2", *QUIET, "-o", "outputs", "--run.name", name, *more]


def episodes_of(run):
    return [json.loads(line) for line in (Path(run) / "traces.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def policy(scripted):
    with Server(scripted[1], key="sk-desk") as server:
        yield server


@pytest.fixture(scope="module")
def done(home, policy, package, talking_package, simulated):
    """Everything that is done with verifiers here, in one process, for it takes long to import."""
    run = str(home.folder / "outputs" / "desk")
    (home.folder / "other_harness.py").write_text(OTHER_HARNESS)
    readable = [row for row in simulated if row["steps"] and not any("malformed" in step for step in row["steps"])]
    careful = next(row["scenario_id"] for row in readable if row["finish_reason"] == "stop")
    keep = f"import shutil; shutil.copytree({run!r}, {run + '-broken'!r})"
    values = f"URL = {policy.url!r}; KEY = {careful!r}; "
    again = ["--taskset.task.reward", "whileai_hf.score.conduct:conduct_grade"]
    valid = ["--taskset.split", "train", "--runtime.type", "subprocess", "--no-rich", "-n", "12", "-o", "outputs"]
    jobs = {
        "eval": {"run": EVAL, "arguments": evaluation(policy.url, "desk"), "environment": {"DESK_JUDGE_DOWN": "1"}},
        "keep": {"code": keep},
        "resume": {"run": EVAL, "arguments": ["@", f"{run}/configs/resolved/eval.json", "--resume"]},
        "replay": {"run": REPLAY, "arguments": [run, "--no-rich", "-o", "outputs/same"]},
        "regrade": {
            "run": REPLAY,
            "arguments": [run, "--taskset.id", ENVIRONMENT, *again, "--no-rich", "-o", "outputs/again"],
        },
        "validate": {"run": VALIDATE, "arguments": [ENVIRONMENT, *valid, "--run.name", "valid"]},
        "misspelt": {"run": EVAL, "arguments": [ENVIRONMENT, "--env.taskset.split", "holduot", "-m", "x", *QUIET]},
        "mcp": {"code": values + OVER_MCP},
        "played": {"code": f"{values} FOLDER = {str(package)!r}\n{PLAYED}"},
        "talked": {"code": f"{values} FOLDER = {str(talking_package)!r}\n{PLAYED}"},
        "memory": {"code": IN_MEMORY},
        "many": {"code": f"FOLDER = {str(talking_package)!r}\n{MANY}"},
    }
    results = home.run(jobs)
    for name in set(results) - {"misspelt"}:
        assert results[name]["error"] is None, f"{name}: {results[name]['error']}\n{results[name]['output'][-4000:]}"
    return results


@pytest.fixture(scope="module")
def broken(home, done):
    """The run during which the judge was down for some."""
    return episodes_of(home.folder / "outputs" / "desk-broken")


@pytest.fixture(scope="module")
def run(home, done):
    """The same run, resumed when the judge was up again."""
    return home.folder / "outputs" / "desk"


def test_a_judge_that_is_down_fails_its_rollouts(broken):
    """The command ends well either way, so the record has to tell."""
    assert len(broken) == 8
    odd = [len(episode["task"]["data"]["prompt"]) % 2 for episode in broken]
    assert 0 < sum(odd) < 8
    for episode, down in zip(broken, odd, strict=True):
        (trace,) = episode["traces"]
        assert episode["ok"] is not bool(down)
        assert (
            (trace.get("rewards") or {}).get("reward") is None if down else trace["rewards"]["reward"]["weight"] == 1
        )
        assert trace["metrics"]["judge_ok"] == float(not down)
        if down:
            assert "the judge is down" in trace["errors"][-1]["message"]


def test_resuming_heals_them(run):
    episodes = episodes_of(run)
    assert len(episodes) == 8 and all(episode["ok"] for episode in episodes)


def test_rewards_and_metrics(run, scripted, simulated):
    kind_of = scripted[4]
    expected = {row["scenario_id"]: row for row in simulated}
    for episode in episodes_of(run):
        (trace,) = episode["traces"]
        row = expected[episode["task"]["key"]]
        cut = kind_of(row["prompt"]) == "loops"
        assert trace["rewards"]["reward"] == {"score": 0.0 if cut else row["reward"], "weight": 1.0}
        assert trace["metrics"] == {
            "n_calls": sum("tool" in step for step in row["steps"]),
            "truncated": float(cut),
            "trace_clean": float(not trace_flags_of(row)),
            "judge_ok": 1.0,
            **row["markers"],
        }
        assert (trace["stop_condition"] == "max_turns") is cut
    assert len({row["reward"] for row in simulated}) > 1


def test_rows_are_those_of_a_simulation(run, simulated):
    rows = list(from_traces(run))
    assert len(rows) == len(simulated) == 8
    expected = {(row["scenario_id"], row["rollout_index"]): row for row in simulated}
    for row in rows:
        twin = expected.pop((row["scenario_id"], row["rollout_index"]))
        for name in SAME:
            assert row[name] == twin[name], (row["scenario_id"], name)
        assert row["markers"] == twin["markers"]
        if row["finish_reason"] == "length":
            assert (row["reward"], row["judge_meta"]["judged"]) == (0.0, twin["reward"])
        else:
            assert (row["reward"], row["reason"]) == (twin["reward"], twin["reason"])
    assert not expected


def test_the_simulation_is_worth_comparing(simulated, scripted):
    kinds = {scripted[4](row["prompt"]) for row in simulated}
    assert kinds == {"careful", "claims", "loops", "sloppy"}
    assert any(row["faults_fired"] for row in simulated)
    assert any(row["state_changes"] for row in simulated)
    assert any("malformed" in step for row in simulated for step in row["steps"])


def test_nothing_of_the_key_in_rows(run, secrets):
    text = json.dumps(list(from_traces(run)))
    assert not [secret for secret in secrets if secret in text]
    assert "privileged" not in text and "expected_calls" not in text and '"gold"' not in text


def test_nothing_of_the_key_reaches_the_policy(run, policy, secrets, scripted, held_out):
    text = json.dumps([*policy.requests])
    assert not [secret for secret in secrets if json.dumps(secret)[1:-1] in text]
    from whileai_hf.spec import AgentSpec

    tools = AgentSpec.from_tools(scripted[2]).openai_tools()
    assert all(request["tools"] == tools for request in policy.requests)
    assert {request["messages"][1]["content"] for request in policy.requests} == set(held_out["prompt"])


def test_rollouts_share_no_world_and_repeat_themselves(run):
    """Refunded by two rollouts at once, an order is refunded twice, once in each of their worlds."""
    by_task = {}
    for row in from_traces(run):
        by_task.setdefault(row["task_id"], []).append(row)
    for first, second in by_task.values():
        assert first["messages"] == second["messages"] and first["state_digest"] == second["state_digest"]
    written = [row for row in from_traces(run) if row["state_changes"]]
    assert written and "already_done" not in json.dumps([row["steps"] for row in written])


def test_graded_again_by_another_judge(run, home, simulated):
    bare = [{name: value for name, value in row.items() if name != "markers"} for row in simulated]
    expected = {row["scenario_id"]: row for row in wai.run_judge(bare, conduct_grade)}
    episodes = episodes_of(home.folder / "outputs" / "again")
    assert len(episodes) == 8
    for episode in episodes:
        row, (trace,) = expected[episode["task"]["key"]], episode["traces"]
        assert trace["rewards"]["reward"]["score"] == (0.0 if row["finish_reason"] == "length" else row["reward"])
        assert row["markers"].items() <= trace["metrics"].items()
        assert not [name for name in trace["metrics"] if name.startswith("outcome:")]
    read = from_traces(home.folder / "outputs" / "again")
    assert set(read["judge_name"]) == {"conduct_grade"}
    assert list(read["reward"]) == [episode["traces"][0]["rewards"]["reward"]["score"] for episode in episodes]


def test_graded_again_by_the_same_judge(run, home):
    again = {episode["traces"][0]["id"]: episode["traces"][0] for episode in episodes_of(home.folder / "outputs/same")}
    for episode in episodes_of(run):
        (trace,) = episode["traces"]
        assert again[trace["id"]]["rewards"] == trace["rewards"]
        assert again[trace["id"]]["metrics"] == trace["metrics"]


def test_validated(home, done):
    rows = [json.loads(line) for line in (home.folder / "outputs/valid/results.jsonl").read_text().splitlines()]
    assert len(rows) == 12
    assert not [row for row in rows if row["reason"] in ("error", "timeout", "invalid")]
    assert all(row["noop"]["valid"] and row["noop"]["reward"] < 1.0 for row in rows)
    assert sum(row["gold"]["valid"] is True for row in rows) > 0


def test_a_misspelt_split_is_refused(done):
    told = f"{done['misspelt']['error']} {done['misspelt']['output']}"
    assert "'train' or 'holdout'" in told


def test_tools_over_mcp(done, simulated, scripted):
    """The same world behind a tool server: the same words about the tools, the same results, the same end."""
    from whileai_hf.spec import AgentSpec

    (episode,) = done["mcp"]["value"]
    (trace,) = episode["traces"]
    assert episode["ok"], trace["errors"]
    assert trace["info"]["tools"] == AgentSpec.from_tools(scripted[2]).openai_tools()
    (row,) = from_traces([episode])
    twin = next(row for row in simulated if row["scenario_id"] == episode["task"]["key"])
    for name in ("steps", "final_text", "faults_fired", "state_digest", "state_changes", "reward", "markers"):
        assert row[name] == twin[name], name
    assert trace["info"]["whileai_hf"]["world"]["state_digest"] == twin["state_digest"]


def same(rows, twins):
    assert len(rows) == 8
    for row in rows:
        twin = twins[row["scenario_id"]]
        for name in (*SAME, "markers"):
            assert row[name] == twin[name], (row["scenario_id"], name)
        assert row["judge_meta"].get("judged", row["reward"]) == twin["reward"]


def test_played_in_process(done, simulated):
    same(done["played"]["value"], {row["scenario_id"]: row for row in simulated})


def test_made_and_played_in_one_process(done):
    """A world and a judge without a name are enough where nothing leaves the process."""
    value = done["memory"]["value"]
    assert value["is"] and value["tasks"] == [f"Is host {n} up?" for n in range(3)]
    assert len(value["rows"]) == 6
    for row in value["rows"]:
        assert (row["rollout_status"], row["reward"], row["markers"]) == ("ok", 1.0, {"said": 4.0})
        assert row["steps"][0]["result"]["up"] == "a"


def test_a_user_who_answers(done, simulated_talks):
    """All rollouts meet the person that the first of a simulation meets."""
    rows = done["talked"]["value"]
    first = {row["scenario_id"]: row for row in simulated_talks if row["rollout_index"] == 0}
    same(rows, first)
    assert any(message["role"] == "user" for row in rows for message in row["messages"][2:])
    for row in rows:
        twin = first[row["scenario_id"]]
        assert (row["ended_by"], row["user_model"]) == (twin["ended_by"], twin["user_model"])


def test_many_rollouts_cost_little(done):
    rows = done["many"]["value"]["rows"]
    assert len(rows) == 200
    assert all(row["rollout_status"] == "ok" and row["reward"] is not None for row in rows)
    assert sorted({row["rollout_index"] for row in rows}) == list(range(20))
    assert done["many"]["value"]["seconds"] / len(rows) < 0.15
