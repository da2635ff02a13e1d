"""Training rows for SFTTrainer: the conversation, or what stands before a turn and the turn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from whileai_hf.errors import DataError
from whileai_hf.export.building import Rows
from whileai_hf.export.conversation import READ_COLUMNS, first_user_text, is_completed, read_conversation
from whileai_hf.export.formats import SFT_SHAPES
from whileai_hf.export.masks import completion_mask, is_mask, loss_mask, read_mask
from whileai_hf.export.messages import Message
from whileai_hf.export.reading import LateColumn, foreign_columns, read_rows
from whileai_hf.export.reasons import Reason
from whileai_hf.export.shaping import Job, Shaped, shape, shared_columns
from whileai_hf.export.tokenised import tokenise
from whileai_hf.export.toolset import ToolSet
from whileai_hf.export.writing import wired
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Row
from whileai_hf.score.verdicts import as_number


_COLUMNS = (*READ_COLUMNS, "tools", "scenario_id", "task_id", "run_id", "reward", "label", "loss_mask")


def read_shaped(view: RowView, job: Job) -> Iterator[tuple[int, Row, Shaped, ToolSet]]:
    """Every rollout that can be trained on: position, row, conversation and tools; the others are counted."""
    steps = LateColumn(view, "steps")
    for index, row in enumerate(read_rows(view, _COLUMNS)):
        place = index + job.offset
        offered = job.tools.read(row.get("tools"), place)
        completed = is_completed(row)
        masked = completed or row.get("loss_mask") is not None
        messages = read_conversation(row, offered.declared, partial(steps.cell, index), masked)
        if not isinstance(messages, list):
            job.tally.left_out.add(messages, place)
            continue
        mask = completion_mask(row, messages) if completed else read_mask(row.get("loss_mask"), row, messages, place)
        shaped = shape(messages, mask, offered, job)
        if not isinstance(shaped, Shaped):
            job.tally.left_out.add(shaped, place)
            continue
        if offered.texts is None and any("tool_calls" in message for message in shaped.messages):
            job.tally.unannounced += 1
        yield place, row, shaped, offered


def sft_shape(view: RowView, job: Job) -> str:
    """
    Which of the shapes of `formats.SFT_SHAPES` the rows take, the same for all of them.

    Raises:
        [`DataError`]: The rows' own masks need labels, which need a tokenizer.
    """
    shapes = _possible_shapes(view, job)
    if {"messages", "completion"} <= shapes:
        raise DataError("the loss_mask of some rows trains all turns, of others the last; pass tokenizer=, or unroll=")
    return "messages" if shapes == {"either"} else (shapes - {"either"}).pop()


def shape_of_stream(batch: RowView, job: Job) -> str:
    """
    [`sft_shape`] of the first rows of a stream, which those that follow have to take too: they are read only once.

    Raises:
        [`DataError`]: They cannot.
    """
    if job.shape is None:
        return sft_shape(batch, job)
    other = _possible_shapes(batch, job) - {"either", job.shape}
    if other:
        first, later = ("all turns", "the last") if job.shape == "messages" else ("the last", "all turns")
        raise DataError(
            f"the loss_mask of the first rows of the stream trains {first}, of rows from {job.offset} on {later}; "
            "pass tokenizer=, or unroll=, or a Dataset, which can be looked through before it is written"
        )
    return job.shape


def _possible_shapes(view: RowView, job: Job) -> set[str]:
    """The shapes some of the rows have to take; of a row with one turn to train, as its last, it is `"either"`."""
    if job.wire:
        return {"wire"}
    if job.template is not None:
        return {"tokens"}
    if job.config.final_turn_only or (view.has("completion") and not view.has("messages")):
        return {"completion"}
    if not view.has("loss_mask") or not len(view):
        return {"messages"}
    shapes = set()
    for index, row in enumerate(read_rows(view, ("messages", "loss_mask"))):
        mask, messages = row.get("loss_mask"), row.get("messages")
        if not is_mask(mask) or not isinstance(messages, list | tuple):  # read_mask says what is wrong with it
            shapes.add("messages")
            continue
        roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
        agents = [int(role == "assistant") for role in roles]
        if list(mask) == agents:
            shapes.add("either" if sum(agents) == 1 and agents[-1] else "messages")
        elif sum(mask) == 1 and mask[-1]:
            shapes.add("completion")
        else:
            raise DataError(
                f"row {index + job.offset}: its loss_mask leaves out some turns of the agent, which conversational "
                "rows cannot say; pass tokenizer= for rows of labels"
            )
    return shapes


def _samples(shaped: Shaped, mask: list[int]) -> Iterator[tuple[Shaped, list[int]]]:
    """For each trained turn a conversation that ends with it and trains it alone."""
    for place, trained in enumerate(mask):
        if trained:
            yield Shaped(shaped.messages[: place + 1], None, shaped.chars_cut), [0] * place + [1]


def make_sft(view: RowView, job: Job) -> Rows:
    """
    The `"sft"` export.

    Args:
        view (`RowView`):
            Rollouts.
        job (`Job`):
            What to do; its tally counts what is made and left out.

    Returns:
        `Rows`: The training rows.
    """
    form, tally = job.shape or sft_shape(view, job), job.tally
    made: list[dict[str, Any]] = []
    tools: list[list[bytes] | None] = []
    for place, row, shaped, offered in read_shaped(view, job):
        mask = loss_mask(shaped.messages, job.config.mask_mode, shaped.mask)
        if 1 not in mask:
            tally.left_out.add(Reason.NOTHING_TRAINED, place)
            continue
        prompt = row.get("prompt")
        shared = shared_columns(row, prompt if isinstance(prompt, str) else first_user_text(shaped.messages))
        if job.wire:
            shared["prompt"] = shared.pop("prompt_text")
        shared["reward"] = as_number(row.get("reward"))
        if job.config.max_tool_output_chars is not None:
            shared["tool_chars_cut"] = shaped.chars_cut
        n_made, reasons = len(made), []
        for sample, trained in _samples(shaped, mask) if job.config.unroll else ((shaped, mask),):
            columns = _columns(form, sample, trained, offered, job)
            if not isinstance(columns, dict):
                reasons.append(columns)
                continue
            n_trained = sum(trained)
            tally.count_messages(n_trained, len(trained) - n_trained)
            columns.update(shared)
            made.append(columns)
            tools.append(offered.texts)
        if len(made) == n_made:
            tally.left_out.add(reasons[0], place)
            continue
        tally.n_used += 1
        for reason in reasons:
            tally.skip_sample(reason)
    read = ("loss_mask",) if view.has("messages") else ("loss_mask", "completion")
    tally.drop_columns(name for name in foreign_columns(view) if name not in read)
    return Rows(made, tools, SFT_SHAPES[form](), tally)


def _columns(form: str, sample: Shaped, mask: list[int], offered: ToolSet, job: Job) -> dict[str, Any] | Reason:
    """The columns of one sample that hold its conversation."""
    messages: list[Message] = sample.messages
    if form == "tokens":
        assert job.template is not None
        encoded = tokenise(sample, mask, offered, job.template)
        if isinstance(encoded, Reason):
            return encoded
        input_ids, labels = encoded
        if job.max_length is not None and len(input_ids) > job.max_length:
            return Reason.TOO_LONG
        job.tally.count_tokens(sum(label != -100 for label in labels), len(labels))
        return {"input_ids": input_ids, "labels": labels}
    if form == "completion":
        start, end = mask.index(1), len(mask) - mask[::-1].index(1)
        job.tally.results_in_loss += end - start > sum(mask)
        return {"prompt": messages[:start], "completion": messages[start:end]}
    messages = wired(messages, job.tally)
    return {"messages": messages, "loss_mask": mask} if form == "wire" else {"messages": messages}
