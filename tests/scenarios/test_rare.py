"""Rare faults: where they turn up, where not, and that nothing else moves for them."""

from collections import Counter

import pytest

from whileai_hf.rows import dumps
from whileai_hf.sandbox import FAULT_KINDS, argument_errors
from whileai_hf.sandbox.faults import fault_fits
from whileai_hf.sandbox.kinds import RARE_KINDS
from whileai_hf.sandbox.reach import PAIRED
from whileai_hf.scenarios import Outcome, Search, coverage, situations
from whileai_hf.scenarios.axes import AXES, MULTI_TOOL, SUCCESS, TOOL_CONDITIONS, Axes, Cell
from whileai_hf.scenarios.grid import planned_cells
from whileai_hf.scenarios.search.neighbours import cell_of, neighbours
from whileai_hf.scenarios.search.rare import RareFaults
from whileai_hf.scenarios.search.search import OPENING
from whileai_hf.scenarios.tasks import TaskMaker
from whileai_hf.scenarios.writing.scene import Scene
from whileai_hf.spec import AgentSpec


def cell(task):
    return Cell(*(task["scenario_dimensions"][axis] for axis in AXES))


def is_rare(task):
    return cell(task).tool_condition in RARE_KINDS


@pytest.fixture(scope="module")
def tasks(shop):
    return Search(shop).draw(1000)


def common_only(spec, n):
    search = Search(spec)
    search.rare_faults = False
    return search.draw(n)


def test_they_come_in_between_and_everything_else_comes_later(shop, tasks):
    without = common_only(shop, 1000)
    assert dumps(tasks[:OPENING]) == dumps(without[:OPENING]) and not any(map(is_rare, without))
    rare = [task for task in tasks if is_rare(task)]
    assert 40 <= len(rare) <= 70 and {task["arm"] for task in rare} == {"structured"}
    counts = Counter(cell(task).tool_condition for task in rare)
    assert set(counts) == set(RARE_KINDS) and max(counts.values()) - min(counts.values()) <= 2
    # The others are those of a search without, in their order but for the ones that gave their turn away.
    ids = [task["scenario_id"] for task in without]
    places = [ids.index(task["scenario_id"]) for task in tasks if not is_rare(task) and task["scenario_id"] in ids]
    assert len(places) >= 1000 - 2 * len(rare)
    for faulted in (True, False):
        order = [place for place in places if cell(without[place]).faulted == faulted and "family" not in
                 without[place]["scenario_dimensions"]]  # fmt: skip
        assert order == sorted(order)


def test_situations_are_drawn_without_them(shop):
    assert situations(shop, n=300)["prompt"] == [task["prompt"] for task in common_only(shop, 300)]


def test_the_share_of_faults_stays(shop, tasks):
    def share(tasks):
        axes = Axes.of(shop)
        able = [cell(task) for task in tasks if "family" not in task["scenario_dimensions"]]
        able = [one for one in able if axes.can_fault(one)]
        return sum(one.faulted for one in able) / len(able)

    assert share(tasks) == pytest.approx(0.5, abs=0.01)
    for rate in (0, 0.2, 1):
        drawn = Search(shop, fault_rate=rate).draw(300)
        assert share(drawn) == pytest.approx(rate, abs=0.01) and any(map(is_rare, drawn)) == (rate > 0)


def test_a_row_with_one_is_whole(shop, tasks):
    for task in filter(is_rare, tasks):
        where, calls = cell(task), task["expected_calls"]
        (name, fault), *more = task["faults"].items()
        assert not more and fault["kind"] == where.tool_condition and name == calls[0]["tool"]
        assert fault_fits(fault["kind"], shop.tool(name)) and where.world_state != "entity missing"
        assert all(argument_errors(shop.tool(call["tool"]), call["arguments"]) == [] for call in calls)
        assert FAULT_KINDS[fault["kind"]].meaning in task["privileged"]["hidden_state"]
        assert f"the trouble with {name} is noticed" in task["privileged"]["reference"]
        if fault["kind"] in PAIRED:
            first, second = calls
            assert where.tool == MULTI_TOOL and second["tool"] in Axes.of(shop).pairs[fault["kind"]][name]
            assert first["arguments"]["order_id"] == second["arguments"]["order_id"]


def test_an_agent_that_only_reads_meets_what_reading_shows():
    spec = AgentSpec.from_tools([{"name": "get_order"}, {"name": "get_customer"}])
    kinds = {cell(task).tool_condition for task in Search(spec).draw(400)}
    assert kinds & set(RARE_KINDS) == {"partial", "schema_drift", "injection"}
    assert not any(map(is_rare, Search(AgentSpec.from_tools([], "Be nice.")).draw(200)))


def test_a_situation_is_used_once():
    tasks = Search(AgentSpec.from_tools([{"name": "get_host", "description": "Look up a host."}])).draw(900)
    assert sum(map(is_rare, tasks)) > 50 and {task["phrasing"] for task in tasks if is_rare(task)} == {0}
    assert len({(task["scenario_id"], task["phrasing"]) for task in tasks}) == len(tasks)


