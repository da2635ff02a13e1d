"""Ranking the rollouts of one task against each other."""

import asyncio
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.actors import ScriptedModel
from whileai_hf.score.pairs import groupwise_judge
from whileai_hf.score.pairs.ranks import mean_ranks, rank_reward, read_ranking
from whileai_hf.score.verdicts import GroupJudge


def group(*texts):
    return [
        {"scenario_id": "sc-1", "prompt": "Where is A1?", "final_text": text, "rollout_status": "ok"} for text in texts
    ]


def shown_texts(messages):
    """The replies a model was shown, by label."""
    parts = re.findall(r"BEGIN (R\d+)>>\n.*?AGENT>>\n(.*?)\n<<", messages[-1]["content"], re.DOTALL)
    return dict(parts)


def by_number(messages, tools):
    """Ranks replies that are numbers, the highest first, equals together."""
    texts = shown_texts(messages)
    values = sorted({int(text.split()[0]) for text in texts.values()}, reverse=True)
    places = [[label for label, text in texts.items() if int(text.split()[0]) == value] for value in values]
    return str({"reason": "by number", "ranking": places})


def by_position(messages, tools):
    return " > ".join(shown_texts(messages))


def judged(script, rows, **knobs):
    return asyncio.run(groupwise_judge(ScriptedModel(script), **knobs).judge_group(rows))


def rewards(results):
    return [result["reward"] for result in results]


def test_rewards_are_ranks_within_the_group():
    results = judged(by_number, group("3", "1", "9", "2", "4"))
    assert rewards(results) == [0.5, 0.0, 1.0, 0.25, 0.75]
    assert [result["rank"] for result in results] == [3, 5, 1, 4, 2]
    assert {result["group_size"] for result in results} == {5}
    assert {result["order_agreement"] for result in results} == {1.0}
    assert isinstance(groupwise_judge(ScriptedModel([])), GroupJudge)


def test_equals_share_their_places():
    assert rewards(judged(by_number, group("3 a", "3 b", "1", "9"))) == [0.5, 0.5, 0.0, 1.0]


def test_identical_members_are_one_entry_and_equal():
    seen = []
    results = judged(
        lambda messages, tools: seen.append(shown_texts(messages)) or by_number(messages, tools), group("3", "1", "3")
    )
    assert rewards(results) == [0.75, 0.0, 0.75]
    assert {len(texts) for texts in seen} == {2}
    same = judged(lambda messages, tools: pytest.fail("asked"), group("3", "3", "3"))
    assert rewards(same) == [0.5] * 3


def test_a_judge_of_positions_gives_everybody_the_same():
    results = judged(by_position, group("1", "2", "3", "4"))
    assert rewards(results) == [0.5] * 4
    assert {result["order_agreement"] for result in results} == {0.0}


def test_both_orders_are_shown_and_named_by_the_seed():
    orders = []
    for seed in (0, 0, 1, 2, 3):
        seen = []

        def script(messages, tools, seen=seen):
            seen.append(list(shown_texts(messages).values()))
            return by_number(messages, tools)

        judged(script, group("1", "2", "3", "4", "5"), seed=seed)
        assert seen[0] == seen[1][::-1]
        orders.append(sorted(seen))
    assert orders[0] == orders[1]
    assert len({str(order) for order in orders}) > 1


def test_a_group_of_one_has_no_ranking():
    results = judged(lambda messages, tools: pytest.fail("asked"), group("1"))
    assert rewards(results) == [None] and "group of one" in results[0]["reason"]
    assert judged(by_number, []) == []


def test_what_did_not_take_place_is_left_out():
    rows = group("1", "2", "3")
    rows[2]["rollout_status"] = "error"
    results = judged(by_number, rows)
    assert rewards(results) == [0.0, 1.0, None]
    assert "rollout_status 'error'" in results[2]["reason"]
    assert results[0]["group_size"] == 2


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "R1 is best.",
        "R1 > R2",
        '{"ranking": [["R1"], ["R1"], ["R2"]]}',
        '{"ranking": [["R1"], ["R2"], ["R4"]]}',
        '{"ranking": [["R1"], ["R2"',
    ],
)
def test_one_unreadable_order_leaves_the_group_unjudged(reply):
    calls = []

    def script(messages, tools):
        calls.append(1)
        return reply if len(calls) == 1 else by_number(messages, tools)

    results = judged(script, group("1", "2", "3"))
    assert rewards(results) == [None] * 3
    assert all(result["reason"] for result in results)


def test_a_group_that_does_not_fit_or_has_nothing_to_judge():
    results = judged(lambda messages, tools: pytest.fail("asked"), group("x" * 10_000, "y"), context_chars=5_000)
    assert rewards(results) == [None, None] and "does not fit" in results[0]["reason"]
    assert rewards(judged(by_number, [{"n": 1}, {"n": 2, "final_text": "3"}])) == [None, None]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('{"ranking": ["R2", "R1", "R3"]}', [[1], [0], [2]]),
        ('{"ranking": [["R2"], ["R1", "R3"]]}', [[1], [0, 2]]),
        ('{"ranking": "R2 > R1 = R3"}', [[1], [0, 2]]),
        ("Reasons first.\n\n**R2 > R3 > R1**", [[1], [2], [0]]),
        ("At first R1 > R2 > R3, but finally r2 >= r1 > r3", [[1], [0], [2]]),
        ('["R3", "R2", "R1"]', [[2], [1], [0]]),
        ('<think>R1 > R2 > R3</think>{"order": ["R3", "R2", "R1"]}', [[2], [1], [0]]),
    ],
)
def test_rankings_as_they_are_written(text, places):
    assert read_ranking(text, 3) == (places, None)


@given(st.text('R123>=,[]{}" \n', max_size=200))
def test_any_text_is_a_whole_ranking_or_none(text):
    places, problem = read_ranking(text, 3)
    assert (places is None) == (problem is not None)
    if places is not None:
        assert sorted(label for place in places for label in place) == [0, 1, 2]


@pytest.mark.parametrize(
    "text", ["R1 > " * 100_000, "R1" * 200_000, " " * 300_000, "R1" + " " * 300_000 + "> R2", "[" * 100_000]
)
def test_long_replies_take_no_time(text):
    start = time.perf_counter()
    read_ranking(text, 3)
    assert time.perf_counter() - start < 2


@given(st.permutations(range(7)), st.lists(st.integers(1, 3), min_size=7, max_size=7), st.sets(st.integers(1, 6)))
def test_the_rewards_of_a_group_average_one_half(order, sizes, cuts):
    places = [list(order[low:high]) for low, high in zip([0, *sorted(cuts)], [*sorted(cuts), 7], strict=True)]
    ranks = mean_ranks(places, sizes)
    k = sum(sizes)
    mean = sum(rank_reward(rank, k) * size for rank, size in zip(ranks, sizes, strict=True)) / k
    assert mean == pytest.approx(0.5)
    assert all(0 <= rank_reward(rank, k) <= 1 for rank in ranks)
