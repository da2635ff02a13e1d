"""The audit: another model than the grader reads a sample of passes and failures, or nobody does."""

import json

import pytest

from whileai_hf.actors import ScriptedModel
from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.trust import audit_grades
from whileai_hf.rows import open_rows


def rows_of(n=100, model="hf:Qwen/Qwen2.5-72B-Instruct", wrong=()):
    return [
        {
            "task_id": at,
            "prompt": f"ask {at}",
            "final_text": "good" if (at % 4 == 0) != (at in wrong) else "bad",
            "reward": float(at % 4 == 0),
            "judge_name": "judge",
            "judge_meta": {"model": model},
            "gold_reward": 1,
        }
        for at in range(n)
    ]


def honest(row):
    assert "reward" not in row and "gold_reward" not in row
    return {"reward": row["final_text"] == "good", "reason": f"it is {row['final_text']}"}


def test_grades_that_hold_and_grades_that_do_not():
    for source in (rows_of(), open_rows(rows_of())):
        found = audit_grades(source, auditor=honest)
        assert (found.n, found.agreement, found.kappa, found.queue) == (50, 1.0, 1.0, [])
        assert (found.grader, found.auditor) == (["hf:Qwen/Qwen2.5-72B-Instruct"], "honest")
        assert "graded by hf:Qwen/Qwen2.5-72B-Instruct, audited by honest" in str(found)
    wrong = {0, 4, 8, 12, 16, 1}
    found = audit_grades(rows_of(wrong=wrong), auditor=honest, n=100)
    assert (found.passed_wrongly, found.failed_wrongly) == (5 / 25, 1 / 75)
    assert {entry["row"] for entry in found.queue} == wrong
    assert found.queue[0]["auditor_says"] == "it is bad" and found.queue[0]["reward"] == 1.0
    assert found.warnings == [
        "20% of the passing grades are wrong to the auditor; read .queue before training on them"
    ]
    json.dumps(found.to_dict(), allow_nan=False)


def test_half_the_sample_are_passes():
    counts = []
    audit_grades(rows_of(), auditor=lambda row: counts.append(row["final_text"]) or 1, n=20)
    assert (counts.count("good"), counts.count("bad")) == (10, 10)
    few = [row for row in rows_of() if row["reward"] == 0 or row["task_id"] < 12]
    counts.clear()
    audit_grades(few, auditor=lambda row: counts.append(row["final_text"]) or 1, n=20)
    assert (counts.count("good"), counts.count("bad")) == (3, 17)
    counts.clear()
    audit_grades(few, auditor=lambda row: counts.append(row["final_text"]) or 1, n=500)
    assert len(counts) == len(few)


def test_never_the_graders_own_model(monkeypatch):
    monkeypatch.delenv("WHILEAI_JUDGE", raising=False)
    for same in ("openai:gpt-4.1", "gpt-4.1"):
        for way in ({"auditor": same}, {"backend_spec": same}):
            with pytest.raises(ConfigurationError, match="cannot audit itself; pass backend_spec="):
                audit_grades(rows_of(model="openai:gpt-4.1-2025-04-14"), **way)
    panel = [{**row, "judge_meta": {"members": [{"model": "a:x"}, {"model": "openai:gpt-4.1"}]}} for row in rows_of()]
    with pytest.raises(ConfigurationError, match="cannot audit itself"):
        audit_grades(panel, backend_spec="openai:gpt-4.1")

    def judge(row):
        return 1

    with pytest.raises(ConfigurationError, match="graded by judge, which cannot audit itself"):
        audit_grades([{**row, "judge_meta": None} for row in rows_of()], auditor=judge)


def test_the_default_is_the_other_hosted_model(monkeypatch):
    from whileai_hf.measure.trust import auditing

    asked = []
    monkeypatch.setattr(auditing, "ready_judge", lambda judge, rubric, rows: asked.append(judge.model.name) or honest)
    monkeypatch.setattr(auditing, "get_token", lambda: "token")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "token")
    monkeypatch.delenv("WHILEAI_JUDGE", raising=False)
    audit_grades(rows_of())
    audit_grades(rows_of(model="hf:meta-llama/Llama-3.3-70B-Instruct"))
    assert "llama" in asked[0].lower() and "qwen" in asked[1].lower()
    # A named judge that graded the rows gives way to a hosted one, and without a key to those there is nobody.
    monkeypatch.setenv("WHILEAI_JUDGE", "openai:gpt-4.1")
    audit_grades(rows_of(model="openai:gpt-4.1"))
    assert "llama" in asked[2].lower()
    monkeypatch.setattr(auditing, "get_token", lambda: None)
    with pytest.raises(ConfigurationError, match="all the models there are to ask; pass backend_spec="):
        audit_grades(rows_of(model="openai:gpt-4.1"))


def test_a_model_audits_by_a_rubric():
    said = json.dumps({"reason": "fine", "verdict": "pass"})
    found = audit_grades(rows_of(), auditor=ScriptedModel([said] * 50), rubric="It answers the question.")
    assert found.failed_wrongly == 1.0 and found.passed_wrongly == 0.0


def test_what_cannot_be_audited():
    with pytest.raises(DataError, match="no row has a grade"):
        audit_grades([{"task_id": 1, "reward": None}], auditor=honest)
    with pytest.raises(MissingColumnError):
        audit_grades([{"task_id": 1}], auditor=honest)
    with pytest.raises(ConfigurationError, match="n=0"):
        audit_grades(rows_of(), auditor=honest, n=0)
    with pytest.raises(ConfigurationError, match="both say who audits"):
        audit_grades(rows_of(), auditor=honest, backend_spec="openai:x")
    silent = audit_grades(rows_of(), auditor=lambda row: None)
    assert (silent.n, silent.unjudged, silent.agreement) == (0, 50, None) and "no grade could be audited" in str(
        silent
    )
    lone = audit_grades([row for row in rows_of() if row["reward"]], auditor=honest)
    assert lone.failed_wrongly is None and lone.passed_wrongly == 0.0 and "0.00 of passes" in str(lone)
