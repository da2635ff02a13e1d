"""One training row per rollout: the conversation, for SFTTrainer's conversational language modelling."""

from __future__ import annotations

from functools import partial
from typing import Any

from whileai_hf.export.building import Texts, build
from whileai_hf.export.conversation import READ_COLUMNS, first_user_text, read_conversation, with_system
from whileai_hf.export.formats import sft_features
from whileai_hf.export.messages import encode_message
from whileai_hf.export.reading import LateColumn, foreign_columns, read_rows, task_text, text_or_none
from whileai_hf.export.reasons import Reason
from whileai_hf.export.report import Export, LeftOut
from whileai_hf.export.toolset import ToolReader
from whileai_hf.rows import RowView
from whileai_hf.score.verdicts import as_number


_COLUMNS = (*READ_COLUMNS, "tools", "scenario_id", "task_id", "run_id", "reward")


def make_sft(view: RowView, tools: ToolReader, system_prompt: str | None) -> Export:
    """
    The `"sft"` export.

    Args:
        view (`RowView`):
            Rollouts.
        tools (`ToolReader`):
            Reads the tools of each row.
        system_prompt (`str`, *optional*):
            In place of the rows' own.

    Returns:
        `Export`: The training rows, and what was left out.
    """
    left_out = LeftOut()
    made: list[dict[str, Any]] = []
    texts: dict[str, Texts] = {"messages": [], "tools": []}
    unannounced = 0
    steps = LateColumn(view, "steps")
    for index, row in enumerate(read_rows(view, _COLUMNS)):
        offered = tools.read(row.get("tools"), index)
        messages = read_conversation(row, offered.declared, partial(steps.cell, index))
        if isinstance(messages, Reason):
            left_out.add(messages, index)
            continue
        if offered.texts is None and any("tool_calls" in message for message in messages):
            unannounced += 1
        prompt = row.get("prompt")
        ask = prompt if isinstance(prompt, str) else first_user_text(messages)
        texts["messages"].append([encode_message(message) for message in with_system(messages, system_prompt)])
        texts["tools"].append(offered.texts)
        made.append(
            {
                "prompt_text": ask,
                "task_id": task_text(row, ask),
                "scenario_id": text_or_none(row.get("scenario_id")),
                "run_id": text_or_none(row.get("run_id")),
                "reward": as_number(row.get("reward")),
            }
        )
    notes = []
    if unannounced:
        notes.append(f"{unannounced} rows call tools but carry no schemas, so the template shows none; pass tools=")
    return Export(build(made, texts, sft_features()), 0, left_out, foreign_columns(view), notes)
