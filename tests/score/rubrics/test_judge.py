"""Judging by a rubric: what is asked, what a reply amounts to, and what is never a number."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai_server import Reply, Server

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import as_model
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import to_dataset
from whileai_hf.score import Score, grade
from whileai_hf.score.rubrics import Criterion, Rubric, attach_rubric, rubric_judge
from whileai_hf.score.rubrics.answers import Point
from whileai_hf.score.rubrics.judge import judged


RUBRIC = Rubric((Criterion("lookup", "Looks A1 up.", 3), Criterion("polite", "Is polite.")))
ROW = {"prompt": "Refund A1.", "final_text": "Done."}


def says(**verdicts):
    entries = [{"id": key, "reason": f"why {key}", "verdict": word} for key, word in verdicts.items()]
    return ScriptedModel([json.dumps({"criteria": entries})])


def judge_one(row=ROW, **verdicts):
    return asyncio.run(rubric_judge(says(**verdicts), rubric=RUBRIC)(row))


def test_the_reward_is_the_weight_met():
    made = judge_one(c1="met", c2="unmet")
    assert made.reward == 0.75
    assert made.markers == {"rubric:lookup": 1.0, "rubric:polite": 0.0}
    assert made.failure_class == "polite"
    assert made.reason == "unmet: polite: why c2"
    assert made.meta["rubric_version"] == RUBRIC.version


def test_all_met_has_no_failure_class():
    made = judge_one(c1="met", c2="met")
    assert (made.reward, made.failure_class) == (1.0, None)


def test_what_cannot_be_assessed_moves_the_reward_neither_way():
    made = judge_one(c1="unmet", c2="cannot_assess")
    assert made.reward == 0.0
    assert made.markers == {"rubric:lookup": 0.0}
    assert (made.meta["assessed"], made.meta["unassessed"]) == (0.75, ["polite"])


@pytest.mark.parametrize(
    "verdicts", [{"c1": "cannot_assess", "c2": "met"}, {"c1": "cannot_assess", "c2": "cannot_assess"}]
)
def test_too_little_assessed_is_unjudged(verdicts):
    made = judge_one(**verdicts)
    assert made.reward is None and made.status == "missing_reward"
    assert "cannot assess lookup" in made.reason


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Fine.",
        '{"criteria": [{"id": "c1", "verdict": "met"}]}',
        '{"c1": "met", "c2": "partly"}',
        '{"c1": "met", "c2": "un',
    ],
)
def test_a_reply_that_leaves_a_criterion_open_is_unjudged(reply):
    made = asyncio.run(rubric_judge(ScriptedModel([reply]), rubric=RUBRIC)(ROW))
    assert made.reward is None
    assert 0.0 not in made.markers.values()


def test_a_call_for_each_criterion():
    asked = []

    def script(messages, tools):
        asked.append(messages[-1]["content"])
        return '{"id": "c1", "verdict": "%s"}' % ("met" if "Looks A1 up." in messages[-1]["content"] else "unmet")

    made = asyncio.run(rubric_judge(ScriptedModel(script), rubric=RUBRIC, per_call="criterion")(ROW))
    assert made.reward == 0.75
    assert len(asked) == 2
    assert not any("Looks A1 up." in text and "Is polite." in text for text in asked)


def test_the_model_sees_the_criteria_and_the_whole_run_and_nothing_else():
    asked = []
    model = ScriptedModel(lambda messages, tools: asked.append(messages) or '{"c1": "met", "c2": "met"}')
    row = {
        "prompt": "Refund A1.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Refund A1. \ud800"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "function": {"name": "refund", "arguments": {"id": "A1"}}}],
            },
            {"role": "tool", "tool_call_id": "1", "name": "refund", "content": "status: refunded\0"},
            {"role": "assistant", "content": "Fait."},
        ],
        "final_text": "Fait.",
        "reward": 0.123,
        "privileged": {"reference": "Look A1 up before the refund is made.", "rubric": ["Never shown."]},
    }
    judge = rubric_judge(model, rubric=Rubric(RUBRIC.criteria, note="An order desk."))
    assert asyncio.run(judge(row)).reward == 1.0
    shown = asked[0][-1]["content"]
    for text in ("An order desk.", "c1: Looks A1 up.", "c2: Is polite.", "status: refunded", "Fait."):
        assert text in shown
    for text in ("0.123", "before the refund is made", "Never shown", "\0", "\ud800"):
        assert text not in shown
    asyncio.run(rubric_judge(model, rubric=RUBRIC, use_privileged=True)(row))
    assert "before the refund is made" in asked[-1][-1]["content"]
    assert "Never shown" not in asked[-1][-1]["content"]


def test_reasons_do_not_give_away_what_only_the_judge_knows():
    entries = [{"id": "c1", "reason": "It should look ticket T-991 up before the refund is made.", "verdict": "unmet"}]
    row = {**ROW, "privileged": {"reference": "Look ticket T-991 up before the refund is made."}}
    judge = rubric_judge(ScriptedModel([json.dumps(entries)]), rubric=["Is careful."], use_privileged=True)
    made = asyncio.run(judge(row))
    assert made.reward == 0.0
    assert "T-991" not in json.dumps([made.reason, made.meta])


def test_a_rubric_of_the_row_comes_with_the_task_set():
    tasks = attach_rubric(
        [{"scenario_id": "sc-1", "prompt": "Refund A1."}, {"scenario_id": "sc-2", "prompt": "Hi."}],
        {"sc-1": RUBRIC.to_dict()},
    )
    rollouts = [{"scenario_id": name, **ROW} for name in ("sc-1", "sc-2", "sc-3")]
    rows = grade(to_dataset(rollouts), rubric_judge(says(c1="met", c2="unmet")), tasks=tasks)
    assert rows["reward"] == [0.75, None, None]
    assert "privileged" not in rows.column_names
    assert "has no rubric" in rows[1]["reason"]
    assert rows[0]["judge_meta"]["rubric_version"] == RUBRIC.version


def test_rows_with_nothing_to_judge_or_a_broken_rubric():
    judge = rubric_judge(says(c1="met"))
    assert "nothing to judge" in asyncio.run(rubric_judge(says(c1="met"), rubric=["x."])({"id": 3})).reason
    broken = asyncio.run(judge({**ROW, "privileged": {"rubric": {"criteria": []}}}))
    assert broken.reward is None and "no criteria" in broken.reason


def test_a_run_that_does_not_fit_is_unjudged_without_a_call():
    model = ScriptedModel(lambda messages, tools: pytest.fail("asked"))
    judge = rubric_judge(model, rubric=RUBRIC, context_chars=1000)
    made = asyncio.run(judge({"prompt": "Refund A1.", "final_text": "x" * 1_000_000}))
    assert made.reward is None and "does not fit" in made.reason


@pytest.mark.parametrize(
    "knobs",
    [
        {"rubric": []},
        {"rubric": ""},
        {"per_call": "row"},
        {"max_unassessed": 1},
        {"max_unassessed": -0.1},
        {"max_unassessed": True},
        {"context_chars": 0},
    ],
)
def test_knobs_that_cannot_be_honoured(knobs):
    with pytest.raises(ConfigurationError):
        rubric_judge(says(c1="met"), **knobs)


def test_provenance_follows_what_decides():
    one, again = (rubric_judge(says(c1="met"), rubric=RUBRIC) for _ in range(2))
    others = [
        rubric_judge(says(c1="met"), rubric=["Is polite."]),
        rubric_judge(says(c1="met"), rubric=RUBRIC, per_call="criterion"),
        rubric_judge(says(c1="met"), rubric=RUBRIC, use_privileged=True),
        rubric_judge(says(c1="met"), rubric=RUBRIC, max_unassessed=0.1),
    ]
    assert one.provenance() == again.provenance()
    assert one.provenance()["version"] == f"{one.provenance()['model']}@{one.provenance()['prompt_hash']}"
    assert len({str(judge.hash_state()) for judge in (one, *others)}) == 5
    assert len({judge.provenance()["version"] for judge in (one, *others)}) == 5


def test_over_http_with_a_schema_and_a_cache(tmp_path):
    def behave(request, n):
        assert request["temperature"] == 0
        return Reply(
            json.dumps(
                {
                    "criteria": [
                        {"id": "c1", "reason": "r", "verdict": "met"},
                        {"id": "c2", "reason": "r", "verdict": "unmet"},
                    ]
                }
            )
        )

    with Server(behave) as server:

        def judge():
            return rubric_judge(f"vllm:judge@{server.url}", rubric=RUBRIC, cache=tmp_path / "replies.jsonl")

        first = grade([ROW, {**ROW, "final_text": "Other."}], judge())
        assert server.calls == 2
        second = grade([ROW, {**ROW, "final_text": "Other."}], judge())
        assert server.calls == 2
        assert "criteria" in json.dumps(server.requests[0].get("response_format"))
    assert first["reward"] == second["reward"] == [0.75, 0.75]
    assert first["markers"] == second["markers"]


def test_server_faults_are_errors_on_the_row():
    replies = {
        "reply 0": Reply("cut", finish_reason="length"),
        "reply 1": Reply.error(400, "This model's maximum context length is 10 tokens"),
        "reply 2": Reply.error(400, "bad"),
    }

    def behave(request, n):
        return next(reply for text, reply in replies.items() if text in request["messages"][-1]["content"])

    with Server(behave) as server:
        model = as_model(f"vllm:judge@{server.url}")
        rows = grade(
            [{**ROW, "final_text": f"reply {at}"} for at in range(3)],
            rubric_judge(model, rubric=RUBRIC),
            concurrency=1,
        )
    assert rows["reward"] == [None] * 3
    assert "token cap" in rows[0]["reason"] and "does not fit" in rows[1]["reason"]
    assert rows[2]["judge_status"] == "error"


def test_it_is_a_map_function():
    rows = to_dataset([ROW, ROW])
    judged_rows = rows.map(Score(rubric_judge(says(c1="met", c2="met"), rubric=RUBRIC)), batched=True)
    assert judged_rows["reward"] == [1.0, 1.0]


POINTS = st.lists(st.tuples(st.sampled_from([1.0, 0.0, None]), st.floats(0.01, 100)), min_size=1, max_size=8)


@given(POINTS, st.floats(0, 0.99))
def test_rewards_are_shares_of_what_was_assessed(points, most):
    rubric = Rubric(tuple(Criterion(f"p{at}", "x", weight) for at, (_, weight) in enumerate(points)))
    made = judged(rubric, {at: Point(value) for at, (value, _) in enumerate(points)}, most)
    assessed = [value for value, _ in points if value is not None]
    if made.reward is None:
        assert None in [value for value, _ in points]
        return
    assert 0.0 <= made.reward <= 1.0
    assert (made.reward == 1.0) == all(assessed) == (made.failure_class is None)
    assert (made.reward == 0.0) == (not any(assessed))
    assert len(made.markers) == len(assessed)


def test_a_privileged_rubric_and_facts_leave_no_trace(tmp_path):
    told = {"rubric": ["Names Maria Lopez as the owner."], "reference": {"owner": "Maria Lopez"}}
    path = tmp_path / "replies.jsonl"
    reply = '{"c1": {"verdict": "unmet", "reason": "the owner Maria Lopez \\u004copez was not named"}}'
    judge = rubric_judge(ScriptedModel([reply]), cache=path, use_privileged=True)
    row = grade([{"prompt": "Whose is it?", "final_text": "No idea.", "privileged": told}], judge)[0]
    assert (row["markers"], row["failure_class"]) == ({"rubric:c1": 0.0}, "c1")
    assert "opez" not in str(row) and "opez" not in path.read_text("utf-8") and "unmet" in path.read_text("utf-8")
