"""`load_environment`: from rows to something a trainer can be given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from datasets import DatasetDict, Features, load_dataset, load_from_disk
from datasets.exceptions import DatasetNotFoundError
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export.environment.config import EnvironmentConfig, EnvironmentKnobs
from whileai_hf.export.environment.rewards import EnvironmentRows, TaskCatalog, columns_wanted, make_rewards
from whileai_hf.export.environment.rows import carried_features, environment_features
from whileai_hf.export.environment.spec import EnvironmentSpec, route
from whileai_hf.export.environment.tasks import GivenAgent, Source, TaskEntry, read_tasks
from whileai_hf.export.environment.worlds import EnvironmentFactory
from whileai_hf.knobs import overlay
from whileai_hf.measure.hygiene import split
from whileai_hf.rows import task_key
from whileai_hf.rows.identity import TaskKey
from whileai_hf.spec import AgentSpec


_REPO_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
# Names under which a source with splits keeps what is not trained on, in the order they are looked for.
_HELD_OUT = ("holdout", "eval", "test", "validation")


def load_environment(
    source: Any,
    *,
    reward: Any = None,
    tools: Any = None,
    system_prompt: str | None = None,
    eval_data: Any = None,
    holdout: float | None = None,
    config: EnvironmentConfig | None = None,
    **knobs: Unpack[EnvironmentKnobs],
) -> EnvironmentSpec:
    """
    An environment to train in: `GRPOTrainer(model, args=args, **spec.trainer_kwargs())`.

    The world is that of `simulate`, faults included, and so is what a judge sees: the same calls give the same
    results, leave the same state, and are worth the same reward.

    Args:
        source (`datasets.Dataset`, `DatasetDict`, `list[dict]`, `list[str]`, path or Hub repo id):
            Tasks, asks, or rollouts, of which each prompt is a task. Rollouts bring their tools and system prompt.
            Splits called `train` and `holdout` (or `eval`, `test`, `validation`) are train and eval data. The folder
            of an exported environment brings everything, and code of its own, which is run.
        reward (`Callable`, `str` or `list`, *optional*):
            What a completion is worth: a judge, a verifier, a judge model, a reward function as TRL has them, or
            several. `as_reward(judge)` is the judge, and sees what the judge sees. By default the floor of `grade`:
            nothing invented, nothing skipped, no success claimed after a failure.
        tools (`list` or [`AgentSpec`] or path, *optional*):
            The agent's tools in any shape, or the whole agent, in place of what the rows say.
        system_prompt (`str`, *optional*):
            In place of what the rows say.
        eval_data (as `source`, *optional*):
            Tasks to evaluate on. They may share none with the training tasks.
        holdout (`float`, *optional*):
            Share of the tasks of `source` to evaluate on instead, as in [`~whileai_hf.measure.hygiene.split`].
        config ([`EnvironmentConfig`], *optional*):
            Further knobs.
        **knobs:
            Fields of [`EnvironmentConfig`]: `seed`, `execute`, `rubric`, `tasks`, `user_model`, `avg_turns`,
            `max_turns`.

    Returns:
        [`EnvironmentSpec`]: With `train_dataset`, `eval_dataset`, `environment_factory`, `reward_funcs`,
        `rollout_func` and `trainer_kwargs()`. Tasks of different tools become environments by name, as TRL takes them.

    Raises:
        [`ConfigurationError`]: No tools, two rewards of one name, or arguments that contradict each other.
        [`DataError`]: Rows without an ask, or tasks both trained and evaluated on.

    Examples:
    ```python
    >>> tools = [{"name": "get_order", "parameters": {"type": "object", "properties": {
    ...     "order_id": {"type": "string"}}, "required": ["order_id"]}}]
    >>> spec = load_environment(["Where is ORD-7?"], tools=tools, reward=lambda row: len(row["steps"]) == 1)
    >>> spec
    EnvironmentSpec(1 tasks; 0 held out; tools: get_order)
    >>> environment = spec.environment_factory()
    >>> environment.reset(**spec.train_dataset[0])
    >>> environment.get_order(order_id="ORD-7")[:15]
    '{"status":"ok",'

    ```
    """
    from whileai_hf.export.package.reading import is_package  # packages are made of environments

    settings = overlay(EnvironmentConfig, config, knobs)
    if is_package(source):
        wrong = {"tools": tools, "system_prompt": system_prompt, "eval_data": eval_data, "holdout": holdout}
        return _of_package(source, reward, [name for name, value in wrong.items() if value is not None], config, knobs)
    given = GivenAgent.read(tools, system_prompt, settings.rubric)
    source, eval_data = _sides(source, eval_data, holdout)
    train = read_tasks(source, given, settings.tasks)
    held = Source([], Features({})) if eval_data is None else read_tasks(eval_data, given, settings.tasks)
    if holdout is not None:
        train, held = _hold_out(train, holdout, settings.seed)
    _check_apart(train, held)
    every = [*train.entries, *held.entries]
    _check_distinct(every)

    def factory(spec: AgentSpec) -> EnvironmentFactory:
        return EnvironmentFactory(spec.tools, seed=settings.seed, execute=settings.execute)

    factories = route(every, factory)
    catalog = TaskCatalog(every, seed=settings.seed, simulated=settings.execute is None)
    features = environment_features(
        carried_features(Features({**held.foreign, **train.foreign}), columns_wanted(reward)),
        twins=any(entry.task.get("twin_of") is not None for entry in every),
        several=len(factories) > 1,
    )
    rewards = make_rewards(reward, settings.rubric, EnvironmentRows(catalog))
    return EnvironmentSpec(train.entries, held.entries, features, factories, rewards, catalog, settings)


def _of_package(
    source: Any, reward: Any, wrong: list[str], config: EnvironmentConfig | None, knobs: EnvironmentKnobs
) -> EnvironmentSpec:
    """The environment an exported package holds."""
    from whileai_hf.export.package import load_package, trainer_environment

    if wrong or config is not None:
        raise ConfigurationError(
            f"{source} is an exported environment and got {', '.join(wrong) or 'config'}=, which it says itself; "
            "leave that out, or load the rows it was exported from"
        )
    return trainer_environment(load_package(source), reward=reward, **knobs)


def _sides(source: Any, eval_data: Any, holdout: float | None) -> tuple[Any, Any]:
    """What is trained on, and what the caller or the source itself holds out."""
    source = _with_splits(source)
    if isinstance(source, DatasetDict):
        source, own = _splits(source)
        if own is not None and holdout is not None:
            raise ConfigurationError(f"holdout={holdout}, and the source has a split that is held out; leave one out")
        eval_data = own if eval_data is None else eval_data
    if eval_data is not None and holdout is not None:
        raise ConfigurationError(
            f"holdout={holdout} and eval_data= both say what to evaluate on; leave one of the two out"
        )
    return source, eval_data


def _origin(entry: TaskEntry) -> TaskKey:
    """The task whose world it is: a twin has that of the task it is the twin of, and says what happens there."""
    return entry.task.get("twin_of") or task_key(entry.task)


def _hold_out(source: Source, holdout: float, seed: int) -> tuple[Source, Source]:
    """Some of the tasks aside, those that `split` holds out; twins stay together."""
    keys: list[TaskKey] = [_origin(entry) for entry in source.entries]
    if len(set(map(type, keys))) > 1:  # numbers and words in one column would be neither
        keys = [str(key) for key in keys]
    parts = split([{"task_id": key, "place": place} for place, key in enumerate(keys)], holdout=holdout, seed=seed)
    sides = [[source.entries[place] for place in parts[name]["place"]] for name in ("train", "holdout")]
    return Source(sides[0], source.foreign), Source(sides[1], source.foreign)


def _with_splits(source: Any) -> Any:
    """A folder or repo that holds several splits, with all of them; every other source as it is."""
    if not isinstance(source, str | Path):
        return source
    path = Path(source).expanduser()
    if (path / "dataset_dict.json").is_file():
        return load_from_disk(str(path))
    if path.exists() or not _REPO_ID.fullmatch(str(source)):
        return source
    try:
        return load_dataset(str(source))
    except (DatasetNotFoundError, HfHubHTTPError, OfflineModeIsEnabled, ConnectionError, FileNotFoundError):
        return source  # whoever opens it next says what was looked for, and where


def _splits(parts: DatasetDict) -> tuple[Any, Any]:
    name = next((name for name in _HELD_OUT if name in parts), None)
    rest = [other for other in parts if other != name]
    trained = "train" if "train" in parts else rest[0] if len(rest) == 1 else None
    if trained is None:
        raise DataError(
            f"the source has the splits {', '.join(parts)}; pass one of them, and eval_data= for the other"
        )
    return parts[trained], None if name is None else parts[name]


def _check_apart(train: Source, held: Source) -> None:
    trained = {_origin(entry) for entry in train.entries}
    shared = [entry for entry in held.entries if _origin(entry) in trained]
    if shared:
        raise DataError(
            f"{len(shared)} of {len(held.entries)} tasks to evaluate on are trained on as well, the first is "
            f"{task_key(shared[0].task)!r:.60}; split by task, holdout=0.2 does"
        )


def _check_distinct(entries: Any) -> None:
    """What a row says of its task has to name one."""
    seen: dict[tuple[str, str], Mapping[str, Any]] = {}
    for entry in entries:
        key = (str(task_key(entry.task)), entry.task["prompt"])
        if key in seen:
            raise DataError(
                f"two tasks are called {key[0]!r:.60} and ask {key[1]!r:.60}; give each its own scenario_id"
            )
        seen[key] = entry.task
