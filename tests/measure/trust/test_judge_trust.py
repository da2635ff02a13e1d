"""Judge trust: the floors, what labels show beside agreement, asking again, and three states kept apart."""

import json
import math

import numpy as np
import pytest

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.trust import judge_trust
from whileai_hf.measure.trust.bias import compare_strata, half_of, length_bias
from whileai_hf.measure.trust.goldrows import read_gold_rows
from whileai_hf.rows import open_rows


def rows_of(n=100, wrong=0.05, seed=0, **more):
    """Graded and labelled rows; the judge errs on a share of them."""
    generator = np.random.default_rng(seed)
    rows = []
    for at in range(n):
        gold = at % 2
        reward = 1 - gold if generator.random() < wrong else gold
        text = "word " * int(generator.integers(5, 50))
        row = {"scenario_id": f"sc-{at}", "prompt": f"ask {at}", "final_text": text, "reward": float(reward)}
        rows.append({**row, "gold_reward": gold, "gold_kind": "human", **more})
    return rows


def test_a_good_judge_passes():
    for source in (rows_of(), open_rows(rows_of())):
        found = judge_trust(source)
        assert found.ok and found.status == "trusted" and found.flags == []
        assert found["agreement"] == found.agreement and found.ci95[0] >= 0.8 and found.kappa >= 0.6
        assert found.halves.tune.n + found.halves.read.n == found.n_gold == 100
        assert found.length is not None and not found.length.flagged
        assert (found.consistency, found.filler, found.probes) == (None, None, None)
        assert "TRUSTED" in str(found) and "a constant answer agrees on 0.50" in str(found)
        json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("wrong, flags", [(0.14, ["agreement"]), (0.5, ["agreement", "kappa"])])
def test_a_bad_judge_fails(wrong, flags):
    found = judge_trust(rows_of(wrong=wrong))
    assert not found.ok and found.status == "not_trusted" and found.flags == flags
    assert "NOT TRUSTED" in str(found) and found.warnings


def test_agreement_off_the_base_rate_does_not_pass():
    rows = [{"task_id": at, "reward": 1, "gold_reward": int(at % 20 > 0), "gold_kind": "human"} for at in range(200)]
    found = judge_trust(rows)
    assert found.agreement == 0.95 == found.baseline and found.kappa == 0.0
    assert found.flags == ["kappa"] and found.pass_when_gold_fail == 1.0


def test_not_measured_is_a_state_of_its_own():
    unlabelled = [{"task_id": 1, "reward": 1.0}]
    found = judge_trust(unlabelled)
    assert (found.status, found.ok, found.n_gold, found.agreement, found.flags) == ("not_measured", False, 0, None, [])
    assert "NOT MEASURED" in str(found) and "no row has a label" in str(found)
    ungraded = judge_trust(rows_of(4, reward=None))
    assert ungraded.status == "not_measured" and "none of the 4 labelled rows has a verdict" in ungraded.notes[0]
    nan = judge_trust(rows_of(4, reward=math.nan))
    assert nan.status == "not_measured" and nan.n_unjudged == 4
    with pytest.raises(MissingColumnError, match="grade the rows first"):
        judge_trust([{"task_id": 1, "gold_reward": 1}])
    with pytest.raises(DataError, match="empty"):
        judge_trust([])
    assert found.to_dict().keys() == judge_trust(rows_of()).to_dict().keys()


@pytest.mark.parametrize("kind", ["model", None, "program"])
def test_labels_of_nobody_are_refused(kind):
    rows = rows_of(60, wrong=0, gold_kind=kind)
    found = judge_trust(rows)
    assert found.status == "not_measured" and found.n_refused == 60 and found.by_kind == {kind or "unknown": 60}
    assert "allow_model_gold=True" in found.notes[0]
    allowed = judge_trust(rows, allow_model_gold=True)
    assert allowed.ok and allowed.n_refused == 0
    assert any("two models may share a mistake" in note for note in allowed.notes)
    mixed = judge_trust(rows + rows_of(60, wrong=0))
    assert mixed.n_gold == 60 and mixed.by_kind == {kind or "unknown": 60, "human": 60}


