"""A model as an agent: whole conversations through the tool loop, with the numbers of each turn."""

import asyncio

import pytest
from openai_server import Reply, call, flaky

from whileai_hf.actors import adapt, play
from whileai_hf.actors.models import Completion, ModelAgent, as_model, local_model
from whileai_hf.errors import ConfigurationError
from whileai_hf.sandbox import ActiveRollout, Session, activate
from whileai_hf.spec import AgentSpec


@pytest.fixture
def spec(tools, policy):
    return AgentSpec.from_tools(tools, policy)


def order_desk(request, n):
    """Looks the order up, then answers with what was asked."""
    messages = request["messages"]
    asked = next(message["content"] for message in messages if message["role"] == "user")
    if messages[-1]["role"] == "user":
        return Reply(
            calls=[call("get_order", {"order_id": asked.split()[-1]})], reasoning="Look it up.", usage=(50, 9)
        )
    return Reply(f"Done with {asked.split()[-1]}.", usage=(70, 5))


def play_all(agent, spec, count, concurrency=64):
    """`count` conversations at once, each in a rollout of its own."""
    adapted = adapt(agent)

    async def one(number, gate):
        prompt = f"Where is order A{number}"
        session = Session(spec.tools, seed=0, scenario_id=f"sc-{number}")
        async with gate:
            with activate(ActiveRollout({"prompt": prompt, "scenario_id": f"sc-{number}"}, 0, 0, session)):
                return await adapted.arun(prompt, spec=spec, session=session)

    async def run():
        gate = asyncio.Semaphore(concurrency)
        return await asyncio.gather(*(one(number, gate) for number in range(count)), return_exceptions=True)

    return asyncio.run(run())


def test_a_conversation_with_its_numbers(serve, connect, spec):
    agent = ModelAgent(connect(serve(order_desk)), logprobs="tokens")
    played = play(agent, "Where is order A1", spec=spec)
    first, second = played.steps
    assert (first["tool"], first["arguments"]) == ("get_order", {"order_id": "A1"})
    assert (first["input_tokens"], first["output_tokens"], first["n_tokens"]) == (50, 9, 9)
    assert second == {
        "text": "Done with A1.",
        "input_tokens": 70,
        "output_tokens": 5,
        "logprob": pytest.approx(-0.5),
        "n_tokens": 5,
        "token_logprobs": [-0.1] * 5,
    }
    assert played.extra["usage"] == {"input_tokens": 120, "output_tokens": 14}
    assert played.extra["n_tokens"] == 14 and played.extra["logprob"] == pytest.approx(-1.4)
    assert played.messages[1]["reasoning_content"] == "Look it up."


def test_three_hundred_rollouts_at_ten_percent_faults_lose_nothing(serve, connect, spec):
    server = serve(flaky(order_desk, share=0.1, seed=1))
    rows = play_all(ModelAgent(connect(server)), spec, 300)
    assert [row.final_text for row in rows] == [f"Done with A{number}." for number in range(300)]
    assert server.answered == 600
    assert server.calls > 630


def test_the_model_is_shown_its_words_and_not_its_thoughts(serve, connect, spec):
    server = serve(order_desk)
    play(ModelAgent(connect(server)), "Where is order A1", spec=spec)
    assert "reasoning_content" not in server.requests[-1]["messages"][2]
    play(ModelAgent(connect(server), keep_reasoning=True), "Where is order A1", spec=spec)
    assert server.requests[-1]["messages"][2]["reasoning_content"] == "Look it up."


def test_malformed_arguments_are_answered_and_the_model_may_try_again(serve, connect, spec):
    def behave(request, n):
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        bad, good = call("get_order", '{"order_id": "A1'), call("get_order", {"order_id": "A1"})
        return [Reply(calls=[bad]), Reply(calls=[good]), Reply("It shipped.")][turn]

    server = serve(behave)
    played = play(ModelAgent(connect(server)), "Where is A1?", spec=spec)
    assert played.steps[0]["malformed"] and played.steps[0]["arguments"] == '{"order_id": "A1'
    told = server.requests[1]["messages"][-1]
    assert told["role"] == "tool" and "not a JSON object" in told["content"]
    assert played.steps[1]["arguments"] == {"order_id": "A1"}
    assert played.final_text == "It shipped."


