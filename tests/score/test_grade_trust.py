"""`grade(trust=)`: the stamp, the line, and what `require` refuses before and after a judge is asked."""

import logging

import pytest

from whileai_hf.errors import ConfigurationError, JudgeError
from whileai_hf.rows import open_rows
from whileai_hf.score import grade, grade_report


def rows(n=60, kind="human"):
    return [
        {"task_id": at, "final_text": "yes" if at % 2 else "no", "gold_reward": at % 2, "gold_kind": kind}
        for at in range(n)
    ]


def judge(row):
    return {"reward": row["final_text"] == "yes", "note": row["task_id"]}


@pytest.mark.parametrize("make", [list, open_rows])
def test_the_stamp_and_the_report(make, caplog):
    with caplog.at_level(logging.WARNING):
        done = grade(make(rows()), judge, trust="require")
    assert not caplog.text
    stamps = [meta["trust"] for meta in done["judge_meta"]]
    assert stamps[0]["ok"] is True and stamps[0]["n_gold"] == 60 and all(stamp == stamps[0] for stamp in stamps)
    assert done[3]["judge_meta"]["note"] == 3
    report = grade_report(done)
    assert report.trust["status"] == "trusted" and "kappa 1.00" in str(report)
    off = grade(make(rows()), judge, trust="off")
    assert "trust" not in off[0]["judge_meta"] and grade_report(off).trust is None


def test_require_spends_no_call_without_labels():
    def never(row):
        raise AssertionError

    with pytest.raises(JudgeError, match="no row has a human label"):
        grade(rows(kind="model"), never, trust="require")
    with pytest.raises(JudgeError, match="not to be trusted"):
        grade(rows(), lambda row: 1, trust="require")
    with pytest.raises(ConfigurationError, match="trust='x'"):
        grade(rows(), judge, trust="x")


def test_one_line_without_labels(caplog):
    with caplog.at_level(logging.WARNING):
        done = grade([{"final_text": "x"}], lambda row: 1)
    assert caplog.text.count("the judge was not measured") == 1
    assert grade_report(done).trust is None
