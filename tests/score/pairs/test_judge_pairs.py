"""Pairs, both ways round."""

import asyncio
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai_server import Reply, Server

from whileai_hf.actors import ScriptedModel
from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.rows import to_dataset
from whileai_hf.score.pairs import judge_pairs, pairwise_judge


PAIR = {"prompt": "Where is A1?", "a": "It ships on May 3.", "b": "Soon."}


def longer(first, second):
    """Prefers the longer reply, wherever it stands."""
    one, other = len(first["final_text"]), len(second["final_text"])
    return "tie" if one == other else "A" if one > other else "B"


def first_shown(first, second):
    return "A"


def test_a_judge_that_reads_only_position_earns_no_wins(load_case):
    case = load_case("O025")
    pairs = [{"prompt": str(at), "a": f"one {at}", "b": f"two {at}"} for at in range(case["input"]["n"])]
    rows, report = judge_pairs(pairs, first_shown)
    found = {name: report[name] for name in case["expected"] if name != "outcome"}
    assert found == {name: value for name, value in case["expected"].items() if name != "outcome"}
    assert set(rows["winner"]) == {"tie"} and set(rows["flipped"]) == {True}
    assert report.first_position_rate == 1.0
    assert any("changed places" in warning for warning in report.warnings)


def test_one_order_answered_and_the_other_failed_is_no_verdict(load_case):
    case = load_case("O026")

    def judge(first, second):
        if first["final_text"] == PAIR["b"]:
            raise RuntimeError("no answer")
        return case["input"]["order_1"]

    rows, report = judge_pairs([PAIR], judge)
    assert rows[0]["winner"] is case["expected"]["winner"] is None
    assert rows[0]["votes"] == {"ab": "a", "ba": None}
    assert rows[0]["judge_status"] == "error"
    assert "no answer" in rows[0]["reason"] and "side b shown first" in rows[0]["reason"]
    assert (report.unjudged, report.ties, report.wins_a, report.wins_b) == (1, 0, 0, 0)
    assert report.position_flip_rate is None and report.win_rate is None


@pytest.mark.parametrize("form", [lambda rows: rows, to_dataset])
def test_a_judge_that_reads_the_replies(form):
    pairs = [PAIR, {**PAIR, "a": "Soon.", "b": "It ships on May 3."}, {**PAIR, "a": "Yes.", "b": "No!!"}]
    rows, report = judge_pairs(form(pairs), longer)
    assert rows["winner"] == ["a", "b", "tie"]
    assert rows["votes"] == [{"ab": side, "ba": side} for side in ("a", "b", "tie")]
    assert rows["flipped"] == [False] * 3
    assert (report.wins_a, report.wins_b, report.ties, report.unjudged) == (1, 1, 1, 0)
    assert (report.position_flip_rate, report.first_position_rate, report.win_rate) == (0.0, 0.5, 0.5)
    assert rows["prompt"] == ["Where is A1?"] * 3


def test_sync_async_and_mappings():
    async def judge(first, second):
        await asyncio.sleep(0)
        return {"winner": longer(first, second), "reason": "length", "model": "rule"}

    rows, _ = judge_pairs([PAIR], judge)
    assert (rows[0]["winner"], rows[0]["reason"], rows[0]["judge_name"]) == ("a", "length", "judge")
    assert rows[0]["judge_meta"] == {"ab": {"model": "rule"}, "ba": {"model": "rule"}}
    assert judge_pairs([PAIR], lambda first, second: judge(first, second))[0]["winner"] == ["a"]


@pytest.mark.parametrize(
    "answer", [None, 1, 0, True, "neither of them", "C", {"winner": 1}, {}, [], float("nan"), object()]
)
def test_what_names_no_winner_is_unjudged(answer):
    rows, report = judge_pairs([PAIR], lambda first, second: answer)
    assert rows["winner"] == [None]
    assert report.unjudged == 1 and report.ties == 0


def test_a_tie_in_one_order_is_a_disagreement():
    rows, _ = judge_pairs([PAIR], lambda first, second: "tie" if first["final_text"] == "Soon." else "A")
    assert (rows[0]["winner"], rows[0]["flipped"], rows[0]["votes"]) == ("tie", True, {"ab": "a", "ba": "tie"})


def test_identical_sides_are_a_tie_without_a_call():
    rows, report = judge_pairs([{**PAIR, "b": PAIR["a"]}], lambda first, second: pytest.fail("asked"))
    assert rows["winner"] == ["tie"]
    assert (report.identical, report.ties, report.position_flip_rate) == (1, 1, None)


def test_a_slow_order_is_a_timeout():
    def judge(first, second):
        time.sleep(0 if first["final_text"] == PAIR["a"] else 5)
        return "A"

    rows, _ = judge_pairs([PAIR], judge, timeout=0.2)
    assert (rows[0]["winner"], rows[0]["judge_status"]) == (None, "timeout")


