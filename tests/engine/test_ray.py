"""Map functions on other machines: the same rows, with Ray and (for what needs no cluster) without it."""

import asyncio
import linecache
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import dill
import pyarrow as pa
import pytest

import whileai_hf as wai
from whileai_hf.engine import Rollout, distributed
from whileai_hf.engine.distributed import play_tasks, ray_tables
from whileai_hf.engine.remote import BatchWorker, WorkerError, pickled, received_rows, sent_batch
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.score import Score


def over_there(tasks, function, size=7):
    """What a cluster does, without one: pickled function, batches out, batches back."""
    worker = BatchWorker(pickled(function, dill))
    arrow = tasks.with_format("arrow")
    for start in range(0, len(tasks), size):
        yield from received_rows(worker(sent_batch(arrow[start : start + size])))


def same(tables, local):
    far = pa.concat_tables(tables)
    assert far.schema.equals(local.data.schema)
    return far.equals(local.data.table.combine_chunks()) or far.to_pylist() == local.data.table.to_pylist()


@pytest.fixture
def tasks(tools, policy):
    return wai.situations(tools=tools, system_prompt=policy, n=20)


async def chat(messages, tools):
    await asyncio.sleep(0)
    if messages[-1]["role"] == "tool":
        return {"role": "assistant", "content": f"I found {messages[-1]['content']}"}
    call = {"name": "get_order", "arguments": {"order_id": "4412"}}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": call}]}


def loud(row):
    return {"reward": float(len(row["final_text"]) % 2), "reason": row["final_text"][:9], "markers": {"n": 1}}


@pytest.mark.parametrize("kind", ["async", "seeded"])
def test_batches_out_and_back_equal_the_local_rows(tasks, tools, policy, kind):
    agent = chat if kind == "async" else wai.seeded_agent(tools)
    play = Rollout(agent, tools=tools, system_prompt=policy, k=2)
    local = tasks.map(play, batched=True)
    assert same(over_there(tasks, play), local)
    judged = local.map(Score(loud), batched=True)
    assert same(over_there(local, Score(loud)), judged)


def test_any_batched_map_function_will_do(tasks):
    def count(batch):
        return {"words": [len(prompt.split()) for prompt in batch["prompt"]]}

    assert same(over_there(tasks, count), tasks.map(count, batched=True))


def test_an_agent_typed_into_a_notebook_keeps_its_name(tasks, tools):
    """A worker cannot read a notebook's cells, and rows must not be named after another agent because of that."""
    source = "def agent(message):\n    return {'steps': [], 'final_text': message[:5]}\n"
    linecache.cache["<cell>"] = (len(source), None, source.splitlines(True), "<cell>")
    cell = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), cell)
    play = Rollout(cell["agent"], tools=tools)
    local = tasks.map(play, batched=True)
    assert "#" in local[0]["model_version"]
    sent = pickled(play, dill)
    del linecache.cache["<cell>"]
    batch = BatchWorker(sent)(sent_batch(tasks.with_format("arrow")[:]))
    assert same(received_rows(batch), local)


def test_an_error_there_is_raised_here():
    def refuse(batch):
        raise DataError("task 3 has no prompt")

    class Odd(Exception):
        def __init__(self, one, two):
            super().__init__(f"{one} and {two}")

    def odd(batch):
        raise Odd("this", "that")

    rows = wai.situations(tools=[{"name": "ping"}], n=2)
    with pytest.raises(DataError, match="task 3 has no prompt") as caught:
        list(over_there(rows, refuse))
    assert any("in refuse" in note for note in caught.value.__notes__)
    with pytest.raises(WorkerError, match="Odd: this and that"):
        list(over_there(rows, odd))


def test_the_first_error_in_order_counts(tasks):
    def picky(batch):
        if batch["number"][0] > 5:
            raise ValueError(batch["number"][0])
        return batch

    with pytest.raises(ValueError, match="7") as caught:
        list(over_there(tasks.add_column("number", list(range(20))), picky))
    assert str(caught.value) == "7"


def test_what_cannot_travel_is_said(tools):
    class Client:
        def __init__(self):
            self.lock = threading.Lock()

        def __call__(self, message):
            return {"steps": [], "final_text": "Hello."}

        def __reduce__(self):
            raise TypeError("cannot pickle this client")

    with pytest.raises(ConfigurationError, match=r"Rollout cannot be sent.*client on first use"):
        pickled(Rollout(Client(), tools=tools), pickle)


