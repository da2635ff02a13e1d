"""Panels and ratings of any judge: votes, missing votes, and what is refused."""

import asyncio
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import as_model
from whileai_hf.errors import ConfigurationError
from whileai_hf.score import Score, grade, grade_report
from whileai_hf.score.judges import Judge, Panel, Scale, scaled
from whileai_hf.score.judging import is_async, judge_rows
from whileai_hf.score.rubrics import rubric_judge
from whileai_hf.score.verify import ExactMatch


def voter(value):
    def vote(row):
        if value == "raises":
            raise RuntimeError("broken")
        return value

    return vote


def waiting(value):
    async def wait(row):
        await asyncio.sleep(0)
        return value

    return wait


def decide(votes, rule="majority", **options):
    return asyncio.run(Panel([voter(vote) for vote in votes], rule, **options)({"final_text": "x"}))


@pytest.mark.parametrize(
    ("votes", "rule", "reward"),
    [
        ([1, 1, 0], "majority", 1.0),
        ([1, 0, 0], "majority", 0.0),
        ([1, 0], "majority", None),
        ([1, None, None], "majority", None),
        ([1, 1, None], "majority", 1.0),
        ([1, 0, "raises"], "majority", None),
        ([1, 1, 1], "all", 1.0),
        ([1, 1, 0], "all", 0.0),
        ([1, 1, None], "all", None),
        ([0, 1, None], "all", 0.0),
        ([0, 0, 1], "any", 1.0),
        ([0, 0, 0], "any", 0.0),
        ([0, 0, None], "any", None),
        ([0.5, 1.0, 0.0], "mean", 0.5),
        ([0.5, 1.0, None], "mean", 0.75),
        ([None, None], "mean", None),
    ],
)
def test_rules(votes, rule, reward):
    verdict = decide(votes, rule)
    assert verdict.reward == reward
    assert (verdict.status == "ok") == (reward is not None)
    assert verdict.meta["unjudged"] == sum(vote in (None, "raises") for vote in votes)
    assert len(verdict.markers) == len(votes) - verdict.meta["unjudged"]


@given(st.lists(st.sampled_from([0, 1, None]), min_size=2, max_size=7))
def test_a_missing_vote_is_never_a_no(votes):
    verdict = decide(votes, quorum=1)
    yes, no = votes.count(1), votes.count(0)
    assert verdict.reward == (None if yes == no else float(yes > no))
    agreement = max(yes, no) / (yes + no) if yes + no else None
    assert verdict.meta["agreement"] == agreement


def test_members_sync_async_verifiers_and_models_side_by_side():
    model = Judge(ScriptedModel(['{"reason": "fine", "verdict": "pass"}']), "x", name="model")
    panel = Panel([ExactMatch(), waiting(1), model, voter(0), voter(0)], "majority")
    row = {"prompt": "Hi", "final_text": "x", "answer": "x"}
    (verdict,) = judge_rows(panel, [row])
    assert verdict.reward == 1.0
    assert set(verdict.markers) == {f"judge:{name}" for name in panel.names}
    assert len(set(panel.names)) == 5
    assert "fine" in verdict.reason
    assert panel.columns() is None


def test_provenance_lists_the_members_and_follows_them():
    def made(rubric):
        return Panel([Judge("vllm:a@http://127.0.0.1:9/v1", rubric), Judge("vllm:b@http://127.0.0.1:9/v1", "y")])

    said = made("x").provenance()
    assert [member["model"] for member in said["members"]] == ["a", "b"]
    assert said["version"] == made("x").provenance()["version"] != made("z").provenance()["version"]
    assert "messages" in made("x").columns()


@pytest.mark.parametrize(
    "arguments", [([voter(1)],), ([voter(1), 3],), ([voter(1)] * 2, "most"), ([Judge, voter(1)],)]
)
def test_panels_that_are_none(arguments):
    with pytest.raises(ConfigurationError):
        Panel(*arguments)
    with pytest.raises(ConfigurationError, match="quorum"):
        Panel([voter(1)] * 2, quorum=3)


