"""Rollouts as the Datasets that trainers of TRL take."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Unpack

import pyarrow as pa
from datasets import Dataset, IterableDataset

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.export.batches import BATCH, batches
from whileai_hf.export.building import Rows
from whileai_hf.export.config import ExportConfig, ExportKnobs
from whileai_hf.export.kto import make_kto
from whileai_hf.export.opsd import make_opsd
from whileai_hf.export.preference import make_preference
from whileai_hf.export.prompts import make_eval, make_grpo, make_opd
from whileai_hf.export.report import ExportReport, describe
from whileai_hf.export.sft import make_sft, sft_shape, shape_of_stream
from whileai_hf.export.shaping import Job
from whileai_hf.export.template import Template, Tokenizer
from whileai_hf.export.tokenised import check_some_tokenised, model_limit
from whileai_hf.export.toolset import ToolReader
from whileai_hf.knobs import overlay
from whileai_hf.rows import RowView, view
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.columns import dataset_from_table
from whileai_hf.rows.view import Source


logger = logging.getLogger(__name__)

# Columns that hold what was said; rows need one of them.
_CONVERSATION = ("messages", "prompt", "steps", "final_text", "chosen")

KINDS: dict[str, Callable[[RowView, Job], Rows]] = {
    "eval": make_eval,
    "sft": make_sft,
    "preference": make_preference,
    "grpo": make_grpo,
    "opsd": make_opsd,
    "opd": make_opd,
    "reward": make_preference,
    "kto": make_kto,
}
_OTHER_NAMES = {"training": "sft"}


def kind_of(name: str) -> str:
    """
    The kind a name stands for.

    Raises:
        [`ConfigurationError`]: There is none.
    """
    kind = _OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigurationError(f"kind={name!r}; to_trl exports {', '.join(map(repr, KINDS))}")
    return kind


def start(
    kind: str,
    tools: Any,
    system_prompt: str | None,
    tasks: Source | None,
    tokenizer: Tokenizer | None,
    config: ExportConfig,
) -> Job:
    """
    A job, after a look at whether what was asked for goes together.

    Raises:
        [`ConfigurationError`]: A knob that this kind would not heed.
    """
    if system_prompt is not None and not isinstance(system_prompt, str):
        raise ConfigurationError(f"system_prompt is {system_prompt!r:.60}; pass text, or leave it out")
    if tasks is not None and kind != "opsd":
        raise ConfigurationError(f"tasks= holds what only a teacher may see; kind={kind!r} does not read it")
    if config.unroll and kind != "sft":
        raise ConfigurationError(f"unroll=True makes rows for kind='sft' only, not for {kind!r}")
    if config.mask_mode == "final" and kind not in ("sft", "kto"):
        raise ConfigurationError(f"mask_mode='final' is for the kinds 'sft' and 'kto'; {kind!r} has no mask")
    if config.max_length is not None and tokenizer is None:
        raise ConfigurationError("max_length= counts tokens; pass tokenizer= with it, or leave it out")
    template = None if tokenizer is None else Template(tokenizer)
    limit = config.max_length or (model_limit(template) if template else None)
    return Job(ToolReader(tools), system_prompt, config, template, tasks, max_length=limit, labelled=kind == "sft")


def make(rows: RowView, kind: str, job: Job) -> Rows:
    """The rows of one batch, counted in the job's tally."""
    if not any(rows.has(name) for name in _CONVERSATION):
        have = ", ".join(rows.columns) or "none"
        raise MissingColumnError(
            f"the rows hold no conversation (columns: {have}); to_trl reads messages, or prompt, steps and final_text"
        )
    with no_collection() if job.template is None else nullcontext():
        made = KINDS[kind](rows, job)
    job.tally.n_input += len(rows)
    job.tally.n_rows += len(made)
    return made


def undisturbed(data: Any, job: Job) -> AbstractContextManager[None]:
    """
    Around an export of rows in memory: a collection between two batches would go through every one of them.

    Without a template nothing but our own code runs, and that leaves no cycles behind.
    """
    return no_collection() if job.template is None and not isinstance(data, IterableDataset) else nullcontext()


