"""Whether a tokenizer's chat template shows training rows in full, before anything is trained on them."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.export.config import ExportConfig
from whileai_hf.export.reasons import Reason
from whileai_hf.export.sft import read_shaped
from whileai_hf.export.shaping import Job
from whileai_hf.export.template import Template, Tokenizer
from whileai_hf.export.toolset import ToolReader
from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.view import Source


@dataclasses.dataclass(frozen=True)
class TemplateReport(Report):
    """What a chat template makes of rows; see [`check_template`]."""

    n_rows: int
    n_shown: int
    """Rows of which the template shows every text and every call, unchanged."""
    refused: int
    """Rows on which the template raises."""
    calls_lost: int
    """Rows of which a call is dropped, or its name or arguments change."""
    text_lost: int
    """Rows of which the text of a message is dropped."""
    unreadable: int
    """Rows that are no training rows to begin with; [`export_report`] says why."""
    n_after_split: int
    """Rows the template shows in full with `parallel_calls="split"`."""
    prefix_preserving: bool | None
    """Whether every row begins as its shorter prefixes do, which exact labels need; `None` when nothing was shown."""
    first: dict[str, int | None]
    """First row of each kind of trouble."""

    def __str__(self) -> str:
        lines = [f"chat template: {self.n_shown} of {self.n_rows} rows shown in full"]
        for name, reason in _PROBLEMS.items():
            if self[name]:
                lines.append(f"{self[name]}: {reason.words} (first: row {self.first[name]})")
        if self.unreadable:
            lines.append(f"{self.unreadable}: not training rows")
        if self.n_after_split > self.n_shown:
            lines.append(f'{self.n_after_split} rows shown in full with parallel_calls="split"')
        if self.prefix_preserving is False:
            lines.append("not prefix-preserving: use get_training_chat_template of TRL, or unroll=True")
        return "\n".join(lines)

    @property
    def ok(self) -> bool:
        """Whether the template shows every training row in full."""
        return self.n_shown == self.n_rows - self.unreadable


_PROBLEMS = {
    "refused": Reason.TEMPLATE_REFUSES,
    "calls_lost": Reason.TEMPLATE_LOSES_CALLS,
    "text_lost": Reason.TEMPLATE_LOSES_TEXT,
}


def check_template(
    data: Source | RowView, tokenizer: Tokenizer, *, tools: Any = None, system_prompt: str | None = None
) -> TemplateReport:
    """
    Renders every row with the tokenizer's chat template and reads it back.

    Some templates raise on two calls in a turn, others drop the second one or the text beside a call, without a word.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts, or `"sft"` rows of [`to_trl`].
        tokenizer (`transformers.PreTrainedTokenizerBase`):
            Of the model to be trained.
        tools (`list`, *optional*):
            Tools in place of those on the rows.
        system_prompt (`str`, *optional*):
            System message in place of the rows' own.

    Returns:
        [`TemplateReport`]: How many rows come through, what happens to the others, and whether splitting helps.

    Raises:
        [`ConfigurationError`]: The tokenizer has no chat template.
    """
    rows = view(data)
    template = Template(tokenizer)
    read = Job(ToolReader(tools), system_prompt)
    found: dict[str, list[int]] = {name: [] for name in _PROBLEMS}
    names = {reason: name for name, reason in _PROBLEMS.items()}
    n_shown = 0
    preserving: bool | None = None
    for place, _, shaped, offered in read_shaped(rows, read):
        checked = template.check(shaped.messages, offered.schemas)
        if isinstance(checked, Reason):
            found[names[checked]].append(place)
            continue
        n_shown += 1
        preserving = (preserving is not False) and checked.turns is not None
    helped = 0
    if any(found.values()):
        split = Job(ToolReader(tools), system_prompt, ExportConfig(parallel_calls="split"), template, labelled=True)
        helped = sum(1 for _ in read_shaped(rows, split)) - n_shown
    return TemplateReport(
        n_rows=len(rows),
        n_shown=n_shown,
        unreadable=sum(read.tally.left_out.counts.values()),
        n_after_split=n_shown + helped,
        prefix_preserving=preserving,
        first={name: places[0] if places else None for name, places in found.items()},
        **{name: len(places) for name, places in found.items()},
    )
