"""Preference pairs for DPOTrainer and RewardTrainer: the shared prompt, and the two ways it went on."""

from __future__ import annotations

from typing import Any

from whileai_hf.export.building import Rows
from whileai_hf.export.formats import pair_features, wire_pair_features
from whileai_hf.export.pairs import SIDES, read_pairs
from whileai_hf.export.reading import foreign_columns
from whileai_hf.export.shaping import Job
from whileai_hf.export.writing import wired
from whileai_hf.rows import RowView


def make_preference(view: RowView, job: Job) -> Rows:
    """
    The `"preference"` export, and `"reward"`, which has the same columns.

    Args:
        view (`RowView`):
            Pairs.
        job (`Job`):
            What to do; its tally counts what is made and left out.

    Returns:
        `Rows`: The pairs. `reward_margin` is not called `margin`, which RewardTrainer would subtract in
        its loss without being asked to.
    """
    features = wire_pair_features() if job.wire else pair_features()
    made: list[dict[str, Any]] = []
    tools: list[list[bytes] | None] = []
    tally = job.tally
    for pair in read_pairs(view, job):
        prompt, *sides = [wired(messages, tally) for messages in (pair.prompt, *pair.sides)]
        columns = pair.columns()
        for name, side in zip(SIDES, sides, strict=True):
            columns[name] = [*prompt, *side] if job.wire else side
        tools.append(pair.offered.texts)
        if job.wire:
            columns["prompt"] = columns.pop("prompt_text")
        else:
            columns["prompt"] = prompt
        made.append(columns)
        both = [*pair.sides[0], *pair.sides[1]]
        n_agent = sum(message["role"] == "assistant" for message in both)
        tally.count_messages(n_agent, len(pair.prompt) + len(both) - n_agent)
        tally.results_in_loss += any(message["role"] == "tool" for message in both)
        tally.unannounced += pair.offered.texts is None and any("tool_calls" in message for message in both)
    tally.n_used += len(made)
    tally.drop_columns(
        name for name in foreign_columns(view) if name not in pair_features() and name not in ("margin", "cut")
    )
    return Rows(made, tools, features, tally)