# Shapes


def seen(pair, **columns):
    sides = []
    rows, _ = judge_pairs(
        [pair], lambda first, second: sides.append((first, second)) or "tie", concurrency=1, **columns
    )
    return sides[0] if sides else rows[0]["reason"]


def test_shapes_of_sides():
    user, yes, no = (
        {"role": "user", "content": "Hi?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "assistant", "content": [{"type": "text", "text": "No."}]},
    )
    for pair in (
        {"prompt": "Hi?", "chosen": "Yes.", "rejected": "No."},
        {"prompt": [user], "chosen": [yes], "rejected": [no]},
        {"chosen": [user, yes], "rejected": [user, no]},
        {"prompt": "Hi?", "a": {"final_text": "Yes."}, "b": {"messages": [user, no]}},
        {"prompt": "Hi?", "a": yes, "b": no},
        {"instruction": "Hi?", "input": "", "output_1": "Yes.", "output_2": "No."},
        {"input": "Hi?", "output_1": "Yes.", "output_2": "No."},
        {"question": "Hi?", "response_a": "Yes.", "response_b": "No."},
    ):
        first, second = seen(pair)
        assert (first["prompt"], first["final_text"], second["final_text"]) == ("Hi?", "Yes.", "No.")
    first, _ = seen({"instruction": "Translate.", "input": "Hund", "x": "dog", "y": "cat"}, a="x", b="y")
    assert first["messages"][0]["content"] == "Translate.\n\nHund"
    assert seen({"ask": "Hi?", "a": "1", "b": "2"}, prompt="ask")[0]["prompt"] == "Hi?"


def test_what_others_think_of_a_side_stays_out():
    rollout = {
        "final_text": "Yes.",
        "reward": 1.0,
        "markers": {"x": 1},
        "privileged": {"reference": "y"},
        "model_version": "m",
    }
    first, _ = seen({"prompt": "Hi?", "a": rollout, "b": "No.", "label": "a"})
    assert set(first) == {"prompt", "final_text", "model_version"}


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ({"prompt": "x", "a": "y", "b": None}, "side 'b' is missing"),
        ({"prompt": "x", "a": 3, "b": "y"}, "side 'a' is a int"),
        ({"prompt": "x", "a": [], "b": "y"}, "side 'a' is a list"),
        ({"prompt": "x", "a": {}, "b": "y"}, "side 'a' is a dict"),
        ({"prompt": "x", "a": {"final_text": "y", "rollout_status": "error"}, "b": "y"}, "rollout_status 'error'"),
    ],
)
def test_a_side_that_is_not_there_is_unjudged(pair, said):
    assert said in seen(pair)


def test_columns_that_are_not_there():
    with pytest.raises(MissingColumnError, match=r"second side.*columns: prompt, a"):
        judge_pairs([{"prompt": "x", "a": "y"}], longer, a="a")
    with pytest.raises(MissingColumnError, match="two columns for the sides"):
        judge_pairs([{"prompt": "x", "completion": "y"}], longer)
    with pytest.raises(MissingColumnError, match="no column 'left'"):
        judge_pairs([PAIR], longer, a="left")
    with pytest.raises(MissingColumnError, match="no column 'human'"):
        judge_pairs([PAIR], longer, label="human")
    with pytest.raises(MissingColumnError):
        judge_pairs([PAIR], longer, a="a", b="a")


@pytest.mark.parametrize("judge", ["longer", 3, dict])
def test_judges_that_cannot_be_called(judge):
    with pytest.raises(ConfigurationError, match="judge is"):
        judge_pairs([PAIR], judge)


def test_no_pairs():
    with pytest.raises(DataError, match="empty"):
        judge_pairs([], longer)


# Labels


def test_agreement_with_people():
    pairs = [
        {**PAIR, "human": "a"},
        {**PAIR, "human": 2},
        {**PAIR, "human": [1, 1, 0]},
        {**PAIR, "human": [1, 2]},
        {**PAIR, "human": None},
        {**PAIR, "b": None, "human": "b"},
    ]
    _, report = judge_pairs(pairs, longer, label="human")
    found = report.agreement
    assert (found.n, found.accuracy, found.unlabelled, found.unjudged) == (3, 2 / 3, 2, 1)
    assert found.kappa == 0.0
    assert found.accuracy_ci95[0] < 2 / 3 < found.accuracy_ci95[1]
    assert "agreement" in str(report) and "kappa" in str(report)


def test_labels_that_may_mean_two_things_or_nothing():
    with pytest.raises(DataError, match="0 and 1"):
        judge_pairs([{**PAIR, "human": 0}, {**PAIR, "human": 1}], longer, label="human")
    with pytest.raises(DataError, match=r"'left'.* names no side"):
        judge_pairs([{**PAIR, "human": "left"}], longer, label="human")
    assert (
        judge_pairs([{"chosen": "x", "rejected": "yy", "l": "chosen"}], longer, label="l")[1].agreement.accuracy == 0.0
    )


