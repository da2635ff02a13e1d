"""One training row per prompt: what the policy is asked, for trainers that sample the answers themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from datasets import Dataset, Features
from numpy.typing import NDArray

from whileai_hf.export.building import Rows
from whileai_hf.export.conversation import first_user_text, read_opening, with_system
from whileai_hf.export.formats import TAKEN, eval_features, grpo_features, opd_features
from whileai_hf.export.messages import Message
from whileai_hf.export.reading import foreign_columns, read_rows, task_text, text_or_none
from whileai_hf.export.reasons import Reason
from whileai_hf.export.shaping import Job, is_too_long
from whileai_hf.export.toolset import ToolSet
from whileai_hf.measure.passes.rewards import read_rewards
from whileai_hf.rows import RowView, scrub
from whileai_hf.rows.identity import hashable
from whileai_hf.rows.privileged import scrub_text
from whileai_hf.rows.view import Row
from whileai_hf.score.passing import PASS_REWARD


# Columns of the task that a world or a reward function needs again.
_CARRIED = ("world_state", "faults", "scenario_dimensions", "seed")
_COLUMNS = ("messages", "prompt", "tools", "scenario_id", "task_id", "images", "image", *_CARRIED)


def _asks(view: RowView) -> list[str]:
    """What the user asked first in every row: `prompt`, or the first user message where there is none."""
    prompts = view.column("prompt")
    if all(isinstance(prompt, str) for prompt in prompts):
        return prompts
    asks = []
    for row in read_rows(view, ("messages", "prompt")):
        opening = read_opening(row)
        asks.append("" if isinstance(opening, Reason) else first_user_text(opening))
    return [prompt if isinstance(prompt, str) else ask for prompt, ask in zip(prompts, asks, strict=True)]


def _groups(view: RowView, asks: Sequence[str]) -> tuple[list[int], list[int]]:
    """The group of every row (one prompt of one task), and the first row of every group."""
    seen: dict[tuple[str, str], int] = {}
    first: list[int] = []
    codes: list[int] = []
    # Two conversations may open with the same words, and go on differently before the agent is asked.
    prompts = [hashable(prompt) for prompt in view.column("prompt")]
    identities = read_rows(view, ("scenario_id", "task_id")) if {"scenario_id", "task_id"} & {*view.columns} else None
    for index, ask in enumerate(asks):
        prompt = prompts[index] if isinstance(prompts[index], str) else ask
        task = prompt if identities is None else task_text(next(identities), prompt)
        code = seen.setdefault((task, prompt), len(seen))
        if code == len(first):
            first.append(index)
        codes.append(code)
    return codes, first


def _rates(view: RowView, codes: NDArray[np.int64], size: int) -> list[dict[str, Any]]:
    """Pass rate and counts of every group; a group nobody judged has no rate."""
    n = np.bincount(codes, minlength=size)
    judged = passed = np.zeros(size, np.int64)
    if view.has("reward"):
        rewards = read_rewards(view)
        judged = np.bincount(codes[rewards.scored], minlength=size)
        passed = np.bincount(codes[np.greater_equal(rewards.values, PASS_REWARD)], minlength=size)
    rates: list[dict[str, Any]] = [
        {"pass_rate": hits / known if known else None, "n_rollouts": count, "n_judged": known}
        for count, known, hits in zip(n.tolist(), judged.tolist(), passed.tolist(), strict=True)
    ]
    if view.has("calibration"):
        # A selection keeps rows of both kinds; how hard the task is was measured before it.
        for code, stamp in zip(codes.tolist(), view.column("calibration"), strict=True):
            if isinstance(stamp, Mapping) and stamp.get("n"):
                rates[code] |= {"pass_rate": stamp.get("pass_rate"), "n_judged": stamp["n"]}
    return rates


def _theirs(view: RowView, codes: Sequence[int], first: Sequence[int], features: Features) -> dict[str, list[Any]]:
    """
    Columns of the user's own tasks, one value per group.

    A column belongs to the task when all rollouts of a prompt agree on it; one that differs describes the rollout.
    """
    found = {}
    for name in foreign_columns(view):
        privileged = not scrub({name: None})
        if privileged or name in TAKEN or name in features:
            continue
        values = view.column(name)
        if all(_same(value, values[first[code]]) for value, code in zip(values, codes, strict=True)):
            found[name] = [scrub(values[index]) for index in first]
    return found


def _same(a: Any, b: Any) -> bool:
    return a is b or bool(a == b) or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)


def _pick(view: RowView, indices: Sequence[int]) -> RowView:
    if isinstance(view.source, Dataset):
        return RowView(view.source.select(indices))
    return RowView([view.source[index] for index in indices])


def make_prompts(
    view: RowView,
    job: Job,
    features: Features,
    more: Callable[[RowView, Sequence[int]], list[dict[str, Any] | None]] | None = None,
) -> Rows:
    """
    One row per prompt.

    Args:
        view (`RowView`):
            Rollouts.
        job (`Job`):
            What to do; its tally counts what is made and left out.
        features (`datasets.Features`):
            Columns of the kind.
        more (`Callable`, *optional*):
            Further columns of each first row of a prompt, `None` for a prompt that is left out.

    Returns:
        `Rows`: The prompts.
    """
    asks = _asks(view)
    codes, first = _groups(view, asks)
    rates = _rates(view, np.array(codes, np.int64), len(first))
    theirs = _theirs(view, codes, first, features)
    firsts = _pick(view, first)
    added = [{}] * len(first) if more is None else more(firsts, first)
    made: list[dict[str, Any]] = []
    tools: list[list[bytes] | None] = []
    tally, used = job.tally, 0
    for code, row in enumerate(read_rows(firsts, _COLUMNS)):
        offered = job.tools.read(row.get("tools"), first[code])
        opening = _opening(row, offered, job)
        columns = added[code]
        if isinstance(opening, Reason) or columns is None:
            reason = opening if isinstance(opening, Reason) else Reason.NO_TEACHER_CONTEXT
            tally.left_out.add(reason, first[code], rates[code]["n_rollouts"])
            continue
        ask = asks[first[code]]
        tools.append(offered.texts)
        used += rates[code]["n_rollouts"]
        columns = {
            "prompt": opening,
            "prompt_text": scrub_text(ask),
            "task_id": task_text(row, ask),
            "scenario_id": text_or_none(row.get("scenario_id")),
            **{name: scrub(row.get(name)) for name in _CARRIED},
            **rates[code],
            **columns,
        }
        columns = {name: value for name, value in columns.items() if name in features}
        made.append({**columns, **{name: values[code] for name, values in theirs.items()}})
    if any(cell is not None for cell in tools):
        tally.note("the trainer reads no tools column; give the policy its tools as environment_factory= or tools=")
    tally.n_used += used
    tally.collapsed += used - len(made)
    tally.drop_columns(name for name in foreign_columns(view) if name not in theirs)
    return Rows(made, tools, Features({**features, **_declared(view, theirs)}), tally)


def _opening(row: Row, offered: ToolSet, job: Job) -> list[Message] | Reason:
    """The prompt of a row; with a tokenizer, checked to be in what its template writes."""
    opening = read_opening(row)
    if isinstance(opening, Reason):
        return opening
    opening = with_system(opening, job.system_prompt)
    if job.template is None:
        return opening
    checked = job.template.check(opening, offered.schemas)
    if isinstance(checked, Reason):
        return checked
    return Reason.TOO_LONG if is_too_long(checked, job) else opening


def make_grpo(view: RowView, job: Job) -> Rows:
    """The `"grpo"` export: prompts for GRPOTrainer and RLOOTrainer."""
    return make_prompts(view, job, grpo_features())


def make_eval(view: RowView, job: Job) -> Rows:
    """The `"eval"` export: the same prompts as `eval_dataset=`; `split` tells reward functions so."""
    features = eval_features()
    return make_prompts(view, job, features, lambda firsts, _: [{"split": "eval"} for _ in range(len(firsts))])


def make_opd(view: RowView, job: Job) -> Rows:
    """The `"opd"` export: prompts for DistillationTrainer, whose teacher reads what the student wrote."""
    return make_prompts(view, job, opd_features())


def _declared(view: RowView, names: dict[str, list[Any]]) -> dict[str, Any]:
    """The types the user's columns have in a Dataset."""
    return {name: view.source.features[name] for name in names} if isinstance(view.source, Dataset) else {}
