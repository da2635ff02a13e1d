"""The held-out evaluation of a policy: it plays the tasks in this process, and a judge grades what it did."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from typing import Any

from datasets import Dataset, concatenate_datasets

from whileai_hf.actors.models import ModelAgent
from whileai_hf.engine import simulate
from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.score import grade


logger = logging.getLogger(__name__)

# Conversations generated together. More fill a GPU better; memory grows with them.
_BATCH = 32
# The person asks once, as in a trainer's environment, and no model plays them.
_NO_MODEL, _ASK_ONLY = "template", 2


@dataclasses.dataclass(frozen=True)
class Exam:
    """
    Held-out tasks and how they are played and judged: the same before and after training, random draws included.

    Args:
        entries (`Sequence[TaskEntry]`):
            The tasks, each with its agent.
        judge (`Callable` or `str`, *optional*):
            The judge; the floor of `grade` without one.
        rubric (`str`, *optional*):
            What a judge model goes by.
        execute (`Callable`, *optional*):
            A world of the user's own.
        k (`int`):
            Rollouts of every task.
        seed (`int`):
            Seed of the worlds and of sampling.
        max_turns (`int`):
            Turns of the policy in one rollout.
        max_tokens (`int`):
            Tokens of one message.
    """

    entries: Sequence[TaskEntry]
    judge: Any = None
    rubric: str | None = None
    execute: Callable[[str, dict[str, Any]], Any] | None = None
    k: int = 4
    seed: int = 0
    max_turns: int = 12
    max_tokens: int = 512

    def play(self, name: str, model: Any, tokenizer: Any) -> Dataset | None:
        """
        Has a model play the tasks.

        Args:
            name (`str`):
                What rows call it.
            model (`PreTrainedModel` or `PeftModel`):
                The policy; it gets its train or eval mode back.
            tokenizer (`PreTrainedTokenizerBase`):
                Its tokenizer.

        Returns:
            `datasets.Dataset`: Graded rollouts; `None` when none of them came to an end.
        """
        from whileai_hf.actors.models.transformers import TransformersModel  # needs torch

        source = TransformersModel(
            name, model=model, tokenizer=tokenizer, batch_size=_BATCH, max_tokens=self.max_tokens
        )
        parts = [part for part in self._parts(ModelAgent(source)) if len(part)]
        if not parts:
            logger.warning("none of the held-out rollouts of %s came to an end", name)
            return None
        return grade(concatenate_datasets(parts), self.judge, rubric=self.rubric)

    def _parts(self, policy: ModelAgent) -> list[Dataset]:
        """The rollouts of each agent's tasks."""
        agents = {id(entry.spec): entry.spec for entry in self.entries}
        return [
            simulate(
                policy,
                spec,
                tasks=[entry.task for entry in self.entries if entry.spec is spec],
                repeats=self.k,
                repeat_policy="fixed",
                seed=self.seed,
                concurrency=_BATCH,
                max_turns=self.max_turns,
                execute=self.execute,
                # Not the policy, which would otherwise be asked: people must not change with what is trained.
                user_model=_NO_MODEL,
                simulator=_NO_MODEL,
                avg_turns=_ASK_ONLY,
            )
            for spec in agents.values()
        ]
