"""Sound rewards must come out clean, and the table must say what they pay."""

import functools
import itertools
import re

import pytest
from datasets import Dataset

from whileai_hf.score.checking import check_reward
from whileai_hf.score.verify import ExactMatch, Includes
from whileai_hf.score.verify.numeric import Numeric
from whileai_hf.stats import wilson


GSM8K = [
    {"prompt": f"How much is {n} times 111?", "answer": f"{n} times 111 is <<{n}*111={n * 111}>>.\n#### {n * 111}"}
    for n in range(7, 27)
]


def _cell(report, probe, function=None):
    return next(cell for cell in report.table if cell.probe == probe and function in (None, cell.function))


def _severities(report):
    return {item.severity for item in report.findings}


def test_exact_match_is_clean_and_told_to_be_strict():
    report = check_reward(ExactMatch())
    assert report.ok
    assert _severities(report) == {"info"}
    assert _cell(report, "answer").rate == 1.0
    assert _cell(report, "in a sentence").rate == 0.0
    assert all(cell.paid == 0 for cell in report.table if not cell.right)


def _extracted(text):
    return text.split("<answer>")[-1].split("</answer>")[0].strip()


def correctness_reward_func(completions, answer, **kwargs):
    return [2.0 * (_extracted(c) == a) for c, a in zip(completions, answer, strict=True)]


def soft_format_reward_func(completions, **kwargs):
    pattern = r"<reasoning>.*?</reasoning>\s*<answer>.*?</answer>"
    return [0.5 * bool(re.match(pattern, c, re.DOTALL)) for c in completions]


def strict_format_reward_func(completions, **kwargs):
    pattern = r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>\n$"
    return [0.5 * bool(re.match(pattern, c, re.DOTALL)) for c in completions]


RECIPE = (correctness_reward_func, soft_format_reward_func, strict_format_reward_func)


@pytest.mark.parametrize("rewards", [*itertools.permutations(RECIPE, 2), *itertools.permutations(RECIPE)])
def test_the_order_of_rewards_decides_nothing(rewards):
    """Each is shown replies in its own tags, so that those of the others do not break its form."""
    rows = [{"prompt": row["prompt"], "answer": row["answer"].split()[-1]} for row in GSM8K]
    report = check_reward(list(rewards), rows)
    assert report.ok, str(report)
    paid = {cell.function for cell in report.table if cell.probe.startswith("in tags") and cell.paid}
    assert paid >= {reward.__name__ for reward in rewards}


def test_tags_come_in_the_order_a_pattern_gives_them():
    def answer_first(completions, **kwargs):
        return [float(bool(re.match(r"<answer>.*</answer>\s*<why>.*</why>", c, re.DOTALL))) for c in completions]

    report = check_reward(answer_first, [{"prompt": f"{n}?", "answer": str(n)} for n in range(9)])
    assert _cell(report, "in tags").rate == 1.0


def test_numeric_pays_every_form_of_a_number_and_no_list():
    rows = [{"prompt": row["prompt"], "answer": row["answer"].split()[-1]} for row in GSM8K]
    report = check_reward(Numeric(), rows)
    assert report.ok
    assert not {item.kind for item in report.findings} & {"exploitable", "strict", "blind"}
    assert all(cell.rate == 1.0 for cell in report.table if cell.right)
    assert {"thousands mark", "decimals", "with a unit", "boxed"} <= {cell.probe for cell in report.table}


def substring(completions, answer, **kwargs):
    return [float(gold in completion[-1]["content"]) for gold, completion in zip(answer, completions, strict=True)]


def test_a_plain_substring_is_not():
    report = check_reward(substring)
    found = {item.probe: item for item in report.findings if item.kind == "exploitable"}
    assert found.keys() == {"echo", "shotgun"}
    assert found["shotgun"].severity == "error"
    assert found["shotgun"].ci95 == wilson(8, 8)
    assert "echo" not in {item.probe for item in check_reward(Includes()).findings}


def extract(text):
    return text.split("<answer>")[-1].split("</answer>")[0].strip()


def correctness(prompts, completions, answer, **kwargs):
    return [
        2.0 if extract(c[0]["content"]) == a.split("####")[-1].strip() else 0.0
        for c, a in zip(completions, answer, strict=True)
    ]


def layout(completions, **kwargs):
    pattern = r"^<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n$"
    return [0.5 if re.match(pattern, c[0]["content"], re.DOTALL) else 0.0 for c in completions]


def loose(completions, answer, **kwargs):
    return [float(a in c[0]["content"]) for c, a in zip(completions, answer, strict=True)]


def test_format_beside_accuracy_is_sound():
    report = check_reward([layout, correctness])
    assert report.ok
    assert _severities(report) == {"info"}
    assert _cell(report, "in tags", "layout").rate == 1.0, "the tags are read off the function"
    assert [function["right_reply"] for function in report.functions] == [0.5, 2.0, 2.5]


