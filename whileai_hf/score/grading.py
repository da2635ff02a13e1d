"""`grade`: rows in, the same rows with a verdict out.

It runs the same [`Score`] as a `map` would, with a progress bar, and brings along for the time of each call what only
a judge may see. It always asks the judge; `rollouts.map(Score(judge), batched=True)` is the form that caches.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from datasets import Dataset, Features
from datasets.utils import tqdm

from whileai_hf.rows import RowView, add_columns, view
from whileai_hf.rows.columns import dataset_from_table
from whileai_hf.rows.features import known_features
from whileai_hf.rows.view import Source
from whileai_hf.score.judging import Judge
from whileai_hf.score.judgment import PRIVILEGED_COLUMNS, judgment_columns
from whileai_hf.score.lanes import Row, own
from whileai_hf.score.privileged import find_secrets, with_secrets
from whileai_hf.score.reporting import unjudged_warning
from whileai_hf.score.scorer import Score
from whileai_hf.score.scrubbing import without_privileged
from whileai_hf.score.verdicts import Verdict


logger = logging.getLogger(__name__)


def grade(
    data: Source,
    judge: Judge | None = None,
    *,
    version: str | None = None,
    timeout: float | None = None,
    concurrency: int | None = None,
    tasks: Source | None = None,
    name: str | None = None,
    columns: Sequence[str] | None = None,
) -> Dataset:
    """
    Judges rows.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts. Rows that are not rollouts are welcome: the judge sees whatever columns there are.
        judge (`Callable`):
            Row to verdict, sync or async: a number, a bool, or a mapping with `reward` and optionally `reason`,
            `markers`, `failure_class` and metadata. It must not change the row.
        version (`str`, *optional*):
            The judge's version, recorded in `judge_meta` and `lineage`.
        timeout (`float`, *optional*):
            Seconds a row may take; then its status is `timeout` and its reward `None`.
        concurrency (`int`, *optional*, defaults to 8, to 1 for a verifier):
            Rows judged at the same time. A sync judge is called from that many threads; with 1 and no timeout it is
            called in the calling thread.
        tasks (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            The task set of the rollouts, whose `privileged` the judge sees as `row["privileged"]`. By default it is
            looked up in the local store of the run.
        name (`str`, *optional*):
            Name recorded as `judge_name`; by default that of the function or class.
        columns (`Sequence[str]`, *optional*):
            The columns the judge reads; the others are not decoded.

    Returns:
        `datasets.Dataset`: The rows with `reward`, `reason`, `judge_name`, `judge_status`, `judge_meta`,
        `failure_class`, `markers` and `lineage`; without the privileged columns. A row without a verdict has
        `reward=None` and a status that says why.

    Raises:
        [`ConfigurationError`]: No judge, or one that cannot be called.

    Examples:
    ```python
    >>> from whileai_hf.score import grade
    >>> rows = [{"prompt": "Where is order 4412?", "final_text": "Sorry, I cannot say."}]
    >>> grade(rows, lambda row: {"reward": int("sorry" not in row["final_text"].lower())})[0]["reward"]
    0.0

    ```
    """
    score = Score(judge, version=version, timeout=timeout, concurrency=concurrency, name=name, columns=columns)  # type: ignore[arg-type]
    rows = view(data)
    with tqdm(total=len(rows), desc="Judging", unit=" rows", disable=None) as bar:
        verdicts = score.verdicts(_judged_rows(score, rows, tasks), lambda done: bar.update(done - bar.n))
    return with_verdicts(rows, score, verdicts)


def with_verdicts(rows: RowView, score: Score, verdicts: Sequence[Verdict]) -> Dataset:
    """
    Rows with the verdicts given on them, as [`grade`] returns them.

    Args:
        rows ([`RowView`]):
            The rows.
        score ([`Score`]):
            The judge, for its name and version.
        verdicts (`Sequence[Verdict]`):
            One per row.
    """
    values = score.values(verdicts, rows.column("markers"), rows.column("lineage"))
    warning = unjudged_warning(values)
    if warning:
        logger.warning(warning)
    return without_privileged(_with_judgment(rows, judgment_columns(values)))


def run_judge(
    data: Source,
    judge: Judge,
    *,
    version: str | None = None,
    timeout: float | None = None,
    concurrency: int | None = None,
    tasks: Source | None = None,
    name: str | None = None,
    columns: Sequence[str] | None = None,
) -> Dataset:
    """
    [`grade`] under the name it has elsewhere; arguments and result are the same.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id): Rollouts.
        judge (`Callable`): Row to verdict.
        version (`str`, *optional*): The judge's version.
        timeout (`float`, *optional*): Seconds a row may take.
        concurrency (`int`, *optional*): Rows judged at the same time.
        tasks (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*): The task set.
        name (`str`, *optional*): Name of the judge.
        columns (`Sequence[str]`, *optional*): The columns the judge reads.

    Returns:
        `datasets.Dataset`: The judged rows.
    """
    return grade(
        data,
        judge,
        version=version,
        timeout=timeout,
        concurrency=concurrency,
        tasks=tasks,
        name=name,
        columns=columns,
    )


def _judged_rows(score: Score, rows: RowView, tasks: Source | None) -> Iterator[Row]:
    """
    The rows as the judge sees them: its own to the bottom, so that what it changes stays with it. Those of a Dataset
    are decoded for it alone, those of a list are the caller's and copied.
    """
    decoded = isinstance(rows.source, Dataset)
    names = None if score.columns is None else score.reads(rows.columns)
    secrets = find_secrets(rows, tasks)
    for row, extra in zip(rows.rows(names, share=False), secrets, strict=True):
        seen = with_secrets(row, own(extra), override=tasks is not None)
        yield seen if decoded else own(seen)


def _with_judgment(rows: RowView, judgment: dict[str, Any]) -> Dataset:
    """The rows as a Dataset, less the privileged columns, plus the judgment; a list is written column by column."""
    kept = [name for name in rows.columns if name not in PRIVILEGED_COLUMNS]
    if isinstance(rows.source, Dataset):
        return add_columns(rows.source.select_columns(kept), judgment)
    order = [*kept, *(name for name in judgment if name not in kept)]
    own = [name for name in kept if name not in judgment]
    features = Features({name: known_features()[name] for name in judgment})
    judged = dataset_from_table(pa.table(judgment), features)
    return add_columns(judged, {name: rows.column(name) for name in own}).select_columns(order)
