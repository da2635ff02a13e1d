"""Reading preferences, on every reply of the judges shipped with two public benchmarks."""

import json
import re
from collections import Counter
from functools import cache

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.judges import read_choice


SETS = {"LLMBar/Natural": "llmbar_natural", "LLMBar/Adversarial/Manual": "llmbar_adversarial_manual"}
# Texts are the last 160 characters of a reply. In these many of 3,504 the sentence with the verdict came before.
WITHOUT_VERDICT = 55


def _rows(shared, name):
    with (shared / "real" / "judge" / f"{name}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def _winner(text, order):
    """The winner in the order as given, "1" or "2", of a reply about the order shown."""
    option = read_choice(text, ("a", "b")).value
    if option is None:
        return None
    return {"as_given": {"a": "1", "b": "2"}, "swapped": {"a": "2", "b": "1"}}[order][option]


@pytest.fixture(scope="module")
def replies(shared):
    return [
        (name, row["label"], judge, order, said[order])
        for name, file in SETS.items()
        for row in _rows(shared, file)
        for judge, said in row["judges"].items()
        for order in ("as_given", "swapped")
        if said[order]["text"] is not None
    ]


def test_no_shipped_reply_is_read_as_another_label(replies):
    assert len(replies) == 3504
    unread = []
    for _, _, _, order, said in replies:
        winner = _winner(said["text"], order)
        if winner is None and said["winner"] is not None:
            unread.append(said["text"])
        else:
            assert winner == said["winner"], said["text"]
    # What is left unread holds no verdict: nothing in it calls an output better.
    assert not [text for text in unread if re.search(r"Output \([ab]\) (?:is|wins)\b.{0,40}better", text)]
    assert len(unread) == WITHOUT_VERDICT


def test_published_accuracies(replies, shared):
    path = shared / "real" / "judge" / "llmbar_published_statistics.json"
    published = json.loads(path.read_text(encoding="utf-8"))
    right, cut = Counter(), Counter()
    for name, label, judge, order, said in replies:
        key = f"{name}|{judge.replace('/', '|')}"
        right[key, order] += _winner(said["text"], order) == str(label)
        cut[key] += said["winner"] is not None and _winner(said["text"], order) is None
    checked = 0
    for key, numbers in published.items():
        if (key, "as_given") not in right or cut[key]:
            continue
        for order, swapped in (("as_given", "False"), ("swapped", "True")):
            count = int(numbers[f"correct_{swapped}"].split("/")[0])
            # The publishers gave an unreadable reply half a point or a coin; only PaLM2 has some here.
            assert right[key, order] == count or "PaLM2" in key, (key, order)
        checked += 1
    assert checked >= 16


def test_pandalm_columns(shared):
    seen = Counter()
    for row in _rows(shared, "pandalm_testset"):
        for column, wanted in (("judge_gpt35", {"Tie": "tie", "garbage": None}), ("judge_pandalm7b", {"0": "tie"})):
            text = str(row[column])
            assert read_choice(text, ("1", "2", "tie")).value == wanted.get(text, text)
            seen[column] += 1
    assert seen == {"judge_gpt35": 420, "judge_pandalm7b": 420}


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("My final verdict is: [[B]]", "B"),
        ("[[C]]", "tie"),
        ("My final verdict is: [[A>>B]]", "A"),
        ("[[B>A]]", "B"),
        ("[[A<<B]]", "B"),
        ("[[A=B]]", "tie"),
        ("B > A", "B"),
        ('{"winner": "model_a"}', "A"),
        ("I choose A.", "A"),
        ("Both are polite. I prefer Response B because it is shorter.", "B"),
        ("**Winner: B**", "B"),
        ("A", "A"),
        ("A\nBecause it is right", "A"),
        ("Tie", "tie"),
        ("The verdict is a tie.", "tie"),
        ("Response A is better than Response B", "A"),
        ("Response A is better in style. Overall, Response B is better.", "B"),
        ("Overall, I prefer Response B.", "B"),
        ("neither A nor B is better", "tie"),
        ('{"winner": "Response B", "reason": "x"}', "B"),
        ("<think>A is better</think>B", "B"),
        ("The better answer is B.", "B"),
    ],
)
def test_preferences(text, option):
    assert read_choice(text).value == option


@pytest.mark.parametrize(
    "text",
    [
        "A is not better than B",
        "Response A is better in style. Response B is better in accuracy.",
        "Verdict: A or B",
        "Overall, I prefer a more detailed answer.",
        "I would say that a good answer is better",
        "My choice is a clear one",
        '{"winner": "D"}',
        '{"winner": "A"',
        "[[D]]",
        "[[A>A]]",
        "[[A>D]]",
        "[[model_c]]",
        "I prefer A's tone",
        "I prefer A in style. I choose B.",
        "I can't say A is better.",
        "I don't think I prefer A.",
        "I refuse to say I choose A.",
        "I'll go with A, no wait, B.",
        "I choose A; that was wrong.",
        "I choose A.\nB",
        'Assistant A writes "I choose B." which is wrong.',
        'It says: "I choose B, because Paris is the capital." That is false.',
        "I select A, B or tie depending on the quality of the answers.",
        "Style: I prefer A.\nAccuracy: B.",
        "Not [[A>B]]",
        "If it were about style, I would choose A.",
        "cannot tell",
        "",
        None,
    ],
)
def test_no_preference(text):
    reading = read_choice(text)
    assert reading.value is None
    assert reading.problem


def test_a_tie_that_was_not_offered_is_no_verdict():
    text = "Therefore, both Output (a) and Output (b) are equally good."
    assert read_choice(text, ("a", "b")).value is None
    assert read_choice(text, ("a", "b", "tie")).value == "tie"


def test_options_have_to_differ():
    with pytest.raises(ConfigurationError, match="two different names"):
        read_choice("A", ("A", "a"))
