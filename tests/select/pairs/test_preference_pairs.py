"""Pairs: where they are cut, which rollouts are in them, and that every row is accounted for."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, MissingColumnError
from whileai_hf.rows import open_rows
from whileai_hf.select import build_preference_pairs
from whileai_hf.select.pairs import PairConfig


SYSTEM = {"role": "system", "content": "Be brief."}


def user(text):
    return {"role": "user", "content": text}


def says(text):
    return {"role": "assistant", "content": text}


def calls(name, number=0, **arguments):
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }


def result(text, number=0):
    return {"role": "tool", "tool_call_id": f"call_{number}", "name": "f", "content": text}


def row(reward, *messages, task="t", ask="Where is A1?", **more):
    last = messages[-1]["content"] if messages and messages[-1]["role"] == "assistant" else ""
    return {
        "scenario_id": task,
        "prompt": ask,
        "messages": [SYSTEM, user(ask), *messages],
        "steps": [{"text": json.dumps(messages)}],
        "final_text": last,
        "reward": reward,
        "tools": [{"type": "function", "function": {"name": "get"}}],
        "run_id": "r1",
        **more,
    }


GOOD = row(1, calls("get", id="A1"), result("lost"), says("It is lost."))
BAD = row(0, calls("get", 7, id="A1"), result("lost", 7), says("It is on its way, do not worry."))


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_the_prompt_is_what_they_share_and_the_answers_are_one_turn_each(as_source):
    pairs, report = build_preference_pairs(as_source([BAD, GOOD]))
    pair = pairs[0]
    # The shared call has another id in the other rollout; arguments and result are the same.
    assert pair["prompt"] == [SYSTEM, user("Where is A1?"), calls("get", id="A1"), result("lost")]
    assert pair["chosen"] == [says("It is lost.")]
    assert pair["rejected"] == [says("It is on its way, do not worry.")]
    assert pair["tools"] == GOOD["tools"]
    assert (pair["prompt_text"], pair["scenario_id"], pair["task_id"], pair["run_id"]) == (
        "Where is A1?",
        "t",
        None,
        "r1",
    )
    assert (pair["chosen_reward"], pair["rejected_reward"], pair["margin"]) == (1.0, 0.0, 1.0)
    assert pair["length_delta"] == len("It is lost.") - len("It is on its way, do not worry.")
    assert (pair["same_policy"], pair["cut"]) == (True, "first_divergence")
    assert (report.n_in, report.n_pairs, sum(report.dropped.values())) == (2, 1, 0)
    assert pairs.column_names == [
        *("prompt", "chosen", "rejected", "tools", "prompt_text", "scenario_id", "task_id", "run_id"),
        *("chosen_reward", "rejected_reward", "margin", "length_delta", "same_policy", "cut"),
    ]


def test_whole_trajectories():
    pair = build_preference_pairs([BAD, GOOD], cut="trajectory")[0][0]
    assert pair["prompt"] == [SYSTEM, user("Where is A1?")]
    assert pair["chosen"] == GOOD["messages"][2:]
    assert pair["rejected"] == BAD["messages"][2:]
    assert pair["cut"] == "trajectory"


def test_the_first_turn_that_differs_may_be_a_call():
    for wrong in (calls("get", id="A2"), calls("put", id="A1"), says("No.")):
        pair = build_preference_pairs([GOOD, row(0, wrong, result("x"), says("It is here."))])[0][0]
        assert pair["prompt"] == [SYSTEM, user("Where is A1?")]
        assert pair["chosen"] == [calls("get", id="A1")] and pair["rejected"] == [wrong]


def test_arguments_as_text_or_dict_in_any_order_are_one_call():
    text = calls("get")
    text["tool_calls"][0]["function"]["arguments"] = '{"b": 2, "a": {"y": 1, "x": 1}}'
    rows = [row(1, text, says("yes")), row(0, calls("get", a={"x": 1, "y": 1}, b=2), says("no"))]
    assert build_preference_pairs(rows)[0][0]["chosen"] == [says("yes")]
    bare = {"role": "assistant", "content": "", "tool_calls": [{"name": "get", "arguments": {"id": 1}}]}
    other = {"role": "assistant", "content": "", "tool_calls": [{"name": "get", "arguments": {"id": 2}}]}
    assert build_preference_pairs([row(1, bare, says("yes")), row(0, other, says("no"))])[0][0]["chosen"] == [bare]


def test_rollouts_that_part_elsewhere_are_not_compared():
    rows = [GOOD, row(0, calls("get", id="A1"), result("timeout"), says("No idea."))]
    pairs, report = build_preference_pairs(rows)
    assert len(pairs) == 0 and report.refused["cut"] == 1 and report.dropped["no_pair"] == 2
    assert pairs.column_names[:3] == ["prompt", "chosen", "rejected"]
    assert len(build_preference_pairs(rows, cut="trajectory")[0]) == 1  # from the first turn on they may differ
    other_system = copy.deepcopy(BAD)
    other_system["messages"][0]["content"] = "Be long."
    for cut in ("first_divergence", "trajectory"):
        assert build_preference_pairs([GOOD, other_system], cut=cut)[1].n_pairs == 0


def test_only_within_one_prompt():
    rows = [row(1, says("yes"), ask="a"), row(0, says("no"), ask="b"), row(0, says("no"), task="u", ask="a")]
    assert build_preference_pairs(rows)[1].dropped["single"] == 3


def test_the_widest_gap_then_the_nearest_length():
    rows = [row(1, says("y" * 10)), row(1, says("y" * 30)), row(0.5, says("h" * 30)), row(0, says("n" * 29))]
    pair = build_preference_pairs(rows)[0][0]
    assert (pair["margin"], pair["length_delta"]) == (1.0, 1)
    assert build_preference_pairs(rows, match_length=False)[0][0]["length_delta"] == -19


def test_margin_policy_and_length_refuse():
    rows = [row(1, says("y" * 10)), row(0.5, says("n" * 30))]
    assert build_preference_pairs(rows, margin=0.5)[1].n_pairs == 1
    assert build_preference_pairs(rows, margin=0.6)[1].refused["margin"] == 1
    assert build_preference_pairs(rows, max_length_ratio=2)[1].refused["length"] == 1
    assert build_preference_pairs(rows, max_length_ratio=3)[1].n_pairs == 1
    rows[0]["policy_version"], rows[1]["policy_version"] = "p1", "p2"
    assert build_preference_pairs(rows)[1].refused["policy"] == 1
    pairs, _ = build_preference_pairs(rows, same_policy=False)
    assert pairs["same_policy"][:] == [False]


def test_several_pairs_of_a_prompt_share_no_rollout():
    rows = [row(i % 2, says(f"reply {i}")) for i in range(7)]
    pairs, report = build_preference_pairs(rows, per_prompt=5)
    texts = [m["content"] for name in ("chosen", "rejected") for cell in pairs[name] for m in cell]
    assert len(pairs) == 3 and len(set(texts)) == 6
    assert report.dropped["not_selected"] == 1


def test_longer_chosen_texts_are_warned_of():
    rows = []
    for task in range(12):
        rows += [row(1, says("long " * 9), task=task, ask=f"{task}"), row(0, says("short"), task=task, ask=f"{task}")]
    _, report = build_preference_pairs(rows)
    assert report.chosen_longer == 1.0 and any("write more" in warning for warning in report.warnings)
    for at, one in enumerate(rows):
        one["reward"] = (at + at // 2) % 2
    assert build_preference_pairs(rows)[1].warnings == []


def test_rows_without_messages_are_read_from_their_steps():
    def made(reward, text):
        steps = [{"tool": "get", "arguments": {"id": 1}, "result": {"status": "ok"}}]
        return {"prompt": "a", "steps": steps, "final_text": text, "reward": reward}

    for rows in ([made(1, "yes"), made(0, "no")], open_rows([made(1, "yes"), made(0, "no")])):
        pair = build_preference_pairs(rows)[0][0]
        assert [message["role"] for message in pair["prompt"]] == ["user", "assistant", "tool"]
        assert pair["chosen"] == [says("yes")]


def test_what_only_a_judge_may_see_is_left_out():
    rows = copy.deepcopy([GOOD, BAD])
    for one in rows:
        one["privileged"] = {"reference": "lost"}
        one["messages"][1]["privileged"] = {"reference": "lost"}
    before = copy.deepcopy(rows)
    pairs, _ = build_preference_pairs(rows)
    assert "privileged" not in json.dumps(pairs[0])
    assert rows == before


def test_training_on_an_evaluation_is_warned_of():
    rows = [GOOD, {**BAD, "lineage": {"source": "eval"}}]
    _, report = build_preference_pairs(rows)
    assert report.eval_sourced == 1 and any("evaluation" in warning for warning in report.warnings)


def test_knobs():
    for wrong in ({"cut": "last"}, {"margin": -1}, {"per_prompt": 0}, {"max_length_ratio": 0.5}, {"same_policy": 1}):
        with pytest.raises(ConfigurationError):
            build_preference_pairs([GOOD, BAD], **wrong)
    with pytest.raises(ConfigurationError, match="did you mean 'margin'"):
        build_preference_pairs([GOOD, BAD], margn=1)
    assert build_preference_pairs([GOOD, BAD], config=PairConfig(cut="trajectory"))[0]["cut"][0] == "trajectory"
    with pytest.raises(MissingColumnError, match="grade the rows first"):
        build_preference_pairs([{"prompt": "a", "final_text": "b"}])


MESSY = st.one_of(st.none(), st.integers(), st.text(max_size=4), st.lists(st.none() | st.text(max_size=3), max_size=2))
MESSAGE = st.one_of(
    MESSY,
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool", None]), "content": MESSY},
        optional={"tool_calls": st.one_of(MESSY, st.lists(st.fixed_dictionaries({"function": MESSY}), max_size=2))},
    ),
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 0.5, None]), st.integers(0, 1), st.lists(MESSAGE, max_size=4), MESSY),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["first_divergence", "trajectory"]),
    st.integers(1, 3),
)
def test_every_row_is_accounted_for_whatever_it_holds(drawn, cut, per_prompt):
    rows = [
        {"prompt": f"p{ask}", "messages": [user("hi"), *messages], "steps": text, "final_text": text, "reward": reward}
        for reward, ask, messages, text in drawn
    ]
    pairs, report = build_preference_pairs(rows, cut=cut, per_prompt=per_prompt)
    assert report.n_in == len(rows) == 2 * report.n_pairs + sum(report.dropped.values())
    assert len(pairs) == report.n_pairs
    assert all(margin > 0 for margin in pairs["margin"])
    for pair in pairs:
        assert pair["chosen"] != pair["rejected"] and pair["prompt"]
        assert all(side[0]["role"] == "assistant" for side in (pair["chosen"], pair["rejected"]))
    json.dumps(report.to_dict())
