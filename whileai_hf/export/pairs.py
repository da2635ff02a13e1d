"""Reading preference pairs of any shape: what both sides share, and how each goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.export.conversation import first_user_text, has_images, read_list
from whileai_hf.export.messages import Declared, Message, answers_nothing
from whileai_hf.export.reading import read_rows
from whileai_hf.export.reasons import Reason
from whileai_hf.export.shaping import Job, shape, shared_columns
from whileai_hf.export.tally import Tally
from whileai_hf.export.toolset import ToolSet
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Row
from whileai_hf.score.verdicts import as_number
from whileai_hf.select.pairs import build_preference_pairs


PAIR_KINDS = ("preference", "reward")
SIDES = ("chosen", "rejected")
_COLUMNS = (
    *("prompt", *SIDES, "tools", "prompt_text", "scenario_id", "task_id", "run_id"),
    *("chosen_reward", "rejected_reward", "margin", "reward_margin", "length_delta", "images", "image"),
)


@dataclass
class Pair:
    """One pair as it is exported: the shared messages, and each side's own."""

    place: int
    row: Row
    prompt: list[Message]
    sides: tuple[list[Message], list[Message]]
    offered: ToolSet

    def columns(self) -> dict[str, Any]:
        """The columns that hold no messages."""
        row = self.row
        text = row.get("prompt_text")  # cleaned with the other columns all kinds share
        chosen, rejected = (as_number(row.get(f"{side}_reward")) for side in SIDES)
        given = [as_number(row.get(name)) for name in ("margin", "reward_margin")]
        margin = next((value for value in given if value is not None), None)
        if margin is None and chosen is not None and rejected is not None:
            margin = chosen - rejected
        lengths = [sum(len(m["content"]) for m in side if m["role"] == "assistant") for side in self.sides]
        ask = text if isinstance(text, str) else first_user_text(self.prompt)
        return {
            **shared_columns({**row, "prompt": ask}, ask),
            "chosen_reward": chosen,
            "rejected_reward": rejected,
            "reward_margin": margin,
            "length_delta": lengths[0] - lengths[1],
        }


def is_pairs(view: RowView) -> bool:
    """Whether the rows are pairs."""
    return view.has("chosen") and view.has("rejected")


def paired(view: RowView, kind: str, tally: Tally) -> RowView:
    """Graded rollouts as pairs, for the kinds that are made of pairs; all other rows as they are."""
    if kind not in PAIR_KINDS or is_pairs(view) or not view.has("reward"):
        return view
    pairs, report = build_preference_pairs(view)
    tally.unpaired = report.dropped
    return RowView(pairs)


def _cut(prompt: list[Message], side: list[Message]) -> list[Message]:
    """A side without the opening it may repeat: rows of other stacks hold whole conversations on both sides."""
    start = len(prompt) if side[: len(prompt)] == prompt else 0
    while start < len(side) and side[start]["role"] in ("system", "user"):
        start += 1
    return side[start:] if start < len(side) else side


def _shared(chosen: list[Message], rejected: list[Message]) -> list[Message]:
    """What two conversations have in common before the agent's turn at which they part."""
    same = 0
    for one, other in zip(chosen, rejected, strict=False):
        if one != other:
            break
        same += 1
    same = min(same, len(chosen) - 1, len(rejected) - 1)
    while same and not chosen[same]["role"] == rejected[same]["role"] == "assistant":
        same -= 1
    return chosen[:same]


def _read(row: Row, declared: Declared) -> tuple[list[Message], list[Message], list[Message]] | Reason:
    if has_images(row):
        return Reason.NOT_TEXT
    prompt = read_list(row.get("prompt"), declared, "user")
    chosen, rejected = (read_list(row.get(side), declared, "assistant") for side in SIDES)
    if isinstance(prompt, Reason):
        return prompt
    if isinstance(chosen, Reason):
        return chosen
    if isinstance(rejected, Reason):
        return rejected
    if not chosen or not rejected:
        return Reason.NO_PAIR
    prompt = prompt or _shared(chosen, rejected)
    own = [_cut(prompt, side) for side in (chosen, rejected)]
    opening = chosen[: len(chosen) - len(own[0])]
    # An opening on the side says more than a bare ask does: it holds the system prompt.
    prompt = opening if opening and all(message["role"] == "user" for message in prompt) else prompt
    if not any(message["role"] == "user" for message in prompt):
        return Reason.NO_CONVERSATION
    if any(side[0]["role"] != "assistant" for side in own) or any(side[-1]["role"] != "assistant" for side in own):
        return Reason.NO_FINAL_ANSWER
    if any(answers_nothing([*prompt, *side]) for side in own):
        return Reason.ORPHAN_RESULT
    if own[0] == own[1]:
        return Reason.SAME_SIDES
    return prompt, own[0], own[1]


def read_pairs(view: RowView, job: Job) -> Iterator[Pair]:
    """
    Every pair that can be trained on; the others are counted.

    Args:
        view (`RowView`):
            Rows with `chosen` and `rejected`: messages, texts, or whole conversations.
        job (`Job`):
            What to do.

    Raises:
        [`MissingColumnError`]: The rows are no pairs.
    """
    if not is_pairs(view):
        have = ", ".join(view.columns) or "none"
        raise MissingColumnError(
            f"the rows are no pairs: they have no columns 'chosen' and 'rejected' (columns: {have}); "
            "pass what build_preference_pairs returned, or graded rollouts"
        )
    job.tally.unit = "pairs"
    for index, row in enumerate(read_rows(view, _COLUMNS)):
        place = index + job.offset
        offered = job.tools.read(row.get("tools"), place)
        read = _read(row, offered.declared)
        if isinstance(read, Reason):
            job.tally.left_out.add(read, place)
            continue
        pair = _shape(read, row, offered, place, job)
        if isinstance(pair, Reason):
            job.tally.left_out.add(pair, place)
        else:
            yield pair


def _shape(
    read: tuple[list[Message], list[Message], list[Message]], row: Row, offered: ToolSet, place: int, job: Job
) -> Pair | Reason:
    prompt, *sides = read
    # Counted apart: the prompt goes through it three times.
    scratch = replace(job, tally=Tally(), labelled=True)  # and its length is counted with the sides
    opening = shape(prompt, None, offered, scratch)
    if isinstance(opening, Reason):
        return opening
    once = replace(job, tally=Tally())
    shaped = [shape([*prompt, *side], None, offered, once) for side in sides]
    job.tally.truncated_tool_messages += once.tally.truncated_tool_messages - scratch.tally.truncated_tool_messages
    job.tally.truncated_tool_chars += once.tally.truncated_tool_chars - scratch.tally.truncated_tool_chars
    if once.tally.longest_row is not None:
        job.tally.longest_row = max(job.tally.longest_row or 0, once.tally.longest_row)
    job.tally.split_rows += once.tally.split_rows > 0
    own = []
    for side in shaped:
        if isinstance(side, Reason):
            return side
        own.append(side.messages[len(opening.messages) :])
    if any(side[0]["role"] != "assistant" for side in own):
        raise DataError(
            f"row {place}: prompt and answer cannot be told apart once calls are split; cut pairs elsewhere"
        )
    return Pair(place, row, opening.messages, (own[0], own[1]), offered)
