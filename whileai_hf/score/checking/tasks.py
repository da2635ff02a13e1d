"""The tasks a reward is checked on, and what is known of each: the ask, right and wrong answers, a right run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datasets import Dataset

from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.rows import dumps, rng, select_rows, task_key, view
from whileai_hf.rows.view import Source
from whileai_hf.score.checking.asks import ANSWER_COLUMNS, generic_rows
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.checking.runs import right_run
from whileai_hf.score.privileged import find_secrets, with_secrets
from whileai_hf.score.verify.gold import find_gold
from whileai_hf.score.verify.reply import ask_of, squashed
from whileai_hf.score.verify.stated import stated


# Columns of a recorded rollout, which no reply to its task inherits.
_RECORDED = frozenset(
    {"completion", "completion_ids", "messages", "final_text", "steps", "finish_reason", "reward", "reason"}
    | {"judge_name", "judge_status", "judge_meta", "failure_class", "markers", "rollout_status", "error"}
)
# Rows looked at for each one wanted, so that most of those picked are different tasks.
_CANDIDATES = 20
# A gold text of more words than this may be a worked solution that only ends in the answer.
_SHORT_WORDS = 4
# Wrong answers kept for one task.
_MOST_WRONG = 4


@dataclass(frozen=True)
class ProbeTask:
    """
    A task, and what is known about it.

    Args:
        columns (`dict`):
            What a reward may read besides prompt and reply.
        prompt (`str` or `list[dict]`):
            As the dataset has it.
        ask (`str`):
            What the user wants, as text.
        reference (`str`, *optional*):
            The gold answer as the dataset has it, `None` when there is none.
        gold (`str`, *optional*):
            The same without any working: the answer alone.
        wrong (`tuple[str]`):
            Answers of other tasks, which are wrong here.
        run (`Attempt`, *optional*):
            A right run of the task's tools.
        rubric (`str`):
            The task's rubric; empty when it has none.
    """

    columns: Mapping[str, Any]
    prompt: Any
    ask: str
    reference: str | None
    gold: str | None
    wrong: tuple[str, ...]
    run: Attempt | None
    rubric: str


def probe_tasks(dataset: Source | None, n: int, gold: str | None, tools: Any, seed: int) -> list[ProbeTask]:
    """
    Tasks to check a reward on.

    Args:
        dataset (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            Prompts with the columns the reward reads, or task or rollout rows; the generic asks without it.
        n (`int`):
            Tasks wanted.
        gold (`str`, *optional*):
            Where the right answer is, as a dotted path.
        tools (`Any`, *optional*):
            The tools of tasks that carry none.
        seed (`int`):
            Seed of the choice.

    Raises:
        [`MissingColumnError`]: The dataset has no `prompt`, or nothing at `gold`.
        [`DataError`]: It has no rows.
    """
    rows = rng(seed, "check_reward").shuffled(generic_rows()) if dataset is None else _sampled(dataset, n, seed)
    runs = [right_run(row, tools, seed) for row in rows]
    if any(row.get("expected_calls") for row in rows) and any(runs):
        # Where nothing is to be called, declining may be right; only tasks with a run tell right from wrong.
        rows, runs = [row for row, run in zip(rows, runs, strict=True) if run], [run for run in runs if run]
    rows = rows[:n]
    golds = [_gold(row, gold) for row in rows]
    if gold is not None and not any(value is not None for value in golds):
        raise MissingColumnError(
            f"gold={gold!r}: no row of the dataset has anything there (columns: {', '.join(rows[0])}); name the "
            "column with the right answer"
        )
    answers = [_answer(value) for value in golds]
    return [
        ProbeTask(
            columns={name: value for name, value in row.items() if name not in _RECORDED},
            prompt=row["prompt"],
            ask=ask_of(row["prompt"]),
            reference=_text(value),
            gold=answer,
            wrong=_wrong(answer, answers),
            run=run,
            rubric=_rubric(row),
        )
        for row, value, answer, run in zip(rows, golds, answers, runs, strict=False)
    ]


def _sampled(dataset: Source, n: int, seed: int) -> list[dict[str, Any]]:
    rows = view(dataset)
    if not rows.has("prompt"):
        raise MissingColumnError(
            f"the dataset has no column 'prompt' (columns: {', '.join(rows.columns)}); a trainer needs it, too"
        )
    draws, size = rng(seed, "check_reward"), min(len(rows), _CANDIDATES * n)
    picked = set(range(size))
    if size < len(rows):
        picked = {draws.integer(0, len(rows) - 1) for _ in range(size)}
    if isinstance(rows.source, Dataset):
        found = list(view(select_rows(rows.source, sorted(picked))).rows(share=False))
    else:
        # As a Dataset has it: a column that a row of a list lacks is empty there.
        found = [
            {name: row.get(name) for name in rows.columns} for index, row in enumerate(rows.rows()) if index in picked
        ]
    known = find_secrets(view(found)) if rows.has("run_id") else [None] * len(found)
    joined = [with_secrets(row, extra, override=False) for row, extra in zip(found, known, strict=True)]
    return _distinct(draws.shuffled(joined))


def _distinct(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row of each task, a passing one where there is one."""
    by_task: dict[bytes, dict[str, Any]] = {}
    for row in rows:
        prompt = row.get("prompt")
        if not isinstance(prompt, str | list) or not prompt:
            raise DataError(f"a row has prompt={prompt!r:.60}; expected text or a list of messages")
        key = dumps([str(task_key({**row, "prompt": dumps(prompt).decode()})), prompt])
        if key not in by_task or _passes(row) > _passes(by_task[key]):
            by_task[key] = row
    return list(by_task.values())


def _passes(row: Mapping[str, Any]) -> bool:
    reward = row.get("reward")
    return isinstance(reward, int | float) and reward >= 1


def _gold(row: Mapping[str, Any], field: str | None) -> Any:
    value = find_gold(row, field).value
    if value is None and field is None:
        value = next((row[name] for name in ANSWER_COLUMNS if row.get(name) is not None), None)
    return value


def _text(value: Any) -> str | None:
    """A gold answer as a reply would give it; of alternatives the first."""
    if isinstance(value, list | tuple):
        return next((text for text in map(_text, value) if text), None)
    if value is None or isinstance(value, str):
        return value if value and value.strip() else None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return dumps(value).decode() if isinstance(value, Mapping) else str(value)


def _answer(value: Any) -> str | None:
    text = _text(value)
    if text is None:
        return None
    if len(text.split(None, _SHORT_WORDS)) > _SHORT_WORDS or "####" in text or "boxed" in text:
        marked = stated(text)
        if marked:
            return marked[-1].rstrip(".").strip() or text.strip()
    return text.strip()


def number_of(text: str | None) -> float | None:
    """The number a short answer is, `None` when it is none."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def _wrong(gold: str | None, answers: Sequence[str | None]) -> tuple[str, ...]:
    if gold is None:
        return ()
    value, own = number_of(gold), squashed(gold)
    found: dict[str, str] = {}
    for other in answers:
        if other is None or (value is None) != (number_of(other) is None):
            continue  # an answer of another kind would be too easy to tell
        words = squashed(other)
        if words not in own and own not in words and (value is None or number_of(other) != value):
            found.setdefault(words, other)
    if value is not None and value == value and abs(value) < 1e15:
        for step in (-1, 1, 2, 10):
            near = value + step
            text = str(int(near)) if near.is_integer() else repr(round(near, 6))
            if text not in gold and gold not in text:
                found.setdefault(text, text)
    return tuple(list(found.values())[:_MOST_WRONG])


def _rubric(row: Mapping[str, Any]) -> str:
    privileged = row.get("privileged")
    inner = privileged.get("rubric") if isinstance(privileged, Mapping) else None
    given = row.get("rubric") or inner
    return given if isinstance(given, str) else dumps(given).decode() if given else ""
