"""Other people's judges beside their own labels: LLMBar's in both orders, PandaLM's two, and people themselves.

LLMBar publishes for every judge how often it is right in each order, how often the two orders agree, and their kappa;
PandaLM the kappas of its three annotators. A judge that changes its mind with the order is known to read position.
"""

import json
from collections import Counter

import pytest

from whileai_hf.measure.trust import annotator_agreement, judge_agreement, judge_trust
from whileai_hf.stats import cohen_kappa


# Share of pairs whose verdict survives swapping the outputs, under which a judge is called position-biased.
STEADY = 0.85


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "real" / "judge"


@pytest.fixture(scope="module")
def llmbar(folder):
    """`(published statistics, rows)` by judge; a row is a pair in one order, a pass that the first is better."""
    pairs = {}
    for name in ("llmbar_natural", "llmbar_adversarial_manual"):
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            pairs.setdefault(pair["id"].partition("#")[0], []).append(pair)
    published = json.loads((folder / "llmbar_published_statistics.json").read_text(encoding="utf-8"))
    found = {}
    for name, statistics in published.items():
        data_set, model, prompt = name.split("|")
        if prompt != "Rating":  # rates one output at a time and knows no order
            judge = f"{model}/{prompt}"
            rows = [row(pair, judge, order) for pair in pairs[data_set] for order in ("as_given", "swapped")]
            found[name] = (statistics, rows)
    return found


def row(pair, judge, order):
    first = "1" if order == "as_given" else "2"
    winner = pair["judges"][judge][order]["winner"]
    return {
        "scenario_id": pair["id"],
        "prompt": pair["input"],
        "final_text": pair["output_1" if first == "1" else "output_2"],
        "rollout_index": int(order == "swapped"),
        "reward": None if winner is None else float(winner == first),
        "gold_reward": float(str(pair["label"]) == first),
        "gold_kind": "human",
    }


def share(text):
    """`92 / 100 = 92.0%`."""
    right, total = text.partition("=")[0].split("/")
    return int(right), int(total)


def test_agreement_as_published(llmbar):
    assert len(llmbar) == 24
    for name, (statistics, rows) in llmbar.items():
        for order, key in ((0, "correct_False"), (1, "correct_True")):
            found = judge_agreement([row for row in rows if row["rollout_index"] == order])
            right, total = share(statistics[key])
            counts = found.confusion
            assert counts["both_pass"] + counts["both_fail"] == right, name
            assert found.n + found.n_unjudged == total, name


def test_the_judge_against_itself_as_published(llmbar):
    """The kappa between the two orders: the second scoring of the same pairs as gold."""
    checked = 0
    for name, (statistics, rows) in llmbar.items():
        if any(row["reward"] is None for row in rows):
            continue  # theirs counts an unreadable verdict as a third category
        first = [row for row in rows if row["rollout_index"] == 0]
        second = [
            {**row, "reward": 1 - row["reward"], "rollout_index": 0, "gold_reward": None}
            for row in rows
            if row["rollout_index"]
        ]
        found = judge_agreement(first, gold=second)
        assert found.kappa == pytest.approx(statistics["kappa_agreement"], abs=1e-9), name
        same, total = share(statistics["equal"])
        assert (found.confusion["both_pass"] + found.confusion["both_fail"], found.n) == (same, total), name
        checked += 1
    assert checked == 19


def test_judges_that_read_position_do_not_pass(llmbar):
    """Over both orders, so that always preferring one place is right half of the time."""
    verdicts = {}
    for name, (statistics, rows) in llmbar.items():
        same, total = share(statistics["equal"])
        found = judge_trust(rows)
        verdicts[name] = found.ok
        if same / total < STEADY:
            assert found.status == "not_trusted" and "agreement" in found.flags, name
    assert sum(verdicts.values()) == 3
    assert all(ok == (name.startswith("LLMBar/Natural|GPT-4")) for name, ok in verdicts.items())


@pytest.fixture(scope="module")
def pandalm(folder):
    return [json.loads(line) for line in (folder / "pandalm_testset.jsonl").read_text("utf-8").splitlines()]


def wins(pair, said, response):
    """A label or verdict as whether this response is the better one; "garbage" is none."""
    return float(str(said) == str(response)) if str(said) in ("0", "1", "2", "Tie") else None


@pytest.mark.parametrize("response", [1, 2])
def test_people_pass_and_pandalms_judges_do_not(pandalm, response):
    metrics = pytest.importorskip("sklearn.metrics")
    majority = [Counter(pair["human"]).most_common(1)[0][0] for pair in pandalm]

    def trust(verdicts, labels):
        rows = [
            {
                "task_id": at,
                "prompt": pair["instruction"],
                "reward": verdict,
                "gold_reward": label,
                "gold_kind": "human",
            }
            for at, (pair, verdict, label) in enumerate(zip(pandalm, verdicts, labels, strict=True))
        ]
        return judge_trust(rows)

    people = [wins(pair, winner, response) for pair, winner in zip(pandalm, majority, strict=True)]
    for who in range(3):
        found = trust(people, [wins(pair, pair["human"][who], response) for pair in pandalm])
        assert found.ok and found.flags == []
    for judge, unjudged in (("judge_gpt35", 8), ("judge_pandalm7b", 0)):
        verdicts = [wins(pair, pair[judge], response) for pair in pandalm]
        found = trust(verdicts, people)
        judged = [at for at, verdict in enumerate(verdicts) if verdict is not None]
        expected = metrics.cohen_kappa_score([people[at] for at in judged], [verdicts[at] for at in judged])
        assert found.kappa == pytest.approx(expected, abs=1e-9)
        assert found.status == "not_trusted" and set(found.flags) >= {"agreement", "kappa"}
        assert found.n_unjudged == unjudged


def test_kappas_of_pandalms_annotators(pandalm):
    """All three categories by the statistic; pass or fail by the report."""
    found = {
        (one, other): cohen_kappa(*([pair["human"][at] for pair in pandalm] for at in (one, other)))
        for one, other in ((0, 1), (0, 2), (1, 2))
    }
    assert {pair: round(kappa, 2) for pair, kappa in found.items()} == {(0, 1): 0.85, (0, 2): 0.89, (1, 2): 0.9}
    rows = [
        {
            "gold_labels": [
                {"annotator": f"a{who}", "label": int(said == 1), "kind": "human"}
                for who, said in enumerate(pair["human"])
            ]
        }
        for pair in pandalm
    ]
    report = annotator_agreement(rows)
    metrics = pytest.importorskip("sklearn.metrics")
    for pair in report.pairs:
        labels = [[int(row["human"][int(name[1])] == 1) for row in pandalm] for name in (pair.first, pair.second)]
        assert pair.kappa == pytest.approx(metrics.cohen_kappa_score(*labels), abs=1e-9)
        assert pair.n == 420
    assert report.alpha > 0.85
