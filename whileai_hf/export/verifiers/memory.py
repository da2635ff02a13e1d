"""An environment that was never written, as a package: for those that are made and played in one process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment import EnvironmentSpec
from whileai_hf.export.package.exporting import one_agent
from whileai_hf.export.package.files import Contents, write
from whileai_hf.export.package.gate import Gate
from whileai_hf.export.package.naming import PackageName
from whileai_hf.export.package.reading import EnvironmentPackage, load_package
from whileai_hf.export.package.references import hold, reference_of
from whileai_hf.export.package.tasks import task_lines
from whileai_hf.rows import view
from whileai_hf.rows.rng import digest
from whileai_hf.score.verify.reward import JudgeReward


# Folders of this process, removed when it ends.
_folders: list[tempfile.TemporaryDirectory[str]] = []


def as_package(spec: EnvironmentSpec) -> EnvironmentPackage:
    """
    An environment for trainers as a package in a temporary folder.

    Args:
        spec ([`EnvironmentSpec`]):
            The environment. A reward or world that no other process could import is used as it is, so that its
            rollouts can be graded again in this process only.

    Returns:
        [`EnvironmentPackage`]: Valid as long as the process lives.

    Raises:
        [`ConfigurationError`]: Several rewards, or one that is no judge of rows.
        [`DataError`]: Tasks of several agents.

    Examples:
    ```python
    >>> from whileai_hf.export.environment import load_environment
    >>> as_package(load_environment(["Is it up?"], tools=[{"name": "ping"}])).agent.names
    ('ping',)

    ```
    """
    if len(spec.reward_funcs) != 1 or not isinstance(spec.reward_funcs[0], JudgeReward):
        raise ConfigurationError(
            "verifiers takes one judge of rows as the reward, and this environment has "
            f"{len(spec.reward_funcs)} reward functions; load it with reward=<one judge>"
        )
    agent = one_agent([*spec.entries, *spec.held_out])
    sides = {"train": spec.entries, "holdout": spec.held_out}
    rows = view([{"prompt": ""}])
    lines = {
        split: task_lines(entries, Gate(list(entries), {}, {}, None, []), rows, spec.config.seed, spec.config.rubric)
        for split, entries in sides.items()
    }
    settings = {
        "max_turns": spec.config.max_turns,
        "user_model": _user(spec.config.user_model),
        "avg_turns": spec.config.avg_turns,
        "reward": _reference(spec.reward_funcs[0].judge, "reward"),
        "world": None if spec.config.execute is None else _reference(spec.config.execute, "world"),
    }
    annotations = {tool.name: dict(tool.annotations) for tool in agent.tools if tool.annotations}
    settings |= {"annotations": annotations} if annotations else {}
    folder = tempfile.TemporaryDirectory(prefix="whileai-environment-")
    _folders.append(folder)
    module = f"environment_{digest(folder.name)}"
    path = Path(folder.name) / module
    write(path, Contents(PackageName(module.replace("_", "-"), module), agent, settings, lines, [], {}))
    return load_package(path)


def _reference(thing: Any, what: str) -> str:
    try:
        return reference_of(thing, what, {})
    except ConfigurationError:
        return hold(thing)


def _user(model: Any) -> str | None:
    if model is None or isinstance(model, str):
        return model
    raise ConfigurationError(
        f"user_model={model!r:.60} is an object of this process; with verifiers name it: 'template' or a spec string"
    )