@pytest.mark.parametrize("given", ["same", None])
def test_parallel_calls_with_ids_that_tell_nothing_apart(given, serve, connect, spec):
    def behave(request, n):
        if request["messages"][-1]["role"] == "tool":
            return "Both shipped."
        return Reply(calls=[call("get_order", {"order_id": order}, given) for order in ("A1", "A2")])

    server = serve(behave)
    played = play(ModelAgent(connect(server)), "Where are A1 and A2?", spec=spec)
    assert [step["arguments"]["order_id"] for step in played.steps if "tool" in step] == ["A1", "A2"]
    sent = server.requests[-1]["messages"]
    ids = [one["id"] for one in sent[2]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ids


def test_a_cut_turn_is_marked(serve, connect, spec):
    played = play(ModelAgent(connect(serve([Reply("Once", finish_reason="length")]))), "Tell me.", spec=spec)
    assert played.finish_reason == "length"


def test_every_turn_has_a_seed_of_its_own_and_the_same_one_next_time(serve, connect, spec):
    server = serve(order_desk)
    play_all(ModelAgent(connect(server)), spec, 5, concurrency=1)
    first = [request["seed"] for request in server.requests]
    server.reset()
    play_all(ModelAgent(connect(server)), spec, 5, concurrency=5)
    assert len(set(first)) == 10
    assert sorted(request["seed"] for request in server.requests) == sorted(first)
    assert all(0 <= seed < 2**31 for seed in first)
    server.reset()
    play_all(ModelAgent(connect(server, seed=4)), spec, 5)
    assert not set(first) & {request["seed"] for request in server.requests}


def test_outside_a_rollout_the_seed_is_the_model_s(serve, connect):
    server = serve("Hello.")
    ask = [{"role": "user", "content": "Hi"}]
    asyncio.run(ModelAgent(connect(server))(ask))
    asyncio.run(ModelAgent(connect(server, seed=9))(ask))
    assert [request.get("seed") for request in server.requests] == [None, 9]


def test_bound_tools_and_system_prompt(serve, tools):
    server = serve("Hello.")
    agent = local_model(server.url, "small", tools=tools, system="Be kind.")
    asyncio.run(agent([{"role": "user", "content": "Hi"}]))
    request = server.requests[-1]
    assert request["messages"][0] == {"role": "system", "content": "Be kind."}
    assert [tool["function"]["name"] for tool in request["tools"]] == ["get_order", "refund_order"]
    asyncio.run(agent([{"role": "system", "content": "Be strict."}, {"role": "user", "content": "Hi"}], tools[:1]))
    request = server.requests[-1]
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][0]["content"] == "Be strict." and len(request["tools"]) == 1


def test_the_name_follows_what_decides_the_rows(connect, serve):
    server = serve()
    plain = ModelAgent(connect(server))
    assert plain.agent_id == ModelAgent(connect(server)).agent_id
    assert plain.agent_id.startswith("scripted#")
    others = [
        ModelAgent(connect(server, temperature=0.1)),
        ModelAgent(connect(server), system="Be kind."),
        ModelAgent(connect(server), keep_reasoning=True),
        ModelAgent(connect(server), tools=[{"name": "ping"}]),
    ]
    assert len({agent.agent_id for agent in [plain, *others]}) == 5
    assert plain.with_logprobs(True).agent_id == plain.agent_id
    assert plain.with_logprobs("tokens").logprobs == "tokens" and plain.logprobs is False
    with pytest.raises(ConfigurationError, match="logprobs is 'all'"):
        plain.with_logprobs("all")


def test_numbers_come_only_when_there_are_any(complete):
    class Bare:
        name, sampling = "bare", {"model": "bare"}

        async def complete(self, messages, *, tools=None, logprobs=False, schema=None, seed=None):
            return Completion({"role": "assistant", "content": "Hi."})

    message = asyncio.run(ModelAgent(as_model(Bare()), logprobs="tokens")([{"role": "user", "content": "Hi"}]))
    assert message == {"role": "assistant", "content": "Hi."}
