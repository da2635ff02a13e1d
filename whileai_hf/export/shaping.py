"""What an export changes in a conversation, aloud: system prompt, long tool output, turns a template cannot show."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from whileai_hf.export.config import ExportConfig
from whileai_hf.export.conversation import with_system
from whileai_hf.export.messages import Message
from whileai_hf.export.reading import task_text, text_or_none
from whileai_hf.export.reasons import Reason
from whileai_hf.export.splitting import split_calls
from whileai_hf.export.tally import Tally
from whileai_hf.export.template import Rendered, Template
from whileai_hf.export.toolset import ToolReader, ToolSet
from whileai_hf.rows import canonical
from whileai_hf.rows.privileged import scrub_text
from whileai_hf.rows.view import Source


@dataclass
class Job:
    """One export: what was asked for, and what has been counted so far."""

    tools: ToolReader
    system_prompt: str | None = None
    config: ExportConfig = field(default_factory=ExportConfig)
    template: Template | None = None
    tasks: Source | None = None
    tally: Tally = field(default_factory=Tally)
    max_length: int | None = None
    """Tokens of a row at most, where there is a template to count them with."""
    labelled: bool = False
    """Whether rows become labels, which are counted when they are made: a part of a row may fit."""
    shape: str | None = None
    """The shape of `"sft"` rows, where it has been decided for the whole data."""
    wire: bool = False
    """Whether rows take the shape of the OpenAI API, with arguments as JSON text."""
    offset: int = 0
    """Position of the first row of the view in the whole data."""


@dataclass(slots=True)
class Shaped:
    """A conversation as it is exported."""

    messages: list[Message]
    mask: list[int] | None
    chars_cut: int
    rendered: Rendered | None = None


def truncation_marker(n: int) -> str:
    """
    What stands where tool output was cut.

    Examples:
    ```python
    >>> truncation_marker(12)
    '[... 12 chars of tool output truncated]'

    ```
    """
    return f"[... {n} chars of tool output truncated]"


def cut_tool_output(messages: list[Message], limit: int, tally: Tally) -> tuple[list[Message], int]:
    """The conversation with tool messages of at most `limit` characters and the marker, and the characters cut."""
    if not any(m["role"] == "tool" and len(m["content"]) > limit for m in messages):
        return messages, 0
    made, cut = [], 0
    for message in messages:
        over = len(message["content"]) - limit
        if message["role"] == "tool" and over > 0:
            message = {**message, "content": message["content"][:limit] + truncation_marker(over)}
            cut += over
            tally.truncated_tool_messages += 1
        made.append(message)
    tally.truncated_tool_chars += cut
    return made, cut


def shape(messages: list[Message], mask: list[int] | None, offered: ToolSet, job: Job) -> Shaped | Reason:
    """
    The conversation as the trainer gets it.

    Args:
        messages (`list[dict]`):
            The conversation as it was read.
        mask (`list[int]`, *optional*):
            The row's own loss mask.
        offered (`ToolSet`):
            The row's tools.
        job (`Job`):
            What to do.

    Returns:
        `Shaped` or [`Reason`]: A reason where the template of `job` would not show all of it.
    """
    framed, cut = messages, 0
    if job.system_prompt is not None:
        framed = with_system(messages, job.system_prompt)
        if mask is not None:
            kept = sum(message["role"] != "system" for message in framed)
            mask = [0] * (len(framed) - kept) + mask[len(mask) - kept :] if kept else mask
    if job.config.max_tool_output_chars is not None:
        framed, cut = cut_tool_output(framed, job.config.max_tool_output_chars, job.tally)
    may_split = job.config.parallel_calls == "split"
    if job.template is None:
        return _split(framed, mask, cut, job.tally) if may_split else Shaped(framed, mask, cut)
    checked = job.template.check(framed, offered.schemas)
    if isinstance(checked, Rendered):
        return Reason.TOO_LONG if is_too_long(checked, job) else Shaped(framed, mask, cut, checked)
    if may_split:
        shaped = _split(framed, mask, cut, None)
        again = job.template.check(shaped.messages, offered.schemas)
        if isinstance(again, Rendered):
            if is_too_long(again, job):
                return Reason.TOO_LONG
            job.tally.split_rows += 1
            return replace(shaped, rendered=again)
    return checked


def is_too_long(rendered: Rendered, job: Job) -> bool:
    """Whether a conversation has more tokens than the model takes, or than was asked for; the longest is noted."""
    if job.labelled or job.template is None:
        return False
    n = len(job.template.tokenizer(canonical(rendered.text), add_special_tokens=False)["input_ids"])
    if job.max_length is not None and n > job.max_length:
        return True
    job.tally.longest_row = max(job.tally.longest_row or 0, n)
    return False


def _split(messages: list[Message], mask: list[int] | None, cut: int, tally: Tally | None) -> Shaped:
    made, origin = split_calls(messages)
    if len(made) > len(messages) and tally is not None:
        tally.split_rows += 1
    return Shaped(made, None if mask is None else [mask[place] for place in origin], cut)


def shared_columns(row: dict[str, Any], ask: str) -> dict[str, Any]:
    """The columns every kind carries, whatever it trains."""
    return {
        "prompt_text": scrub_text(ask),
        "task_id": task_text(row, ask),
        "scenario_id": text_or_none(row.get("scenario_id")),
        "run_id": text_or_none(row.get("run_id")),
    }
