"""Model calls kept by content: the second run asks nobody, and gets the same."""

import asyncio
import json
import multiprocessing
import pickle
import threading

import pytest
from openai_server import Reply, call

from whileai_hf.actors import play
from whileai_hf.actors.models import Completion, ModelAgent, ModelCache, as_model
from whileai_hf.actors.models.cache import CachedModel
from whileai_hf.errors import ConfigurationError, ModelError
from whileai_hf.spec import AgentSpec


def asks(count):
    return [[{"role": "user", "content": f"ask {number}"}] for number in range(count)]


class Counting:
    """A model that says how often it was asked, so that no two of its answers are equal."""

    name = "counting"

    def __init__(self, temperature=None):
        self.asked = 0
        self.sampling = {"model": self.name, "temperature": temperature}

    async def complete(self, messages, *, tools=None, logprobs=False, schema=None, seed=None):
        self.asked += 1
        answer = f"{messages[-1]['content']}: {self.asked}"
        await asyncio.sleep(0.001)
        return Completion({"role": "assistant", "content": answer}, "stop", {"output_tokens": 3}, -1 / 3, 3)


def test_the_second_run_costs_nothing(serve, tmp_path, complete_all):
    server = serve(lambda request, n: Reply(f"answer {n}", logprobs=[-1 / 3, -1 / 7]))
    path = tmp_path / "calls.jsonl"
    first = complete_all(as_model(server.spec, cache=path), asks(20), logprobs=True)
    spent = server.calls
    cache = ModelCache(path, mode="replay")
    second = complete_all(as_model(server.spec, cache=cache), asks(20), logprobs=True)
    assert first == second
    assert (spent, server.calls) == (20, 20)
    assert (cache.hits, cache.misses, len(cache)) == (20, 0, 20)


def test_a_whole_conversation_runs_again_without_its_server(serve, tmp_path, tools, policy):
    def behave(request, n):
        if request["messages"][-1]["role"] == "tool":
            return f"It shipped, {n}."
        return Reply(calls=[call("get_order", {"order_id": "A1"})], reasoning="Hm.")

    spec = AgentSpec.from_tools(tools, policy)
    server = serve(behave)

    def run(mode):
        agent = ModelAgent(as_model(server.spec, cache=ModelCache(tmp_path / "c.jsonl", mode)), logprobs="tokens")
        return play(agent, "Where is A1?", spec=spec)

    recorded = run("auto")
    server.reset(lambda request, n: Reply.drop())
    assert run("replay") == recorded
    assert server.calls == 0


def test_replay_says_which_call_is_missing(tmp_path, complete):
    model = as_model(Counting(), cache=ModelCache(tmp_path / "calls.jsonl", mode="replay"))
    with pytest.raises(
        ModelError, match=r'no call of counting whose message 1 \(user\) is "Where is A1\?" with seed 3'
    ):
        complete(model, "Where is A1?", seed=3)


def test_record_asks_again_and_the_last_answer_counts(tmp_path, complete):
    path, model = tmp_path / "calls.jsonl", Counting()
    recording = as_model(model, cache=ModelCache(path, mode="record"))
    assert [complete(recording).message["content"] for _ in range(2)] == ["Hello: 1", "Hello: 2"]
    assert complete(as_model(model, cache=path)).message["content"] == "Hello: 2"
    assert model.asked == 2


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Hello!"},
        {"tools": [{"type": "function", "function": {"name": "a"}}]},
        {"logprobs": True},
        {"schema": {"type": "object"}},
        {"seed": 1},
    ],
)
def test_what_makes_another_call(change, tmp_path, complete):
    model = Counting()
    cached = as_model(model, cache=tmp_path / "calls.jsonl")
    complete(cached)
    complete(cached, **change)
    assert model.asked == 2
    complete(cached, **change)
    assert model.asked == 2


