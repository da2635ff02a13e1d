"""A rollout function for `GRPOTrainer`: the environment's tasks, played to the end with a simulated user."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset

from whileai_hf.actors.chat import Conversation
from whileai_hf.actors.loop import wait_for
from whileai_hf.actors.users import SimulatedUser, UserTurns, as_user, make_user
from whileai_hf.errors import ConfigurationError, ModelStopError
from whileai_hf.export.environment.config import EnvironmentConfig
from whileai_hf.export.environment.rewards import ROLLOUT, TRAJECTORY, TaskCatalog
from whileai_hf.export.environment.rows import ask_in
from whileai_hf.export.environment.tasks import TaskEntry
from whileai_hf.export.rollout.sampling import Sampler, longest_context, sample_with
from whileai_hf.export.rollout.talk import Limits, Talk
from whileai_hf.export.rollout.tokens import TurnTokens
from whileai_hf.rows import add_columns, view
from whileai_hf.sandbox import ActiveRollout, Session, activate


# A key of the last prompt message, which templates do not read: a rollout function gets nothing of a row but this.
TASK_ID = "task_id"


class EnvironmentRollout:
    """
    Plays prompts of an environment with the policy of a trainer. `GRPOTrainer(rollout_func=spec.rollout_func)` takes
    it, on the dataset that `spec.trainer_kwargs(rollout=True)` gives.

    Calls go to the world, and the user answers, by the very code that `simulate` runs. All conversations of a batch
    are sampled together, turn by turn.

    Args:
        catalog ([`TaskCatalog`]):
            The tasks.
        config ([`EnvironmentConfig`]):
            `execute`, `user_model`, `avg_turns` and `max_turns` are read.
        sample ([`Sampler`], *optional*):
            `(trainer, prompts) -> (tokens, log probabilities or None)`; through the trainer by default.
    """

    def __init__(self, catalog: TaskCatalog, config: EnvironmentConfig, sample: Sampler = sample_with) -> None:
        self.catalog = catalog
        self.config = config
        self._sample = sample
        self._user: SimulatedUser = as_user(config.user_model)
        self._templates: dict[int, tuple[Any, TurnTokens]] = {}

    def __repr__(self) -> str:
        return f"EnvironmentRollout({self.catalog!r}, user: {self._user.name})"

    def with_sampler(self, sample: Sampler) -> EnvironmentRollout:
        """The same rollouts, sampled by something else."""
        return EnvironmentRollout(self.catalog, self.config, sample)

    def with_task_ids(self, dataset: Dataset) -> Dataset:
        """The dataset with the task's id on the last message of each prompt, where a rollout function finds it."""
        rows = view(dataset)
        prompts = [
            [*prompt[:-1], {**prompt[-1], TASK_ID: name}]
            for prompt, name in zip(rows.column("prompt"), rows.column(TASK_ID), strict=True)
        ]
        return add_columns(dataset, {"prompt": prompts}, {"prompt": dataset.features["prompt"]})

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """
        One rollout of each prompt.

        Args:
            prompts (`Sequence[list[dict]]`):
                Prompts of the environment's dataset, each as often as it is to be answered.
            trainer (`GRPOTrainer`):
                Whose policy is played.

        Returns:
            `dict`: `prompt_ids`, `completion_ids`, `logprobs` and `env_mask` (1 where the policy wrote) for the
            trainer; `trajectory` (the messages behind the prompt) and `rollout` (`rollout_index`, `finish_reason`,
            what the user reports) for reward functions.
        """
        if self.catalog.tools and trainer.tools:
            raise ConfigurationError(
                "the trainer has tools= or environment_factory= beside this rollout function, which plays the calls "
                "itself; pass trainer_kwargs(rollout=True) and nothing else"
            )
        limits = _limits(trainer)
        entries = [self._entry(prompt) for prompt in prompts]
        indices = _repeats(entries, trainer.accelerator.process_index)
        talks = [
            self._start(entry, prompt, index, trainer, limits)
            for entry, prompt, index in zip(entries, prompts, indices, strict=True)
        ]
        known = True
        while _anyone([talk for talk in talks if talk.live], trainer):
            live = [talk for talk in talks if talk.live]
            # A process that is done keeps the others company: where weights are shared, they sample together.
            asked = [talk.ids for talk in live] or [talks[0].prompt_ids]
            written, logprobs = self._sample(trainer, asked)
            known = known and logprobs is not None
            for place, talk in enumerate(live):
                talk.take(written[place], None if logprobs is None else logprobs[place])
            self._let_users_speak(talks)
        return {
            "prompt_ids": [talk.prompt_ids for talk in talks],
            "completion_ids": [talk.completion_ids for talk in talks],
            "logprobs": [talk.logprobs for talk in talks] if known else None,
            "env_mask": [talk.mask for talk in talks],
            TRAJECTORY: [talk.trajectory() for talk in talks],
            ROLLOUT: [{"rollout_index": index, **talk.about()} for index, talk in zip(indices, talks, strict=True)],
        }

    def _entry(self, prompt: Any) -> TaskEntry:
        last = prompt[-1] if isinstance(prompt, list) and prompt and isinstance(prompt[-1], Mapping) else {}
        entry = self.catalog.find(last.get(TASK_ID), ask_in(prompt))
        if entry is None:
            raise ConfigurationError(
                f"the rollout function got the prompt {ask_in(prompt)!r:.60}, which names no task of this "
                "environment; train on the dataset of trainer_kwargs(rollout=True)"
            )
        return entry

    def _start(self, entry: TaskEntry, prompt: Any, index: int, trainer: Any, limits: Limits) -> Talk:
        task, spec = entry.task, entry.spec
        session = Session.of_task(spec.tools, task, seed=self.catalog.seed, execute=self.config.execute)
        rollout = ActiveRollout(task, index, session.seed, session)
        user = make_user(
            self._user, task, seed=rollout.sampling_seed, rollout_index=index, avg_turns=self.config.avg_turns
        )
        world = session if self.config.execute is None else _Activated(rollout)
        conversation = Conversation(task["prompt"], spec, world, self.config.max_turns, user)
        opening = [*prompt[:-1], {key: value for key, value in prompt[-1].items() if key != TASK_ID}]
        return Talk(conversation, self._turns(trainer), opening, spec.openai_tools(), limits)

    def _turns(self, trainer: Any) -> TurnTokens:
        """The chat template of the trainer's tokenizer, looked at once."""
        tokenizer = _tokenizer_of(trainer.processing_class)
        known = self._templates.get(id(tokenizer))
        if known is None:
            turns = TurnTokens(tokenizer, trainer.chat_template_kwargs, tools=self.catalog.tools)
            known = self._templates[id(tokenizer)] = (tokenizer, turns)
        return known[1]

    def _let_users_speak(self, talks: Sequence[Talk]) -> None:
        waiting = [talk for talk in talks if talk.waits_for_user]
        users = [talk.conversation.user for talk in waiting]
        if not waiting:
            return

        async def all_of_them() -> list[str | BaseException | None]:
            asked = [
                user.next(list(talk.conversation.messages))
                for talk, user in zip(waiting, users, strict=True)
                if isinstance(user, UserTurns)
            ]
            return list(await asyncio.gather(*asked, return_exceptions=True))

        for talk, said in zip(waiting, wait_for(all_of_them()), strict=True):
            if isinstance(said, ModelStopError) or not isinstance(said, str | Exception | None):
                raise said  # there will be no further answer, or somebody wants it all to end
            if isinstance(said, Exception):
                talk.fail(f"{type(said).__name__}: {said}")
            else:
                talk.hear(said)


