"""Rows for KTOTrainer: an answer and whether it is wanted, straight from a 0/1 grade, no pairs needed."""

from __future__ import annotations

from typing import Any

from whileai_hf.errors import MissingColumnError
from whileai_hf.export.building import Rows
from whileai_hf.export.conversation import first_user_text, is_completed
from whileai_hf.export.formats import kto_features
from whileai_hf.export.masks import loss_mask
from whileai_hf.export.messages import Message
from whileai_hf.export.pairs import is_pairs, read_pairs
from whileai_hf.export.reading import foreign_columns
from whileai_hf.export.reasons import Reason
from whileai_hf.export.sft import read_shaped
from whileai_hf.export.shaping import Job, shared_columns
from whileai_hf.export.toolset import ToolSet
from whileai_hf.rows import RowView
from whileai_hf.score.passing import PASS_REWARD
from whileai_hf.score.verdicts import as_number


class _Collected:
    """The rows made so far."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.made: list[dict[str, Any]] = []
        self.tools: list[list[bytes] | None] = []

    def add(self, prompt: list[Message], completion: list[Message], offered: ToolSet, columns: dict[str, Any]) -> None:
        tally = self.job.tally
        self.tools.append(offered.texts)
        self.made.append({"prompt": prompt, "completion": completion, **columns})
        tally.labels.add(columns["label"])
        n_agent = sum(message["role"] == "assistant" for message in completion)
        tally.count_messages(n_agent, len(prompt) + len(completion) - n_agent)
        tally.results_in_loss += n_agent < len(completion)


def make_kto(view: RowView, job: Job) -> Rows:
    """
    The `"kto"` export.

    Args:
        view (`RowView`):
            Graded rollouts, whose label is a pass, or pairs, each side of which is a row.
        job (`Job`):
            What to do; its tally counts what is made and left out.

    Returns:
        `Rows`: A rollout is cut at the agent's first turn, with `mask_mode="final"` at its last.
    """
    rows = _Collected(job)
    if is_pairs(view):
        _from_pairs(view, rows)
    else:
        _from_rollouts(view, rows)
    read = ("loss_mask",) if view.has("messages") else ("loss_mask", "completion")
    job.tally.drop_columns(name for name in foreign_columns(view) if name not in kto_features() and name not in read)
    return Rows(rows.made, rows.tools, kto_features(), job.tally)


def _from_rollouts(view: RowView, rows: _Collected) -> None:
    if not view.has("reward") and not view.has("label"):
        raise MissingColumnError(
            "the rows have no rewards to make labels of; grade them first: grade(data, judge=...)"
        )
    for place, row, shaped, offered in read_shaped(view, rows.job):
        reward = as_number(row.get("reward"))
        wanted = row.get("label") if reward is None else reward >= PASS_REWARD
        if not isinstance(wanted, bool):
            rows.job.tally.left_out.add(Reason.NO_REWARD, place)
            continue
        own = shaped.mask if is_completed(row) else None
        asked = next((number for number, m in enumerate(shaped.messages) if m["role"] == "user"), None)
        turns = [number for number, trained in enumerate(loss_mask(shaped.messages, given=own)) if trained]
        # What an agent says before it is asked is part of the prompt.
        turns = [number for number in turns if asked is not None and number > asked]
        if not turns:
            reason = Reason.NO_CONVERSATION if asked is None else Reason.NOTHING_TRAINED
            rows.job.tally.left_out.add(reason, place)
            continue
        cut = turns[-1] if rows.job.config.final_turn_only else turns[0]
        prompt = row.get("prompt")
        ask = prompt if isinstance(prompt, str) else first_user_text(shaped.messages)
        columns = {**shared_columns(row, ask), "label": wanted, "reward": reward}
        rows.add(shaped.messages[:cut], shaped.messages[cut:], offered, columns)
        rows.job.tally.n_used += 1


def _from_pairs(view: RowView, rows: _Collected) -> None:
    for pair in read_pairs(view, rows.job):
        columns = pair.columns()
        shared = {name: columns[name] for name in ("prompt_text", "task_id", "scenario_id", "run_id")}
        for messages, name in zip(pair.sides, ("chosen", "rejected"), strict=True):
            reward = columns[f"{name}_reward"]
            rows.add(pair.prompt, messages, pair.offered, {**shared, "label": name == "chosen", "reward": reward})
        rows.job.tally.n_used += 1
