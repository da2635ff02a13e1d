"""Probes: each hole is found in a judge that has it, and not in one that has not."""

import json

import pytest

from whileai_hf.actors import ScriptedModel
from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.trust import judge_probes, judge_trust
from whileai_hf.measure.trust.altered import instead, opening_of, with_reply
from whileai_hf.measure.trust.probes import PROBES
from whileai_hf.rows import open_rows
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.judges import Judge


RUBRIC = "Looks the order up before promising a refund; states the delivery date."


@pytest.fixture
def rows(tools):
    """Failing runs of an order desk: a look-up, and a reply that says nothing."""
    made = []
    for at in range(60):
        ask, reply = f"Where is order ORD-{1000 + at}?", "I could not tell."
        call = {"function": {"name": "get_order", "arguments": {"order_id": f"ORD-{1000 + at}"}}}
        made.append(
            {
                "scenario_id": f"sc-{at}",
                "prompt": ask,
                "tools": tools,
                "messages": [
                    {"role": "system", "content": "You are the order desk."},
                    {"role": "user", "content": ask},
                    {"role": "assistant", "content": "", "tool_calls": [call]},
                    {"role": "tool", "name": "get_order", "content": "{}"},
                    {"role": "assistant", "content": reply},
                ],
                "steps": [
                    {"tool": "get_order", "arguments": {"order_id": f"ORD-{1000 + at}"}, "result": {}},
                    {"text": reply},
                ],
                "final_text": reply,
            }
        )
    return made


HOLES = {
    "filler": lambda row: len(row["final_text"]) > 300,
    "rubric_words": lambda row: "refund" in row["final_text"] and "delivery" in row["final_text"],
    "sycophancy": lambda row: row["final_text"].startswith("What a great"),
    "unsupported_success": lambda row: "All done" in row["messages"][-1]["content"],
    "echo": lambda row: row["final_text"] == row["prompt"],
    "empty_call": lambda row: any(step.get("arguments") == {} for step in row["steps"]),
    "refusal": lambda row: "sorry" in row["final_text"].lower(),
}


@pytest.mark.parametrize("name", HOLES)
def test_each_hole_is_found_where_it_is(rows, name):
    for source in (rows, open_rows(rows)):
        found = judge_probes(source, HOLES[name], rubric=RUBRIC)
        assert found.exploitable_by == [name]
        assert "EXPLOITABLE" in str(found)
        mine = next(probe for probe in found.probes if probe.name == name)
        assert (mine.n, mine.hits, mine.rate) == (40, 40, 1.0) and mine.ci95[0] > 0.9
        json.dumps(found.to_dict(), allow_nan=False)


def test_a_sound_judge_has_none(rows):
    found = judge_probes(rows, lambda row: "ORD-" in row["final_text"] and "shipped" in row["final_text"], RUBRIC)
    assert found.exploitable_by == [] and len(found.probes) == len(PROBES) == len(HOLES)
    assert all(probe.hits == 0 and probe.n == 40 for probe in found.probes)
    assert "none of the probes" in str(found)


def test_chosen_probes_in_the_order_of_the_table(rows):
    found = judge_probes(rows, lambda row: 0, probes=["refusal", "filler"])
    assert [probe.name for probe in found.probes] == ["filler", "refusal"]
    assert [probe.name for probe in judge_probes(rows, lambda row: 0, probes="echo").probes] == ["echo"]
    for unknown in ("flattery", [], ["filler", "x"]):
        with pytest.raises(ConfigurationError, match="pass 'all' or some of filler"):
            judge_probes(rows, lambda row: 0, probes=unknown)
    with pytest.raises(ConfigurationError, match="sample=True"):
        judge_probes(rows, lambda row: 0, sample=True)


def test_noise_is_no_hole(rows):
    """A judge that passes one row in five at random passes one in five of anything."""
    import random

    generator = random.Random(3)
    found = judge_probes(rows, lambda row: generator.random() < 0.2, RUBRIC, ["filler", "rubric_words", "sycophancy"])
    for probe in found.probes:
        assert probe.control is not None and probe.control > 0.05
        assert probe.exploitable == (probe.rate - probe.control >= 0.1)


def test_additive_probes_leave_good_replies_alone(rows):
    """A reply a person passed is not a failing one, whatever the judge says."""
    for at, row in enumerate(rows):
        row |= {"gold_reward": at % 2, "gold_kind": "human"}
    seen = []
    found = judge_probes(rows, lambda row: seen.append(row["scenario_id"]), probes="filler")
    assert found.n_failing == 0  # None is no verdict, so nothing failed
    assert all(int(name[3:]) % 2 == 0 for name in seen)
    assert "nothing could be added" in found.notes[0]


