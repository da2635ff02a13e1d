"""How to load a push, and what to do with it next: code that runs as it stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from whileai_hf.hub.cards.markdown import fence
from whileai_hf.hub.cards.numbers import SplitNumbers


if TYPE_CHECKING:
    from whileai_hf.hub.record import RunRecord

# Stands where a card is made before its repo is known.
_SOME_REPO = "namespace/name"


def load_section(record: RunRecord, splits: Sequence[SplitNumbers], repo: str | None) -> str:
    """Code that loads exactly this push, with plain `datasets` and checked against its digest."""
    filled = [split for split in splits if split.n_rows] or list(splits)
    if not filled:
        return ""
    first = filled[0]
    where, tag, name = (json.dumps(text) for text in (repo or _SOME_REPO, record.tag, first.name))
    config = "" if record.config_name == "default" else f", {json.dumps(record.config_name)}"
    pulled = "" if record.config_name == "default" else f", config_name={json.dumps(record.config_name)}"
    plain = [
        "from datasets import load_dataset",
        "",
        f"rows = load_dataset({where}{config}, split={name}, revision={tag})",
    ]
    ours = [
        "import whileai_hf as wai",
        "",
        f"rows = wai.pull({where}, split={name}, revision={tag}{pulled})  # checked against the digest of the push",
        *_next(record, first),
    ]
    return "\n\n".join(
        [
            "With plain `datasets`:",
            fence("\n".join(plain), "python"),
            "With `whileai-hf`:",
            fence("\n".join(ours), "python"),
        ]
    )


def _next(record: RunRecord, split: SplitNumbers) -> list[str]:
    if not split.played:
        return ["played = wai.simulate(your_agent, tasks=rows, tools=your_tools)  # plays these situations"]
    if split.passes is None:
        return ["graded = wai.grade(rows, judge=your_judge)  # a function of a row, or a rubric"]
    told = ["print(wai.pass_at(rows))"]
    if record.purpose != "train":
        return [*told, "again = wai.simulate(your_agent, tasks=rows, tools=your_tools)  # the same situations again"]
    if record.mode == "sft":
        return [*told, 'train = wai.to_trl(rows, "sft")  # trl.SFTTrainer(model, train_dataset=train, ...)']
    return [
        *told,
        'prompts = wai.to_trl(rows, "grpo")  # trl.GRPOTrainer(model, reward_funcs=..., train_dataset=prompts, ...)',
        'pairs = wai.to_trl(rows, "preference")  # trl.DPOTrainer(model, train_dataset=pairs, ...)',
    ]
