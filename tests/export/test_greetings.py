"""An agent that speaks first greets: the ask comes after, and what is answered is the ask."""

import json

import pytest

from whileai_hf.errors import DataError
from whileai_hf.export import export_report, to_trl


def said(*turns):
    return [{"role": role, "content": content} for role, content in turns]


def greeted(answer, reward):
    turns = (("assistant", "Hello, how can I help?"), ("user", "Where is A1?"), ("assistant", answer))
    return {"prompt": "Where is A1?", "messages": said(*turns), "final_text": answer, "reward": reward}


ROWS = [greeted("On its way.", 1.0), greeted("Lost.", 0.0)]
OPENING = ROWS[0]["messages"][:2]


@pytest.mark.parametrize("kind", ["grpo", "eval", "opd"])
def test_a_prompt_is_greeting_and_ask(kind):
    for rows in (ROWS, [{"messages": row["messages"], "reward": row["reward"]} for row in ROWS]):
        (row,) = to_trl(rows, kind)
        assert row["prompt"] == OPENING
        assert row["prompt_text"] == "Where is A1?"


def test_kto_and_pairs_answer_the_ask():
    rows = to_trl(ROWS, "kto")
    assert rows["prompt"][:] == [OPENING] * 2
    assert rows["completion"][:] == [row["messages"][2:] for row in ROWS]
    (pair,) = to_trl(ROWS, "preference")
    assert (pair["prompt"], pair["chosen"], pair["rejected"]) == (OPENING, *(row["messages"][2:] for row in ROWS))


def test_greetings_that_differ_are_no_pair():
    other = greeted("Lost.", 0.0)
    other["messages"][0]["content"] = "Yes?"
    with pytest.raises(DataError, match="none of the 2 rows can be exported for preference"):
        to_trl([ROWS[0], other], "preference")


def test_what_answers_an_ask_that_is_not_among_the_messages_is_no_greeting():
    turns = said(("assistant", "On its way."), ("user", "Thanks."), ("assistant", "Welcome."))
    (row,) = to_trl([{"prompt": "Where is A1?", "messages": turns, "reward": 1.0}], "grpo")
    assert row["prompt"] == said(("user", "Where is A1?"))


def test_nobody_asked_is_no_row_of_kto():
    rows = [*ROWS, {"messages": said(("assistant", "Hello?")), "reward": 1.0}]
    report = export_report(to_trl(rows, "kto"))
    assert (report.n_rows, report.left_out["no_conversation"]) == (2, 1)


def test_real_conversations_that_open_with_a_greeting(shared):
    path = shared / "real" / "trajectories" / "tau2_format_airline.jsonl"
    rows = [{"messages": json.loads(line)["messages"]} for line in path.read_text(encoding="utf-8").splitlines()]
    report = export_report(to_trl(rows, "grpo"))
    assert (report.n_used, report.n_left_out) == (20, 0)
