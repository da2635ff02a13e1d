"""Judgments that other people's judges wrote, read and counted again: LLMBar and PandaLM.

LLMBar publishes, for each judge, its verdict in both orders and statistics of them. PandaLM has three people's labels
and two judges'. What the texts say, what the pairs amount to and how far judges and people agree has to come out as it
was published.
"""

import json
import re
from collections import Counter
from typing import ClassVar

import pytest

from whileai_hf.actors.models import Completion
from whileai_hf.score.judges import read_choice
from whileai_hf.score.pairs import judge_pairs, pairwise_judge
from whileai_hf.stats import cohen_kappa


OTHER = {"1": "2", "2": "1", None: None}
# Judges that answer with the verdict and nothing else. The texts of the others are kept by their last 160 characters,
# in which the verdict is not always.
TERSE = re.compile(r"Vanilla_NoRules|Metrics_Reference")
CONCLUDES = re.compile(r"output \([ab]\) is better\.?\s*$", re.IGNORECASE)


@pytest.fixture(scope="module")
def judge_files(shared):
    return shared / "real" / "judge"


@pytest.fixture(scope="module")
def llmbar(judge_files):
    """Rows by data set."""
    found = {}
    for name in ("llmbar_natural", "llmbar_adversarial_manual"):
        for line in (judge_files / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.setdefault(row["id"].partition("#")[0], []).append(row)
    return found


@pytest.fixture(scope="module")
def published(judge_files):
    return json.loads((judge_files / "llmbar_published_statistics.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pandalm(judge_files):
    return [json.loads(line) for line in (judge_files / "pandalm_testset.jsonl").read_text("utf-8").splitlines()]


def said_by(rows, judge):
    """What a judge said about each row: the verdicts on the rows as given, and with the outputs swapped."""
    for row in rows:
        yield row, row["judges"][judge]["as_given"], row["judges"][judge]["swapped"]


def counts(rows):
    """LLMBar's counts out of judged pairs: right as given, right swapped, right in both, the same in both."""
    labels = [{1: "a", 2: "b"}[label] for label in rows["label"]]
    votes = rows["votes"]
    return {
        "correct_False": sum(vote["ab"] == label for vote, label in zip(votes, labels, strict=True)),
        "correct_True": sum(vote["ba"] == label for vote, label in zip(votes, labels, strict=True)),
        "correct_both": sum(winner == label for winner, label in zip(rows["winner"], labels, strict=True)),
        "equal": sum(vote["ab"] == vote["ba"] for vote in votes),
    }


def judged_pairs(rows, judge):
    """The pairs through `judge_pairs`, by a judge that says what was said in the order it is asked in."""
    given = {row["id"]: (first, second) for row, first, second in said_by(rows, judge)}

    def replayed(first, second):
        ident = first["prompt"].partition("\n")[0]
        as_given, swapped = given[ident]
        # Verdicts are kept by output, so "2" with the outputs swapped is the one that was shown first.
        winner = as_given["winner"] if first["number"] == 1 else OTHER[swapped["winner"]]
        return {"1": "A", "2": "B"}.get(winner)

    pairs = [
        {
            "prompt": f"{row['id']}\n{row['input']}",
            "output_1": {"final_text": row["output_1"], "number": 1},
            "output_2": {"final_text": row["output_2"], "number": 2},
            "label": row["label"],
        }
        for row in rows
    ]
    return judge_pairs(pairs, replayed, label="label")


class Replayed:
    """A model that answers with the text a judge wrote about the outputs in the order in which it is shown them."""

    name = "replayed"
    sampling: ClassVar[dict] = {}

    def __init__(self, texts, outputs):
        self.texts = texts
        self.outputs = outputs

    async def complete(self, messages, **options):
        shown = messages[-1]["content"]
        ident = re.search(r"LLMBar/\S+#\d+", shown)[0]
        first = shown.partition("BEGIN A>>")[2].rpartition("END A>>")[0]
        reply = first.partition(" AGENT>>\n")[2].rpartition("\n<<")[0]
        text = self.texts[ident][self.outputs[ident].index(reply)]
        return Completion({"role": "assistant", "content": text})


def published_counts(statistics):
    names = ("correct_False", "correct_True", "correct_both", "equal")
    return {name: int(statistics[name].partition("/")[0]) for name in names}


def test_every_published_count_comes_out(llmbar, published):
    assert len(published) == 28
    for name, statistics in published.items():
        data_set, judge, prompt = name.split("|")
        rows, report = judged_pairs(llmbar[data_set], f"{judge}/{prompt}")
        assert counts(rows) == published_counts(statistics), name
        n = len(rows)
        # Ours, in other words: a side wins when both orders say so, and orders that differ are ties.
        unread = sum(None in vote.values() for vote in rows["votes"])
        unread_twice = sum(set(vote.values()) == {None} for vote in rows["votes"])
        assert report.unjudged == unread
        assert report.position_flips == n - unread - (published_counts(statistics)["equal"] - unread_twice), name
        assert report.wins_a + report.wins_b == n - report.ties - unread
        right = report.agreement.accuracy * report.agreement.n
        assert round(right) == published_counts(statistics)["correct_both"], name


def test_every_published_kappa_comes_out(llmbar, published):
    """
    LLMBar compares the label (1 or 2) with "1" as 1 and everything else, "2" included, as 0. So its kappa of a judge
    that is always right is 1/3 for balanced labels, and not 1. Ours compares like with like.
    """
    for name, statistics in published.items():
        data_set, judge, prompt = name.split("|")
        rows = llmbar[data_set]
        labels = [row["label"] for row in rows]
        orders = list(said_by(rows, f"{judge}/{prompt}"))
        given = [int(first["winner"] == "1") for _, first, _ in orders]
        swapped = [int(second["winner"] == "1") for _, _, second in orders]
        theirs = {
            "kappa_False": cohen_kappa(given, labels),
            "kappa_True": cohen_kappa(swapped, labels),
            "kappa_agreement": cohen_kappa(given, swapped),
        }
        theirs["kappa_average"] = (theirs["kappa_False"] + theirs["kappa_True"]) / 2
        for statistic, value in theirs.items():
            assert value == pytest.approx(statistics[statistic], abs=1e-9), (name, statistic)
        report = judged_pairs(rows, f"{judge}/{prompt}")[1]
        if None not in [said["winner"] for _, *both in orders for said in both]:
            # Two categories without a missing one: recoding both orders alike changes nothing.
            assert report.agreement.orders_kappa == pytest.approx(statistics["kappa_agreement"], abs=1e-9), name
            numbers = [int(first["winner"]) for _, first, _ in orders]
            assert cohen_kappa(numbers, labels) > theirs["kappa_False"] or theirs["kappa_False"] < 0.05, name


def test_every_text_says_what_was_read_in_it(llmbar):
    """A text never gives the other label. It gives none only where the kept end of it has no verdict."""
    read = Counter()
    for rows in llmbar.values():
        for judge in rows[0]["judges"]:
            if "Rating" in judge:
                continue
            for row, given, swapped in said_by(rows, judge):
                for said, names in ((given, {"A": "1", "B": "2"}), (swapped, {"A": "2", "B": "1"})):
                    found = names.get(read_choice(said["text"], ("A", "B")).value)
                    where = (row["id"], judge, said["text"])
                    assert found in (said["winner"], None), where
                    if TERSE.search(judge) or CONCLUDES.search(said["text"]):
                        assert found == said["winner"], where
                    read[found == said["winner"]] += 1
    assert read[True] > 30 * read[False]


def test_texts_through_a_model_give_the_published_counts(llmbar, published):
    """The judges that answer with the verdict alone, from their very texts: prompt, reply, reading, both orders."""
    done = 0
    for name, statistics in published.items():
        data_set, judge, prompt = name.split("|")
        if not TERSE.search(prompt):
            continue
        rows = llmbar[data_set]
        texts = {
            row["id"]: (first["text"], second["text"]) for row, first, second in said_by(rows, f"{judge}/{prompt}")
        }
        outputs = {row["id"]: (row["output_1"], row["output_2"]) for row in rows}

        pairs = [
            {"prompt": f"{row['id']}\n{row['input']}", **{key: row[key] for key in ("output_1", "output_2", "label")}}
            for row in rows
        ]
        judged, _ = judge_pairs(pairs, pairwise_judge(Replayed(texts, outputs)), label="label")
        assert counts(judged) == published_counts(statistics), name
        done += 1
    assert done == 18


def test_ratings_decide_pairs_as_published(llmbar, published):
    """
    LLMBar's rating judges see one output at a time, and a draw goes to whichever is second: so equal ratings are what
    its orders differ by. To us a draw is a tie in both orders.
    """
    for name, statistics in published.items():
        data_set, judge, prompt = name.split("|")
        if prompt != "Rating":
            continue
        rows = llmbar[data_set]
        scores = [[int(row["judges"][f"{judge}/Rating"][f"score_{number}"]) for number in (1, 2)] for row in rows]
        pairs = [
            {
                "prompt": row["id"],
                "a": {"final_text": row["output_1"], "score": score[0]},
                "b": {"final_text": row["output_2"], "score": score[1]},
                "label": row["label"],
            }
            for row, score in zip(rows, scores, strict=True)
        ]
        theirs, report = judge_pairs(pairs, lambda first, second: "A" if first["score"] > second["score"] else "B")
        assert counts(theirs) == published_counts(statistics), name
        ours, report = judge_pairs(
            pairs, lambda x, y: "tie" if x["score"] == y["score"] else "A" if x["score"] > y["score"] else "B"
        )
        draws = sum(one == other for one, other in scores)
        assert (report.ties, report.position_flips) == (draws, 0)
        assert published_counts(statistics)["equal"] == len(rows) - draws
        assert counts(ours)["correct_both"] == published_counts(statistics)["correct_both"]


def test_agreement_with_people_on_pandalm(pandalm):
    """Labels are 1, 2 and 0 for a tie; every row has a majority. The judge's "garbage" is no verdict."""
    metrics = pytest.importorskip("sklearn.metrics")
    majority = [Counter(row["human"]).most_common(1)[0][0] for row in pandalm]
    for judge, unjudged, right in (("judge_gpt35", 8, 285), ("judge_pandalm7b", 0, 287)):
        said = [{"1": "a", "2": "b", "0": "tie", "Tie": "tie"}.get(str(row[judge])) for row in pandalm]

        def replayed(first, second, said=said):
            winner = said[int(first["prompt"])]
            return winner if winner in ("tie", None) else "A" if first["side"] == winner else "B"

        pairs = [
            {
                "prompt": str(at),
                "response1": {"final_text": row["response1"], "side": "a"},
                "response2": {"final_text": row["response2"], "side": "b"},
                "human": row["human"],
            }
            for at, row in enumerate(pandalm)
        ]
        _, report = judge_pairs(pairs, replayed, label="human")
        found = report.agreement
        judged = [at for at, winner in enumerate(said) if winner is not None]
        numbers = {"a": 1, "b": 2, "tie": 0}
        theirs, ours = [majority[at] for at in judged], [numbers[said[at]] for at in judged]
        assert (found.n, found.unjudged, found.unlabelled) == (420 - unjudged, unjudged, 0)
        assert round(found.accuracy * found.n) == right
        assert found.accuracy == pytest.approx(metrics.accuracy_score(theirs, ours), abs=1e-12)
        assert found.kappa == pytest.approx(metrics.cohen_kappa_score(theirs, ours), abs=1e-9)
        low, high = found.accuracy_ci95
        assert low < found.accuracy < high


def test_people_agree_with_each_other_on_pandalm(pandalm):
    metrics = pytest.importorskip("sklearn.metrics")
    for one, other in ((0, 1), (0, 2), (1, 2)):
        labels = [[row["human"][at] for row in pandalm] for at in (one, other)]
        found = cohen_kappa(*labels)
        assert found == pytest.approx(metrics.cohen_kappa_score(*labels), abs=1e-9)
        assert found > 0.8
