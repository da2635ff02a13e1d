"""Which situations there are, in what order, and what an edit of the agent does to them."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.scenarios import TaskMaker, coverage
from whileai_hf.scenarios.axes import HARD_TIERS, MULTI_TOOL, SUCCESS, UNRELATED, UNSPECIFIED, Axes, tier_of
from whileai_hf.scenarios.covering import pairwise
from whileai_hf.scenarios.deeper import product_cells, rule_triples, tool_triples, value_triples
from whileai_hf.scenarios.grid import cells, pair_blocks
from whileai_hf.spec import AgentSpec


def drawn(spec, n, fault_rate=0.5):
    return [cell for cell, _ in itertools.islice(cells(Axes.of(spec), fault_rate), n)]


def identified(spec, found):
    maker = TaskMaker(spec)
    return {maker.scenario_id(cell, maker.tools(cell)): maker.tools(cell) for cell in found}


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_a_covering_array_covers_every_pair(levels):
    rows = pairwise(tuple(levels))
    for i, j in itertools.combinations(range(len(levels)), 2):
        assert {(row[i], row[j]) for row in rows} == set(itertools.product(range(levels[i]), range(levels[j])))


def test_axes_of_the_shop(shop):
    axes = Axes.of(shop)
    assert axes.tools == (*shop.names, UNRELATED, MULTI_TOOL)
    assert axes.rules == (UNSPECIFIED, *shop.clauses) and len(axes.rules) == 6
    assert axes.world_states("search_products") == (UNSPECIFIED,) and len(axes.world_states("get_order")) == 6
    # Nothing can go wrong with a call nobody makes, and a read has no write to lose.
    assert axes.conditions(UNRELATED, "ordinary") == axes.conditions("get_order", "adversarial") == (SUCCESS,)
    assert "reply_lost" in axes.conditions("refund_order", "ordinary")
    assert "reply_lost" not in axes.conditions("get_order", "ordinary")


def test_the_plain_ask_for_every_tool_comes_first(shop):
    first = drawn(shop, 6)
    assert {cell.tool for cell in first} == set(Axes.of(shop).tools)
    assert all((cell.stance, cell.tool_condition, cell.history) == ("ordinary", SUCCESS, "fresh") for cell in first)


@pytest.mark.parametrize("fault_rate", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_the_share_of_faults_is_kept_from_early_on(shop, fault_rate):
    axes = Axes.of(shop)
    for n in (60, 200, 1000):
        able = [cell for cell in drawn(shop, n, fault_rate) if axes.can_fault(cell)]
        share = sum(cell.faulted for cell in able) / len(able)
        assert share == fault_rate if fault_rate in (0, 1) else abs(share - fault_rate) < 0.04, n


def test_hard_asks_come_in_from_the_start_and_take_turns(shop):
    found = drawn(shop, 200)
    tiers = Counter(tier_of(cell.stance) for cell in found)
    assert 0.35 <= sum(tiers[tier] for tier in HARD_TIERS) / len(found) <= 0.42
    assert min(tiers[tier] for tier in HARD_TIERS) >= 15
    # Spread, not heaped: no run of hard asks longer than two in the first hundred.
    runs = [
        len(list(group)) for hard, group in itertools.groupby(found[:100], lambda c: c.stance in HARD_TIERS) if hard
    ]
    assert max(runs) <= 2


def test_cells_are_possible_and_never_come_twice(shop):
    axes = Axes.of(shop)
    found = drawn(shop, 5000)
    assert len(set(found)) == 5000 and all(axes.possible(cell) for cell in found)


def test_when_every_situation_is_used_up_they_come_again_with_the_next_round():
    spec = AgentSpec.from_tools([{"name": "ping", "description": "Ping the server."}])
    rounds = list(itertools.islice(cells(Axes.of(spec)), 1200))
    first = [cell for cell, number in rounds if number == 0]
    # ping: 8 calling stances x 7 conditions + 2 call-free ones; unrelated: 10 stances; 5 histories each.
    assert len(first) == len(set(first)) == (8 * 7 + 2 + 10) * 5
    again = [cell for cell, number in rounds if number == 1]
    assert len(again) == len(set(again)) and set(again) == set(first)


def test_the_blocks_cover_every_pair(shop):
    found = [cell for block in pair_blocks(Axes.of(shop)) for cell in block.cells]
    report = coverage(shop, [cell._asdict() for cell in found])
    assert report.pairs_covered == report.pairs_total and report.strength == 2 and report.notes == []


def triples(found):
    return {(three, tuple(cell[i] for i in three)) for cell in found for three in itertools.combinations(range(6), 3)}


def test_the_second_stage_covers_every_triple(make_tools):
    axes = Axes.of(AgentSpec.from_tools([make_tools()[0], make_tools()[3]], "1. Never guess a price."))
    kinds = [("ordinary", False), ("ordinary", True), ("ambiguous", False), ("adversarial", False)]
    kinds += [("boundary", False), ("boundary", True)]
    product = [cell for tool in axes.tools for kind in kinds for cell in product_cells(axes, tool, *kind)]
    possible = triples(product)
    stage = [cell for tool in axes.tools for cell in tool_triples(axes, tool)]
    stage += [cell for rule in axes.rules for cell in rule_triples(axes, rule)]
    stage += value_triples(axes)
    # What the base array gives a tool that cannot show it is shown by the tools that can, in their own blocks.
    assert len(triples(stage) & possible) >= 0.995 * len(possible)
    assert len(set(stage)) < 0.2 * sum(
        1 for tool in axes.tools for kind in kinds for _ in product_cells(axes, tool, *kind)
    )


@pytest.mark.parametrize("edited", range(5))
def test_editing_a_rule_moves_only_its_own_cells(edited, make_shop, rules):
    before = make_shop()
    after = make_shop(rules=[rule[:-1] + " at any time." if rule == rules[edited] else rule for rule in rules])
    assert len(before.clauses) == len(after.clauses) == 5
    kept = identified(before, drawn(before, 116)).keys() & identified(after, drawn(after, 116)).keys()
    assert len(kept) >= 0.9 * 116


@pytest.mark.parametrize("removed", range(4))
def test_removing_a_tool_keeps_the_cells_of_the_others(removed, make_shop, make_tools):
    tools = make_tools()
    name = tools.pop(removed)["name"]
    before, after = (
        identified(spec, {cell for block in pair_blocks(Axes.of(spec)) for cell in block.cells})
        for spec in (make_shop(), make_shop(tools))
    )
    others = {scenario for scenario, named in before.items() if name not in named}
    assert len(others) > 200 and others <= after.keys()


def test_changing_a_schema_moves_the_tool(shop, make_shop, make_tools):
    tools = make_tools()
    tools[0]["parameters"]["properties"]["order_id"]["description"] = "Order number."
    changed = make_shop(tools)
    plain, edited = (identified(spec, drawn(spec, 4)) for spec in (shop, changed))
    assert {named for scenario, named in edited.items() if scenario not in plain} == {("get_order",)}


def test_an_agent_without_tools_has_situations():
    spec = AgentSpec.from_tools([], "Be a poet. Never rhyme.")
    assert {cell.tool for cell in drawn(spec, 40)} == {UNRELATED}