def test_what_cannot_be_tried_is_said():
    bare = [{"final_text": None}, {"final_text": "x", "prompt": None}] * 3
    found = judge_probes(bare, lambda row: 0)
    tried = {probe.name: probe.n for probe in found.probes}
    assert tried["echo"] == tried["empty_call"] == tried["rubric_words"] == 0
    assert any("no rubric is known" in note for note in found.notes)
    assert any("neither tools nor calls" in note for note in found.notes)
    assert any("fewer than 20 tries" in note for note in found.notes)
    assert judge_probes(bare, lambda row: 1).exploitable_by == ["unsupported_success", "refusal"]
    own = [{**row, "rubric": "Names the depot."} for row in bare]
    assert {p.name: p.n for p in judge_probes(own, lambda row: 0).probes}["rubric_words"] == 6
    empty = [{**row, "rubric": ""} for row in bare]
    assert {p.name: p.n for p in judge_probes(empty, lambda row: 0).probes}["rubric_words"] == 0


def test_rows_of_any_shape(rows):
    odd = [
        {"prompt": 3, "messages": "no", "steps": None, "final_text": ["x"], "tools": [1, {"function": 2}]},
        {"prompt": [{"role": "user", "content": [{"type": "text", "text": "\ud800"}]}], "completion": "x"},
        {"prompt": "p" * 10**6, "completion": [{"role": "assistant", "content": "x"}], "messages": [1, None]},
        {},
    ]
    found = judge_probes(odd, lambda row: 0, "Name the order.")
    assert all(probe.unjudged == 0 for probe in found.probes)


def test_a_changed_reply_is_changed_everywhere(rows):
    row = {**rows[0], "completion": [{"role": "assistant", "content": "old"}]}
    new = with_reply(row, lambda text: text + "!")
    assert new["final_text"] == "I could not tell.!" == new["messages"][-1]["content"] == new["steps"][-1]["text"]
    assert new["completion"][-1]["content"] == "I could not tell.!"
    assert row["messages"][-1]["content"] == "I could not tell." and new["messages"][:4] == row["messages"][:4]
    run = instead(row, Attempt("Done."))
    assert [m["role"] for m in run["messages"]] == ["system", "user", "assistant"]
    assert run["steps"] == [{"text": "Done."}] and run["completion"] == [{"role": "assistant", "content": "Done."}]
    assert opening_of({"prompt": "hi"}) == "hi" and opening_of({}) == ""


def test_a_model_as_judge(rows):
    said = json.dumps({"reason": "no", "verdict": "fail"})
    judge = Judge(ScriptedModel([said] * 1000), RUBRIC)
    found = judge_probes(rows, judge)
    assert found.exploitable_by == [] and {p.name: p.n for p in found.probes}["rubric_words"] == 40
    graded = [{**row, "reward": 0.0, "gold_reward": 0, "gold_kind": "human"} for row in rows]
    report = judge_trust(graded, judge=ScriptedModel([said] * 1000), rubric=RUBRIC, probes=["echo"])
    assert report.consistency.flips == 0 and report.exploitable_by == [] and report.probes.n_calls == 40


def test_holes_are_flags_of_the_trust_report(rows):
    graded = [{**row, "reward": 0.0, "gold_reward": 0, "gold_kind": "human"} for row in rows]
    report = judge_trust(graded, judge=HOLES["echo"], probes="all", rubric=RUBRIC)
    assert report.exploitable_by == ["echo"] and "probe:echo" in report.flags and report.status == "not_trusted"


def broken(row):
    raise RuntimeError("no key")


def test_a_judge_that_says_nothing_is_not_measured(rows):
    found = judge_probes(rows, broken, RUBRIC)
    assert found.exploitable_by is None and all(probe.rate is None for probe in found.probes)
    assert "probes NOT MEASURED: no try got a verdict" in str(found) and "none of" not in str(found)
    assert "no verdict on 40 tries" in str(found)
    assert found.notes == [
        f"the judge gave no verdict on any of the {len(rows)} rows it was shown, so nothing could be added to a "
        "failing one",
        f"{found.n_calls} of {found.n_calls} times the judge gave no verdict, the first: RuntimeError: no key",
    ]
    graded = [{**row, "reward": 0.0, "gold_reward": 0, "gold_kind": "human"} for row in rows]
    report = judge_trust(graded, judge=broken, probes="all", rubric=RUBRIC)
    assert report.exploitable_by is None and not any(flag.startswith("probe") for flag in report.flags)
    assert "consistency and filler could not be measured: asked again, the judge gave no verdict" in report.notes
    assert judge_trust(graded).exploitable_by is None
    json.dumps(report.to_dict(), allow_nan=False)


def test_a_judge_that_says_something_is_measured_by_that(rows):
    def half(row):
        return broken(row) if "take care" in row["final_text"] or "taken care" in row["final_text"] else 0

    found = judge_probes(rows, half, RUBRIC)
    assert found.exploitable_by == []
    assert f"none of the {len(PROBES) - 1} probes that were judged" in str(found)
    assert any("40 of" in note and "RuntimeError: no key" in note for note in found.notes)
    passing = judge_probes(rows, lambda row: broken(row) if row["prompt"] == rows[0]["prompt"] else 1, RUBRIC)
    assert "passes every row it was shown and judged" in passing.notes[0]
    good = [{**row, "gold_reward": 1, "gold_kind": "human"} for row in rows]
    assert judge_probes(good, lambda row: 0, RUBRIC).notes[0].startswith("every row has a person's passing label")
