"""The search as a whole: order, copies, what it learns, when it stops."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import dumps
from whileai_hf.scenarios import Outcome, Search, draw_tasks, situations
from whileai_hf.scenarios.axes import AXES
from whileai_hf.scenarios.diversity import HashEmbedder
from whileai_hf.scenarios.search.drafts import NEAR_COPY
from whileai_hf.scenarios.search.search import OPENING
from whileai_hf.scenarios.search.weights import ARMS, Weights
from whileai_hf.spec import AgentSpec


ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
LAG = 576


def lookup():
    return AgentSpec.from_tools([{"name": "get_order", "description": "Look up an order by id.", "parameters": ORDER}])


def ping():
    return AgentSpec.from_tools([{"name": "ping", "description": "Ping the server."}])


def cell(task):
    return tuple(task["scenario_dimensions"][axis] for axis in AXES)


def run(search, windows, behave, lag=LAG):
    """Draws windows of 64 and learns `lag` tasks later, as the engine does."""
    tasks, learnt = [], 0
    for _ in range(windows):
        tasks += search.draw(64)
        if len(tasks) - learnt >= lag:
            search.learn([behave(task, search.repeats(task)) for task in tasks[learnt : learnt + 64]])
            learnt += 64
        if search.saturated():
            break
    return tasks


def always_the_same(task, k):
    return Outcome(task, ("same",) * k, failed=False, reward=1.0)


def by_situation(task, k):
    """Another behaviour for every tool, stance and condition; faults are too much for it."""
    dims = task["scenario_dimensions"]
    return Outcome(task, ("/".join(cell(task)[::2]),) * k, failed=dims["tool_condition"] != "success")


# ---------------------------------------------------------------- order


def test_it_begins_with_the_grid_and_the_owners_asks(shop):
    asks = ["Where is order 4412?", "Where is order 4413?", "refund me"]
    tasks = Search(shop, seeds=asks).draw(200)
    assert tasks[: OPENING + 3] == list(itertools.islice(draw_tasks(shop, seeds=asks), OPENING + 3))
    later = Counter(task["arm"] for task in tasks[OPENING + 3 :])
    assert set(later) == {"structured", "open_ended"} and 5 <= later["open_ended"] <= 9
    # The rare faults in between are the search's alone.
    told = situations(shop, n=200, seeds=asks)["prompt"]
    assert told[: OPENING + 3] == [task["prompt"] for task in tasks[: OPENING + 3]]
    assert len(set(told) & {task["prompt"] for task in tasks}) > 180


def test_the_size_of_the_windows_does_not_matter(shop):
    whole = Search(shop, phrasings=2).draw(330)
    search = Search(shop, phrasings=2)
    assert dumps([task for n in (1, 64, 7, 200, 58) for task in search.draw(n)]) == dumps(whole)
    assert [task["phrasing"] for task in whole] == [0, 1] * 165
    assert all(a["scenario_id"] == b["scenario_id"] for a, b in zip(whole[::2], whole[1::2], strict=True))


def test_same_outcomes_same_tasks(shop):
    one, other, dull = (run(Search(shop), 11, behave) for behave in (by_situation, by_situation, always_the_same))
    assert dumps(one) == dumps(other)
    assert one[:LAG] == dull[:LAG] and one[LAG:] != dull[LAG:]
    assert len({task["scenario_id"] for task in one}) == len(one) == 704


def test_further_wordings_of_the_owners_asks_leave_them_whole(shop):
    asks = ["Where is ORD-12?", "cancel it"]
    tasks = Search(shop, seeds=asks, phrasings=3, mode="sft").draw(9)
    assert [task["prompt"] for task in tasks[:2]] == asks
    assert [(task["arm"], task["phrasing"]) for task in tasks[:6]] == [("seed", n) for n in (0, 0, 1, 1, 2, 2)]
    for task, ask in zip(tasks[2:6], asks * 2, strict=True):
        assert ask[1:] in task["prompt"] and task["writer_model"] == "template"
        assert task["scenario_id"] == tasks[asks.index(ask)]["scenario_id"]
    assert [task["phrasing"] for task in tasks[6:]] == [0, 1, 2]


# ---------------------------------------------------------------- copies


def pairs_alike(tasks):
    vectors = HashEmbedder()([task["prompt"] for task in tasks])
    return np.tril(vectors @ vectors.T, -1).max(axis=1)


def test_near_copies_are_worded_again():
    spec = lookup()
    assert (pairs_alike(list(itertools.islice(draw_tasks(spec), 1000))) >= NEAR_COPY).sum() > 1
    search = Search(spec)
    tasks = search.draw(1000)
    # Vectors are rounded before they are compared.
    assert pairs_alike(tasks).max() < NEAR_COPY + 0.01
    report = search.report()
    assert report["near_copies_dropped"] > 1 and report["near_copies_kept"] == 0


def test_the_owners_asks_are_never_copies_and_others_may_not_copy_them(shop):
    plain = list(itertools.islice(draw_tasks(shop), 40))
    asks = [plain[20]["prompt"], "Where is order 1?", "Where is order 2?", "where is order 3"]
    search = Search(shop, seeds=asks)
    tasks = search.draw(44)
    assert [task["prompt"] for task in tasks[:4]] == asks
    assert tasks[24]["scenario_id"] == plain[20]["scenario_id"] and tasks[24]["prompt"] != asks[0]
    assert search.report()["near_copies_dropped"] == 1


def test_an_embedder_that_sees_no_difference_does_not_stop_the_run(shop):
    search = Search(shop, embedder=lambda texts: np.ones((len(texts), 3)))
    tasks = search.draw(160)
    assert len(tasks) == len({task["prompt"] for task in tasks}) == 160
    report = search.report()
    assert report["near_copies_kept"] > 150 and report["embedder"] == "<lambda>"
    assert report["arms"]["open_ended"]["drawn"] == 0


def test_another_embedder_is_measured_before_it_is_believed(shop):
    """Vectors with a large part in common: to them all prompts look alike, and near-copies are still told apart."""
    inner = HashEmbedder()

    def crowded(texts):
        return np.concatenate([inner(texts), np.full((len(texts), 1), 3.0)], axis=1)

    search = Search(shop, embedder=crowded, seeds=["Where is order ORD-1?"])
    tasks = search.draw(400)
    report = search.report()
    assert 0.95 < report["near_copy_from"] < 1 and report["near_copies_kept"] == 0
    assert report["near_copies_dropped"] <= 2 and len(tasks) == 400


# ---------------------------------------------------------------- arms

LEAST = {"structured": 0.05, "model_guided": 0.15}
COUNTS = st.dictionaries(st.sampled_from(ARMS), st.integers(0, 50), max_size=5)


@settings(deadline=None, max_examples=40)
@given(st.booleans(), st.lists(st.tuples(COUNTS, COUNTS), max_size=20))
def test_shares_stay_within_their_bounds(guided, windows):
    weights = Weights(guided=guided)
    for rows, found in windows:
        weights.learn(rows, found)
        shares = weights.shares
        assert sum(shares.values()) == pytest.approx(1)
        assert ("model_guided" in shares) == guided
        assert all(shares[arm] >= least - 1e-9 for arm, least in LEAST.items() if arm in shares)
        assert 0.05 <= shares["open_ended"] <= 0.10
        assert all(0.01 <= shares[arm] <= 0.08 for arm in ("behavior_targeted", "failure_mutation"))
    turns = Counter(weights.next(ARMS) for _ in range(1000))
    assert all(abs(turns[arm] - 1000 * share) <= 3 for arm, share in weights.shares.items())


def test_an_arm_that_finds_something_grows():
    weights = Weights()
    before = dict(weights.shares)
    for _ in range(10):
        weights.learn({"structured": 50, "open_ended": 5, "behavior_targeted": 3}, {"behavior_targeted": 3})
    assert weights.shares["behavior_targeted"] == 0.08 and weights.shares["open_ended"] < before["open_ended"]
    # An arm without a turn fares like the others on average.
    assert weights.shares["failure_mutation"] > before["failure_mutation"]


def test_rare_behaviour_is_followed_up_next_door(shop):
    def behave(task, k):
        odd = cell(task)[:2] == ("refund_order", "unspecified") and task["arm"] == "structured"
        return Outcome(task, (task["scenario_id"] if odd else "usual",) * k)

    tasks = run(Search(shop), 22, behave)
    seen, checked = [], 0
    for at, task in enumerate(tasks):
        if task["arm"] == "behavior_targeted" and "family" not in task["scenario_dimensions"]:
            known = [one for one in tasks[: at - LAG + 64] if cell(one)[:2] == ("refund_order", "unspecified")]
            assert any(sum(a != b for a, b in zip(cell(task), cell(one), strict=True)) == 1 for one in known)
            checked += 1
        seen.append(task["scenario_id"])
    assert checked > 10 and len(set(seen)) == len(seen)


def test_failures_come_back_changed(shop):
    def behave(task, k):
        return Outcome(task, ("x",) * k, failed=cell(task)[0] == "update_address" or task["arm"] == "seed")

    ask = "where is my parcel, order ORD-77, it was due on Monday"
    tasks = run(Search(shop, seeds=[ask]), 24, behave)
    variants = [task for task in tasks if task["arm"] == "failure_mutation"]
    assert len(variants) > 8 and len({task["scenario_id"] for task in tasks}) == len(tasks)
    by_cell = {cell(task): task for task in tasks if task["arm"] == "structured"}
    reworded = [task for task in variants if cell(task) in by_cell]
    moved = [task for task in variants if cell(task) not in by_cell and ask not in task["prompt"]]
    assert reworded and moved
    for task in reworded:
        base = by_cell[cell(task)]
        assert task["expected_calls"] == base["expected_calls"] and task["faults"] == base["faults"]
        assert task["privileged"] == base["privileged"] and task["prompt"] != base["prompt"]
        assert task["scenario_id"] != base["scenario_id"]
        for call in task["expected_calls"]:
            assert call["arguments"]["order_id"] in task["prompt"]
    assert all(cell(task)[0] == "update_address" for task in reworded)


@pytest.mark.parametrize("rate", [0, 1])
def test_the_fault_rate_is_a_promise_at_its_ends(shop, rate):
    tasks = run(Search(shop, fault_rate=rate), 16, by_situation)
    able = [
        task
        for task in tasks
        if cell(task)[0] not in ("unrelated", "unspecified") and cell(task)[2] not in ("ambiguous", "adversarial")
    ]
    assert len(able) > 400 and all(bool(task["faults"]) == bool(rate) for task in able)
    assert {task["arm"] for task in tasks} >= {"structured", "open_ended", "behavior_targeted"}


# ---------------------------------------------------------------- the model writer


class Scribe:
    """Writes what it is told to; notes how much it was asked for."""

    def __init__(self, words):
        self.words = words
        self.asked = []

    def write(self, tasks):
        self.asked += [task["scenario_id"] for task in tasks]
        return [
            {**task, "prompt": self.words(task), "writer_model": "scribe", "arm": "model_guided"} for task in tasks
        ]


def test_a_writer_words_its_share_of_the_grid_and_no_more_than_is_drawn(shop):
    scribe = Scribe(lambda task: f"{task['scenario_id']} said {task['prompt']} in {len(task['prompt'])} letters")
    tasks = Search(shop, writer=scribe).draw(20)
    arms = Counter(task["arm"] for task in tasks)
    assert arms["model_guided"] == len(scribe.asked) == 18 and arms["structured"] == 2
    plain = list(itertools.islice(draw_tasks(shop), 20))
    assert [task["scenario_id"] for task in tasks] == [task["scenario_id"] for task in plain]
    assert all(
        task["prompt"] != other["prompt"]
        for task, other in zip(tasks, plain, strict=True)
        if task["arm"] == "model_guided"
    )


def test_a_writer_words_the_owners_asks_again(shop):
    scribe = Scribe(lambda task: f"so {task['phrasing']}")
    tasks = Search(shop, seeds=["one", "two"], phrasings=2, mode="sft", writer=scribe).draw(4)
    assert [task["prompt"] for task in tasks] == ["one", "two", "so 1", "so 1"]
    assert scribe.asked == [task["scenario_id"] for task in tasks[:2]]


def test_a_writer_that_repeats_itself_is_not_listened_to(shop):
    tasks = Search(shop, writer=Scribe(lambda task: "Please help me with my order, will you?")).draw(64)
    assert Counter(task["writer_model"] for task in tasks) == {"scribe": 1, "template": 63}
    assert len({task["prompt"] for task in tasks}) == 64


def test_a_writer_that_invents_asks_fills_half_of_the_free_ones(shop):
    class Inventive(Scribe):
        def invent(self, n, avoid=()):
            self.avoided = list(avoid)
            base = next(draw_tasks(shop))
            self.made = getattr(self, "made", 0) + n
            return [
                {
                    **base,
                    "scenario_id": f"sc-inv{self.made}-{i}",
                    "arm": "open_ended",
                    "writer_model": "scribe",
                    "prompt": " ".join(
                        f"word{chr(97 + (self.made * 7 + i * 3 + j) % 26) * (j + 2)}" for j in range(8)
                    ),
                }
                for i in range(n)
            ]

    tasks = Search(shop, writer=Inventive(lambda task: f"{task['scenario_id'][3:]} {task['prompt']}")).draw(640)
    free = Counter(task["writer_model"] for task in tasks if task["arm"] == "open_ended")
    assert free["scribe"] >= 10 and free["template"] >= 10


# ---------------------------------------------------------------- enough


@pytest.mark.parametrize("mode", ["explore", "adaptive"])
def test_a_small_grid_is_seen_enough_of(mode):
    search = Search(ping(), mode=mode)
    tasks = run(search, 40, always_the_same, lag=64)
    assert search.saturated() and len(tasks) <= 640
    report = search.report()
    assert report["planned_cells"] == report["planned_finished"] == 114 and report["signatures"] == 1
    if mode == "adaptive":
        rows = Counter()
        for task in tasks:
            rows[cell(task)] += search.repeats(task)
        assert sum(count >= 5 for count in rows.values()) >= 114
        assert {search.repeats(task) for task in tasks} == {1, 4}
        assert len({(task["scenario_id"], task["phrasing"]) for task in tasks}) == len(tasks)
    else:
        assert len(tasks) < 450 and {search.repeats(task) for task in tasks} == {1}


def test_a_run_that_keeps_finding_something_goes_on():
    turn = itertools.count()

    def behave(task, k):
        return Outcome(task, (f"behaviour {next(turn) // 20}",) * k)

    search = Search(ping())
    assert len(run(search, 16, behave, lag=64)) == 16 * 64 and not search.saturated()


def test_a_grid_with_cells_left_goes_on(shop):
    search = Search(shop)
    run(search, 5, always_the_same, lag=64)
    report = search.report()
    assert not search.saturated() and 0 < report["planned_finished"] < report["planned_cells"]


def test_the_report_says_what_each_arm_brought(shop):
    search = Search(shop, seeds=["hello there"])
    run(search, 20, by_situation)
    report = search.report()
    assert list(report["arms"]) == list(ARMS) and report["seeds"] == 1
    arms = report["arms"]
    assert sum(arm["drawn"] for arm in arms.values()) == 20 * 64 - 1
    assert sum(arm["new_signatures"] for arm in arms.values()) in (report["signatures"], report["signatures"] - 1)
    assert arms["structured"]["new_cells"] + arms["behavior_targeted"]["new_cells"] <= report["planned_cells"]
    assert arms["model_guided"] == {"drawn": 0, "rows": 0, "new_signatures": 0, "new_cells": 0, "weight": 0.0}
    assert sum(arm["weight"] for arm in arms.values()) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    "knobs, said",
    [
        ({"mode": "wild"}, "mode='wild' is not one of 'explore'"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"seeds": "one"}, "seeds is 'one'"),
        ({"phrasings": 0}, "phrasings is 0"),
        ({"embedder": "glove"}, "embedder='glove' is not known"),
    ],
)
def test_bad_input_is_named(shop, knobs, said):
    with pytest.raises(ConfigurationError, match=said):
        Search(shop, **knobs)
