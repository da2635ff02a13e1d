"""An environment for trainers of TRL: datasets, worlds and rewards that belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from datasets import Dataset, Features

from whileai_hf.actors.users import read_script
from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment.config import EnvironmentConfig
from whileai_hf.export.environment.names import Rename
from whileai_hf.export.environment.rewards import EnvironmentRows, Reward, TaskCatalog, make_rewards
from whileai_hf.export.environment.rows import make_rows
from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.export.environment.templates import check_tokenizer
from whileai_hf.export.environment.worlds import EnvironmentFactory
from whileai_hf.score.verify.reward import JudgeReward, as_reward
from whileai_hf.spec import AgentSpec


if TYPE_CHECKING:
    from whileai_hf.export.rollout import EnvironmentRollout

Factory = EnvironmentFactory | dict[str, EnvironmentFactory]


@dataclass(frozen=True, repr=False, eq=False)
class EnvironmentSpec:
    """
    Tasks, worlds and rewards of an environment. Make one with [`load_environment`].

    Args:
        entries (`Sequence[TaskEntry]`):
            The training tasks.
        held_out (`Sequence[TaskEntry]`):
            Tasks to evaluate on; may be empty.
        features (`datasets.Features`):
            Columns of both datasets.
        factories (`Mapping[str, EnvironmentFactory]`):
            One per set of tools.
        reward_funcs (`list[Callable]`):
            What a completion is worth.
        catalog ([`TaskCatalog`]):
            All tasks by what a row says of them.
        config ([`EnvironmentConfig`]):
            The knobs.
    """

    entries: Sequence[TaskEntry]
    held_out: Sequence[TaskEntry]
    features: Features
    factories: Mapping[str, EnvironmentFactory]
    reward_funcs: list[Reward]
    catalog: TaskCatalog
    config: EnvironmentConfig

    def __repr__(self) -> str:
        parts = [f"{len(self.entries)} tasks", f"{len(self.held_out)} held out"]
        tools = list(dict.fromkeys(name for spec in self.agents for name in spec.names))
        parts.append(f"tools: {', '.join(tools) or 'none'}")
        return f"EnvironmentSpec({'; '.join(parts)})"

    @cached_property
    def agents(self) -> list[AgentSpec]:
        """The agents that are asked, each once."""
        return list({id(entry.spec): entry.spec for entry in (*self.entries, *self.held_out)}.values())

    @cached_property
    def train_dataset(self) -> Dataset:
        """
        One row per task: `prompt` (messages), `scenario_id`, `task_id`, `seed`, `world_state`, `faults`,
        `scenario_dimensions`, `split` (`"train"`), columns of the tasks' own, and `environment` where there are
        several. Nothing only a judge may see.
        """
        return make_rows(self.entries, self.features, "train")

    @cached_property
    def eval_dataset(self) -> Dataset | None:
        """The tasks held out, with `split` `"eval"`; `None` without."""
        return make_rows(self.held_out, self.features, "eval") if self.held_out else None

    @property
    def environment_factory(self) -> Factory:
        """What makes environment instances; a dict by the `environment` column where there are several."""
        factories = list(self.factories.values())
        return factories[0] if len(factories) == 1 else dict(self.factories)

    @property
    def renamed(self) -> list[Rename]:
        """Tools and parameters the model is shown under another name, since no method can bear theirs."""
        return list(dict.fromkeys(name for factory in self.factories.values() for name in factory.renamed))

    @cached_property
    def rollout_func(self) -> EnvironmentRollout:
        """
        The same environment as `rollout_func=`, for tasks that need further user turns: a simulated user answers the
        policy, and each row's tools are shown word for word.
        """
        from whileai_hf.export.rollout import EnvironmentRollout  # it reads environments

        return EnvironmentRollout(self.catalog, self.config)

    def as_reward(self, judge: Any, *, name: str | None = None) -> Reward:
        """
        Another judge as a reward function over these tasks: as the gold of a monitor, or to log beside the reward.

        Args:
            judge (`Any`):
                As `reward=` of [`load_environment`].
            name (`str`, *optional*):
                Name the trainer logs it under.

        Returns:
            `Callable`: It sees what the judges of the environment see, the task's privileged part included.
        """
        (made,) = make_rewards([judge], self.config.rubric, EnvironmentRows(self.catalog))
        if name is None:
            return made
        if not isinstance(made, JudgeReward):
            raise ConfigurationError(f"name={name!r} is for judges; {judge!r:.60} is a reward function with its own")
        return as_reward(made.judge, name=name, concurrency=made.concurrency, rows=made.rows)

    def check_tokenizer(self, tokenizer: Any) -> None:
        """
        Checks that the chat template of a tokenizer can hold these conversations.

        Raises:
            [`ConfigurationError`]: It cannot; the message names the templates that work.
        """
        if any(spec.tools for spec in self.agents):
            check_tokenizer(tokenizer)

    def verifiers(self, **knobs: Any) -> Any:
        """The same environment as a `verifiers.v1.Env`, see [`~whileai_hf.export.verifiers.verifiers_environment`]."""
        from whileai_hf.export.verifiers import verifiers_environment  # made of environments, and optional

        return verifiers_environment(self, **knobs)

    def evaluate(self, model: Any, *, n: int | None = None, k: int = 1, **knobs: Any) -> Dataset:
        """
        Plays tasks with verifiers in this process.

        Args:
            model (`str` or `Callable` or [`ScriptedModel`]):
                The policy.
            n (`int`, *optional*):
                Tasks; all by default.
            k (`int`, *optional*, defaults to `1`):
                Rollouts of each.
            **knobs:
                As for [`~whileai_hf.export.verifiers.evaluate`]: `split`, `temperature`, `max_turns`, ...

        Returns:
            `datasets.Dataset`: Graded rollouts.
        """
        from whileai_hf.export.verifiers import evaluate

        return evaluate(self, model, n=n, k=k, **knobs)

    def trainer_kwargs(self, *, rollout: bool = False, **given: Any) -> dict[str, Any]:
        """
        The keywords of `GRPOTrainer`: `GRPOTrainer(model, args=args, **spec.trainer_kwargs())`.

        Args:
            rollout (`bool`, *optional*, defaults to `False`):
                Conversations with the simulated user, through `rollout_func=` in place of `environment_factory=`.
            **given:
                Further keywords of the trainer, which come back beside ours; a `processing_class` is checked.

        Returns:
            `dict`: `train_dataset`, `reward_funcs`, `environment_factory` or `rollout_func`, and `eval_dataset` where
            tasks are held out.

        Raises:
            [`ConfigurationError`]: A keyword that the environment answers for, a tokenizer without tools, or tasks
                whose script has user turns that only `rollout=True` can play.
        """
        made: dict[str, Any] = {"train_dataset": self.train_dataset, "reward_funcs": list(self.reward_funcs)}
        if self.eval_dataset is not None:
            made["eval_dataset"] = self.eval_dataset
        if rollout:
            made["rollout_func"] = self.rollout_func
            for name in ("train_dataset", "eval_dataset"):
                if name in made:
                    made[name] = self.rollout_func.with_task_ids(made[name])
        else:
            self._check_scripts()
        if not rollout and any(spec.tools for spec in self.agents):
            made["environment_factory"] = self.environment_factory
        taken = [name for name in (*made, "tools", "environment_factory", "rollout_func") if name in given]
        if taken:
            raise ConfigurationError(
                f"trainer_kwargs() got {', '.join(dict.fromkeys(taken))}, which the environment answers for; pass "
                "rewards and data to load_environment, or change the dict that comes back"
            )
        if given.get("processing_class") is not None:
            self.check_tokenizer(given["processing_class"])
        return {**made, **given}

    def _check_scripts(self) -> None:
        """An environment's user speaks once; leaving out what a task has them say would make it another task."""
        every = (*self.entries, *self.held_out)
        scripted = sum(any(turn.user is not None for turn in read_script(entry.task.get("script"))) for entry in every)
        if scripted:
            raise ConfigurationError(
                f"{scripted} of {len(every)} tasks have further user turns in their script, and with "
                "environment_factory= the user speaks once; use trainer_kwargs(rollout=True), or drop the column "
                "'script'"
            )


def route(entries: Sequence[TaskEntry], make: Callable[[AgentSpec], EnvironmentFactory]) -> dict[str, Any]:
    """
    Names the environment of every task: one for each set of tools.

    Args:
        entries (`Sequence[TaskEntry]`):
            Tasks; their `environment` is set.
        make (`Callable`):
            Makes the factory of an agent.

    Returns:
        `dict[str, EnvironmentFactory]`: By name, in the order they turn up.
    """
    factories: dict[str, EnvironmentFactory] = {}
    names: dict[int, str] = {}
    for entry in entries:
        key = id(entry.spec.tools)
        if key not in names:
            same = [name for name, made in factories.items() if made.tools == entry.spec.tools]
            names[key] = same[0] if same else f"tools-{len(factories)}"
            if not same:
                factories[names[key]] = make(entry.spec)
        entry.environment = names[key]
    return factories
