"""The benchmark adapter still fits the library; the figures themselves come from `make bench`."""

import importlib.util

import pytest


@pytest.fixture(scope="module")
def adapter(repo):
    spec = importlib.util.spec_from_file_location("benchmark_adapter", repo / "tests" / "benchmarks" / "adapter.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def rows(tools, policy, adapter):
    knobs = {"mode": "rl", "situations": 6, "repeats": 4, "repeat_policy": "fixed"}
    data = adapter._wai().simulate(adapter.seeded_agent(tools), tools=tools, system_prompt=policy, **knobs)
    return adapter._wai().grade(data, judge=lambda row: row["rollout_index"] % 2)


def test_simulate(adapter, tools, policy):
    agent = adapter.seeded_agent(tools)
    assert adapter.simulate(agent, tools=tools, policy=policy, budget=20)[::2] == (20, 20)
    n, _, unique = adapter.simulate(agent, tools=tools, policy=policy, mode="rl", budget=20, k=4, concurrency=2)
    assert (n, unique) == (20, 5)


@pytest.mark.parametrize("how", ["tasks", "seeds"])
def test_simulate_asks(adapter, tools, policy, how):
    asks = [f"Where is order ORD-104{index}?" for index in range(5)]
    found = adapter.simulate_asks(adapter.seeded_agent(tools), asks, tools=tools, policy=policy, k=3, how=how)
    assert found[::2] == (15, 5)


def test_stages(adapter, rows, tools, policy, tmp_path):
    prepared = adapter.prepare_rows(rows)
    assert adapter.run_judge(prepared, lambda row: 1) == 24
    assert adapter.pass_at(prepared)[0] == 0.5
    assert adapter.optimize_rl(prepared) > 0
    assert adapter.export_training(prepared, str(tmp_path / "train.jsonl"), tools=tools, policy=policy) > 0
