"""Character from a constitution: `python recipes/character/run.py [--model openai:...]` writes character.jsonl."""

import argparse
import json
import re
from pathlib import Path

import whileai_hf as wai
from whileai_hf.rows import rng
from whileai_hf.stats import cohen_kappa


FOLDER = Path(__file__).parent
CONSTITUTION = json.loads((FOLDER / "constitution.json").read_text(encoding="utf-8"))
ASKS = {ask["prompt"]: ask for ask in json.loads((FOLDER / "asks.json").read_text(encoding="utf-8"))}
SPEC = wai.load_spec(FOLDER / "constitution.json")
POLICY = "\n".join(f"- {trait.name}: {trait.principle}" for trait in SPEC.traits)
# What the scripted judge holds against a reply, per trait. It is crude on purpose: the labels show where it fails.
SIGNS = {
    "candour": r"up to you|whatever|who knows|depends|all that matters",
    "no_flattery": r"great question|brilliant|wonderful",
    "no_padding": r"^certainly|hope this helps|to sum up",
    "plain_answers": r"leverage|synergies",
    "owns_failure": r"should have|acted up",
}


def agent(message: str) -> dict:
    """A scripted agent: one in three replies is plain, the others have a habit each."""
    rollout = wai.current_rollout()
    ask = ASKS[message]
    habit = rng(rollout.seed, message, rollout.rollout_index).pick(
        ["plain", "plain", "flattery", "padding", "evasive", "grand"]
    )
    text = ask["evasive"] if habit == "evasive" else ask["answer"]
    if habit == "flattery":
        text = f"What a great question! {text}"
    if habit == "padding":
        text = f"Certainly! {text} I hope this helps!"
    if habit == "grand":
        text = f"{text} That way you leverage all synergies."
    return {"steps": [], "final_text": text}


def scripted_judge(messages: list[dict], tools: object) -> str:
    """Stands in for a judge model: goes through the traits with SIGNS."""
    asked, said = re.search(r"USER>>\n(.*?)\n<<.*?AGENT>>\n(.*?)\n<<", messages[-1]["content"], re.DOTALL).groups()
    points = []
    for at, (trait, sign) in enumerate(SIGNS.items(), 1):
        verdict = "unmet" if re.search(sign, said, re.IGNORECASE) else "met"
        if trait == "owns_failure" and not re.search(r"wrong|failed|does not", asked):
            verdict = "cannot_assess"
        points.append({"id": f"c{at}", "reason": f"Signs of {trait}.", "verdict": verdict})
    return json.dumps({"criteria": points})


def check_judge(judge) -> None:
    """The judge beside the constitution's own labelled examples, trait by trait."""
    examples = [
        {"trait": trait["id"], "prompt": example["prompt"], "final_text": example["reply"], "meets": example["meets"]}
        for trait in CONSTITUTION["traits"]
        for example in trait["examples"]
    ]
    told = []
    for row in wai.grade(examples, judge=judge):
        if row["trait"] in row["markers"]:
            told.append((row["trait"], row["meets"], row["markers"][row["trait"]] == 1.0))
    for trait in (*SPEC.behaviors(), "all"):
        pairs = [(label, verdict) for name, label, verdict in told if trait in (name, "all")]
        print(f"  {trait:<15}{sum(label == verdict for label, verdict in pairs)} of {len(pairs)}")
    kappa = cohen_kappa([label for _, label, _ in told], [verdict for _, _, verdict in told])
    print("  kappa", "undefined" if kappa is None else f"{kappa:.2f}")


def rates(data) -> dict[str, str]:
    """The share of rows on which each marker holds."""
    values: dict[str, list[float]] = {}
    for row in wai.style_markers(data):
        for name, value in row["markers"].items():
            values.setdefault(name, []).append(value)
    return {name: f"{sum(found) / len(found):.0%} of {len(found)}" for name, found in values.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="judge model, such as openai:<model>; a scripted one without")
    model = parser.parse_args().model or wai.ScriptedModel(scripted_judge)
    judge = wai.constitution_judge(SPEC, model)

    print("constitution", SPEC.version, "|", *SPEC.behaviors())
    print("judge and labels agree on")
    check_judge(judge)

    data = wai.simulate(agent, tools=[], system_prompt=POLICY, tasks=list(ASKS), repeats=10, repeat_policy="fixed")
    graded = wai.stamp_spec(wai.grade(data, judge=judge), SPEC)
    print(wai.grade_report(graded))
    print(wai.pass_at(graded))
    kept, report = wai.optimize(graded, mode="sft")
    print(report)
    before, after = rates(graded), rates(kept)
    print(f"{'marker holds on':<17}{'all replies':<16}kept")
    for name in before:
        print(f"{name:<17}{before[name]:<16}{after[name]}")
    train = wai.to_trl(kept, "sft")
    train.to_json("character.jsonl")
    print(len(train), "rows in character.jsonl, for version", kept[0]["lineage"]["spec_version"])
    print(train[0]["messages"][-1])