def test_no_planned_situation_is_left_out():
    spec = AgentSpec.from_tools([{"name": "get_order"}, {"name": "cancel_order"}])
    planned = set(planned_cells(Axes.of(spec)))
    seen = {cell(task) for task in Search(spec).draw(len(planned) * 3)}
    assert planned <= seen


def test_turns_are_taken_every_so_often():
    axes = Axes.of(AgentSpec.from_tools([{"name": "get_order"}]))
    plain = Cell("get_order", "unspecified", "ordinary", axes.world_states("get_order")[0], "timeout", "fresh")
    rare = RareFaults(axes)
    found = [rare.instead_of(plain, lambda _: True) for _ in range(15)]
    assert [at for at, one in enumerate(found) if one] == [4, 9, 14]
    assert [one.tool_condition for one in found if one] == ["partial", "schema_drift", "injection"]
    # Nothing suits: the turn is kept for the next situation.
    assert [rare.instead_of(plain, lambda _: False) for _ in range(6)] == [None] * 6
    assert rare.instead_of(plain, lambda _: True)


# ---------------------------------------------------------------- next door


def test_rare_faults_are_next_door_where_they_can_show(shop):
    axes = Axes.of(shop)
    fresh = Cell("refund_order", "unspecified", "ordinary", "entity exists", SUCCESS, "fresh")
    kinds = {other.tool_condition for other in neighbours(axes, fresh, 0.5)}
    assert kinds >= {"partial", "pending", "schema_drift", "injection"} and not kinds & set(PAIRED)
    both = {other.tool_condition for other in neighbours(axes, fresh._replace(tool=MULTI_TOOL), 0.5)}
    assert set(RARE_KINDS) <= both
    pending = fresh._replace(tool_condition="pending")
    assert cell_of(axes, pending._asdict()) == pending
    assert {other.tool for other in neighbours(axes, pending, 0.5) if other.tool_condition == "pending"} == {
        "refund_order", "update_address", MULTI_TOOL,
    }  # fmt: skip
    assert cell_of(axes, pending._replace(tool="get_order")._asdict()) is None
    assert not any(other.faulted for other in neighbours(axes, fresh, 0))


def test_a_record_being_made_is_not_reported_missing():
    axes = Axes.of(AgentSpec.from_tools([{"name": "create_order"}, {"name": "get_order"}]))
    start = Cell("create_order", "unspecified", "ordinary", axes.world_states("create_order")[0], SUCCESS, "fresh")
    assert "not_found" not in {other.tool_condition for other in neighbours(axes, start, 0.5)}
    assert "not_found" in axes.conditions("create_order", "ordinary")


def test_arms_that_look_around_draw_them(shop):
    search, tasks = Search(shop), []
    search.rare_faults = False
    for _ in range(24):
        drawn = search.draw(64)
        tasks += drawn
        # What is looked around for pays, so that there is much of it.
        odd = [task["scenario_id"] if task["arm"] != "structured" else cell(task).tool for task in drawn]
        search.learn(
            [Outcome(task, (name,), failed=cell(task).faulted) for task, name in zip(drawn, odd, strict=True)]
        )
    arms = Counter(task["arm"] for task in tasks if is_rare(task))
    assert arms["behavior_targeted"] >= 5 and arms["failure_mutation"] >= 5


# ---------------------------------------------------------------- counting


def test_they_are_in_no_pair_and_counted_apart(shop, tasks):
    dims = [task["scenario_dimensions"] for task in tasks if "family" not in task["scenario_dimensions"]]
    report = coverage(shop, dims)
    rare = sum(map(is_rare, tasks))
    assert f"{rare} tasks meet a rare kind of fault" in report.notes[-1] and "partial" in report.notes[-1]
    assert not any("outside the grid" in note for note in report.notes)
    assert report.pairs_total == coverage(shop, []).pairs_total
    # Another fault in the same place covers the same pairs but for those of the fault.
    as_success = [{**one, "tool_condition": SUCCESS} if one["tool_condition"] in RARE_KINDS else one for one in dims]
    other = coverage(shop, as_success)
    assert all(
        a["covered"] <= b["covered"] if "tool_condition" in a["axes"] else a == b
        for a, b in zip(report.by_axes, other.by_axes, strict=True)
    )
    assert other.notes == []


def test_the_axis_is_what_it_was(shop):
    axes = Axes.of(shop)
    assert not set(TOOL_CONDITIONS) & set(RARE_KINDS) and axes.all_conditions == TOOL_CONDITIONS
    for tool in axes.tools:
        assert not set(axes.conditions(tool, "ordinary")) & set(RARE_KINDS)
        assert axes.rare(tool, "adversarial") == ()
    assert axes.rare("unrelated", "ordinary") == ()


def test_a_model_that_writes_knows_what_they_are_about(shop):
    where = Cell("refund_order", "unspecified", "ordinary", "entity exists", "pending", "fresh")
    task = TaskMaker(shop).row(where)
    (phrase,) = Scene(shop).phrases({**task, "expected_calls": []})
    assert phrase.tool.name == "refund_order"
    foreign = {**task["scenario_dimensions"], "tool_condition": "meteor"}
    assert Scene(shop).phrases({**task, "expected_calls": [], "scenario_dimensions": foreign}) == []
