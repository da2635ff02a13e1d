"""Tasks drawn while the run goes, and the same tasks drawn beforehand."""

from collections import Counter

import pytest

import whileai_hf as wai
from whileai_hf.engine.drawn import Drawn
from whileai_hf.engine.topology import Topology
from whileai_hf.rows import view
from whileai_hf.scenarios.search import Search


TOOLS = [{"name": "get_order", "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}]


def hello(message):
    return {"steps": [], "final_text": "Hello."}


def run(**knobs):
    return wai.simulate(hello, tools=TOOLS, system_prompt="Help.", **knobs)


def test_a_run_of_several_knows_any_number_of_tasks_beforehand():
    data = run(budget=700, runs=2)
    prompts = view(data).column("prompt")
    assert len(data) == 1400 and prompts[:700] == prompts[700:]
    assert wai.run_report(data).stopped_because == "budget"


@pytest.mark.parametrize(("repeats", "seen"), [(1, {1}), (2, {1, 2}), (None, {1, 4})])
def test_repeats_are_a_limit_in_adaptive_mode(repeats, seen):
    data = run(mode="adaptive", budget=201, repeats=repeats)
    assert set(Counter(view(data).column("group_planned_k"))) == seen
    assert len(data) > 201 - max(seen)


def writes_nothing(messages, tools):
    return "no"


@pytest.mark.parametrize(("knobs", "why"), [({"budget": 10}, "budget"), ({"situations": 10}, "situations_exhausted")])
@pytest.mark.parametrize("writer", [None, writes_nothing])
def test_why_a_run_ended_does_not_depend_on_who_wrote(knobs, why, writer):
    data = run(simulator=writer, **knobs)
    assert len(data) == 10 and wai.run_report(data).stopped_because == why


def test_the_next_task_of_an_adaptive_run_may_be_a_single_rollout():
    """While a model writes it nobody knows; a run must not end because it might have been a large one."""
    search = Search(wai.AgentSpec.from_tools(TOOLS), mode="adaptive")
    source = Drawn(search, Topology("adaptive", 100, None, 1, 4), slow=True)
    assert source.next_size == 1


def test_an_error_beside_the_run_reaches_it(monkeypatch):
    def broken(self, outcomes):
        raise ZeroDivisionError("learning")

    monkeypatch.setattr(Search, "learn", broken)
    with pytest.raises(ZeroDivisionError, match="learning"):
        run(simulator=writes_nothing, budget=20)