# Models


def test_a_model_compares_both_ways_round():
    asked = []

    def script(messages, tools):
        shown = messages[-1]["content"]
        asked.append(shown)
        return json.dumps(
            {"reason": "It is late.", "winner": "A" if shown.index("May 3") < shown.index("Soon.") else "B"}
        )

    rows, _ = judge_pairs([PAIR], pairwise_judge(ScriptedModel(script), rubric=["Names the day."]))
    assert (rows[0]["winner"], rows[0]["reason"]) == ("a", "It is late.")
    assert len(asked) == 2 and all("Names the day." in text for text in asked)
    meta = rows[0]["judge_meta"]
    assert meta["version"] == f"{meta['model']}@{meta['prompt_hash']}" and meta["rubric_version"]


@pytest.mark.parametrize(
    ("reply", "winner"),
    [("[[A]]", "A"), ("Answer B is better.", "B"), ('{"winner": "tie"}', "tie"), ("Hard to say.", None), ("", None)],
)
def test_a_pairwise_judge_called_directly(reply, winner):
    judge = pairwise_judge(ScriptedModel(lambda messages, tools: reply))
    assert asyncio.run(judge({"final_text": "x"}, {"final_text": "y"})) == winner


def test_a_reply_that_cannot_be_read_leaves_the_pair_unjudged():
    model = ScriptedModel(
        lambda messages, tools: "A" if "Soon." in messages[-1]["content"].split("May 3")[0] else "Hm, hard."
    )
    rows, report = judge_pairs([PAIR], pairwise_judge(model))
    assert (rows[0]["winner"], rows[0]["judge_status"], report.unjudged) == (None, "invalid_result", 1)


def test_over_http(tmp_path):
    def behave(request, n):
        shown = request["messages"][-1]["content"]
        return Reply('{"winner": "A"}' if shown.index("May 3") < shown.index("Soon.") else '{"winner": "B"}')

    with Server(behave) as server:
        for _ in range(2):
            judge = pairwise_judge(f"vllm:judge@{server.url}", cache=str(tmp_path / "replies.jsonl"))
            assert judge_pairs([PAIR], judge)[1].wins_a == 1
        assert server.calls == 2


def test_text_of_all_kinds():
    texts = ["\u4f60\u597d \U0001f600", "\ud800 lone", "nul\0", "x" * 1_000_000, "", " "]
    pairs = [{"prompt": f"ask {one}", "a": one, "b": other} for one in texts for other in texts]
    asked = []
    model = ScriptedModel(
        lambda messages, tools: asked.append(json.dumps(messages, ensure_ascii=False).encode()) or "[[A]]"
    )
    rows, report = judge_pairs(pairs, pairwise_judge(model))
    assert report.unjudged == 0 and report.identical == len(texts)
    assert len(rows) == len(pairs)


VOTES = st.lists(
    st.tuples(st.sampled_from(["A", "B", "tie", None]), st.sampled_from(["A", "B", "tie", None])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(VOTES)
def test_counts_add_up_and_no_winner_without_both_orders(votes):
    pairs = [{"prompt": str(at), "a": "one", "b": "two"} for at in range(len(votes))]
    rows, report = judge_pairs(
        pairs, lambda first, second: votes[int(first["prompt"])][first["final_text"] == "two"], concurrency=1
    )
    assert report.wins_a + report.wins_b + report.ties + report.unjudged == len(votes)
    for winner, (ab, ba) in zip(rows["winner"], votes, strict=True):
        expected = "a" if (ab, ba) == ("A", "B") else "b" if (ab, ba) == ("B", "A") else "tie"
        assert winner == (None if None in (ab, ba) else expected)


def test_without_a_model_there_is_one_error_and_no_rows(monkeypatch):
    for name in ("WHILEAI_JUDGE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="WHILEAI_JUDGE"):
        judge_pairs([PAIR])


def test_sides_that_differ_in_what_a_judge_sees_are_compared_and_secrets_stay_here():
    sides = [{"prompt": "q", "completion": text, "privileged": {"reference": "s"}} for text in ("x", "y")]
    more = [{"prompt": "q", "final_text": "x", "state_changes": change} for change in ([], [{"id": 1}])]
    same = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]
    steps = [{"prompt": "q", "messages": same, "steps": step} for step in ([], [{"tool": "rm", "arguments": {}}])]
    pairs = [{"a": a, "b": b, "privileged": {"reference": "s"}} for a, b in (sides, more, steps)]
    rows, report = judge_pairs(pairs, lambda first, second: "A")
    assert report.ties == 3 and all(rows["flipped"])
    assert "privileged" not in rows.column_names and "privileged" not in str(rows[0]["a"])
