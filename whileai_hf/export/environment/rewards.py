"""Judges as the reward functions of an environment: they see what they see of a simulation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import Model
from whileai_hf.errors import AgentError, ConfigurationError
from whileai_hf.export.environment.names import ShownTool, show_tools
from whileai_hf.export.environment.rows import ask_in
from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.export.environment.transcripts import failed_row, judged_row, read_transcript, restore_names
from whileai_hf.export.reading import task_text
from whileai_hf.sandbox import Session
from whileai_hf.score.choosing import choose_judge
from whileai_hf.score.config import GradingConfig
from whileai_hf.score.verdicts import GroupJudge
from whileai_hf.score.verify.reward import JudgeReward, as_reward, columns_per_row, rows_of
from whileai_hf.spec import AgentSpec


Reward = Callable[..., Any]
# A rollout function returns the conversation under this name, and what else it knows under the other.
TRAJECTORY = "trajectory"
ROLLOUT = "rollout"


class TaskCatalog:
    """
    The tasks of an environment by what a trainer's row says of them.

    Args:
        entries (`Sequence[TaskEntry]`):
            The tasks.
        seed (`int`):
            Seed of worlds whose task brings none.
        simulated (`bool`):
            Whether the simulated world answers, so that calls can be made again.
    """

    def __init__(self, entries: Sequence[TaskEntry], *, seed: int, simulated: bool) -> None:
        self.seed, self.simulated = seed, simulated
        self._entries = {
            (task_text(entry.task, entry.task["prompt"]), entry.task["prompt"]): entry for entry in entries
        }
        self._shown: dict[int, dict[str, ShownTool]] = {}

    @property
    def tools(self) -> bool:
        """Whether any task has tools."""
        return any(entry.spec.tools for entry in self._entries.values())

    def __repr__(self) -> str:  # what only a judge may see is in here, and reprs are printed
        return f"TaskCatalog({len(self._entries)} tasks)"

    def find(self, task_id: Any, ask: str) -> TaskEntry | None:
        """The task of a row, `None` for one of another dataset."""
        return self._entries.get((str(task_id), ask))

    def shown(self, spec: AgentSpec) -> dict[str, ShownTool]:
        """The tools of an agent by the name that methods show."""
        found = self._shown.get(id(spec))
        if found is None:
            found = self._shown[id(spec)] = {tool.name: tool for tool in show_tools(spec.tools)[0]}
        return found

    def session(self, entry: TaskEntry) -> Session:
        """A fresh world of a task."""
        return Session.of_task(entry.spec.tools, entry.task, seed=self.seed)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_shown": {}}  # by address, which another process does not share


class EnvironmentRows:
    """
    Makes the rows judges see of a batch of TRL: with the task, the world, and the tools under their own names.

    Args:
        catalog ([`TaskCatalog`]):
            The tasks.
    """

    def __init__(self, catalog: TaskCatalog) -> None:
        self.catalog = catalog

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """One row per completion."""
        cells = columns_per_row(prompts, completions, columns)
        cut = _cut_off(columns, len(completions))
        return [self._row(*each) for each in zip(prompts, completions, cells, cut, strict=True)]

    def _row(self, prompt: Any, completion: Any, cells: dict[str, Any], cut: bool) -> dict[str, Any]:
        ask = ask_in(prompt)
        entry = self.catalog.find(cells.get("task_id"), ask)
        if entry is None:
            raise ConfigurationError(
                f"the reward function got the prompt {ask!r:.60} (task_id {cells.get('task_id')!r:.40}), which is no "
                "task of this environment; train on spec.train_dataset, or load the environment with those tasks"
            )
        task, spec = entry.task, entry.spec
        about = dict(cells[ROLLOUT]) if isinstance(cells.get(ROLLOUT), Mapping) else {}
        if TRAJECTORY in cells:
            said = cells[TRAJECTORY]
        else:
            said = restore_names(_messages(completion), self.catalog.shown(spec))
            about |= {"finish_reason": "length"} if cut else {}
        session = self.catalog.session(entry) if self.catalog.simulated else None
        about["seed"] = task.get("seed") if task.get("seed") is not None else self.catalog.seed
        try:
            return judged_row(task, spec, read_transcript(task, spec, said, session), about)
        except AgentError as error:
            return failed_row(task, spec, error)


def _cut_off(columns: Mapping[str, Any], count: int) -> list[bool]:
    """
    Which completions end in the middle, for want of room: their last token is none that ends a turn.

    Which tokens do is asked of the trainer, whose method `log_metric` is; nobody else says it to reward functions.
    """
    log_metric, ids = columns.get("log_metric"), columns.get("completion_ids")
    trainer = log_metric.__self__ if inspect.ismethod(log_metric) else None
    stops = None if trainer is None else vars(trainer).get("eos_token_ids")
    if not stops or not isinstance(ids, list | tuple) or len(ids) != count:
        return [False] * count
    return [bool(each) and each[-1] not in stops for each in ids]


def _messages(completion: Any) -> list[dict[str, Any]]:
    if isinstance(completion, Mapping):
        completion = [completion]
    if isinstance(completion, list | tuple):
        return [dict(message) for message in completion if isinstance(message, Mapping)]
    return [{"role": "assistant", "content": completion if isinstance(completion, str) else ""}]


def is_reward_function(item: Any) -> bool:
    """Whether it takes a batch as TRL's reward functions do, and not one row as judges do."""
    if not callable(item) or isinstance(item, type):
        return False
    try:
        return "completions" in inspect.signature(item).parameters
    except (TypeError, ValueError):  # some builtins have no signature; a judge can be one
        return False


