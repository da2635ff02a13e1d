"""Rows whose agent quotes what only the judge may know."""

from __future__ import annotations

import pytest

import whileai_hf as wai
from whileai_hf.errors import MissingColumnError
from whileai_hf.markers.leak import leak_report


SENTENCE = "The parcel was returned to the depot by the second courier on Monday."
SECRET = {"hidden_state": SENTENCE, "reference": "says so"}


def one(text: str, secret: object = SECRET, **columns: object) -> dict:
    return {"prompt": "Where is it?", "final_text": text, "privileged": secret, **columns}


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE,
        "I know that THE PARCEL was returned\nto the depot by the second courier.",
        "**The parcel** was returned to the depot, by the second courier!",
    ],
)
def test_quotations(text: str) -> None:
    report = leak_report([one(text, scenario_id="sc-1", rollout_index=3)])
    assert report.n_leaks == 1 and report.leaks[0]["field"] == "hidden_state"
    assert f"sc-1 r3: hidden_state = {SENTENCE!r}" in str(report)


@pytest.mark.parametrize(
    "text", ["The parcel was returned to the depot yesterday.", "It says so.", "", None, "returned to the depot"]
)
def test_no_quotations(text: str | None) -> None:
    assert leak_report([one(text)]).n_leaks == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "seen",
    [
        {"prompt": f"Is it true? {SENTENCE}"},
        {"messages": [{"role": "system", "content": SENTENCE}, {"role": "user", "content": "Where is it?"}]},
        {"messages": [{"role": "user", "content": SENTENCE}]},
        {"steps": [{"tool": "get", "arguments": {}, "result": {"note": [SENTENCE]}}]},
    ],
)
def test_what_the_agent_could_have_seen_is_no_leak(seen: dict) -> None:
    assert leak_report([{**one(SENTENCE), **seen}]).n_leaks == 0


def test_arguments_of_calls_leak_too() -> None:
    steps = [{"tool": "note", "arguments": {"body": {"text": SENTENCE}}, "result": "ok"}]
    assert leak_report([one("Noted.", steps=steps)]).n_leaks == 1


def test_short_secrets() -> None:
    assert leak_report([one("The answer is blue-horse-4411.", {"reference": "blue-horse-4411"})]).n_leaks == 1
    short = leak_report([one("It is 42.", {"reference": "42"})])
    assert short.n_checked == 0 and "nothing to check" in str(short)


def test_nothing_to_check_is_said() -> None:
    report = leak_report([{"prompt": "x", "final_text": "y"}])
    assert (report.n_checked, report.share.rate) == (0, None)
    assert "checked 0 of 1 rows: nothing to check" in str(report)


def test_rows_without_context_are_counted() -> None:
    report = leak_report([one(SENTENCE), one("Fine."), {"prompt": "x", "final_text": SENTENCE}])
    assert str(report).startswith("checked 2 of 3 rows: 1 quoted privileged context (50%)")


def test_context_is_looked_up_in_the_tasks() -> None:
    tasks = [{"scenario_id": "sc-1", "prompt": "Where is it?", "privileged": SECRET}]
    row = {"scenario_id": "sc-1", "prompt": "Where is it?", "final_text": SENTENCE}
    assert leak_report([row], tasks=tasks).n_leaks == 1
    with pytest.raises(MissingColumnError):
        leak_report([row], tasks=[{"prompt": "x"}])


def test_the_seeded_agent_leaks_where_it_says_so(tools: list) -> None:
    rollouts = wai.simulate(wai.seeded_agent(tools), tools=tools, budget=400)
    report = leak_report(rollouts)
    assert report.n_checked == 400
    assert [leak["index"] for leak in report.leaks] == [
        at for at, kinds in enumerate(rollouts["seeded"]) if "leak" in kinds
    ]
