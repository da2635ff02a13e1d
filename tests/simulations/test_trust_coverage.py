"""How often intervals of a judge's rate cover what people say, by resampling real judgments and people's labels.

Run as a program, with the folder of the judgments, it writes `trust_coverage.json` beside itself.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from whileai_hf.measure.trust import corrected_rate, judge_trust
from whileai_hf.stats import wilson
from whileai_hf.stats.rectified import ppi_mean, rogan_gladen


RESULTS = Path(__file__).with_name("trust_coverage.json")
# Rows the judge grades in one evaluation.
ROWS = 420
LABELS = (30, 60, 100)
TRIALS = 1000
# The judge of rollouts that hang together.
SENSITIVITY, SPECIFICITY = 0.9, 0.75


def real_judges(folder):
    """`(people, judge)` as arrays of 0 and 1 for each real judge: does it prefer the first output, and do people."""
    pandalm = [json.loads(line) for line in (folder / "pandalm_testset.jsonl").read_text("utf-8").splitlines()]
    found = {}
    for judge in ("judge_gpt35", "judge_pandalm7b"):
        for response in (1, 2):
            people = [Counter(pair["human"]).most_common(1)[0][0] == response for pair in pandalm]
            found[f"PandaLM {judge[6:]} response {response}"] = (
                people,
                [str(p[judge]) == str(response) for p in pandalm],
            )
    for name in ("llmbar_natural", "llmbar_adversarial_manual"):
        pairs = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]
        for judge in pairs[0]["judges"]:
            if judge.endswith("Rating"):
                continue
            said = [(p["label"] == 1, p["judges"][judge]["as_given"]["winner"]) for p in pairs]
            found[f"{name} {judge}"] = tuple(zip(*((y, w == "1") for y, w in said if w is not None), strict=True))
    return {name: (np.array(y, float), np.array(f, float)) for name, (y, f) in found.items()}


def coverage(people, judge, labels, trials, seed=0):
    """Shares of evaluations whose interval holds the people's rate: of the judge's mean, PPI++, Rogan-Gladen."""
    generator = np.random.default_rng(seed)
    truth = people.mean()
    held = Counter()
    width = 0.0
    for _ in range(trials):
        drawn = generator.integers(0, people.size, ROWS)
        y, f = people[drawn], judge[drawn]
        low, high = wilson(int(f.sum()), ROWS)
        held["raw"] += low <= truth <= high
        low, high = ppi_mean(y[:labels], f[:labels], f[labels:]).interval
        held["ppi"] += low <= truth <= high
        width += high - low
        own, said = y[:labels] == 1, f[:labels] == 1
        inverse = rogan_gladen(
            int(f.sum()),
            ROWS,
            (int((own & said).sum()), int(own.sum())),
            (int((~own & ~said).sum()), int((~own).sum())),
        )
        if inverse is not None:
            held["rogan_gladen_n"] += 1
            held["rogan_gladen"] += inverse[1][0] <= truth <= inverse[1][1]
    found = {name: round(held[name] / trials, 4) for name in ("raw", "ppi")}
    tried = held["rogan_gladen_n"]
    return {
        **found,
        "ppi_width": round(width / trials, 4),
        "rogan_gladen": round(held["rogan_gladen"] / tried, 4) if tried else None,
        "rogan_gladen_given": round(tried / trials, 4),
    }


def clustered(tasks, k, labels, spread, trials, seed=0):
    """
    Shares of evaluations of `k` rollouts of each task whose intervals hold the truth: what the judge would pass of all
    there is for `raw`, what people would for the others. Tasks' pass rates are drawn from Beta(*spread).
    """
    generator = np.random.default_rng(seed)
    rate = spread[0] / sum(spread)
    truth = dict.fromkeys(("labels", "corrected", "rogan_gladen"), rate)
    truth["raw"] = rate * SENSITIVITY + (1 - rate) * (1 - SPECIFICITY)
    held, given = Counter(), Counter()
    for _ in range(trials):
        easy = generator.beta(*spread, tasks)
        people = (generator.random((tasks, k)) < easy[:, None]).ravel()
        right, wrong = (generator.random(people.size) < share for share in (SENSITIVITY, 1 - SPECIFICITY))
        judge = np.where(people, right, wrong)
        rows = [{"task_id": at // k, "rollout_index": at % k, "reward": int(said)} for at, said in enumerate(judge)]
        for at in generator.permutation(people.size)[:labels].tolist():
            rows[at] |= {"gold_reward": int(people[at]), "gold_kind": "human"}
        found = corrected_rate(rows, random=True)
        for name, value in truth.items():
            ends = found[f"{name}_ci95"]
            given[name] += ends is not None
            held[name] += ends is not None and ends[0] <= value <= ends[1]
    return {name: round(held[name] / given[name], 4) for name in sorted(truth)}


def clustered_all(trials):
    """Rollouts that hang together, from tasks of all kinds to tasks that mostly pass or fail always."""
    return {
        f"tasks={tasks} k={k} labels={labels} beta={spread}": clustered(tasks, k, labels, spread, trials)
        for tasks, k, labels in ((30, 8, 60), (30, 8, 240), (60, 4, 60))
        for spread in ((1.0, 1.0), (0.3, 0.3), (2.0, 0.5))
    }


def passing(agreement, labels, trials, seed=0):
    """How often a judge of this true agreement is called trusted, and how often one of its extra checks fires."""
    generator = np.random.default_rng(seed)
    trusted = extra = 0
    for _ in range(trials):
        gold = generator.integers(0, 2, labels)
        reward = np.where(generator.random(labels) < agreement, gold, 1 - gold)
        lengths = generator.integers(5, 60, labels)
        found = judge_trust(
            [
                {
                    "task_id": at,
                    "reward": int(r),
                    "gold_reward": int(g),
                    "gold_kind": "human",
                    "final_text": "x" * int(n),
                }
                for at, (r, g, n) in enumerate(zip(reward, gold, lengths, strict=True))
            ]
        )
        trusted += found.ok
        extra += bool({"halves", "length"} & set(found.flags))
    return {"trusted": round(trusted / trials, 4), "halves_or_length_flagged": round(extra / trials, 4)}


def simulate(folder, trials=TRIALS):
    """Everything the file holds."""
    judges = real_judges(folder)
    return {
        "rows": ROWS,
        "trials": trials,
        "coverage": {
            name: {str(labels): coverage(*judges[name], labels, trials) for labels in LABELS}
            for name in sorted(judges)
        },
        "passing": {
            f"agreement {agreement}": {str(labels): passing(agreement, labels, trials // 2) for labels in (50, 100)}
            for agreement in (0.7, 0.8, 0.9, 0.95)
        },
        "clustered": clustered_all(trials // 2),
    }


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "real" / "judge"


def kept():
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def check(results, slack=0.0):
    """What the numbers have to show; `slack` is for few trials."""
    by_name = results["coverage"]
    for name, found in by_name.items():
        for labels, shares in found.items():
            assert shares["ppi"] >= 0.925 - slack, (name, labels)
            if shares["rogan_gladen_given"] > 0.5:
                assert shares["rogan_gladen"] >= 0.925 - slack, (name, labels)
    raw = np.mean([found["60"]["raw"] for found in by_name.values()])
    assert raw < 0.75, "the judge's own interval covers what people say far less often than it says"
    for agreement, most in (("0.7", 0.01), ("0.8", 0.03)):
        for shares in results["passing"][f"agreement {agreement}"].values():
            assert shares["trusted"] <= most + slack
    for shares in (results["passing"]["agreement 0.95"]["100"], results["passing"]["agreement 0.9"]["100"]):
        assert shares["halves_or_length_flagged"] <= 0.03 + slack
    assert results["passing"]["agreement 0.95"]["100"]["trusted"] >= 0.9 - slack
    for name, shares in results["clustered"].items():
        assert min(shares.values()) >= 0.915 - slack, name


def test_a_few_trials_on_rollouts_that_hang_together():
    found = clustered(30, 8, 60, (0.3, 0.3), trials=60, seed=5)
    assert min(found.values()) >= 0.85, found  # independent rows would cover 65 to 80%


def test_kept_results():
    check(kept())


def test_a_few_trials_on_real_judges(folder):
    """Three judges, few trials, against what is kept of many."""
    judges, results = real_judges(folder), kept()
    for name in ("PandaLM gpt35 response 1", "llmbar_natural GPT-4/CoT", "llmbar_adversarial_manual ChatGPT/CoT"):
        found = coverage(*judges[name], 60, trials=200, seed=7)
        before = results["coverage"][name]["60"]
        assert found["ppi"] >= 0.925
        assert found["raw"] == pytest.approx(before["raw"], abs=0.12)
        assert found["ppi_width"] == pytest.approx(before["ppi_width"], rel=0.05)


@pytest.mark.slow
def test_all_of_them_again(folder):
    found = simulate(folder)
    check(found)
    assert found == kept()


if __name__ == "__main__":
    found = simulate(Path(sys.argv[1]))
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
