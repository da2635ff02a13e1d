"""What reward functions were shown and said: every held-out completion of the evaluation going on, and the latest ones
of training."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whileai_hf.rows import dumps
from whileai_hf.score.verify.reward import rows_of
from whileai_hf.training.recorder.conversations import conversations_of


Reward = Callable[..., Any]
# Column of the held-out rows: the number of the task. Reward functions get it, which is how held-out batches are told
# from training batches, that lack it.
TASK_COLUMN = "holdout_task"
GOLD = "gold"


@dataclasses.dataclass
class Batch:
    """
    One batch of completions, and what each reward function said of them.

    Args:
        prompts (`Sequence`):
            Prompts, one per completion.
        completions (`Sequence`):
            Texts, or lists of messages.
        columns (`dict[str, list]`):
            Columns of the data set.
        step (`int`):
            Steps taken when they were scored.
        scores (`dict[str, list[float | None]]`):
            Values by the name of the reward function.
    """

    prompts: Sequence[Any]
    completions: Sequence[Any]
    columns: dict[str, Any]
    step: int
    scores: dict[str, list[float | None]] = dataclasses.field(default_factory=dict)

    @property
    def tasks(self) -> list[int] | None:
        """Numbers of the held-out tasks; `None` for a batch of training."""
        return self.columns.get(TASK_COLUMN)

    def total(self, weights: Mapping[str, float]) -> list[float | None]:
        """The weighted sum of the rewards of each completion, as the trainer forms it."""
        columns = [(weights[name], values) for name, values in self.scores.items() if weights.get(name)]
        totals: list[float | None] = []
        for index in range(len(self.completions)):
            said = [(weight, values[index]) for weight, values in columns if index < len(values)]
            known = [weight * value for weight, value in said if value is not None]
            totals.append(sum(known) if known else None)
        return totals


class Tape:
    """
    Keeps what reward functions were shown and said.

    Args:
        keep (`int`):
            Completions of training kept.
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self.held: list[Batch] = []
        self.trained: list[Batch] = []
        self._latest: Batch | None = None
        self._shown: Any = None  # the completions of the latest batch, as the trainer's own object

    def take(self, name: str, prompts: Any, completions: Any, columns: Mapping[str, Any], values: Any) -> None:
        """Adds what one reward function said about a batch. A trainer shows one and the same list to all of them."""
        batch = self._latest
        if batch is None or self._shown is not completions:
            count = len(completions)
            own = {
                key: cells
                for key, cells in columns.items()
                if isinstance(cells, list) and len(cells) == count and key not in ("environments", "completion_ids")
            }
            state = columns.get("trainer_state")
            led = conversations_of(completions, columns)
            batch = Batch(prompts, led, own, 0 if state is None else int(state.global_step))
            self._latest, self._shown = batch, completions
            self._store(batch)
        batch.scores[name] = [score_of(value) for value in values]

    def _store(self, batch: Batch) -> None:
        if batch.tasks is not None:
            self.held.append(batch)
            return
        self.trained.append(batch)
        while sum(len(each.completions) for each in self.trained[1:]) >= self._keep:
            self.trained.pop(0)

    def start(self) -> None:
        """Forgets the held-out completions: an evaluation begins."""
        self.held = []
        self._latest = self._shown = None

    def rows(self, weights: Mapping[str, float], after: int) -> list[dict[str, Any]]:
        """Rollout rows of the completions of training after a step, with the reward they were trained on."""
        made = []
        for batch in self.trained:
            if batch.step >= after:
                rows = rows_of(batch.prompts, batch.completions, batch.columns)
                pairs = zip(rows, batch.total(weights), strict=True)
                made += [{**row, "prompt": _ask(row), "reward": reward} for row, reward in pairs]
        return made


def watched(reward: Reward, tape: Tape, name: str) -> Reward:
    """
    A reward function that does what it did, and has the tape know.

    Args:
        reward (`Callable`):
            A reward function of TRL's, sync or async.
        tape ([`Tape`]):
            Where to.
        name (`str`):
            The name to keep it under.
    """
    if is_async_reward(reward):

        @functools.wraps(reward)
        async def awaited(prompts: Any, completions: Any, **columns: Any) -> Any:
            values = await reward(prompts=prompts, completions=completions, **columns)
            tape.take(name, prompts, completions, columns, values)
            return values

        awaited.__name__ = name
        return awaited

    @functools.wraps(reward)
    def called(prompts: Any, completions: Any, **columns: Any) -> Any:
        values = reward(prompts=prompts, completions=completions, **columns)
        tape.take(name, prompts, completions, columns, values)
        return values

    called.__name__ = name
    return called


def is_async_reward(reward: Any) -> bool:
    """Whether a trainer awaits it: an `async def`, also as `__call__` or in a partial."""
    while isinstance(reward, functools.partial):
        reward = reward.func
    return inspect.iscoroutinefunction(reward) or inspect.iscoroutinefunction(type(reward).__call__)


def reward_name(reward: Any) -> str:
    """The name a trainer logs a reward function under."""
    while isinstance(reward, functools.partial):
        reward = reward.func
    named = vars(reward).get("__name__") if not inspect.isroutine(reward) else reward.__name__
    return named if isinstance(named, str) else type(reward).__name__


def score_of(value: Any) -> float | None:
    """A reward as a number; `None` for what is none or is not finite."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def written(completion: Any) -> int:
    """Characters the policy wrote: its texts and its calls, not what tools answered."""
    if isinstance(completion, str):
        return len(completion)
    messages = [completion] if isinstance(completion, Mapping) else completion
    total = 0
    for message in messages if isinstance(messages, list | tuple) else ():
        if not isinstance(message, Mapping) or message.get("role", "assistant") != "assistant":
            continue
        content, calls = message.get("content"), message.get("tool_calls")
        if content:
            total += len(content) if isinstance(content, str) else len(dumps(content))
        if calls:
            total += len(dumps(calls))
    return total


def _ask(row: Mapping[str, Any]) -> Any:
    """The ask of a row; a task without words of its own is its row's columns."""
    return row["prompt"] or dumps({key: value for key, value in row.items() if key not in _SAID}).decode()


_SAID = frozenset({"prompt", "messages", "steps", "final_text", "reward"})
