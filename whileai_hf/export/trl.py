"""Rollouts as the Datasets that trainers of TRL take."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from datasets import Dataset

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.export.prompts import make_prompts
from whileai_hf.export.report import Export, describe
from whileai_hf.export.sft import make_sft
from whileai_hf.export.toolset import ToolReader
from whileai_hf.rows import RowView, view
from whileai_hf.rows.view import Source


logger = logging.getLogger(__name__)

# Columns that hold what was said; rows need one of them.
_CONVERSATION = ("messages", "prompt", "steps", "final_text")

_KINDS: dict[str, Callable[[RowView, ToolReader, str | None], Export]] = {"sft": make_sft, "grpo": make_prompts}


def to_trl(data: Source | RowView, kind: str, *, tools: Any = None, system_prompt: str | None = None) -> Dataset:
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

    In both, `arguments` of calls are dicts, content is text, keys that a row did not have stay absent, a row without
    tools has `tools` `None`, and nothing privileged is there.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts. Those without `messages` get them from `prompt`, `steps` and `final_text`.
        kind (`str`):
            `"sft"` or `"grpo"`.
        tools (`list`, *optional*):
            Tools in any shape [`AgentSpec`] reads, in place of those on the rows; `[]` for none.
        system_prompt (`str`, *optional*):
            System message in place of the rows' own; `""` for none.

    Returns:
        `datasets.Dataset`: Training rows, in the order of `data`. [`export_report`] says what was left out.

    Raises:
        [`ConfigurationError`]: An unknown kind, a system prompt that is no text.
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
    if kind not in _KINDS:
        raise ConfigurationError(f"kind={kind!r}; to_trl exports {' or '.join(map(repr, _KINDS))}")
    if system_prompt is not None and not isinstance(system_prompt, str):
        raise ConfigurationError(f"system_prompt is {system_prompt!r:.60}; pass text, or leave it out")
    rows = view(data)
    if not any(rows.has(name) for name in _CONVERSATION):
        have = ", ".join(rows.columns) or "none"
        raise MissingColumnError(
            f"the rows hold no conversation (columns: {have}); to_trl reads messages, or prompt, steps and final_text"
        )
    export = _KINDS[kind](rows, ToolReader(tools), system_prompt)
    report = export.report(kind, len(rows))
    if not report.n_rows:
        raise DataError(f"none of the {len(rows)} rows can be exported for {kind} ({export.left_out.sentence()})")
    if report.n_left_out:
        logger.warning(
            "to_trl(%r) left out %d of %d rows (%s)", kind, report.n_left_out, len(rows), export.left_out.sentence()
        )
    export.rows.info.description = describe(report, rows.source)
    return export.rows
