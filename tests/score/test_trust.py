"""The stamp a grading leaves: what counts as gold, the two floors, one line, and what `require` refuses."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, JudgeError
from whileai_hf.rows import open_rows, view
from whileai_hf.score.gold import Gold, TrustStatus, as_numbers, confusion_of, read_gold
from whileai_hf.score.trust import check_trust, expect_gold, stamp_trust, stamped_trust, trust_line, trust_of


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([1]), st.just(10**400)
)


def labelled(pairs, kind="human"):
    """Rows of (reward, gold)."""
    return [{"task_id": at, "reward": r, "gold_reward": g, "gold_kind": kind} for at, (r, g) in enumerate(pairs)]


def stamp(rows, trust=None):
    values = {"reward": [row.get("reward") for row in rows], "judge_meta": [None] * len(rows)}
    return stamp_trust(view(rows), values, trust), values["judge_meta"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60))
def test_numbers_as_scipy_and_scikit_learn_have_them(pairs):
    metrics, scipy = pytest.importorskip("sklearn.metrics"), pytest.importorskip("scipy.stats")
    rewards, gold = (list(values) for values in zip(*pairs, strict=True))
    counts = confusion_of(read_gold(view(labelled(pairs))), rewards)
    assert counts.n == len(pairs)
    assert counts.agreement == metrics.accuracy_score(gold, rewards)
    exact = scipy.binomtest(sum(a == b for a, b in pairs), len(pairs)).proportion_ci(method="wilson")
    assert counts.interval == pytest.approx((exact.low, exact.high), abs=1e-9)
    if len(set(gold)) == 2:
        assert counts.kappa == pytest.approx(metrics.cohen_kappa_score(gold, rewards), abs=1e-9)
    else:
        assert counts.kappa is None


@given(st.lists(CELLS, max_size=20))
def test_whatever_stands_in_the_columns(cells):
    rows = [{"reward": cell, "gold_reward": cell, "gold_kind": cell} for cell in cells]
    if not rows:
        return
    found = trust_of(rows, allow_model_gold=True)
    expected = sum(isinstance(cell, bool | int | float) and cell in (0, 1) for cell in cells)
    assert found["n_gold"] == expected
    json.dumps(found, allow_nan=False)
    for value in as_numbers(cells):
        assert math.isnan(value) or math.isfinite(value)


def test_gold_is_what_people_wrote():
    rows = [
        {"reward": 1, "gold_reward": 1, "gold_kind": "human"},
        {"reward": 1, "gold_reward": 1, "gold_kind": "model"},
        {"reward": 1, "gold_reward": 1},
        {"reward": 1, "gold_reward": 1, "gold_kind": ""},
        {"reward": 1, "gold_reward": 0.5, "gold_kind": "human"},
        {"reward": 1, "gold_reward": math.nan, "gold_kind": "human"},
        {"reward": 1, "gold_reward": "1", "gold_kind": "human"},
        {"reward": 1},
    ]
    for source in (rows, open_rows([row for row in rows if row.get("gold_reward") != "1"])):
        gold = read_gold(view(source))
        assert gold.index.tolist() == [0]
        assert gold.by_kind == {"human": 1, "model": 1, "unknown": 2}
        assert (gold.refused, gold.not_binary) == (3, 1)
        assert read_gold(view(source), allow_model_gold=True).index.tolist() == [0, 1, 2, 3]
    assert trust_of(rows)["n_gold"] == 1
    assert trust_of(rows, allow_model_gold=True)["n_gold"] == 4


@pytest.mark.parametrize(
    "pairs, status",
    [
        ([], "not_measured"),
        ([(None, 1)] * 60, "not_measured"),
        ([(math.nan, 0)] * 60, "not_measured"),
        ([(1, 1), (0, 0)] * 30, "trusted"),
        ([(1, 1), (0, 0)] * 5, "not_trusted"),  # ten labels do not show 80%
        ([(1, 1), (0, 1)] * 30, "not_trusted"),
        ([(1, 1)] * 60, "not_measured"),  # one class: kappa cannot be had
        ([(0, 1)] * 60, "not_trusted"),  # that does not save a judge that disagrees
        ([(1, 1)] * 95 + [(1, 0)] * 5, "not_trusted"),  # 95% off the base rate, kappa 0
    ],
)
def test_status(pairs, status):
    found = trust_of([*labelled(pairs), {"task_id": "other", "reward": 1}])
    assert found["status"] == status
    assert found["ok"] is (status == "trusted")
    assert list(found) == ["agreement", "agreement_low", "kappa", "n_gold", "ok", "status"]


def test_agreement_off_the_base_rate_is_none(load_case):
    case = load_case("O028")
    pairs = list(zip(case["input"]["judge"], case["input"]["gold"], strict=True))
    found = trust_of(labelled(pairs))
    expected = case["expected"]
    assert (found["agreement"], found["kappa"], found["ok"]) == (
        expected["agreement"],
        expected["kappa"],
        expected["ok"],
    )


def test_threshold():
    rows = labelled([(0.75, 1), (0.5, 0)] * 30)
    assert trust_of(rows)["agreement"] == 0.5
    assert trust_of(rows, threshold=0.7)["agreement"] == 1.0


def test_the_line_names_numbers_floors_and_what_to_do():
    line, metas = stamp(labelled([(1, 1), (1, 0)] * 30))
    assert "0.50" in line and "floor 0.80" in line and "kappa 0.00 (floor 0.60)" in line and "rubric" in line
    assert all(meta["trust"]["status"] == "not_trusted" for meta in metas)
    line, _ = stamp(labelled([(1, 1), (0, 0)] * 5))
    assert "label more rows" in line
    line, metas = stamp(labelled([(1, 1), (0, 0)] * 30))
    assert line is None and metas[0]["trust"]["ok"] is True
    line, _ = stamp(labelled([(1, 1)] * 60))
    assert "half measured" in line
    line, metas = stamp([{"reward": 1}] * 3)
    assert "no row has a human label" in line and metas == [None] * 3
    line, _ = stamp(labelled([(1, 1)] * 60, kind="model"))
    assert "60 labels are not known to be a person's" in line
    line, _ = stamp(labelled([(None, 1)] * 3))
    assert "no verdict on the 3 labelled rows" in line


def test_the_stamp_leaves_unjudged_rows_and_shared_metadata_alone():
    rows = labelled([(1, 1), (None, 0), (0, 0), (1, 1)])
    shared, own = {"model": "m"}, {"model": "m", "note": 1, "trust": "the judge's own"}
    values = {"reward": [1, None, 0, 1], "judge_meta": [shared, shared, shared, own]}
    stamp_trust(view(rows), values, None)
    first, unjudged, third, last = values["judge_meta"]
    assert first is third and first["trust"]["n_gold"] == 3
    assert unjudged is shared and shared == {"model": "m"}
    assert last == {"model": "m", "note": 1, "trust": first["trust"]} and own["trust"] == "the judge's own"
    assert stamped_trust(values["judge_meta"]) == first["trust"]
    assert stamped_trust([first, {"trust": {"ok": True}}]) is None
    assert stamped_trust([None, {}, 3]) is None


def test_off_and_require():
    bad, good = labelled([(1, 1), (1, 0)] * 30), labelled([(1, 1), (0, 0)] * 30)
    line, metas = stamp(bad, "off")
    assert line is None and metas == [None] * 60
    with pytest.raises(JudgeError, match=r"trust='require', but the judge is not to be trusted.*floor 0\.80"):
        stamp(bad, "require")
    assert stamp(good, "require")[0] is None
    expect_gold(view(good), "require")
    for trust in (None, "off"):
        expect_gold(view([{"reward": 1}]), trust)
    with pytest.raises(JudgeError, match="no row has a human label"):
        expect_gold(view([{"reward": 1}]), "require")
    with pytest.raises(JudgeError, match="3 labels are not known"):
        expect_gold(view(labelled([(1, 1)] * 3, kind="model")), "require")
    for trust in (None, "off", "require"):
        check_trust(trust)
    with pytest.raises(ConfigurationError, match="'strict' is not known"):
        check_trust("strict")


def test_a_trusted_judge_needs_no_line():
    summary = trust_of(labelled([(1, 1), (0, 0)] * 30))
    assert summary["status"] == TrustStatus.TRUSTED
    assert trust_line(summary, Gold(np.arange(60), np.ones(60, bool), {"human": 60}, 0, 0)) is None