def columns_wanted(reward: Any) -> list[str]:
    """Columns that reward functions of the user's own ask for by name."""
    items = reward if isinstance(reward, list | tuple) else [reward]
    own = [item for item in items if is_reward_function(item) and not isinstance(item, JudgeReward)]
    return [name for item in own for name in inspect.signature(item).parameters]


def make_rewards(reward: Any, rubric: str | None, rows: EnvironmentRows) -> list[Reward]:
    """
    The reward functions of an environment.

    Args:
        reward (`Any`):
            A judge, a verifier, a judge model, a reward function of TRL's shape, or a list of them; `None` for the
            floor that `grade` falls back to. Of `as_reward(judge)` it is the judge that is meant.
        rubric (`str`, *optional*):
            What a judge model goes by.
        rows ([`EnvironmentRows`]):
            What judges see.

    Returns:
        `list[Callable]`: As the trainer takes them, each under a name of its own.

    Raises:
        [`ConfigurationError`]: Something that is no judge, two of one name, which the trainer would add up, or a judge
            that something keeps from seeing the environment's rows.
    """
    items = list(reward) if isinstance(reward, list | tuple) else [reward]
    if not items:
        raise ConfigurationError("reward=[] names no reward; pass a judge, or leave it out for the floor of grade()")
    made = [_made(item, rubric, rows) for item in items]
    names = [_name(item) for item in made]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(
                f"two rewards are called {name!r}, and the trainer would log them as one; give them names: "
                "as_reward(judge, name='...')"
            )
    return made


def _name(reward: Reward) -> str:
    """What the trainer logs it under."""
    while isinstance(reward, functools.partial):
        reward = reward.func
    return str(getattr(reward, "__name__", type(reward).__name__))


def _inside(item: Any) -> Any:
    """What a partial, a method or a decorator such as `recorder.wrap` has inside; the item itself without one."""
    while not isinstance(item, JudgeReward):
        inner: Any
        if isinstance(item, functools.partial):
            inner = item.func
        elif inspect.ismethod(item) and isinstance(item.__self__, JudgeReward):
            inner = item.__self__
        else:
            inner = inspect.unwrap(item, stop=lambda each: isinstance(each, JudgeReward | functools.partial))
        if inner is item:
            break
        item = inner
    return item


def _check_seen(item: Any) -> None:
    """What keeps the environment's rows from a judge would have it judge without them, and nobody would notice."""
    inner = _inside(item)
    judge = inner if isinstance(inner, JudgeReward) else None
    if judge is not None and isinstance(judge.rows, EnvironmentRows):
        return
    if inner is not item and (judge is not None or (_takes_batches(item) and not is_reward_function(inner))):
        raise ConfigurationError(
            f"reward={_name(inner)!r} is a judge with something around it that takes batches, so it could not be "
            "shown the environment's world and tasks; pass the judge itself, and put the rest around "
            "spec.reward_funcs, as in [recorder.wrap(reward) for reward in spec.reward_funcs]"
        )
    if judge is not None and judge.rows is not rows_of:
        raise ConfigurationError(
            f"reward={judge.__name__!r} was made by as_reward(..., rows=), and in an environment judges see its rows; "
            "pass the judge itself, or a reward function of your own"
        )


def _takes_batches(item: Any) -> bool:
    """Whether it takes batches by its own words, whatever it claims to wrap."""
    return inspect.isfunction(item) and "completions" in inspect.signature(item, follow_wrapped=False).parameters


def _made(item: Any, rubric: str | None, rows: EnvironmentRows) -> Reward:
    _check_seen(item)
    if isinstance(item, JudgeReward):
        return as_reward(item.judge, name=item.__name__, concurrency=item.concurrency, rows=rows)
    if is_reward_function(item):
        return item  # type: ignore[no-any-return]
    if isinstance(item, GroupJudge):
        raise ConfigurationError(
            f"reward={item!r:.80} compares whole groups, and a reward function is given single completions"
        )
    # A judge of the user's own reads the rubric off the row, where the task or the agent has one.
    asked = item is None or isinstance(item, str | Model | ScriptedModel)
    return as_reward(choose_judge(item, rubric if asked else None, GradingConfig()), rows=rows)
