"""`whileai-hf demo`: the main job from tools and prompt to a training file, on the sample agent, with a commentary.

`--hack` plays what may happen next: training on a reward that can be hacked.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import whileai_hf as wai
from whileai_hf.cli.files import check_writable, write_rows
from whileai_hf.cli.sample import FOLDER, agent, judge
from whileai_hf.export import export_report
from whileai_hf.score import failed_traces


def demo(args: argparse.Namespace) -> int:
    """Runs the loop once, offline, and prints what happened at each stage."""
    started = time.perf_counter()
    folder = Path(args.output)
    check_writable(args.output, folder=True)
    if args.hack:
        return _hack(folder, args.seed)
    spec = wai.AgentSpec.load(FOLDER)
    _stage("1. read the agent", f"{spec.name}: {len(spec.tools)} tools, {len(spec.clauses)} rules")

    rollouts = wai.simulate(
        agent,
        spec,
        mode="rl",
        situations=args.situations,
        repeats=args.repeats,
        repeat_policy="fixed",  # every prompt gets all of them, since the next step measures
        seed=args.seed,
        output=str(folder / "rollouts.jsonl"),
    )
    _stage("2. simulate", str(wai.run_report(rollouts)))

    graded = wai.grade(rollouts, judge=judge)
    write_rows(graded, str(folder / "graded.jsonl"))
    failed = failed_traces(graded)
    _stage("3. grade", f"{wai.grade_report(graded)}\n{len(wai.passes(graded))} passed, {len(failed)} failed")

    _stage("4. measure", str(wai.pass_at(graded)))

    selected, report = wai.optimize(graded, mode="rl")
    write_rows(selected, str(folder / "selected"))
    _stage("5. select", str(report))

    prompts = wai.to_trl(selected, "grpo")
    write_rows(prompts, str(folder / "grpo.jsonl"))
    _stage("6. export for GRPOTrainer", f"{export_report(prompts)}\ncolumns: {', '.join(prompts.column_names)}")

    _stage(
        f"written in {time.perf_counter() - started:.1f} s",
        f"{folder}/rollouts.jsonl  every rollout, as it landed\n"
        f"{folder}/graded.jsonl    with verdicts\n"
        f"{folder}/selected        the rows worth training on; datasets.load_from_disk reads it\n"
        f"{folder}/grpo.jsonl      the training file",
    )
    print(f"next: whileai-hf measure {folder}/graded.jsonl --fail-under 0.5")
    return 0


def _hack(folder: Path, seed: int) -> int:
    """Trains a tiny policy on a reward that can be hacked until the monitor stops it."""
    from whileai_hf.training.monitor import play_hack_demo  # its trainer is TRL's, which takes seconds to load

    played = play_hack_demo(seed=seed, say=print)
    print(played)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hack.svg").write_text(played.figure(), encoding="utf-8")
    print(f"written: {folder}/hack.svg  proxy, gold, KL and length by step")
    return 0


def _stage(title: str, text: str) -> None:
    print(title)
    for line in text.splitlines():
        print(f"   {line}".rstrip())
    print()