def test_one_class_only():
    rows = [row for row in rows_of(200, wrong=0) if row["gold_reward"]]
    found = judge_trust(rows)
    assert (found.kappa, found.length, found.status, found.ok) == (None, None, "not_measured", False)
    assert found.agreement == 1.0 and "gold has passes only" in " ".join(found.notes)
    failing = judge_trust([{**row, "reward": 0.0} for row in rows])
    assert failing.status == "not_trusted"


def test_few_labels_say_so_and_unjudged_ones_count():
    found = judge_trust(rows_of(30, wrong=0))
    assert any("50 are the floor" in note for note in found.notes)
    rows = rows_of(100, wrong=0)
    for row in rows[:15]:
        row["reward"] = None
    for row in rows[15:20]:
        row["judge_status"] = "error"
    found = judge_trust(rows)
    assert found.n_unjudged == 20 and found.n_gold == 80 and found.flags == ["unjudged"]
    spoilt = judge_trust([{**row, "sim_ok": at % 4 > 0} for at, row in enumerate(rows_of(100, wrong=0))])
    assert spoilt.n_gold == 75 and any("sim_ok" in note for note in spoilt.notes)


def test_rollouts_of_one_task_are_said_to_be():
    rows = [{**row, "scenario_id": f"sc-{at // 4}"} for at, row in enumerate(rows_of())]
    assert any("100 labelled rows are of 25 tasks" in note for note in judge_trust(rows).notes)


def test_a_judge_that_reads_length():
    """Within the same label it passes what is long."""
    generator = np.random.default_rng(1)
    rows = rows_of(200, wrong=0)
    for row in rows:
        long = len(row["final_text"]) > 130
        if generator.random() < 0.25:
            row["reward"] = float(long)
    found = judge_trust(rows)
    assert found.length.flagged and found.length.gap > 0.15 and "length" in found.flags
    assert not found.ok and any("reads length" in warning for warning in found.warnings)
    # Labels that go with length are no bias of the judge.
    fair = [
        {**row, "final_text": "word " * (50 if row["gold_reward"] else 5), "reward": row["gold_reward"]}
        for row in rows
    ]
    for at, row in enumerate(fair):
        row["final_text"] += "x" * (at % 9)
    assert not judge_trust(fair).length.flagged


def test_length_where_it_cannot_be_told():
    rows = rows_of(60, wrong=0, final_text=None)
    assert judge_trust(rows).length is None
    assert any("length bias is not measured" in note for note in judge_trust(rows).notes)
    assert judge_trust(rows_of(60, wrong=0, final_text="same")).length is None
    mixed = [{**row, "final_text": [row["final_text"]]} for row in rows_of(60)]
    assert length_bias(read_gold_rows(mixed, 1.0, False, "final_text")) is None


def test_the_test_of_strata():
    """One stratum: (n-1)/n of Pearson's chi-square without correction; and the null is kept over two."""
    scipy = pytest.importorskip("scipy.stats")
    for a, long, c, short in ((14, 20, 6, 18), (3, 9, 5, 11), (10, 12, 11, 12)):
        found = compare_strata(np.array([[a, long, c, short]]))
        table = [[a, long - a], [c, short - c]]
        n = long + short
        statistic = scipy.chi2_contingency(table, correction=False).statistic * (n - 1) / n
        assert found.p == pytest.approx(scipy.chi2.sf(statistic, 1), abs=1e-12)
        assert found.gap == pytest.approx(a / long - c / short)
    generator = np.random.default_rng(0)
    draws = generator.binomial(15, [[0.9, 0.9], [0.2, 0.2]], size=(500, 2, 2))
    tables = [[[one[0], 15, one[1], 15] for one in draw] for draw in draws]
    assert np.mean([compare_strata(np.array(table)).p < 0.05 for table in tables]) < 0.08