@given(st.floats(1, 5))
def test_ratings_become_rewards(rating):
    verdict = scaled(voter({"reward": rating, "reason": "r", "markers": {"m": 1}}), (1, 5))({})
    assert verdict.reward == pytest.approx((rating - 1) / 4)
    assert verdict.meta["rating"] == rating and verdict.reason == "r" and verdict.markers == {"m": 1.0}


@pytest.mark.parametrize("rating", [0, 5.1, -1, 1e9])
def test_ratings_off_the_scale_are_invalid(rating):
    verdict = scaled(voter(rating), (1, 5))({})
    assert (verdict.reward, verdict.status) == (None, "invalid_result")
    assert verdict.meta["rating"] == rating


def test_scaling_keeps_what_a_judge_is():
    judge = scaled(waiting(3), (1, 5))
    assert is_async(judge) and judge.name == "wait"
    assert judge_rows(judge, [{}])[0].reward == 0.5
    assert scaled(voter(None), (1, 5))({}).status == "missing_reward"
    model = Judge(ScriptedModel(["4"]), "x")
    rated = scaled(model, (1, 5))
    assert rated.scale == Scale(1, 5) and asyncio.run(rated({"final_text": "x"})).meta["rating"] == 4.0
    assert scaled(rated, (1, 5)) is rated
    with pytest.raises(ConfigurationError, match="drop one"):
        scaled(rated, (1, 10))
    for scale in ((5, 1), (2, 2), 5, (1, 2, 3)):
        with pytest.raises(ConfigurationError):
            scaled(voter(1), scale)


def test_an_edited_member_is_another_panel():
    first, second = Panel([voter(1), voter(1)]), Panel([voter(1), voter(0)])
    assert first.provenance()["version"] == Panel([voter(1), voter(1)]).provenance()["version"]
    assert first.provenance()["version"] != second.provenance()["version"]
    hashes = {Score(panel).content_hash() for panel in (first, second)}
    model = ScriptedModel(['{"reason": "r", "verdict": "pass"}'])
    hashes |= {Score(Judge(model, "x", context_chars=size)).content_hash() for size in (10, 20, None)}
    assert len(hashes) == 5


def test_a_member_that_hangs_holds_up_nobody_else():
    def slow(row):
        if row["slow"]:
            time.sleep(20)
        return 1

    rows = [{"slow": number < 12} for number in range(16)]
    verdicts = judge_rows(Panel([slow, voter(1)]), rows, timeout=0.5)
    assert [made.status.value for made in verdicts] == ["timeout"] * 12 + ["ok"] * 4
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "whileai-panel")


def test_the_models_of_members_are_chosen_and_counted(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    panel = Panel([Judge(None, "x"), rubric_judge(rubric=["y"])]).bind(["meta-llama/Llama-3.1-8B"])
    assert all("Qwen" in member["model"] for member in panel.provenance()["members"])
    model = ScriptedModel(['{"reason": "r", "verdict": "pass"}'])
    rows = grade(
        [{"prompt": "q", "final_text": "a", "model_version": as_model(model).name}],
        Panel([Judge(model, "x"), voter(1)]),
    )
    assert grade_report(rows).self_judged == 1


@pytest.mark.parametrize(
    "judge", [None, Panel([voter(1), voter(0)]), rubric_judge(ScriptedModel(["x"]), rubric=["y"]), ExactMatch()]
)
def test_a_scale_is_refused_where_there_are_no_ratings(judge):
    for scale in ((1, 5), (5, 1)):
        with pytest.raises(ConfigurationError):
            grade([{"prompt": "q", "final_text": "a", "answer": "a"}], judge, scale=scale)


def test_a_yes_is_no_rating():
    for answer in (True, {"reward": False}):
        (row,) = grade([{"prompt": "q"}], voter(answer), scale=(1, 5))
        assert (row["reward"], row["judge_status"]) == (None, "invalid_result")