def test_without_ray_the_extra_is_named(monkeypatch, tasks, tools):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'whileai-hf\[ray\]'"):
        play_tasks(tasks, Rollout(wai.seeded_agent(tools), tools=tools))


@pytest.mark.parametrize("knobs", [{"workers": 0}, {"workers": True}, {"batch_size": -1}, {"batch_size": 1.5}])
def test_bad_counts(tasks, knobs):
    (name,) = knobs
    with pytest.raises(ConfigurationError, match=name):
        list(ray_tables(tasks, Score(loud), **knobs))


def test_tasks_are_checked_before_ray_starts(monkeypatch, tools):
    monkeypatch.setattr(distributed, "_ray", lambda: pytest.fail("Ray was started"))
    rows = wai.situations(tools=tools, n=3).map(lambda row, index: {"prompt": "x" * (index != 2)}, with_indices=True)
    with pytest.raises(DataError, match="task 2"):
        play_tasks(rows, Rollout(wai.seeded_agent(tools), tools=tools))


def test_every_worker_gets_a_share_and_none_too_much(tools):
    play = Rollout(wai.seeded_agent(tools), tools=tools, k=2, concurrency=32)
    for rows, workers in [(1, 4), (200, 2), (1000, 8), (100_000, 3)]:
        for function in (play, Score(loud)):
            size = distributed._batch_rows(rows, workers, function)
            assert 1 <= size <= 512
            assert -(-rows // size) >= min(rows, workers)
    # A batch smaller than the places of a worker would leave most of them empty.
    assert distributed._batch_rows(200, 2, play) >= 32


SCRIPT = """
import asyncio, os, sys
import ray
import whileai_hf as wai
from datasets import disable_progress_bars
from whileai_hf.engine import Rollout
from whileai_hf.engine.distributed import play_tasks, ray_map
from whileai_hf.score import Score

disable_progress_bars()
TOOLS = [{"name": "get_order", "description": "Look up an order.", "parameters": {
    "type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}]
POLICY = "You are a shop desk.\\n1. Look an order up first.\\n2. Never guess."
GREETING = "Dear customer"

class Desk:
    def __init__(self, word):
        self.word = word

    def answer(self, text):
        return f"{GREETING}, {self.word}: {text[:30]}"

desk = Desk("hello")

async def agent(messages, tools):
    await asyncio.sleep(0.001)
    if messages[-1]["role"] == "tool":
        return {"role": "assistant", "content": desk.answer(messages[-1]["content"])}
    call = {"name": "get_order", "arguments": {"order_id": "4412"}}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": call}]}

def judge(row):
    return {"reward": float(len(row["final_text"]) % 2), "reason": f"{GREETING} {os.getpid()}"[:13]}

def crash(batch):
    os._exit(3)

if __name__ == "__main__":
    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=200)
    for player in (agent, wai.seeded_agent(TOOLS)):
        play = Rollout(player, tools=TOOLS, system_prompt=POLICY, k=2)
        local, far = tasks.map(play, batched=True), play_tasks(tasks, play, workers=2)
        assert far.features == local.features
        assert far[:] == local[:]
    assert ray.is_initialized()
    score = Score(judge)
    assert ray_map(far, score, workers=2)[:] == local.map(score, batched=True)[:]
    pids = ray_map(tasks, lambda batch: {"pid": [os.getpid()] * len(batch["prompt"])}, workers=2, batch_size=10)
    assert len(set(pids["pid"]) - {os.getpid()}) == 2, set(pids["pid"])
    # A cluster the caller has started is used as it is and goes on afterwards.
    ray.shutdown()
    ray.init(address="local", num_cpus=1, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False)
    assert len(ray_map(tasks, lambda batch: batch, workers=2)) == 200
    assert ray.is_initialized() and ray.cluster_resources()["CPU"] == 1
    assert not ray.data.DataContext.get_current().execution_options.preserve_order
    try:
        ray_map(tasks, crash, workers=1)
    except wai.errors.WhileaiError as error:
        assert "crashes its process" in str(error), error
    else:
        raise AssertionError("a crashing worker went unnoticed")
    print("all equal")
"""


@pytest.mark.slow
def test_two_workers_give_the_local_rows(tmp_path):
    pytest.importorskip("ray.data")
    script = tmp_path / "desk.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=900, env=dict(os.environ), check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "all equal"
