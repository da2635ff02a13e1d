"""`build_preference_pairs`: from graded rollouts to pairs of a better and a worse way to go on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Unpack

import numpy as np
from datasets import Dataset, Features, Json, List, Value

from whileai_hf.knobs import overlay
from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.rows import RowView, to_dataset
from whileai_hf.rows.collecting import no_collection
from whileai_hf.rows.scrubbing import scrub_cell
from whileai_hf.rows.view import Source
from whileai_hf.select.pairs.config import PairConfig, PairKnobs
from whileai_hf.select.pairs.conversation import Conversation, answered, conversation, read_messages, text_of
from whileai_hf.select.pairs.picking import Picked, pick_pairs, possible_pairs
from whileai_hf.select.pairs.report import REASONS, PairReport
from whileai_hf.select.pool import Pool, cells, open_pool
from whileai_hf.select.rl import drop_dead, drop_junk
from whileai_hf.select.summary import eval_codes, eval_warning
from whileai_hf.stats import wilson


# Rows whose conversations are in memory at a time.
_ROWS = 4096
# Share of pairs with the longer text chosen from which a model learns to write more.
_OFTEN = 0.6
_FEATURES = {
    **dict.fromkeys(("prompt", "chosen", "rejected", "tools"), List(Json())),
    **dict.fromkeys(("prompt_text", "scenario_id", "task_id", "run_id"), Value("string")),
    **dict.fromkeys(("chosen_reward", "rejected_reward", "margin"), Value("float64")),
    "length_delta": Value("int64"),
    "same_policy": Value("bool"),
    "cut": Value("string"),
}


@no_collection()
def build_preference_pairs(
    data: Source | RowView, *, config: PairConfig | None = None, **knobs: Unpack[PairKnobs]
) -> tuple[Dataset, PairReport]:
    """
    Pairs rollouts of one prompt whose rewards differ.

    With `cut="first_divergence"` the prompt is all that two rollouts share, results of tools included, and chosen and
    rejected are the agent's next turn in each; rollouts that part where the user or a tool speaks are not compared.
    With `cut="trajectory"` the prompt ends before the agent's first turn, and all that follows is compared.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows, several of each prompt. They are not modified.
        config ([`PairConfig`], *optional*):
            The knobs as one object.
        **knobs:
            Fields of [`PairConfig`]: `cut`, `margin`, `per_prompt`, `same_policy`, `match_length`,
            `max_length_ratio`, `truncated`.

    Returns:
        `tuple[Dataset, PairReport]`: One row per pair (`prompt`, `chosen`, `rejected` as messages, `tools`,
        `prompt_text`, `scenario_id`, `task_id`, `run_id`, `chosen_reward`, `rejected_reward`, `margin`,
        `length_delta`, `same_policy`, `cut`), in the order of the prompts; and what became of every row.

    Raises:
        [`ConfigurationError`]: An unknown knob or an impossible value.
        [`MissingColumnError`]: No reward (grade first), no prompt, or nothing that the agent did.

    Examples:
    ```python
    >>> said = {"It is here.": 1, "It is lost.": 0}
    >>> rows = [{"prompt": "Where is A1?", "final_text": text, "reward": reward} for text, reward in said.items()]
    >>> pairs, report = build_preference_pairs(rows)
    >>> pairs["chosen"][0], pairs["margin"][0], report.n_pairs
    ([{'role': 'assistant', 'content': 'It is here.'}], 1.0, 1)

    ```
    """
    knob = overlay(PairConfig, config, knobs)
    pool = open_pool(data)
    drop_junk(pool, knob.truncated)
    drop_dead(pool)
    dropped = {name: pool.dropped.get(name, 0) for name in REASONS}
    refused = dict.fromkeys(("margin", "policy", "cut", "length"), 0)
    policies = pool.codes("policy_version").index
    picked: list[Picked] = []
    for groups in _batches(pool):
        told = _conversations(pool.view, np.concatenate(groups))
        for group in groups:
            readable = [row for row in group.tolist() if row in told]
            pairs = possible_pairs(readable, pool.judged.values, policies, knob, refused)
            found = pick_pairs(readable, told, pool.judged.values, pairs, knob, refused)
            picked += found
            dropped["unreadable"] += group.size - len(readable)
            dropped["not_selected" if found else "no_pair"] += len(readable) - 2 * len(found)
    dataset = _dataset(pool, picked, policies, knob.cut)
    return dataset, _report(pool, picked, dropped, refused)


def _batches(pool: Pool) -> Iterator[list[IntArray]]:
    """The rows left, group by group, some thousand at a time."""
    rows = pool.rows()
    rows = rows[np.argsort(pool.groups[rows], kind="stable")]
    edges = np.flatnonzero(np.diff(pool.groups[rows])) + 1
    batch: list[IntArray] = []
    held = 0
    for group in np.split(rows, edges) if rows.size else []:
        batch.append(group)
        held += group.size
        if held >= _ROWS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _conversations(view: RowView, rows: IntArray) -> dict[int, Conversation]:
    """The conversations of some rows; those that have none are absent."""
    prompts, texts = (cells(view, name, rows) for name in ("prompt", "final_text"))
    messages = [read_messages(cell) for cell in cells(view, "messages", rows)]
    # Rows of a run hold what was done twice: steps are decoded only where the messages do not tell.
    silent = [at for at, given in enumerate(messages) if not answered(given)]
    steps = dict(zip(silent, cells(view, "steps", rows[silent]), strict=True)) if silent else {}
    told = {}
    for at, row in enumerate(rows.tolist()):
        found = conversation(messages[at], prompts[at], steps.get(at), texts[at])
        if found is not None:
            told[row] = found
    return told


def _dataset(pool: Pool, picked: list[Picked], policies: IntArray, cut: str) -> Dataset:
    chosen = np.array([pair.chosen for pair in picked], dtype=np.int64)
    rewards = pool.judged.values
    same = {name: cells(pool.view, name, chosen) for name in ("tools", "prompt", "scenario_id", "task_id", "run_id")}
    rows = []
    for at, pair in enumerate(picked):
        prompt, better, worse = pair.cut
        longer, shorter = pair.cut.lengths
        rows.append(
            {
                "prompt": scrub_cell("prompt", prompt),
                "chosen": scrub_cell("chosen", better),
                "rejected": scrub_cell("rejected", worse),
                "tools": scrub_cell("tools", same["tools"][at]),
                "prompt_text": same["prompt"][at] if isinstance(same["prompt"][at], str) else _ask(prompt),
                **{name: same[name][at] for name in ("scenario_id", "task_id", "run_id")},
                "chosen_reward": float(rewards[pair.chosen]),
                "rejected_reward": float(rewards[pair.rejected]),
                "margin": float(rewards[pair.chosen] - rewards[pair.rejected]),
                "length_delta": longer - shorter,
                "same_policy": bool(policies[pair.chosen] == policies[pair.rejected]),
                "cut": cut,
            }
        )
    numbered = all(isinstance(key, int) for key in same["task_id"]) and bool(picked)
    features = {**_FEATURES, "task_id": Value("int64")} if numbered else _FEATURES
    return to_dataset(rows, Features(features))


def _ask(prompt: list[dict[str, Any]]) -> str:
    return next((text_of(message.get("content")) for message in prompt if message["role"] == "user"), "")


def _report(pool: Pool, picked: list[Picked], dropped: dict[str, int], refused: dict[str, int]) -> PairReport:
    lengths = np.array([pair.cut.lengths for pair in picked], dtype=np.int64).reshape(-1, 2)
    delta = lengths[:, 0] - lengths[:, 1]
    n, longer = int(np.count_nonzero(delta)), int(np.count_nonzero(delta > 0))
    rewards = pool.judged.values
    sides = np.array([(pair.chosen, pair.rejected) for pair in picked], dtype=np.int64).reshape(-1, 2)
    margins = rewards[sides[:, 0]] - rewards[sides[:, 1]]
    eval_sourced = int(np.count_nonzero(eval_codes(pool.view)[sides].any(axis=1)))
    warnings = eval_warning(eval_sourced, "pairs")
    if not picked:
        warnings.append("no pair was built; see why rows were dropped")
    low = (wilson(longer, n) or (0.0, 1.0))[0]
    if n and longer / n >= _OFTEN and low > 0.5:
        warnings.append(
            f"the chosen text is the longer one in {longer} of {n} pairs ({delta.mean():+.0f} characters on average): "
            "a model learns to write more; match_length=True and max_length_ratio= even that out"
        )
    notes = []
    if dropped["unreadable"]:
        notes.append(f"{dropped['unreadable']} rows hold neither messages with the agent's turns nor an ask and steps")
    return PairReport(
        n_in=len(pool.view),
        n_pairs=len(picked),
        dropped=dropped,
        n_groups_in=pool.n_groups,
        n_groups_paired=len(set(chain.from_iterable(pool.groups[sides].tolist()))),
        refused=refused,
        chosen_longer=longer / n if n else None,
        mean_length_delta=float(delta.mean()) if picked else None,
        mean_margin=float(margins.mean()) if picked else None,
        eval_sourced=eval_sourced,
        warnings=warnings,
        notes=notes,
    )
