"""What the training programs share: everything but the trainer.

Importing this module imports transformers, which takes seconds; a training program needs it anyway.
"""

from __future__ import annotations

import logging
from pathlib import Path
from types import TracebackType
from typing import Any

from datasets import Dataset

from whileai_hf.errors import ConfigurationError, WhileaiError
from whileai_hf.export.environment import EnvironmentSpec, load_environment
from whileai_hf.export.environment.rewards import is_reward_function
from whileai_hf.rows import task_keys, view
from whileai_hf.score.verify.reward import JudgeReward
from whileai_hf.spec import as_spec
from whileai_hf.training.callback import TrainerCallback
from whileai_hf.training.launching.arguments import ProgramArguments, find_judge, find_object
from whileai_hf.training.launching.card import training_card
from whileai_hf.training.launching.heldout import Exam
from whileai_hf.training.launching.material import read_material
from whileai_hf.training.launching.pairs import PAIR_ACCURACY, judge_pairs
from whileai_hf.training.launching.publishing import Publish, push_result
from whileai_hf.training.runs import TrainingRun, training_run
from whileai_hf.training.runs.record import DONE, STOPPED


logger = logging.getLogger(__name__)

# Folders of a run with the held-out rollouts of both sides.
_FOLDERS = {"before": "holdout-before", "after": "holdout-after"}