def make_all(data: Any, kind: str, job: Job, size: int = BATCH) -> Iterator[Rows]:
    """The rows of all batches that have any, counted in the job's tally."""
    if kind == "sft" and not isinstance(data, IterableDataset):
        data = view(data)
        job.shape = sft_shape(data, job)
    for batch in batches(data, kind, size, job.tally):
        if kind == "sft" and isinstance(data, IterableDataset):
            job.shape = shape_of_stream(batch, job)
        made = make(batch, kind, job)
        job.offset += len(batch)
        if len(made):
            yield made


def finish(kind: str, job: Job) -> ExportReport:
    """
    The report; a log entry where rows are left out.

    Raises:
        [`ConfigurationError`]: No row is left, and it is for the template that rows have no labels.
        [`DataError`]: No row is left, for other reasons.
    """
    report, left_out = job.tally.report(kind), job.tally.left_out
    if not report.n_rows:
        check_some_tokenised(left_out)
        why = (
            left_out.sentence(job.tally.each)
            or "no row holds what this kind is made of; pairs need rewards that differ within a task"
        )
        of = f"none of the {report.n_input} rows" if report.n_input else "nothing"
        raise DataError(f"{of} can be exported for {kind} ({why})")
    if report.n_left_out:
        why = left_out.sentence(job.tally.each)
        logger.warning("to_trl(%r) left out %d of %d rows (%s)", kind, report.n_left_out, report.n_input, why)
    return report


def to_trl(
    data: Source | RowView,
    kind: str,
    *,
    tools: Any = None,
    system_prompt: str | None = None,
    tasks: Source | None = None,
    tokenizer: Tokenizer | None = None,
    config: ExportConfig | None = None,
    **knobs: Unpack[ExportKnobs],
) -> Dataset:
    """
    Rollouts as the Dataset a TRL trainer takes (written for TRL 1.16).

    `"sft"`, for `SFTTrainer`: one row per rollout. Columns: `messages` and `tools` (what the model is shown),
    `prompt_text` (the ask; a column called `prompt` would make the trainer train on it alone), `task_id`,
    `scenario_id`, `run_id`, `reward`. Everything else stays behind. Rollouts that failed, were cut off, end without an
    answer, hold images or a malformed tool call are left out and counted.

    `"grpo"`, for `GRPOTrainer`: one row per prompt, however many rollouts it had. Columns: `prompt` (the messages
    before the agent's first turn), `tools`, `prompt_text`, `task_id`, `scenario_id`, `world_state`, `faults`,
    `scenario_dimensions`, `seed` (what a world needs to be set up again), `pass_rate` over the `n_judged` of
    `n_rollouts`, and columns of your own on which all rollouts of a prompt agree, an `answer` for instance: reward
    functions get them under their names. `GRPOTrainer` does not read `tools`; it takes them through
    `environment_factory=` or `tools=`.

    `"eval"`: the same prompts for `eval_dataset=` of that trainer, with `split` `"eval"`, by which a reward function
    tells them apart.

    `"opd"`, for `DistillationTrainer`: the prompts, without anything about rewards. `"opsd"`, for `SDFTTrainer` of
    `trl.experimental`: the prompts and `privileged_context`, what only the teacher reads (from `tasks`, or from the
    local store of the run). Those rows hold the answers: train on them, do not publish them.

    `"preference"` and `"reward"`, for `DPOTrainer` and `RewardTrainer`: one row per pair of
    [`build_preference_pairs`], which graded rollouts go through with its defaults. Columns: `prompt`, `chosen`,
    `rejected`, `tools`, identifiers, `chosen_reward`, `rejected_reward`, `reward_margin`, `length_delta`.

    `"kto"`, for `KTOTrainer`: one row per graded rollout, or two per pair. Columns: `prompt`, `completion`, `label`
    (whether it passed), identifiers, `reward`.

    With a `tokenizer`, its chat template is tried on every row, and rows that it would not show in full are left out
    and counted (`parallel_calls="split"` rewrites what it can). `"sft"` rows are then `input_ids` and `labels`, -100
    on every token the agent did not write. Without one, `"sft"` rows are conversations: train them with
    `assistant_only_loss=True`; `mask_mode="final"` and `unroll=True` give `prompt` and `completion` instead.

    In all, `arguments` of calls are dicts, content is text, keys that a row did not have stay absent, a row without
    tools has `tools` `None`, and nothing privileged is there.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts. Those without `messages` get them from `prompt`, `steps` and `final_text`. In a column of a
            struct type a `null` is an absent key, be it the `default` of a parameter: Arrow keeps no difference.
        kind (`str`):
            `"eval"`, `"sft"`, `"preference"`, `"grpo"`, `"opsd"`, `"opd"`, `"reward"` or `"kto"`.
        tools (`list`, *optional*):
            Tools in any shape [`AgentSpec`] reads, in place of those on the rows; `[]` for none.
        system_prompt (`str`, *optional*):
            System message in place of the rows' own; `""` for none.
        tasks (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            Where `"opsd"` finds what is privileged, as `situations()` returned it.
        tokenizer (`transformers.PreTrainedTokenizerBase`, *optional*):
            Of the model to be trained.
        config ([`ExportConfig`], *optional*):
            All other knobs; each is a keyword too.

    Returns:
        `datasets.Dataset`: Training rows, in the order of `data`. [`export_report`] says what was left out.

    Raises:
        [`ConfigurationError`]: An unknown kind, a knob the kind does not heed, a system prompt that is no text, a
            template with which no row has labels, because its earlier turns change when the conversation goes on.
        [`DataError`]: There are no rows, none that can be trained on, or tools that are no schemas.

    Examples:
    ```python
    >>> rows = [
    ...     {"prompt": "Where is A1?", "steps": [{"tool": "find", "arguments": {"id": "A1"}, "result": "sent"}],
    ...      "final_text": text, "reward": reward}
    ...     for text, reward in (("It was sent.", 1.0), ("I do not know.", 0.0))
    ... ]
    >>> sft = to_trl(rows, "sft", tools=[{"name": "find"}], system_prompt="You find orders.")
    >>> [message["role"] for message in sft[0]["messages"]]
    ['system', 'user', 'assistant', 'tool', 'assistant']
    >>> grpo = to_trl(rows, "grpo")
    >>> grpo[0]["prompt"], grpo[0]["pass_rate"]
    ([{'role': 'user', 'content': 'Where is A1?'}], 0.5)

    ```
    """
    name = kind_of(kind)
    job = start(name, tools, system_prompt, tasks, tokenizer, overlay(ExportConfig, config, knobs))
    with undisturbed(data, job):
        parts = [rows.table() for rows in make_all(data, name, job)]
    report = finish(name, job)
    table = pa.concat_tables([table for table, _ in parts])
    return dataset_from_table(table, parts[0][1], describe(report, data))