def test_another_sampling_is_another_call(tmp_path, complete):
    models = [Counting(), Counting(temperature=0.5)]
    for model in models:
        complete(as_model(model, cache=tmp_path / "calls.jsonl"))
    assert [model.asked for model in models] == [1, 1]


def test_numbers_beside_a_message_do_not_make_another_call(tmp_path, complete):
    """Conversations carry what a turn cost; it is not sent, so it is not part of the call."""
    model = Counting()
    cached = as_model(model, cache=tmp_path / "calls.jsonl")
    for usage in ({}, {"usage": {"input_tokens": 1}}):
        complete(cached, [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", **usage}])
    assert model.asked == 1


def test_equal_calls_of_one_moment_get_one_answer(tmp_path, complete_all):
    """Otherwise a second run, which has one answer for both, would differ from the first."""
    model = Counting()
    answers = complete_all(as_model(model, cache=tmp_path / "calls.jsonl"), asks(1) * 20)
    assert {answer.message["content"] for answer in answers} == {"ask 0: 1"}
    assert model.asked == 1


def test_an_error_is_not_kept(serve, tmp_path, complete):
    server = serve([Reply.error(400, "no"), "Here."])
    model = as_model(server.spec, cache=tmp_path / "calls.jsonl")
    with pytest.raises(ModelError):
        complete(model)
    assert complete(model).message["content"] == "Here."


def test_a_cancelled_call_does_not_block_the_next(tmp_path):
    cached = as_model(Counting(), cache=tmp_path / "calls.jsonl")

    async def run():
        first = asyncio.create_task(cached.complete(asks(1)[0]))
        second = asyncio.create_task(cached.complete(asks(1)[0]))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(run()).message["content"] == "ask 0: 2"
    assert not cached.cache._asking


def test_a_torn_last_line_is_skipped_and_written_past(tmp_path, complete_all):
    path, model = tmp_path / "calls.jsonl", Counting()
    complete_all(as_model(model, cache=path), asks(3))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    answers = complete_all(as_model(model, cache=path), asks(4))
    assert model.asked == 5
    again = complete_all(as_model(model, cache=ModelCache(path, mode="replay")), asks(4))
    assert again == answers


def test_garbage_in_the_file_is_no_answer(tmp_path, complete_all):
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b'\n{"a": 1}\nnot json\n[]\n["key"]\n')
    assert len(ModelCache(path)) == 0
    complete_all(as_model(Counting(), cache=path), asks(2))
    assert len(ModelCache(path)) == 2


def test_threads_share_a_cache(tmp_path):
    cache, model = ModelCache(tmp_path / "calls.jsonl"), Counting()

    def work():
        async def all_of_them():
            await asyncio.gather(*(CachedModel(model, cache).complete(ask) for ask in asks(40)))

        asyncio.run(all_of_them())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [json.loads(line) for line in cache.path.read_bytes().splitlines()]
    assert len({key for key, _ in records}) == 40 == len(cache)
    assert cache.hits + cache.misses == 160


def _write(path, start):
    cache = ModelCache(path)
    for number in range(start, start + 200):
        cache.put(f"{number:040d}", Completion({"role": "assistant", "content": "x" * number}))


def test_processes_share_a_file(tmp_path):
    path = tmp_path / "calls.jsonl"
    reader = ModelCache(path)
    processes = [multiprocessing.get_context("fork").Process(target=_write, args=(path, n * 200)) for n in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert len(reader) == 400
    assert all(len(reader.get(f"{number:040d}").message["content"]) == number for number in range(0, 400, 7))


def test_caches_travel_between_processes(tmp_path, complete):
    cached = as_model("vllm:m@http://127.0.0.1:9/v1", cache=tmp_path / "calls.jsonl")
    twin = pickle.loads(pickle.dumps(cached))
    assert (twin.name, twin.cache.path, twin.sampling) == (cached.name, cached.cache.path, cached.sampling)


def test_modes():
    with pytest.raises(ConfigurationError, match="use one of auto, replay, record"):
        ModelCache("calls.jsonl", mode="always")