def test_halves_are_of_tasks_and_stay():
    assert {half_of(key) for key in range(20)} == {0, 1}
    assert half_of("sc-1") == half_of("sc-1")
    rows = [{**row, "scenario_id": f"sc-{at // 4}"} for at, row in enumerate(rows_of(400))]
    before = judge_trust(rows).halves
    shuffled = judge_trust([rows[at] for at in np.random.default_rng(0).permutation(400)]).halves
    assert before == shuffled and before.tune.n % 4 == 0
    # A judge that was tuned on one half.
    for row in rows:
        row["reward"] = float(row["gold_reward"] if half_of(row["scenario_id"]) == 0 else 1 - row["gold_reward"] * 0.5)
    found = judge_trust(rows, threshold=0.75)
    assert found.halves.flagged and "halves" in found.flags
    few = judge_trust(rows_of(12)).halves
    assert few.gap is None and not few.flagged


def test_the_queue_puts_passed_failures_first():
    rows = rows_of(20, wrong=0)
    rows[1] |= {"reward": 0.0, "reason": "no receipt"}
    rows[2] |= {"reward": 1.0, "final_text": "z" * 5000}
    rows[4] |= {"reward": 1.0, "prompt": [{"role": "user", "content": "Where is it?"}]}
    found = judge_trust(rows)
    assert [entry["row"] for entry in found.queue] == [2, 4, 1] and found.n_disagreements == 3
    assert [entry["gold"] for entry in found.queue] == [0.0, 0.0, 1.0]
    assert found.queue[2]["reason"] == "no receipt" and found.queue[1]["prompt"] == "Where is it?"
    assert len(found.queue[0]["reply"]) == 200
    assert found.queue == judge_trust(open_rows(rows)).queue or found.queue[1]["prompt"]
    many = judge_trust(rows_of(200, wrong=1))
    assert len(many.queue) == 50 and many.n_disagreements == 200


def test_asking_again():
    rows = rows_of(100, wrong=0)
    gold = {row["prompt"]: row["gold_reward"] for row in rows}
    seen = []

    def steady(row):
        seen.append(row)
        return gold[row["prompt"]]

    found = judge_trust(rows, judge=steady)
    assert found.ok and (found.consistency.n, found.consistency.flips, found.filler.flips) == (40, 0, 0)
    assert not any({"reward", "gold_reward", "gold_kind", "reason", "judge_meta"} & set(row) for row in seen)
    assert len(seen) == 80 and sum(len(row["final_text"]) > 600 for row in seen) == 40

    reads_length = judge_trust(rows, judge=lambda row: gold[row["prompt"]] or len(row["final_text"]) > 500)
    assert reads_length.flags == ["filler"] and reads_length.filler.to_pass == reads_length.filler.flips > 10
    assert not reads_length.ok and reads_length.status == "not_trusted"

    count = iter(range(10**6))
    moody = judge_trust(rows, judge=lambda row: next(count) % 3 == 0)
    assert "consistency" in moody.flags and moody.consistency.rate > 0.3

    def broken(row):
        raise RuntimeError("down")

    down = judge_trust(rows, judge=broken)
    assert down.consistency.n == 0 and down.consistency.unjudged == 40 and down.consistency.rate is None
    assert "not measured" in str(down.consistency)


def test_without_labels_the_judge_can_still_be_asked_again():
    rows = [{"task_id": at, "prompt": f"ask {at}", "final_text": "ok", "reward": 1.0} for at in range(50)]
    found = judge_trust(rows, judge=lambda row: len(row["final_text"]) < 100, sample=20)
    assert found.status == "not_measured" and found.filler.flips == 20 and found.flags == ["filler"]


def test_rows_keep_what_they_had():
    rows = rows_of(60, messages=[{"role": "assistant", "content": "hi"}])

    def vandal(row):
        row["messages"][0]["content"] = "changed"
        row.clear()
        return 1

    before = json.dumps(rows)
    judge_trust(rows, judge=vandal, probes="all")
    assert json.dumps(rows) == before


def test_arguments():
    rows = rows_of(10)
    with pytest.raises(ConfigurationError, match="pass judge="):
        judge_trust(rows, probes="all")
    with pytest.raises(ConfigurationError, match="both say whom to ask"):
        judge_trust(rows, judge=lambda row: 1, backend_spec="openai:x")
    with pytest.raises(ConfigurationError, match="cannot be called"):
        judge_trust(rows, judge=3)
    with pytest.raises(ConfigurationError, match="sample=0"):
        judge_trust(rows, judge=lambda row: 1, sample=0)
