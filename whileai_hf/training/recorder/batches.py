"""A batch of completions while its reward functions are called one after the other, or side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.export.environment.rewards import ROLLOUT
from whileai_hf.export.rollout.playing import TASK_ID
from whileai_hf.rows import dumps
from whileai_hf.rows.features import SCHEMA_VERSION, rollout_features, task_features
from whileai_hf.rows.privileged import PRIVILEGED_KEYS
from whileai_hf.rows.scrubbing import scrub
from whileai_hf.score.verdicts import JudgeStatus
from whileai_hf.training.recorder.conversations import as_messages, ask, conversations_of, said, steps_of
from whileai_hf.training.recorder.functions import Caller


TRAIN, EVAL = "train", "eval"
# Names of splits that are not trained on, where no trainer says which of the two it is doing.
_HELD_OUT = frozenset({"eval", "evaluation", "holdout", "held_out", "test", "validation", "valid", "dev"})
# Columns of the task that ride along. What a task hides stays with it, and so do columns nobody asked for: they
# may hold its answer.
_TASK = (*(name for name in task_features() if name not in PRIVILEGED_KEYS and name != "prompt"), "task_id", "split")
# What a rollout function of ours says about a rollout. Its number is that within the batch; ours goes on counting.
_ABOUT = frozenset(rollout_features()) - set(task_features()) - {"rollout_index"}


class Batch:
    """
    The completions of one call of the trainer, as text from the first moment: what a reward function does to them
    later is not what was sampled.

    Args:
        prompts (`list`):
            As handed to reward functions.
        completions (`list`):
            Likewise.
        columns (`Mapping[str, Any]`):
            Everything else they are handed.
        caller ([`Caller`]):
            What the trainer says.
        keep (`Sequence[str]`):
            Further columns of the data set to keep.
    """

    def __init__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        caller: Caller,
        keep: Sequence[str] = (),
    ) -> None:
        # Held on to while the batch is open: that it is the same object says that a call belongs to it.
        self.completions = completions
        self.caller = caller
        self.rewards: dict[str, list[Any]] = {}
        state = columns.get("trainer_state")
        self.state: Any = state  # of one training; the next one, a resumed one too, has another
        self.step = int(state.global_step) if state is not None else 0
        self.evaluating = [_evaluating(caller, split) for split in _cells(columns, "split", len(completions))]
        kept = {name: _cells(columns, name, len(completions)) for name in (*_TASK, *keep) if name in columns}
        tokens = _cells(columns, "completion_ids", len(completions))
        about = [_about(cell) for cell in _cells(columns, ROLLOUT, len(completions))]
        self._rows = [
            _row(prompt, led, {name: cells[at] for name, cells in kept.items()}, tokens[at], caller, about[at])
            for at, (prompt, led) in enumerate(zip(prompts, conversations_of(completions, columns), strict=True))
        ]

    def takes(self, completions: Sequence[Any], name: str) -> bool:
        """Whether a call of a reward function belongs to this batch."""
        if name in self.rewards:
            return False
        return completions is self.completions or completions == self.completions

    def lines(self, weights: Mapping[str, float], known: Mapping[str, Any]) -> list[bytes]:
        """
        The batch as lines of the journal.

        Args:
            weights (`Mapping[str, float]`):
                Every reward source that counts, by name.
            known (`Mapping[str, Any]`):
                Columns all rows share.
        """
        out = []
        for at, row in enumerate(self._rows):
            rewards = {name: number(values[at]) if at < len(values) else None for name, values in self.rewards.items()}
            phase = EVAL if self.evaluating[at] else TRAIN
            total = weighted(rewards, weights)
            status = JudgeStatus.MISSING_REWARD if total is None else JudgeStatus.OK
            # Phase and step come first, where a reader finds them without parsing the rest.
            head = {"phase": phase, "step": self.step, **known, "reward": total, "rewards": rewards}
            # Two objects become one: the row was written when it was sampled, long before its rewards were known.
            out.append(dumps({**head, "judge_status": status})[:-1] + b"," + row[1:])
        return out


def _evaluating(caller: Caller, split: Any) -> bool:
    if caller.evaluating is not None:
        return caller.evaluating
    return isinstance(split, str) and split.lower() in _HELD_OUT


def _cells(columns: Mapping[str, Any], name: str, count: int) -> Sequence[Any]:
    """A column with one cell a completion; what is no column has none."""
    cells = columns.get(name)
    fits = isinstance(cells, Sequence) and not isinstance(cells, str) and len(cells) == count
    return cells if fits else [None] * count  # type: ignore[return-value]


def _about(cell: Any) -> dict[str, Any] | None:
    """What a rollout function says about a rollout, as far as rows have a column for it."""
    return {name: value for name, value in cell.items() if name in _ABOUT} if isinstance(cell, Mapping) else None


def _row(
    prompt: Any, completion: Any, task: dict[str, Any], tokens: Any, caller: Caller, about: Mapping[str, Any] | None
) -> bytes:
    asked, answered = as_messages(prompt, "user"), said(completion)
    if about is not None and asked:
        asked[-1].pop(TASK_ID, None)  # a note to the rollout function, not a word of the user's
    steps, final_text, ended = steps_of(answered)
    count = len(tokens) if isinstance(tokens, Sequence) else None
    full = count is not None and caller.longest is not None and count >= caller.longest
    cut = not ended or (full and tokens[-1] not in caller.ends)
    row = {
        "schema_version": SCHEMA_VERSION,
        **task,
        "prompt": ask(prompt, asked),
        "messages": [*asked, *answered],
        "steps": steps,
        "final_text": final_text,
        "finish_reason": "length" if cut else "stop",
        "rollout_status": "ok",
        "sampling": None if caller.temperature is None else {"temperature": caller.temperature},
        **(about or {}),
        "usage": None if count is None else {"completion_tokens": count},
    }
    return dumps(scrub({name: value for name, value in row.items() if value is not None}))


def number(value: Any) -> float | None:
    """A reward as a trainer reads it; `None` and NaN are no reward."""
    if value is None or isinstance(value, str):
        return None
    try:
        reward = float(value)
    except (TypeError, ValueError):  # the trainer says what is wrong with it
        return None
    return None if math.isnan(reward) else reward


def weighted(rewards: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    """
    The sum a trainer makes of the rewards of a completion: those without a value count nothing.

    Examples:
    ```python
    >>> weighted({"proxy": 0.5, "gold": None}, {"proxy": 1.0, "gold": 0.0})
    0.5
    >>> weighted({"proxy": None, "gold": None}, {"proxy": 1.0, "gold": 0.0}) is None
    True

    ```
    """
    given = {name: value for name, value in rewards.items() if value is not None}
    if not given or any(weight and name not in rewards for name, weight in weights.items()):
        return None  # a source nobody wrapped: its share of the sum is not known
    return sum(weights.get(name, 0.0) * value for name, value in given.items())