def test_format_alone_checks_no_answer():
    rows = [{"prompt": [{"role": "user", "content": row["prompt"]}], "answer": row["answer"]} for row in GSM8K]
    blind = [item for item in check_reward(layout, rows).findings if item.kind == "blind"]
    assert [item.severity for item in blind] == ["error"]
    assert check_reward(layout).ok, "nobody said that generic asks are what it is for"


def test_a_hack_of_one_part_is_an_error_when_the_total_pays_it():
    report = check_reward([layout, loose])
    errors = {(item.function, item.probe) for item in report.findings if item.severity == "error"}
    assert errors == {("total", "shotgun, well formed")}
    assert any(item.function == "loose" and item.probe == "shotgun" for item in report.findings)


def test_worked_solutions_are_answers_too():
    def gsm8k(completions, answer, **kwargs):
        found = [(re.findall(r"####\s*(-?\d+)", c) or [""])[-1] for c in completions]
        return [float(text == a.split("####")[-1].strip()) for text, a in zip(found, answer, strict=True)]

    report = check_reward(gsm8k, GSM8K)
    assert report.ok
    assert _cell(report, "after ####").rate == 1.0
    assert _cell(report, "answer as given").rate == 1.0
    assert _cell(report, "answer").rate == 0.0


def test_text_or_messages_as_the_prompts_say():
    def by_text(completions, answer, **kwargs):
        return [float(c.strip() == a) for c, a in zip(completions, answer, strict=True)]

    rows = [{"prompt": row["prompt"], "answer": str(n)} for n, row in enumerate(GSM8K)]
    assert check_reward(by_text, rows).functions[0]["style"] == "trainer, text"
    assert check_reward(by_text).functions[0]["style"] == "trainer, text", "the generic asks try both"
    chat = [{**row, "prompt": [{"role": "user", "content": row["prompt"]}]} for row in rows]
    report = check_reward(by_text, chat)
    assert "crash" in {item.kind for item in report.findings if item.severity == "error"}


def test_no_right_answer_known_is_said():
    report = check_reward(lambda row: float(len(row["final_text"]) > 3), [{"prompt": "Write a poem."}] * 3)
    assert any("no right reply is known" in note for note in report.notes)
    assert not any(cell.right for cell in report.table)
    assert report.n_tasks == 1


def test_threshold_and_weights():
    def half(row):
        return 1.0 if row["final_text"] == row["answer"] else 0.4

    assert check_reward(half).ok
    assert not check_reward(half, threshold=0.4).ok
    report = check_reward([layout, loose], weights=[1.0, 0.0])
    assert report.functions[-1] == {
        "name": "total", "style": "weighted sum", "awaits": False,
        "paid_from": pytest.approx(0.45), "right_reply": 0.5,
    }  # fmt: skip


def test_one_of_many_tasks_is_no_error():
    def hard_coded(row):
        return float(row["final_text"] == row["answer"] or ("42" in row["final_text"] and row["answer"] == "42"))

    found = [item for item in check_reward(hard_coded, n=12).findings if item.kind == "exploitable"]
    assert {item.severity for item in found} == {"warning"}
    assert {item.rate for item in found} == {1 / 12}


def test_reports_are_reproducible_and_bounded():
    data = Dataset.from_list(GSM8K)
    report = check_reward(ExactMatch(), data, seed=3)
    assert report.to_dict() == check_reward(ExactMatch(), data, seed=3).to_dict()
    assert report.to_dict() != check_reward(ExactMatch(), data, seed=4).to_dict()
    assert report.n_tasks == 8
    seen = []

    def counted(row):
        seen.append(row["final_text"])
        return float(row["final_text"] == row["answer"])

    assert check_reward(counted, data, n=4).n_replies == len(seen) < 4 * 45


def test_partials_and_callables():
    def graded(completions, answer, scale, **kwargs):
        return [scale * value for value in correctness(None, completions, answer)]

    class Grader:
        def __call__(self, prompts, completions, **columns):
            return correctness(prompts, completions, columns["answer"])

    for reward, name in ((functools.partial(graded, scale=3.0), "graded"), (Grader(), "Grader")):
        report = check_reward(reward)
        assert report.ok
        assert report.functions[0]["name"] == name


def test_trl_s_own_rewards():
    rewards = pytest.importorskip("trl.rewards")
    report = check_reward([rewards.think_format_reward, correctness])
    assert report.ok
    assert _cell(report, "in tags", "think_format_reward").rate == 1.0


def test_the_print_is_a_table():
    text = str(check_reward([layout, correctness]))
    assert "must not pay" in text and "must pay" in text
    line = next(line for line in text.splitlines() if line.startswith("wrong answer"))
    assert line.split()[2:] == ["0/8", "0.00..0.32"] * 3
    assert max(map(len, text.splitlines())) <= 118
