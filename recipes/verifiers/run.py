"""Rewards that are programs: `python recipes/verifiers/run.py` tries them on replies whose worth is known."""

import json
from importlib.util import find_spec
from pathlib import Path

import whileai_hf as wai
from whileai_hf.score.verify import All, JSONSchema, MathEqual, Numeric, Regex, ToolCalls
from whileai_hf.score.verify.code import CodeExec


REPLIES = [json.loads(line) for line in (Path(__file__).parent / "replies.jsonl").open(encoding="utf-8")]
ORDER = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "items": {"type": "integer"}, "paid": {"type": "boolean"}},
    "required": ["id", "items", "paid"],
}


def replies(task_set: str, *kinds: str) -> list[dict]:
    """The scripted replies to the tasks of one set, all or some kinds of them."""
    return [row for row in REPLIES if row["set"] == task_set and row["kind"] in (kinds or row["kind"])]


def table(rows: list[dict], *verifiers) -> None:
    """The mean reward of every kind of reply under every verifier, and pass@1 over all of them."""
    graded = [wai.grade(rows, judge=verifier) for verifier in verifiers]
    print("reply      " + "".join(f"{verifier.name:>12}" for verifier in verifiers))
    for kind in dict.fromkeys(row["kind"] for row in rows):
        means = []
        for data in graded:
            rewards = [row["reward"] for row in data if row["kind"] == kind]
            means.append(sum(rewards) / len(rewards))
        print(f"{kind:<11}" + "".join(f"{mean:12.2f}" for mean in means))
    print("pass@1     " + "".join(f"{wai.pass_at(data).pass_at_1:12.2f}" for data in graded))


def as_the_trainer_calls_it(reward, rows: list[dict]) -> list[float | None]:
    """GRPOTrainer hands over a batch as columns; every column of the data set arrives as a keyword."""
    return reward(
        prompts=[[{"role": "user", "content": row["prompt"]}] for row in rows],
        completions=[[{"role": "assistant", "content": row["final_text"]}] for row in rows],
        completion_ids=[[0] for _ in rows],
        trainer_state=None,
        log_metric=lambda name, value: print(f"  logged {name} {value:.2f}"),
        answer=[row.get("answer") for row in rows],
    )


def mentions(completions, answer, **columns) -> list[float]:
    """A reward as people write it first: does the right answer occur in the reply?"""
    return [float(right in reply[-1]["content"]) for reply, right in zip(completions, answer, strict=True)]


if __name__ == "__main__":
    gate = All(Numeric(), Regex(r"\nAnswer: [^\n]+$", name="form"), name="gate")
    print("== numbers: the right one, and a gate of answer and format")
    table(replies("numbers"), Numeric(), gate)
    print("\n== formulas: equal as mathematics")
    if find_spec("math_verify"):
        table(replies("formulas"), MathEqual())
    else:
        print("left out: MathEqual needs pip install 'whileai-hf[math]'")
    print("\n== json: a document that follows a schema")
    table(replies("json"), JSONSchema(ORDER))
    print("\n== calls: what the agent did, whatever it said")
    table(replies("calls"), ToolCalls("strict", rules={"amount": 0.01}))
    print("\n== code: hidden tests")
    # A process is enough for replies of our own. For those of a model leave `isolation` out: see CodeExec.
    table(replies("code"), CodeExec(isolation="process"))

    print("\n== as a reward function of TRL")
    reward = gate.as_reward()
    batch = replies("numbers", "right", "no format", "wrong")
    print(reward.__name__, as_the_trainer_calls_it(reward, batch))
    print("without gold answers", as_the_trainer_calls_it(Numeric().as_reward(), replies("json", "right", "wrong")))

    print("\n== before any training: is the reward worth training on?")
    tasks = [
        {"prompt": [{"role": "user", "content": row["prompt"]}], "answer": row["answer"]}
        for row in replies("numbers", "right")
    ]
    for function in (mentions, Numeric().as_reward()):
        print(f"\n{function.__name__}: {wai.check_reward(function, tasks)}")
