"""The report on simulated users: whose stamp counts, what is left out, and style beside real people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.measure.user_style import Conversation, Vocabulary, style_of
from whileai_hf.measure.users import user_report
from whileai_hf.rows import to_dataset
from whileai_hf.rows.rng import rng
from whileai_hf.scenarios import situations
from whileai_hf.scenarios.people import typed


TASK = {
    "scenario_id": "sc-1",
    "prompt": "Refund my order.",
    "expected_calls": [{"tool": "refund", "arguments": {"order_id": "ORD-4412"}}],
    "privileged": {"hidden_state": "The parcel went back to the depot on its own.", "reference": "It is refunded."},
}


def row(*turns: str, **columns: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": TASK["prompt"]}, {"role": "assistant", "content": "Which order?"}]
    for turn in turns:
        messages += [{"role": "user", "content": turn}, {"role": "assistant", "content": "All right."}]
    return {"scenario_id": "sc-1", "prompt": TASK["prompt"], "messages": messages, **columns}


def test_stamps_are_taken_and_the_rest_is_checked() -> None:
    rows = [
        row("ORD-4412.", sim_ok=True, sim_reasons=[], user_model="m", ended_by="user"),
        row("ORD-4412.", sim_ok=False, sim_reasons=["gave_up_early"], user_model="m", ended_by="user"),
        row("How can I help you today?", sim_ok=None, sim_reasons=None, user_model="template", ended_by="turns"),
        row("How can I help you today?", sim_ok=None, sim_reasons=None, user_model="script", ended_by="script"),
        row(sim_ok=None, sim_reasons=None, user_model=None, ended_by="agent"),
    ]
    for source in (rows, to_dataset(rows)):
        report = user_report(source)
        assert (report.n_rows, report.n_users, report.n_faulty) == (5, 3, 2)
        assert [(entry["row"], entry["reasons"]) for entry in report.faulty] == [
            (1, ["gave_up_early"]),
            (2, ["role_swap"]),
        ]
        assert report.reasons == {"gave_up_early": 1, "role_swap": 1}
        assert report.by_user_model == {"m": {"n_users": 2, "n_faulty": 1}, "template": {"n_users": 1, "n_faulty": 1}}
        assert report.ended_by == {"user": 2, "turns": 1, "script": 1, "agent": 1}
        low, high = report.faulty_ci95 or (0, 0)
        assert low < 2 / 3 < high
        assert report.turns == 2.0
        assert "2 of 3 simulated users at fault" in str(report)


def test_a_user_whose_task_is_not_at_hand() -> None:
    rows = [row("It's ORD-9999."), row("I heard the parcel went back to the depot on its own.")]
    blind = user_report(rows)
    assert (blind.n_faulty, blind.n_unknowable) == (0, 2)
    assert "without their task" in blind.notes[0]
    seeing = user_report(rows, tasks=[TASK])
    assert (seeing.n_unknowable, seeing.notes) == (0, [])
    assert [entry["reasons"] for entry in seeing.faulty] == [
        ["invented_fact", "contradicts_ask"],
        ["leaked_hidden_state"],
    ]


def test_nobody_was_simulated() -> None:
    report = user_report([row(), row()])
    assert (report.n_users, report.faulty_share, report.faulty_ci95, report.turns) == (0, None, None, None)
    assert report.style["words"]["simulated"] is None
    assert str(report) == "users: nobody was simulated in 2 rows"
    with pytest.raises(MissingColumnError, match="pass the rollouts of a run"):
        user_report([{"prompt": "x"}])


def test_style_is_set_beside_real_people() -> None:
    polite = [row(f"Could you please look at ORD-{n}? Thank you so much for your kind help.") for n in range(100, 160)]
    curt = [f"ORD-{n} now" for n in range(60)]
    report = user_report(polite, real=curt)
    assert report.n_real == 60
    words, courtesy = report.style["words"], report.style["politeness"]
    assert words["real"] == 2.0 and words["difference"] > 4
    low, high = words["difference_ci95"]
    assert 0 < low <= words["difference"] <= high
    assert courtesy["real"] == 0.0 and courtesy["difference_ci95"][0] > 0
    same = user_report(polite, real=[r["messages"] for r in polite]).style
    for values in same.values():
        if values["difference_ci95"]:
            assert values["difference"] == 0 and values["difference_ci95"][0] <= 0 <= values["difference_ci95"][1]


def test_real_people_come_in_any_form() -> None:
    rows = [row("ORD-4412."), row("ORD-4412, thanks.")]
    forms = [rows, to_dataset(rows), [r["messages"] for r in rows]]
    assert [user_report(rows, real=real).n_real for real in forms] == [2, 2, 2]
    assert user_report(rows, real=rows[0]["messages"]).n_real == 1
    assert user_report(rows, real=[{"prompt": "Hello"}, {"prompt": ""}]).n_real == 1
    assert user_report(rows, real=[]).n_real == 0
    with pytest.raises(DataError, match=r"real\[1\] is 3; make it what a person said"):
        user_report(rows, real=["hi", 3])


def test_front_loading_is_the_share_of_facts_told_first() -> None:
    nothing = Vocabulary([])
    said = ("Order ORD-4412 and ORD-4413 please.", "The invoice is INV-1001.", "And ORD-4414.")
    assert style_of(Conversation(said), nothing)["front_loading"] == 0.5
    assert style_of(Conversation(said[:1]), nothing)["front_loading"] is None
    assert style_of(Conversation(("Hello.", "Thanks.")), nothing)["front_loading"] is None


def test_typing_slips_are_found_at_about_their_rate(tools: Any, policy: str) -> None:
    prompts = situations(tools=tools, system_prompt=policy, n=300)
    clean = [p for p, how in zip(prompts["prompt"], prompts["typing"], strict=True) if how == "standard"][:150]
    slipped = [typed(text, "typos", rng(0, text)) for text in clean]
    truth = [
        sum(a != b for a, b in zip(one.split(), other.split(), strict=True)) / len(one.split())
        for one, other in zip(clean, slipped, strict=True)
    ]
    real = [[{"role": "user", "content": text}] for text in clean]
    rows = [
        {"messages": [{"role": "user", "content": text}, {"role": "user", "content": "ok"}], "sim_ok": True}
        for text in slipped
    ]
    found = user_report(rows, real=real).style["typo_rate"]
    assert found["real"] < 0.01
    assert found["difference_ci95"][0] > 0
    assert found["simulated"] > 0.5 * sum(truth) / len(truth)


def test_published_simulated_users_front_load_and_are_polite(shared: Path) -> None:
    lines = (shared / "real/trajectories/tau_v1_gpt4o_airline.jsonl").read_text("utf-8").splitlines()
    rows = [{"messages": [m for m in row["traj"] if m["role"] != "system"]} for row in map(json.loads, lines)]
    report = user_report(rows)
    assert report.n_users == len(rows)
    assert report.n_faulty / report.n_users < 0.02  # without tasks only what is plain to see
    style = {name: values["simulated"] for name, values in report.style.items()}
    assert 8 < style["words"] < 40 and 0.4 < style["politeness"] < 1 and style["typo_rate"] < 0.01
