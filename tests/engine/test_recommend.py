"""How much to run: the numbers follow from the agent's grid, and `simulate` takes them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whileai_hf as wai
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.expected import expected, seen_in_probe, split_rate
from whileai_hf.engine.recommending import recommend
from whileai_hf.errors import ConfigurationError, SpecError
from whileai_hf.rows import rng
from whileai_hf.scenarios.axes import Axes
from whileai_hf.scenarios.grid import planned_cells
from whileai_hf.spec import AgentSpec


PING = [{"name": "ping", "description": "Ping a host.", "parameters": {"type": "object", "properties": {}}}]


@pytest.fixture
def spec(tools, policy):
    return AgentSpec.from_tools(tools, policy)


def test_sft_has_rows_to_choose_from_and_a_situation_for_every_cell(spec):
    rec = recommend(spec)
    assert rec.cells == len(planned_cells(Axes.of(spec)))
    assert rec.mode == "sft" and rec.target == 800 and rec.mixed_rate is None and rec.expected_mixed is None
    assert rec.rows >= max(5 * rec.cells, 2400)
    assert rec.situations >= rec.cells
    assert rec.rows == rec.budget == rec.situations * rec.phrasings * rec.repeats
    assert rec.repeats > 1, "there must be something to choose among"


@settings(max_examples=40, deadline=None)
@given(target=st.integers(1, 20_000), repeats=st.none() | st.integers(1, 20), rules=st.integers(0, 6))
def test_sft_reaches_the_whole_grid_whatever_is_asked(target, repeats, rules):
    policy = "\n".join(f"{index}. Rule {index} about hosts must be kept." for index in range(1, rules + 1))
    rec = recommend(tools=PING, system_prompt=policy, target=target, repeats=repeats)
    assert rec.situations >= rec.cells and rec.rows >= max(5 * rec.cells, 3 * target)
    assert repeats is None or rec.repeats == repeats
    config = SimulationConfig(**rec.simulate_kwargs)
    assert config.topology().rows == rec.budget


@settings(max_examples=40, deadline=None)
@given(
    target=st.integers(1, 20_000),
    repeats=st.none() | st.integers(2, 40),
    rate=st.none() | st.floats(0, 1),
)
def test_rl_gives_the_target_and_two_situations_a_cell(target, repeats, rate):
    rec = recommend(tools=PING, mode="rl", target=target, repeats=repeats, mixed_rate=rate)
    assert rec.repeats == (repeats or 8)
    assert rec.situations >= 2 * rec.cells
    assert (rec.expected_mixed + 0.5) * rec.repeats >= target
    assert rec.rows <= rec.budget == rec.situations * rec.repeats
    topology = SimulationConfig(**rec.simulate_kwargs).topology()
    assert (topology.rows, topology.repeats, topology.situations) == (rec.budget, rec.repeats, rec.situations)
    each = expected(topology, rec.mixed_rate)
    assert abs(rec.rows - rec.situations * each.rollouts) <= 1
    # What is recommended costs no more for a group of use than k rollouts of every prompt.
    assert each.rollouts / each.mixed <= rec.repeats / rec.mixed_rate + 1e-9


def test_a_rarer_signal_takes_more_situations():
    sizes = [recommend(tools=PING, mode="rl", mixed_rate=rate).situations for rate in (0.5, 0.1, 0.05, 0.02)]
    assert sizes == sorted(sizes) and sizes[-1] > 10 * sizes[0]
    assert recommend(tools=PING, mode="rl", mixed_rate=0.0).situations == sizes[-1]


def test_the_assumption_is_called_one(spec):
    def line(**given):
        return next(line for line in recommend(spec, mode="rl", **given).reasoning if line.startswith("mixed rate"))

    assert "assumption" in line() and "probe 12 asks" in line() and "pass mixed_rate=" in line()
    assert line(mixed_rate=0.3) == "mixed rate 0.30 as measured"
    assert "planned as 0.02" in line(mixed_rate=0.001)


def test_a_probe_that_does_not_pay_is_not_recommended():
    often, seldom = (recommend(tools=PING, mode="rl", mixed_rate=rate).simulate_kwargs for rate in (0.99, 0.2))
    assert often["repeat_policy"] == "fixed"
    assert "repeat_policy" not in seldom


def test_it_reads_like_a_report(spec):
    rec = recommend(spec, mode="rl")
    assert str(rec) == "\n".join(rec["reasoning"])
    assert f"covering grid: {rec['cells']} cells" in str(rec)
    assert f"generate {rec['situations']} situations" in str(rec)
    assert rec.to_dict()["simulate_kwargs"] == rec["simulate_kwargs"]
    assert recommend(spec, mode="rl") == rec


def test_the_owners_asks_come_on_top(tools, policy):
    plain = recommend(AgentSpec.from_tools(tools, policy))
    asked = recommend(AgentSpec.from_tools(tools, policy, seeds=["Where is my order?", "Cancel it."]))
    assert asked.situations == plain.situations + 2
    assert any("your 2 example asks" in line for line in asked.reasoning)


def test_an_agent_without_tools_has_a_grid_too():
    assert recommend(system_prompt="1. Be kind to everybody.\n2. Never give legal advice.").cells > 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mode": "explore"}, "'sft' or 'rl'"),
        ({"mixed_rate": 0.5}, "mode='sft'"),
        ({"mode": "rl", "mixed_rate": 1.2}, "between 0 and 1"),
        ({"mode": "rl", "mixed_rate": -0.1}, "between 0 and 1"),
        ({"mode": "rl", "mixed_rate": float("nan")}, "between 0 and 1"),
        ({"mode": "rl", "mixed_rate": True}, "between 0 and 1"),
        ({"mode": "rl", "mixed_rate": "half"}, "between 0 and 1"),
        ({"target": 0}, "target=0"),
        ({"target": 1.5}, r"target=1\.5"),
        ({"target": None}, "target=None"),
        ({"mode": "rl", "repeats": 1}, "compared with each other"),
        ({"repeats": 0}, "repeats=0"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(ConfigurationError, match=message):
        recommend(tools=PING, **given)


def test_no_agent_at_all():
    with pytest.raises(SpecError):
        recommend()


@pytest.mark.parametrize("mode", ["sft", "rl"])
def test_simulate_takes_the_keywords(mode):
    rec = recommend(tools=PING, mode=mode, target=8, repeats=2)
    kwargs = rec["simulate_kwargs"] | {"situations": 3}
    data = wai.simulate(wai.seeded_agent(PING), tools=PING, **kwargs)
    assert len(data.unique("scenario_id")) == 3
    assert len(data) <= 3 * rec.phrasings * rec.repeats


def _played(share, spread, k, probe, explore, prompts, seed):
    """Two stages played out: rollouts spent, groups of k that disagree, prompts whose k rollouts would."""
    draws = rng(seed, "two stages")
    spent = found = truly = 0
    for _ in range(prompts):
        rate = draws.betavariate(spread, spread) if draws.chance(share) else float(draws.chance(0.5))
        passed = [draws.random() < rate for _ in range(k)]
        split = len(set(passed)) > 1
        truly += split
        if len(set(passed[:probe])) > 1 or draws.chance(explore):
            spent, found = spent + k, found + split
        else:
            spent += probe
    return spent / prompts, found / prompts, truly / prompts


@pytest.mark.parametrize(("share", "spread", "k"), [(0.6, 1.0, 8), (0.2, 1.0, 16), (1.0, 3.0, 8)])
def test_expectations_hold_when_played_out(share, spread, k):
    topology = SimulationConfig(mode="rl", repeats=k, repeat_policy="two_stage").topology()
    spent, found, truly = _played(share, spread, k, topology.probe, topology.explore_rate, 20_000, seed=1)
    each = expected(topology, truly)
    assert each.rollouts == pytest.approx(spent, rel=0.02)
    assert each.mixed == pytest.approx(found, rel=0.05)


@given(rate=st.floats(0, 1), k=st.integers(2, 64), probe=st.integers(2, 8))
def test_a_probe_never_sees_more_than_there_is(rate, k, probe):
    seen = seen_in_probe(rate, k, min(probe, k))
    assert 0 <= seen <= rate + 1e-12
    if probe >= k:
        assert seen == pytest.approx(rate, abs=1e-6) or rate > split_rate(2.0**20, k)
