"""What holds for every selector: whole groups, nothing hidden, no dead group, no row twice, every row counted."""

import copy
import json
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.rows import open_rows
from whileai_hf.select import (
    build_preference_pairs,
    filter_rl_rows,
    optimize,
    trim_out_of_band,
    trim_unanimous_groups,
)


HIDDEN = {"reference": "the parcel is lost"}
ROW = st.fixed_dictionaries(
    {
        "task": st.integers(0, 3),
        "phrasing": st.integers(0, 1),
        "reward": st.sampled_from([0, 1, 1, 0, 0.5, 0.25, None, float("nan"), "1", True]),
        "text": st.sampled_from(["", " ", "yes", "Yes", "no", "maybe so", None]),
        "finish": st.sampled_from(["stop", "length", None]),
        "sim_ok": st.sampled_from([True, None, False]),
        "fault": st.sampled_from([None, "timeout", "lost"]),
        "hidden": st.sampled_from([None, "top", "deep"]),
        "policy": st.sampled_from(["p1", "p2"]),
    }
)


def built(number, drawn):
    row = {
        "number": number,
        "scenario_id": f"t{drawn['task']}",
        "prompt": f"p{drawn['phrasing']}",
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": f"{drawn['text']} {number}"}],
        "steps": [],
        "final_text": drawn["text"],
        "reward": drawn["reward"],
        "finish_reason": drawn["finish"],
        "sim_ok": drawn["sim_ok"],
        "faults": drawn["fault"] and {"*": {"kind": drawn["fault"]}},
        "policy_version": drawn["policy"],
        "privileged": HIDDEN if drawn["hidden"] == "top" else None,
        "metadata": {"inner": {"privileged": HIDDEN}} if drawn["hidden"] == "deep" else None,
    }
    return row


def graded(reward):
    return isinstance(reward, bool | int | float) and reward == reward


def check(rows, kept, report):
    assert report.n_in == len(rows) == report.n_kept + sum(report.dropped.values())
    assert report.n_groups_in == report.n_groups_kept + sum(report.dropped_groups.values())
    numbers = kept["number"][:]
    assert len(numbers) == len(set(numbers)) == report.n_kept
    assert all(graded(rows[number]["reward"]) for number in numbers)
    assert "reference" not in json.dumps(kept[:], default=str)
    json.dumps(report.to_dict())
    return numbers


def groups_of(rows, numbers):
    found = defaultdict(list)
    for number in numbers:
        found[rows[number]["scenario_id"], rows[number]["prompt"]].append(number)
    return found


@settings(max_examples=60, deadline=None)
@given(
    drawn=st.lists(ROW, min_size=1, max_size=30),
    truncated=st.sampled_from(["drop", "keep", "penalize"]),
    order=st.sampled_from(["turns", "middle"]),
    target=st.none() | st.integers(1, 12),
    enforce=st.booleans(),
    arrow=st.booleans(),
)
def test_rl(drawn, truncated, order, target, enforce, arrow):
    rows = [built(number, one) for number, one in enumerate(drawn)]
    rows = [{**row, "reward": row["reward"] if graded(row["reward"]) else None} for row in rows] if arrow else rows
    before = copy.deepcopy(rows)
    source = open_rows(rows) if arrow else rows
    knobs = {"truncated": truncated, "order": order, "target": target, "enforce_band": enforce}
    kept, report = optimize(source, **knobs)
    numbers = check(rows, kept, report)
    assert repr(rows) == repr(before)
    rewards = dict(zip(numbers, kept["reward"], strict=True))
    # The rows one gate or another takes out on their own; what is left of a group stays together.
    junk, _ = filter_rl_rows(source, truncated="drop" if truncated == "drop" else "keep")
    whole = groups_of(rows, junk["number"])
    for group, members in groups_of(rows, numbers).items():
        assert sorted(members) == whole[group]
        assert len({float(rewards[number]) for number in members}) > 1
        places = [numbers.index(number) for number in members]
        assert max(places) - min(places) == len(members) - 1
    for at, number in enumerate(numbers):
        judged = float(rows[number]["reward"])
        cut = rows[number]["finish_reason"] == "length"
        if truncated == "penalize":
            assert kept["reward_before_penalty"][at] == (judged if cut else None)
            assert rewards[number] == (0.0 if cut else judged)
        else:
            assert float(rewards[number]) == judged and not (cut and truncated == "drop")


@settings(max_examples=80, deadline=None)
@given(
    drawn=st.lists(ROW, min_size=1, max_size=30),
    select=st.sampled_from(["top_per_prompt", "top_k_overall", "random_per_prompt", "random_k_overall"]),
    k=st.integers(1, 3),
    target=st.none() | st.integers(1, 8),
)
def test_sft(drawn, select, k, target):
    rows = [built(number, one) for number, one in enumerate(drawn)]
    before = repr(rows)
    kept, report = optimize(rows, mode="sft", select=select, k=k, target=target)
    numbers = check(rows, kept, report)
    assert repr(rows) == before
    if select.endswith("per_prompt"):
        assert all(len(members) <= k for members in groups_of(rows, numbers).values())
    if not select.startswith("random"):
        assert all(rows[number]["reward"] >= 1 for number in numbers)


@pytest.mark.parametrize("trim", [filter_rl_rows, trim_unanimous_groups, trim_out_of_band])
@settings(max_examples=40, deadline=None)
@given(drawn=st.lists(ROW, min_size=1, max_size=30))
def test_trims(trim, drawn):
    rows = [built(number, one) for number, one in enumerate(drawn)]
    before = repr(rows)
    kept, report = trim(rows)
    numbers = check(rows, kept, report)
    assert repr(rows) == before and numbers == sorted(numbers)
    everyone = groups_of(rows, [row["number"] for row in rows if graded(row["reward"])])
    for group, members in groups_of(rows, numbers).items():
        if trim is not filter_rl_rows:
            assert members == everyone[group]
        if trim is trim_unanimous_groups:
            assert len({float(rows[number]["reward"]) for number in members}) > 1


@settings(max_examples=60, deadline=None)
@given(drawn=st.lists(ROW, min_size=1, max_size=30), per_prompt=st.integers(1, 4), same=st.booleans())
def test_pairs(drawn, per_prompt, same):
    rows = [built(number, one) for number, one in enumerate(drawn)]
    before = repr(rows)
    pairs, report = build_preference_pairs(rows, per_prompt=per_prompt, same_policy=same)
    assert repr(rows) == before
    assert report.n_in == len(rows) == 2 * report.n_pairs + sum(report.dropped.values())
    sides = [int(cell[0]["content"].split()[-1]) for name in ("chosen", "rejected") for cell in pairs[name]]
    assert len(sides) == len(set(sides)) == 2 * report.n_pairs
    for better, worse in zip(sides[: len(pairs)], sides[len(pairs) :], strict=True):
        one, other = rows[better], rows[worse]
        assert one["reward"] > other["reward"]
        assert (one["scenario_id"], one["prompt"]) == (other["scenario_id"], other["prompt"])
        assert not same or one["policy_version"] == other["policy_version"]
    assert "reference" not in json.dumps(pairs[:])
