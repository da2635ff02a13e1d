"""An exported environment in the shape TRL takes."""

from __future__ import annotations

from typing import Any, Unpack

from whileai_hf.export.environment import EnvironmentSpec, load_environment
from whileai_hf.export.environment.config import EnvironmentKnobs
from whileai_hf.export.package.reading import EnvironmentPackage
from whileai_hf.export.package.tasks import task_of_line


def trainer_environment(
    package: EnvironmentPackage, *, reward: Any = None, **knobs: Unpack[EnvironmentKnobs]
) -> EnvironmentSpec:
    """
    The tasks, world and reward of a package for trainers of TRL.

    Args:
        package ([`EnvironmentPackage`]):
            The environment.
        reward (`Callable`, `str` or `list`, *optional*):
            In place of the package's own.
        **knobs:
            Fields of [`~whileai_hf.export.environment.EnvironmentConfig`], in place of what the package says.

    Returns:
        [`~whileai_hf.export.environment.EnvironmentSpec`]: Its holdout is the eval data.
    """
    train, held = ([task_of_line(line) for line in package.lines(split)] for split in ("train", "holdout"))
    own: EnvironmentKnobs = {
        "execute": package.world(),
        "max_turns": package.max_turns,
        "user_model": package.spec.get("user_model"),
    }
    if package.spec.get("avg_turns"):
        own["avg_turns"] = package.spec["avg_turns"]
    given: EnvironmentKnobs = {**own, **knobs}
    paid = package.reward() if reward is None else reward
    return load_environment(train, reward=paid, tools=package.agent, eval_data=held or None, **given)