class TrainingProgram:
    """
    A training program around its trainer: opens the record, reads the rows, and `fit` does the rest.

        with TrainingProgram("sft", arguments, model, config, publish=push_adapter) as program:
            trainer = SFTTrainer(program.model, args=config, train_dataset=..., callbacks=[program.callback])
            program.fit(trainer)

    Attributes: `run`, `train` (rows), `held_out` (rows, or `None`), `model` (name or folder), `tokenizer`, `callback`,
    `reward` and `gold` (loaded), `execute`, `shown` (tools and system prompt of `--agent`, as keywords of `to_trl`).

    Args:
        method (`str`):
            What it does, for the record.
        arguments ([`ProgramArguments`]):
            The common flags.
        model (`trl.ModelConfig`):
            The model's flags.
        config (`transformers.TrainingArguments`):
            The trainer's flags. `push_to_hub` is taken off it: the push comes last, with the card.
        publish (`Callable`, *optional*):
            Pushes an adapter, `push_adapter` of the room `hub`.
    """

    def __init__(
        self, method: str, arguments: ProgramArguments, model: Any, config: Any, *, publish: Publish | None = None
    ) -> None:
        self.method, self.arguments, self.config = method, arguments, config
        self.model: str = model.model_name_or_path
        self._model_config, self._publish = model, publish
        self._repo: str | None = None
        if config.push_to_hub:
            self._repo = config.hub_model_id or Path(config.output_dir).name
            config.push_to_hub = False
        named = {
            "revision": model.model_revision,
            "dtype": model.dtype,
            "attn_implementation": model.attn_implementation,
        }
        given = {name: value for name, value in named.items() if value is not None}
        config.model_init_kwargs = {**given, **(config.model_init_kwargs or {})}
        self.shown: dict[str, Any] = {}
        self._exam: Exam | None = None

    def __enter__(self) -> TrainingProgram:
        asked = self.arguments
        self.run = training_run(
            asked.name or f"{self.method} on {Path(asked.data).name}",
            dataset=asked.data,
            base_model=self.model,
            trainer=self.method,
            resume=asked.run or False,
            fresh=True,
        )
        try:
            self.reward, self.gold = find_judge(asked.reward, "reward"), find_judge(asked.gold, "gold")
            self.execute = None if asked.execute is None else find_object(asked.execute, "execute")
            material = read_material(asked.data, asked.holdout, share=asked.holdout_share, seed=self.config.seed)
            if asked.agent is not None:
                agent = as_spec(asked.agent)
                self.shown = {"tools": list(agent.openai_tools()), "system_prompt": agent.system_prompt or None}
            self.train, self.held_out = material.train, _first_tasks(material.held_out, asked.holdout_tasks)
            for note in material.notes:
                self.run.note(note)
            self.tokenizer: Any = _tokenizer(self.model, self._model_config.model_revision)
        except BaseException as error:
            self.run.end_with(error)
            raise
        self.callback = TrainerCallback(self.run, finish=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.run.end_with(error)
        self.run.close()

    def environment(self, rows: Any) -> EnvironmentSpec:
        """
        The simulated world of rows, with the program's reward and held-out tasks.

        Args:
            rows (`datasets.Dataset`):
                Tasks or rollouts.
        """
        return load_environment(
            rows, reward=self.reward, tools=self.arguments.agent, eval_data=self.held_out, execute=self.execute
        )

    def fit(self, trainer: Any) -> TrainingRun:
        """
        Measures, trains, saves, measures again, and leaves the result on the record, beside the weights and on the
        Hub.

        Args:
            trainer (`transformers.Trainer`):
                The trainer, with `program.callback` in it.

        Returns:
            [`TrainingRun`]: The run, ended.
        """
        before = self._measured(trainer, "before")
        trainer.train(resume_from_checkpoint=self.config.resume_from_checkpoint)
        trainer.save_model(self.config.output_dir)
        after = self._measured(trainer, "after", before is not None)
        if trainer.is_world_process_zero():
            self._conclude(trainer.state, before, after)
        trainer.accelerator.wait_for_everyone()
        return self.run

    def _measured(self, trainer: Any, when: str, wanted: bool = True) -> Any:
        """Rows of the held-out evaluation, in the first process; all of them come here, and the others wait."""
        rows: Any = None
        if wanted and self.held_out is not None and trainer.is_world_process_zero():
            try:
                rows = self._rows(trainer, when)
            except WhileaiError as error:
                if when == "before":
                    raise
                # The weights are there, and worth more than their grade.
                self.run.note(f"the held-out evaluation after training failed ({type(error).__name__}: {error})")
        trainer.accelerator.wait_for_everyone()
        return rows

    def _rows(self, trainer: Any, when: str) -> Any:
        if trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled:
            self.run.note("held-out tasks were not played: the weights lie in parts on several devices")
            return None
        return judge_pairs(trainer) if self.method == "reward" else self._played(trainer, when)

    def _played(self, trainer: Any, when: str) -> Dataset | None:
        if self._exam is None:
            self._exam = self._make_exam()
        name = self.model if when == "before" else self.run.id
        rows = self._exam.play(name, trainer.model, self.tokenizer)
        if rows is not None:
            rows.save_to_disk(str(self.run.folder / _FOLDERS[when]))
        return rows

    def _make_exam(self) -> Exam:
        asked = self.arguments
        given = [each for each in (self.gold, self.reward) if each is not None]
        judges = [each.judge if isinstance(each, JudgeReward) else each for each in given]
        usable = [each for each in judges if not is_reward_function(each)]
        if judges and not usable:
            self.run.note("held-out rollouts are judged by the floor of grade(): the reward is made for batches only")
        elif judges and judges[0] is not usable[0]:
            self.run.note("held-out rollouts are judged by the reward: the gold is made for batches only")
        return Exam(
            load_environment(self.held_out, tools=asked.agent, execute=self.execute).entries,
            judge=usable[0] if usable else None,
            execute=self.execute,
            k=asked.holdout_k,
            seed=self.config.seed,
            max_turns=asked.holdout_turns,
            max_tokens=asked.holdout_tokens,
        )

    def _conclude(self, state: Any, before: Any, after: Any) -> None:
        if before is not None and after is not None:
            target = {"target": PAIR_ACCURACY} if self.method == "reward" else {}
            try:
                print(self.run.delta(before, after, **target))
            except WhileaiError as error:
                self.run.note(f"before and after cannot be compared ({type(error).__name__}: {error})")
        early = state.global_step < state.max_steps
        reason = f"training ended at step {state.global_step} of {state.max_steps}" if early else None
        output = Path(self.config.output_dir)
        self.run.finish(STOPPED if early else DONE, adapter=str(output.resolve()), reason=reason)
        adapter = (output / "adapter_config.json").exists()
        card = training_card(self.run, method=self.method, adapter=adapter)
        (output / "README.md").write_text(card, encoding="utf-8")
        print(self.run)
        if self._repo is not None:
            push_result(self.run, self._repo, output, publish=self._publish if adapter else None, config=self.config)


def _tokenizer(name: str, revision: str | None) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(name, revision=revision)
    except OSError as error:
        raise ConfigurationError(
            f"the base model {name!r} has no tokenizer that can be loaded; pass a folder that save_pretrained wrote, "
            "or a model on the Hub that can be reached or was downloaded before"
        ) from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _first_tasks(rows: Dataset | None, most: int) -> Dataset | None:
    """The rows of the first tasks."""
    if rows is None:
        return None
    keys = task_keys(view(rows))
    kept = set(list(dict.fromkeys(keys))[:most])
    return rows.select([index for index, key in enumerate(keys) if key in kept])
