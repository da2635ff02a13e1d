"""Which stage of training each row fed, and whether any task is both trained on and measured on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hygiene.words import cell_text, words
from whileai_hf.rows import Report, RowView, add_columns, open_rows, task_keys, view
from whileai_hf.rows.view import Source


# Supervised tuning, reward model, reinforcement learning, evaluation, and training between pretraining and tuning.
STAGES = ("sft", "rm", "rl", "eval", "mid")
EVAL = "eval"
# Leaking tasks that a report lists.
_LISTED = 50


@dataclasses.dataclass(frozen=True)
class StageReport(Report):
    """
    What [`stage_report`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        rows (`dict[str, int]`):
            Rows by stage; a row that fed two stages counts in both.
        tasks (`dict[str, int]`):
            Distinct tasks by stage.
        n_unstamped (`int`):
            Rows without a stage.
        n_leaks (`int`):
            Tasks that are in the evaluation and in a training stage.
        leaks (`list[dict]`):
            The first of them: `{"task", "stages"}`.
        n_shared_prompts (`int`):
            Prompts that are in the evaluation and in a training stage under different tasks.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What is wrong.
    """

    n_rows: int
    rows: dict[str, int]
    tasks: dict[str, int]
    n_unstamped: int
    n_leaks: int
    leaks: list[dict[str, Any]]
    n_shared_prompts: int
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        counts = ", ".join(f"{stage} {self.rows[stage]} rows ({self.tasks[stage]} tasks)" for stage in STAGES)
        lines = [f"stages: {counts}, unstamped {self.n_unstamped}; {self.n_leaks} tasks both trained on and evaluated"]
        lines += [f"  {leak['task']!r:.80}: {', '.join(leak['stages'])}" for leak in self.leaks[:3]]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _stages(lineage: Any, column: Any) -> list[str]:
    """The stages a row is stamped with: those of its lineage, or the plain column other tools write."""
    stamped = lineage.get("stages") if isinstance(lineage, Mapping) else None
    found = [stage for stage in stamped if stage in STAGES] if isinstance(stamped, Sequence) else []
    for other in (lineage.get("stage") if isinstance(lineage, Mapping) else None, column):
        if other in STAGES and other not in found:
            found.append(other)
    return found


def stage_of(row: Mapping[str, Any]) -> str | None:
    """
    The stage a row was last stamped with.

    Args:
        row (`Mapping`):
            A row.

    Returns:
        `str` or `None`: One of `STAGES`, `None` for a row that was never stamped.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import stage_of
    >>> stage_of({"lineage": {"stages": ["sft", "rl"]}}), stage_of({"prompt": "Where is it?"})
    ('rl', None)

    ```
    """
    found = _stages(row.get("lineage"), row.get("stage"))
    return found[-1] if found else None


def stamp_stage(data: Source, stage: str) -> Dataset:
    """
    Records which stage the rows feed.

    The stage is appended to `lineage["stages"]` of every row, behind those it carries: a row that was tuned on and is
    now measured on says both, which is what [`stage_report`] looks for.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows; they are not changed.
        stage (`str`):
            `"sft"`, `"rm"`, `"rl"`, `"eval"` or `"mid"`.

    Returns:
        `datasets.Dataset`: The rows with their lineage stamped. Rows of a list become a Dataset, whose numbers are
        canonical: floats keep 10 decimals and 15 digits. A Dataset's own columns are not touched.

    Raises:
        [`ConfigurationError`]: Another word.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import stage_of, stamp_stage
    >>> stage_of(stamp_stage([{"prompt": "Where is it?"}], "sft")[0])
    'sft'

    ```
    """
    if stage not in STAGES:
        raise ConfigurationError(f"stage={stage!r} is not a stage; pass one of {', '.join(STAGES)}")
    rows = open_rows(data)
    seen = view(rows)
    stamped = []
    for lineage, column in zip(seen.column("lineage"), seen.column("stage"), strict=True):
        before = [old for old in _stages(lineage, column) if old != stage]
        stamped.append({**(lineage if isinstance(lineage, Mapping) else {}), "stages": [*before, stage]})
    return add_columns(rows, {"lineage": stamped})


def stage_report(*data: Source) -> StageReport:
    """
    Rows by stage, and the tasks that are trained on and measured on.

    Args:
        *data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Stamped rows; several sets are read as one.

    Returns:
        [`StageReport`]: `n_leaks` is what must be 0.

    Raises:
        [`ConfigurationError`]: Nothing was given.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import stage_report, stamp_stage
    >>> tuned = stamp_stage([{"task_id": 1, "prompt": "Where is it?"}, {"task_id": 2, "prompt": "Refund it."}], "sft")
    >>> stage_report(tuned, stamp_stage([{"task_id": 2, "prompt": "Refund it."}], "eval")).leaks
    [{'task': 2, 'stages': ['sft', 'eval']}]

    ```
    """
    if not data:
        raise ConfigurationError("stage_report got no rows; pass the stamped Datasets, for example (train, holdout)")
    by_task: dict[str | int, set[str]] = {}
    by_prompt: dict[str, dict[str, set[str | int]]] = {}
    counts = dict.fromkeys(STAGES, 0)
    total = unstamped = 0
    for source in data:
        rows = view(source)
        total += len(rows)
        for task, prompt, stages in _stamps(rows):
            unstamped += not stages
            if task != "":  # rows that name no task are not all one
                by_task.setdefault(task, set()).update(stages)
            for stage in stages:
                counts[stage] += 1
                if prompt:
                    by_prompt.setdefault(prompt, {}).setdefault(stage, set()).add(task)
    leaks = [
        {"task": task, "stages": [stage for stage in STAGES if stage in stages]}
        for task, stages in by_task.items()
        if EVAL in stages and len(stages) > 1
    ]
    shared = sum(map(_shared, by_prompt.values()))
    return StageReport(
        n_rows=total,
        rows=counts,
        tasks={stage: sum(stage in stages for stages in by_task.values()) for stage in STAGES},
        n_unstamped=unstamped,
        n_leaks=len(leaks),
        leaks=leaks[:_LISTED],
        n_shared_prompts=shared,
        notes=[f"{unstamped} of {total} rows carry no stage; nothing is known of them"] if unstamped else [],
        warnings=_warnings(len(leaks), shared),
    )


def _stamps(rows: RowView) -> list[tuple[str | int, str, list[str]]]:
    asked: dict[Any, str] = {}
    prompts = []
    for cell in map(cell_text, rows.column("prompt")):
        if cell not in asked:
            asked[cell] = " ".join(words(cell)) if cell else ""
        prompts.append(asked[cell])
    stages = map(_stages, rows.column("lineage"), rows.column("stage"))
    return list(zip(task_keys(rows), prompts, stages, strict=True))


def _shared(stages: Mapping[str, set[str | int]]) -> bool:
    """Whether a prompt is evaluated as one task and trained on as another."""
    trained = set().union(*(tasks for stage, tasks in stages.items() if stage != EVAL))
    return bool(trained) and EVAL in stages and not (trained & stages[EVAL])


def _warnings(leaks: int, shared: int) -> list[str]:
    found = []
    if leaks:
        found.append(f"{leaks} tasks are in the evaluation and in a training stage: their scores measure memory")
    if shared:
        found.append(f"{shared} prompts are in the evaluation and in training under other task ids; run decontaminate")
    return found
