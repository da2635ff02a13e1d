"""`export_environment`: from graded rollouts to a package that a trainer installs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from datasets import DatasetDict

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export.environment.tasks import GivenAgent, TaskEntry, read_tasks
from whileai_hf.export.package.config import PackageConfig, PackageKnobs
from whileai_hf.export.package.files import Contents, check_folder, write
from whileai_hf.export.package.gate import Gate, pass_gate
from whileai_hf.export.package.naming import PackageName, package_name
from whileai_hf.export.package.parts import Parts, apart, divide
from whileai_hf.export.package.references import reference_of
from whileai_hf.export.package.report import EnvironmentExport
from whileai_hf.export.package.requirements import check_requires
from whileai_hf.export.package.tasks import task_lines
from whileai_hf.knobs import overlay
from whileai_hf.rows import RowView, dumps, view
from whileai_hf.rows.view import Row
from whileai_hf.score.conduct import task_checklist
from whileai_hf.score.judging import JudgeFunction
from whileai_hf.score.verify.reward import JudgeReward
from whileai_hf.spec import AgentSpec


# Splits of a source that are held out, in the order they are looked for.
_HELD_OUT = ("holdout", "eval", "test", "validation")
_CHECKLIST = "whileai_hf.score.conduct:task_checklist"
# What the checklist reads of a situation; of tasks that have none of it only the conduct can be graded.
_SITUATION = ("scenario_dimensions", "tier", "faults", "world_state")


def export_environment(
    data: Any,
    path: str | os.PathLike[str],
    *,
    reward: JudgeFunction | str | None = None,
    world: Any = None,
    tools: Any = None,
    system_prompt: str | None = None,
    config: PackageConfig | None = None,
    **knobs: Unpack[PackageKnobs],
) -> EnvironmentExport:
    """
    Writes tasks, world and reward as a package that verifiers and TRL can load.

    Args:
        data (`datasets.Dataset`, `DatasetDict`, `list[dict]`, path or Hub repo id):
            Graded rollouts, of which each prompt is a task, or tasks. Of splits, `holdout` (or `eval`, `test`,
            `validation`) is held out.
        path (`str` or `Path`):
            Folder to write; its name is the environment's.
        reward (`Callable` or `str`, *optional*):
            A judge, a verifier or its name, `"module:attr"`; [`~whileai_hf.score.conduct.task_checklist`] by default.
            It has to be importable by name where the environment is used.
        world (`Callable` or `str`, *optional*):
            `(tool, arguments) -> result` in place of the simulated world, importable by name as well.
        tools (`list` or [`AgentSpec`] or path, *optional*):
            The agent's tools in any shape, or the whole agent, in place of what the rows say.
        system_prompt (`str`, *optional*):
            In place of what the rows say.
        config ([`PackageConfig`], *optional*):
            Further knobs.
        **knobs:
            Fields of [`PackageConfig`]: `name`, `holdout`, `band`, `threshold`, `seed`, `max_turns`, `user_model`,
            `avg_turns`, `rubric`, `tasks`, `include`, `requires`, `overwrite`.

    Returns:
        [`EnvironmentExport`]: What was written and what was left out.

    Raises:
        [`ConfigurationError`]: A reward or world nobody else could import, a name that is taken, a folder that is not
            empty, a requirement that pip could not read, or rollouts without rewards.
        [`DataError`]: No task passes the gate, or the rows have several agents.

    Examples:
    ```python
    >>> import tempfile
    >>> tools = [{"name": "get_order", "parameters": {"type": "object", "properties": {
    ...     "order_id": {"type": "string"}}, "required": ["order_id"]}}]
    >>> folder = tempfile.mkdtemp() + "/order-status"
    >>> report = export_environment([{"prompt": f"Where is ORD-{n}?"} for n in range(8)], folder, tools=tools)
    >>> report.name, report.module, report.n_train + report.n_holdout
    ('order-status', 'order_status', 8)

    ```
    """
    settings = overlay(PackageConfig, config, knobs)
    folder = Path(path).expanduser()
    name = package_name(folder.absolute(), settings.name)
    included = _included(settings.include, name)
    check_folder(folder, settings.overwrite)
    given_reward = reward.judge if isinstance(reward, JudgeReward) else reward
    references = {
        "reward": reference_of(task_checklist if given_reward is None else given_reward, "reward", included),
        "world": None if world is None else reference_of(world, "world", included),
    }
    given = GivenAgent.read(tools, system_prompt, settings.rubric)
    train_source, held_source = _sides(data, settings.holdout)
    rows = view(train_source)
    gate = pass_gate(
        read_tasks(rows.source, given, settings.tasks).entries,
        rows,
        settings.band,
        settings.threshold,
        defaulted="band" not in knobs and config is None,
    )
    parts, held_gate, held_rows = _parts(gate, rows, held_source, given, settings)
    agent = one_agent([*parts.train, *parts.holdout])
    rubric = given.rubric
    lines = {
        "train": task_lines(parts.train, gate, rows, settings.seed, rubric),
        "holdout": task_lines(parts.holdout, held_gate, held_rows, settings.seed, rubric),
    }
    dropped = {**gate.dropped, "in_both": parts.in_both, "near_copy": parts.near_copies}
    warnings = [*gate.warnings, *_warnings(references["reward"], [*lines["train"], *lines["holdout"]])]
    annotations = {tool.name: dict(tool.annotations) for tool in agent.tools if tool.annotations}
    knobs_kept: dict[str, Any] = {
        "max_turns": settings.max_turns,
        "user_model": settings.user_model,
        "avg_turns": settings.avg_turns,
    }
    knobs_kept |= {"annotations": annotations} if annotations else {}
    sentences = _sentences(gate, parts, settings, warnings, given=held_source is not None)
    needed = check_requires(settings.requires)
    write(folder, Contents(name, agent, {**knobs_kept, **references}, lines, sentences, included, needed))
    return EnvironmentExport(
        path=str(folder),
        name=name.distribution,
        module=name.module,
        reward=str(references["reward"]),
        world=references["world"],
        n_train=len(parts.train),
        n_holdout=len(parts.holdout),
        graded_mixed=gate.graded_mixed,
        band=None if settings.band is None or gate.graded_mixed is None else [float(edge) for edge in settings.band],
        dropped=dropped,
        commands=_commands(folder, name),
        notes=[],
        warnings=warnings,
    )


def _included(given: Sequence[Any], name: PackageName) -> dict[Path, str]:
    """Files that go into the package, and the modules they become."""
    included: dict[Path, str] = {}
    for item in given:
        file = Path(item).expanduser().resolve()
        if not file.is_file() or file.suffix != ".py":
            raise ConfigurationError(f"include has {str(item)!r}, which is no Python file")
        taken = {becomes: path for path, becomes in included.items()}
        if not file.stem.isidentifier() or taken.get(f"{name.module}.{file.stem}", file) != file:
            raise ConfigurationError(f"include has {file.name}, whose name no module can have, or another file has")
        included[file] = f"{name.module}.{file.stem}"
    return included


def _sides(data: Any, holdout: Any) -> tuple[Any, Any]:
    """What is trained on, and what is held out where the caller says so."""
    given = None if isinstance(holdout, int | float) or holdout is None else holdout
    if not isinstance(data, DatasetDict):
        return data, given
    held = next((split for split in _HELD_OUT if split in data), None)
    rest = [split for split in data if split != held]
    trained = "train" if "train" in data else rest[0] if len(rest) == 1 else None
    if trained is None:
        raise DataError(f"data has the splits {', '.join(data)}; pass one of them, and another as holdout=")
    return data[trained], given if held is None or given is not None else data[held]


def _parts(
    gate: Gate, rows: RowView, held_source: Any, given: GivenAgent, settings: PackageConfig
) -> tuple[Parts, Gate, RowView]:
    if held_source is None:
        share = float(settings.holdout or 0.0)
        return apart(*divide(gate.entries, share, settings.seed)), gate, rows
    held_rows = view(held_source)
    entries = read_tasks(held_rows.source, given, settings.tasks).entries
    # What a policy is measured on is measured on as it is: easy and hard tasks belong to it.
    held_gate = pass_gate(entries, held_rows, None, settings.threshold, defaulted=True)
    parts = apart(gate.entries, held_gate.entries)
    if not parts.holdout:
        raise DataError("holdout= has no tasks; pass a share such as 0.2, or tasks")
    return parts, held_gate, held_rows


def one_agent(entries: Sequence[TaskEntry]) -> AgentSpec:
    """
    The agent of all tasks.

    Args:
        entries (`Sequence[TaskEntry]`):
            The tasks.

    Raises:
        [`DataError`]: They have several.
    """
    agents = list(
        {dumps([entry.spec.openai_tools(), entry.spec.system_prompt]): entry.spec for entry in entries}.values()
    )
    if len(agents) > 1:
        raise DataError(
            f"the rows were played by {len(agents)} agents with different tools or system prompts, and an environment "
            "has one; export the rows of each by themselves, or pass tools= and system_prompt="
        )
    return agents[0]


def _warnings(reward: str | None, lines: Sequence[Row]) -> list[str]:
    if reward != _CHECKLIST:
        return []
    bare = sum(not any(_told(line["info"], name) for name in _SITUATION) for line in lines)
    if not bare:
        return []
    return [
        f"{bare} of {len(lines)} tasks say nothing of their situation (scenario_dimensions, tier), so the checklist "
        "grades conduct only there, and a policy trained on conduct alone learns to call nothing; pass reward="
    ]


def _told(info: Mapping[str, Any], name: str) -> bool:
    return info.get(name) not in (None, {}, "", "unspecified")


def _sentences(gate: Gate, parts: Parts, settings: PackageConfig, warnings: Sequence[str], given: bool) -> list[str]:
    """What the README says about the gate."""
    said = []
    if settings.band is not None and gate.graded_mixed is not None:
        low, high = settings.band
        gone = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in gate.dropped.items() if count)
        said.append(
            f"Difficulty: tasks with a mean reward from {low:g} to {high:g} whose rollouts differ "
            f"(left out: {gone or 'none'})."
        )
    if gate.graded_mixed is not None:
        said.append(f"Tasks with an advantage, whose rollouts had different rewards: {gate.graded_mixed}.")
    if parts.holdout:
        how = "the tasks held out were given"
        if isinstance(settings.holdout, int | float) and not given:
            how = f"by scenario, {settings.holdout:g} of the tasks, seed {settings.seed}"
        said.append(f"Split: {how}; no task is on both sides.")
        said.append(
            f"Decontamination: {parts.in_both} training tasks were in the holdout and {parts.near_copies} were near "
            "copies of one there; they are left out."
        )
    return [*said, *(f"{warning[0].upper()}{warning[1:]}." for warning in warnings)]


def _commands(folder: Path, name: PackageName) -> list[str]:
    policy = "-m <policy> --client.base-url <url> --client.api-key-var <KEY_VAR>"
    return [
        f"pip install -e {folder}",
        f"vf-eval {name.module} --env.taskset.split holdout {policy} --no-push",
        f"""vf-eval {name.module} -a '{{"split": "holdout"}}' -m <policy> -b <url> -k <KEY_VAR>  # before 0.4""",
    ]
