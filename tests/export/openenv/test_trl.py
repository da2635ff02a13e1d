"""Environments served over loopback, played by TRL's own OpenEnv loop. Skipped where OpenEnv is not installed."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from whileai_hf.export.openenv import OpenEnvSessions, openenv_app


harness = pytest.importorskip("openenv.core.harness")
uvicorn = pytest.importorskip("uvicorn")


@pytest.fixture
def url(package):
    """A server of the environment's own tasks."""
    config = uvicorn.Config(openenv_app(package, split="holdout"), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < until and thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def sessions(url):
    return OpenEnvSessions(url, split="holdout")


class Recording:
    """A policy that says what it is given, one message a turn, and keeps what it was shown."""

    def __init__(self, said):
        self.said, self.shown = list(said), []

    def __call__(self, turns, turn_times, messages, tools, sampling):
        from openenv.core.llm_client import LLMResponse, ToolCall
        from trl.experimental.async_grpo.async_rollout_worker import TurnRecord

        self.shown.append((list(messages), [tool.model_dump() for tool in tools]))
        message = self.said.pop(0)
        calls = [
            ToolCall(id=call["id"], name=call["function"]["name"], args=call["function"]["arguments"])
            for call in message.get("tool_calls") or ()
        ]
        turns.append(TurnRecord([1], [2], [0.0]))
        turn_times.append((0.0, 0.0, [call.name for call in calls]))
        response = LLMResponse(content=message.get("content") or "", tool_calls=calls)
        return harness.ModelStepResult(response=response, prompt_ids=[1], completion_ids=[2], logprobs=[0.0])


def trl_loop(sessions, policy):
    """TRL's loop with its sampling replaced: what it does with a session is what is tested."""
    from trl.experimental.async_grpo.openenv_harness import _HarnessRolloutLoop

    loop = object.__new__(_HarnessRolloutLoop)
    loop._factory = sessions()
    loop._adapter = harness.MCPHarnessAdapter()
    loop._limits = harness.HarnessRunLimits(max_turns=12)
    loop._live_sessions = set()
    loop._stop_event = asyncio.Event()
    loop._rollout_reward_fn = None
    loop._fork_threshold_tokens = 0
    loop._sample_turn = policy
    return loop


def play(sessions, prompt, said):
    """Completion, reward and what the policy saw, of one rollout in TRL's loop."""
    policy = Recording(said)
    (completion, _, _, n_calls, _, reward), metrics = trl_loop(sessions, policy)._run_session(prompt)
    assert metrics is not None
    return completion, n_calls, reward, policy.shown


def test_trl_plays_and_is_paid(package, sessions):
    for line in package.lines("holdout")[:6]:
        prompt = [{"role": "user", "content": line["prompt"]}]
        said = line["info"]["gold"]
        completion, n_calls, reward, shown = play(sessions, prompt, said)
        assert reward == 1.0, line["task_id"]
        assert n_calls == sum(len(message.get("tool_calls") or ()) for message in said)
        assert play(sessions, prompt, [{"role": "assistant", "content": "Done."}])[2] == 0.0
        opening, tools = shown[0]
        assert opening == [
            {"role": "system", "content": package.spec["system_prompt"]},
            {"role": "user", "content": line["prompt"]},
        ]
        functions = [tool["function"] for tool in package.spec["tools"]]
        assert [tool["input_schema"] for tool in tools] == [function["parameters"] for function in functions]
        secrets = [value for value in line["info"]["privileged"].values() if isinstance(value, str)]
        assert not [text for text in secrets if text in json.dumps([opening, tools])]
        results = [message["content"] for message in completion if message["role"] == "tool"]
        assert all(json.loads(text)["status"] for text in results)


def test_rollouts_at_the_same_time_have_a_world_each(package, sessions):
    lines = [line for line in package.lines("holdout") if line["info"]["gold"][0].get("tool_calls")][:2]
    jobs = [line for line in lines for _ in range(8)]

    def job(line):
        return play(sessions, [{"role": "user", "content": line["prompt"]}], line["info"]["gold"])

    sessions.tools  # noqa: B018  # asked for once, before there are threads
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(job, jobs))
    assert [reward for _, _, reward, _ in made] == [1.0] * len(jobs)
    for line in lines:
        same = [completion for job, (completion, *_) in zip(jobs, made, strict=True) if job is line]
        assert all(completion == same[0] for completion in same)


def test_a_group_without_prompts_meets_the_task_of_its_number(package, sessions):
    lines = package.lines("holdout")
    for number in (0, 1, len(lines)):
        session = sessions.create(None, seed=number)
        assert session.initial_messages()[-1]["content"] == lines[number % len(lines)]["prompt"]
        session.close()


def test_errors_reach_the_client(package, sessions):
    with pytest.raises(Exception, match="no task of the split"):
        sessions.create("Nobody asked this.")
    session = sessions.create({"task_id": package.lines("holdout")[0]["task_id"]})
    assert session.verify([{"role": "assistant", "content": "Done."}]).done
    with pytest.raises(Exception, match="a step before reset"):
        session.verify([{"role": "assistant", "content": "Done."}])
    session.close()