class _Activated:
    """The world of a rollout, for an `execute` that asks which one it answers."""

    def __init__(self, rollout: ActiveRollout) -> None:
        self._rollout = rollout

    def call(self, tool: str, arguments: dict[str, Any], /) -> dict[str, Any]:
        with activate(self._rollout):
            return self._rollout.session.call(tool, arguments)


def _anyone(live: Sequence[Talk], trainer: Any) -> bool:
    """Whether a conversation goes on, in any process."""
    if trainer.accelerator.num_processes == 1:
        return bool(live)
    from accelerate.utils import gather_object  # type: ignore[import-untyped]  # it ships no types

    return any(gather_object([bool(live)]))


def _repeats(entries: Sequence[TaskEntry], process: int) -> list[int]:
    """Which rollout of its task each prompt is; every process plays a share of a group, so it counts on from there."""
    share = Counter(map(id, entries))
    seen: Counter[int] = Counter()
    indices = []
    for entry in entries:
        indices.append(process * share[id(entry)] + seen[id(entry)])
        seen[id(entry)] += 1
    return indices


def _limits(trainer: Any) -> Limits:
    stops = {*trainer.eos_token_ids, _tokenizer_of(trainer.processing_class).eos_token_id}
    room = sys.maxsize if trainer.max_completion_length is None else trainer.max_completion_length
    return Limits(room, longest_context(trainer), frozenset(stops))


def _tokenizer_of(processing_class: Any) -> Any:
    from transformers import ProcessorMixin

    return processing_class.tokenizer if isinstance(processing_class, ProcessorMixin) else processing_class
