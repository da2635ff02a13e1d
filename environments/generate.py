"""Writes the environments of this folder: `python environments/generate.py [name ...]`; all of them by default.

Each is played by scripted policies, graded with its own reward, and exported. The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any


HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from datasets import Dataset, concatenate_datasets  # noqa: E402
from specs import baselines, file_clerk, math_tools, order_desk  # noqa: E402
from specs.spec import EnvironmentSource, Policy  # noqa: E402

import whileai_hf as wai  # noqa: E402
from whileai_hf.export.package import export_environment, load_package  # noqa: E402


SOURCES = {each.SOURCE.name: each.SOURCE for each in (order_desk, file_clerk, math_tools)}
# Turns of a policy in one rollout; the most careful one takes six.
MAX_TURNS = 12
_HOLDOUT = 0.3
# Characters of a line of the READMEs, as in those of the exporter.
_WIDTH = 140


def policies(source: EnvironmentSource) -> dict[str, Policy]:
    """The scripted policies an environment is tried with, the most ignorant first."""
    return {
        "null": baselines.null,
        "echo": baselines.echo,
        "refuse": baselines.refuse,
        "every-tool": baselines.every_tool,
        "eager": source.eager,
        "careful": source.careful,
    }


def play(source: EnvironmentSource, policy: Policy, tasks: Sequence[dict[str, Any]]) -> Dataset:
    """One graded rollout of every task."""
    knobs: dict[str, Any] = {} if source.world is None else {"execute": source.world}
    rollouts = wai.simulate(
        policy,
        tasks=list(tasks),
        tools=source.tools,
        system_prompt=source.system_prompt,
        repeats=1,
        avg_turns=1,
        max_turns=MAX_TURNS,
        **knobs,
    )
    judge = source.reward() if isinstance(source.reward, type) else source.reward
    return wai.grade(rollouts, judge, tasks=list(tasks))


def generate(name: str, parent: Path = HERE) -> dict[str, Any]:
    """
    Writes one environment.

    Args:
        name (`str`):
            Its name.
        parent (`Path`, *optional*):
            Where its folder goes.

    Returns:
        `dict`: `report` of the export, and `baselines`: a [`PassAt`] per policy over the tasks that were exported.
    """
    source = SOURCES[name]
    tasks = source.tasks()
    played = {policy: play(source, act, tasks) for policy, act in policies(source).items()}
    folder = parent / name
    report = export_environment(
        concatenate_datasets(list(played.values())),
        folder,
        reward=source.reward,
        world=source.world,
        tools=source.tools,
        system_prompt=source.system_prompt,
        tasks=tasks,
        include=list(source.include),
        requires=list(source.requires),
        holdout=_HOLDOUT,
        max_turns=MAX_TURNS,
        overwrite=True,
    )
    package = load_package(folder)
    kept = {line["scenario_id"] for split in ("train", "holdout") for line in package.lines(split)}
    measured = {
        policy: wai.pass_at([row for row in data if row["scenario_id"] in kept]) for policy, data in played.items()
    }
    readme = folder / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8") + _section(source, measured, len(tasks)), encoding="utf-8")
    return {"report": report, "baselines": measured}


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _section(source: EnvironmentSource, measured: dict[str, Any], drawn: int) -> str:
    """What the README says beside what the exporter writes."""
    rows = [
        f"| {policy} | {passed.pass_at_1:.2f} | {passed.ci95[0]:.2f} to {passed.ci95[1]:.2f} |"
        for policy, passed in measured.items()
    ]
    tasks = next(iter(measured.values())).n_tasks
    left = f" (of {drawn} drawn; the others did not pass the gate)" if tasks < drawn else ""
    paragraphs = [
        "## About",
        _wrapped(source.about),
        *([_wrapped(source.needs)] if source.needs else []),
        "## Baselines",
        _wrapped(
            f"Scripted policies on all {tasks} tasks{left}, one rollout each: pass@1 with its 95% interval over "
            "tasks, from `wai.pass_at`. The calibration in the data is over these rollouts, so it says nothing of a "
            "model."
        ),
        "\n".join(["| policy | pass@1 | 95% interval |", "|---|---|---|", *rows]),
        _wrapped(
            "`null` says nothing, `echo` gives the ask back, `refuse` says that it cannot and asks which one is "
            "meant, `every-tool` calls every tool once and reports success, `eager` does the first thing that looks "
            "right, `careful` looks first, tries again, and tells what it saw. They are in `specs/`; "
            f"`python environments/generate.py {source.name}` measures them and writes this folder."
        ),
    ]
    return "\n" + "\n\n".join(paragraphs) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(SOURCES)}; all by default")
    names = parser.parse_args(arguments).names or list(SOURCES)
    unknown = [name for name in names if name not in SOURCES]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(SOURCES)}")
    for chosen in names:
        made = generate(chosen)
        print(made["report"])
        for policy, passed in made["baselines"].items():
            print(f"  {policy:<11}{passed.pass_at_1:.2f} [{passed.ci95[0]:.2f}, {passed.ci95[1]:.2f}]")


if __name__ == "__main__":
    main()
