"""Rubrics written by a model, one for each task: what this request's replies are to be held to.

One call a task, in the order of the rows and with a seed that depends on the task alone, so a rerun with a cache costs
nothing and a subset of the tasks gets the same rubrics. A reply that cannot be read leaves its task without one.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from datasets import Dataset

from whileai_hf.actors.loop import wait_for
from whileai_hf.actors.models import Model, ModelCache, as_model
from whileai_hf.errors import ConfigurationError, ModelError, ModelStopError
from whileai_hf.rows import Report, canonical, rng, task_keys, view
from whileai_hf.rows.view import Row, Source
from whileai_hf.score.judges import default_judge_model
from whileai_hf.score.rubrics.attach import ON_ROLLOUTS, on_rollouts, rubric_of, with_rubrics
from whileai_hf.score.rubrics.rubric import MOST_CRITERIA, Rubric
from whileai_hf.score.rubrics.written import SCHEMA, read_written


_SEED_END = 2**31 - 1
# Criteria a person can still check, and a judge can still hold apart.
DEFAULT_CRITERIA = 5
_CONCURRENCY = 8
# Share of tasks without a rubric from which the report warns.
_NOTABLE = 0.1
# Different reasons that a report spells out.
_SHOWN_REASONS = 5


@dataclass(frozen=True)
class RubricsReport(Report):
    """What became of writing rubrics."""

    n_rows: int
    n_tasks: int
    written: int
    """Tasks that got a rubric."""
    kept: int
    """Tasks that had one and were not asked about."""
    missing: int
    """Tasks without one, for the reasons counted in `reasons`."""
    reasons: dict[str, int]
    mean_criteria: float | None
    """Criteria per rubric written; `None` when none was."""
    model: str
    calls: int
    usage: dict[str, int]
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        mean = "" if self.mean_criteria is None else f", {self.mean_criteria:.1f} criteria each"
        kept = f", {self.kept} kept" if self.kept else ""
        lines = [f"{self.written} of {self.n_tasks} tasks got a rubric by {self.model}{mean}{kept}"]
        lines += [f"  {count} without: {reason}" for reason, count in list(self.reasons.items())[:_SHOWN_REASONS]]
        return "\n".join([*lines, *self.notes, *(f"warning: {warning}" for warning in self.warnings)])


@cache
def _instructions() -> str:
    return (Path(__file__).parent / "prompts" / "write.txt").read_text("utf-8").strip()


class _Writing:
    """One pass over the tasks."""

    def __init__(self, model: Model, domain: str | None, n: int, seed: int, concurrency: int) -> None:
        self.model = model
        self._system = _instructions().replace("{domain}", domain or "not given").replace("{n}", str(n))
        self._n = n
        self._seed = seed
        self._gate = asyncio.Semaphore(concurrency)
        self.calls = 0
        self.usage: Counter[str] = Counter()

    async def all(self, tasks: Mapping[Any, Row]) -> list[Rubric | str]:
        jobs = [asyncio.ensure_future(self._one(key, row)) for key, row in tasks.items()]
        try:
            return await asyncio.gather(*jobs)
        except BaseException:  # the model answers no further call, or the caller gave up
            for job in jobs:
                job.cancel()
            raise

    async def _one(self, key: Any, row: Row) -> Rubric | str:
        """The rubric of a task, or why there is none."""
        messages = [{"role": "system", "content": self._system}, {"role": "user", "content": _told(row)}]
        seed = rng(self._seed, "rubric", key).integer(0, _SEED_END)
        async with self._gate:
            self.calls += 1
            try:
                completion = await self.model.complete(messages, schema=SCHEMA, seed=seed)
            except ModelStopError:
                raise
            except ModelError as error:
                return f"the call failed: {error}"
        self.usage.update({name: count for name, count in completion.usage.items() if isinstance(count, int)})
        if completion.finish_reason == "length":
            return "the answer was cut off at the token limit"
        try:
            return read_written(completion.message.get("content"), self._n)
        except ConfigurationError as error:
            return str(error)


def _told(row: Row) -> str:
    """What the model is told about a task, as JSON: it is material, not instruction."""
    privileged = row.get("privileged")
    known = privileged if isinstance(privileged, Mapping) else {}
    said = {"prompt": row.get("prompt"), **{name: known.get(name) for name in ("reference", "hidden_state")}}
    return json.dumps(canonical({k: v for k, v in said.items() if v is not None}), ensure_ascii=False, indent=1)


def write_rubrics(
    data: Source,
    model: Any = None,
    *,
    domain: str | None = None,
    n: int = DEFAULT_CRITERIA,
    overwrite: bool = False,
    seed: int = 0,
    concurrency: int = _CONCURRENCY,
    cache: ModelCache | str | None = None,
) -> tuple[Dataset, RubricsReport]:
    """
    Tasks with a rubric each, written by a model.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            The tasks. Rows of one task (two phrasings of it, say) share a rubric, written for the first of them.
        model (`str`, [`~whileai_hf.actors.models.Model`] or `Callable`, *optional*):
            Who writes, in any form [`~whileai_hf.actors.models.as_model`] takes; the default judge otherwise.
        domain (`str`, *optional*):
            The agent's field in a few words, such as `"refunds of an online shop"`.
        n (`int`, *optional*, defaults to `5`):
            Most criteria of one rubric.
        overwrite (`bool`, *optional*, defaults to `False`):
            Write anew for tasks that have a rubric; otherwise they keep theirs and cost no call.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the calls.
        concurrency (`int`, *optional*, defaults to `8`):
            Calls in flight at once.
        cache ([`~whileai_hf.actors.models.ModelCache`] or `str`, *optional*):
            Where calls are kept, so that a rerun costs nothing.

    Returns:
        `tuple[datasets.Dataset, RubricsReport]`: The rows with `privileged.rubric` (tasks whose reply could not be
        read have none), and what became of it.

    Raises:
        [`ConfigurationError`]: A knob out of range.
        [`MissingColumnError`]: The rows have no `prompt`.
        [`~whileai_hf.errors.ModelStopError`]: The model answers no call at all.

    Examples:
    ```python
    >>> from whileai_hf.actors import ScriptedModel
    >>> model = ScriptedModel(['{"criteria": [{"name": "lookup", "text": "Looks A1 up first.", "weight": 3}]}'])
    >>> tasks, report = write_rubrics([{"prompt": "Refund A1."}], model, domain="refunds")
    >>> tasks[0]["privileged"]["rubric"]["criteria"][0]["name"], report.written
    ('lookup', 1)

    ```
    """
    for name, number, most in (("n", n, MOST_CRITERIA), ("concurrency", concurrency, None)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1 or (most and number > most):
            bound = f" to {most}" if most else ""
            raise ConfigurationError(f"{name} is {number!r:.40}; pass a whole number from 1{bound}")
    rows = view(data)
    rows.require("prompt", "rubrics are written for what was asked; name that column prompt")
    asked = as_model(default_judge_model() if model is None else model, cache=cache)
    columns = [name for name in ("prompt", "privileged", "rubric") if rows.has(name)]
    keys = task_keys(rows)
    tasks: dict[Any, Row] = {}
    for key, row in zip(keys, rows.rows(columns), strict=True):
        tasks.setdefault(key, row)
    open_tasks = {key: row for key, row in tasks.items() if overwrite or rubric_of(row) is None}
    blank = [key for key, row in open_tasks.items() if not str(row.get("prompt") or "").strip()]
    to_write = {key: row for key, row in open_tasks.items() if key not in set(blank)}
    writing = _Writing(asked, domain, n, seed, concurrency)
    results = dict(zip(to_write, wait_for(writing.all(to_write)), strict=True))
    results.update(dict.fromkeys(blank, "the task has no prompt"))
    rubrics = {key: result for key, result in results.items() if isinstance(result, Rubric)}
    reasons = Counter(result for result in results.values() if isinstance(result, str))
    report = _report(len(rows), len(tasks), len(tasks) - len(open_tasks), list(rubrics.values()), reasons, writing)
    if on_rollouts(rows):
        report.notes.append(ON_ROLLOUTS)
    return with_rubrics(rows, [rubrics.get(key) for key in keys]), report


def _report(
    n_rows: int, n_tasks: int, kept: int, rubrics: Sequence[Rubric], reasons: Counter[str], writing: _Writing
) -> RubricsReport:
    missing = reasons.total()
    warnings = []
    if missing and missing >= _NOTABLE * n_tasks:
        most, count = reasons.most_common(1)[0]
        warnings.append(f"{missing} of {n_tasks} tasks have no rubric and stay unjudged by one ({count}: {most})")
    return RubricsReport(
        n_rows=n_rows,
        n_tasks=n_tasks,
        written=len(rubrics),
        kept=kept,
        missing=missing,
        reasons=dict(reasons.most_common()),
        mean_criteria=sum(len(item.criteria) for item in rubrics) / len(rubrics) if rubrics else None,
        model=writing.model.name,
        calls=writing.calls,
        usage=dict(sorted(writing.usage.items())),
        notes=[],
        warnings=warnings,
    )