def to_sft(
    data: Source | RowView,
    tokenizer: Tokenizer,
    *,
    tools: Any = None,
    system_prompt: str | None = None,
    config: ExportConfig | None = None,
    **knobs: Unpack[ExportKnobs],
) -> Dataset:
    """
    Rollouts as `input_ids` and `labels`, with loss on what the agent wrote and nowhere else.

    Every token of a system, user or tool message is -100, and so is every token the template adds around them. A
    `loss_mask` column on the rows, one 0 or 1 per message, leaves further turns out.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.
        tokenizer (`transformers.PreTrainedTokenizerBase`):
            Of the model to be trained. Rows whose earlier turns its template writes differently once the conversation
            goes on, or whose words it joins across the edge of a turn, are left out and counted.
        tools (`list`, *optional*):
            Tools in place of those on the rows.
        system_prompt (`str`, *optional*):
            System message in place of the rows' own.
        config ([`ExportConfig`], *optional*):
            Knobs; each is a keyword too. `max_length` leaves longer rows out, it never cuts them.

    Returns:
        `datasets.Dataset`: As [`to_trl`] makes it of kind `"sft"` with a tokenizer.

    Raises:
        [`ConfigurationError`]: The template has no fixed place for a turn in any row; the message says which to use.
        [`DataError`]: There is no row that can be trained on.
    """
    if tokenizer is None:
        raise ConfigurationError(
            "to_sft needs the tokenizer of the model that is trained; to_trl(data, 'sft') does without"
        )
    return to_trl(data, "sft", tools=tools, system_prompt=system_prompt, tokenizer=tokenizer, config=config, **knobs)
