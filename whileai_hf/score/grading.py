"""`grade`: rows in, the same rows with a verdict out.

It runs the same [`Score`] as a `map` would, with a progress bar, and brings along for the time of each call what only
a judge may see. It always asks the judge; `rollouts.map(Score(judge), batched=True)` is the form that caches.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa
from datasets import Dataset, Features
from datasets.utils import tqdm

from whileai_hf.actors.models import Model
from whileai_hf.errors import ConfigurationError
from whileai_hf.knobs import overlay
from whileai_hf.rows import RowView, add_columns, group_keys, view
from whileai_hf.rows.columns import dataset_from_table
from whileai_hf.rows.features import known_features
from whileai_hf.rows.view import Source
from whileai_hf.score.choosing import choose_judge
from whileai_hf.score.config import GradingConfig, GradingKnobs
from whileai_hf.score.judging import JudgeFunction
from whileai_hf.score.judgment import PRIVILEGED_COLUMNS, judgment_columns
from whileai_hf.score.lanes import Row, own
from whileai_hf.score.privileged import find_secrets, with_secrets
from whileai_hf.score.reporting import unjudged_warning
from whileai_hf.score.scorer import Score
from whileai_hf.score.scrubbing import without_privileged
from whileai_hf.score.trust import expect_gold, stamp_trust
from whileai_hf.score.verdicts import GroupJudge, Independent, Verdict
from whileai_hf.score.verify.base import Verifier


logger = logging.getLogger(__name__)


def grade(
    data: Source,
    judge: JudgeFunction | Model | str | None = None,
    *,
    rubric: str | Path | None = None,
    config: GradingConfig | None = None,
    **knobs: Unpack[GradingKnobs],
) -> Dataset:
    """
    Judges rows.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts. Rows that are not rollouts are welcome: the judge sees whatever columns there are.
        judge (`Callable` or `str` or [`Model`], *optional*):
            Row to verdict, sync or async: a number, a bool, or a mapping with `reward` and optionally `reason`,
            `markers`, `failure_class` and metadata. It must not change the row. Or a model (`"openai:<model>"`), which
            judges by the rubric, see [`Judge`].
        rubric (`str` or `Path`, *optional*):
            What doing the job means, for a judge model. Without `judge`, a model other than the one that made the
            rows judges by it (`WHILEAI_JUDGE` names it).
        config ([`GradingConfig`], *optional*):
            Further knobs.
        **knobs:
            Fields of [`GradingConfig`]: `scale`, `use_privileged`, `tasks`, `version`, `name`, `timeout`,
            `concurrency`, `columns`, `trust`.

    Returns:
        `datasets.Dataset`: The rows with `reward`, `reason`, `judge_name`, `judge_status`, `judge_meta`,
        `failure_class`, `markers` and `lineage`; without the privileged columns. A row without a verdict has
        `reward=None` and a status that says why. `lineage["judge_version"]` is `version=` or the judge's own; a
        function has none, and `judge_meta["code"]` tells its editions apart. With neither judge nor rubric the floor
        is graded: nothing invented, nothing skipped, no success claimed after a failure ([`conduct_grade`]).

    Raises:
        [`ConfigurationError`]: A judge that cannot be called, or a knob it cannot honour.
        [`ModelStopError`]: The judge's model answered nothing at all, and will not.

    Examples:
    ```python
    >>> from whileai_hf.score import grade
    >>> rows = [{"prompt": "Where is order 4412?", "final_text": "Sorry, I cannot say."}]
    >>> grade(rows, lambda row: {"reward": int("sorry" not in row["final_text"].lower())})[0]["reward"]
    0.0

    ```
    """
    settings = overlay(GradingConfig, config, knobs)
    rows = view(data)
    return graded(rows, scorer(rows, judge, rubric, settings), settings)


def scorer(
    rows: RowView, judge: Any, rubric: str | Path | None, config: GradingConfig, policies: Sequence[str] = ()
) -> Score:
    """The map function that grades these rows as [`grade`] is asked to; `policies` are models the rows do not name."""
    policies = sorted({*policies, *(str(model) for model in rows.column("model_version") if model)})
    chosen = choose_judge(judge, rubric, config)
    if isinstance(chosen, Independent):
        chosen.bind(policies)
    return Score(
        chosen,
        version=config.version,
        timeout=config.timeout,
        concurrency=config.concurrency,
        name=config.name,
        columns=config.columns,
    )


def graded(rows: RowView, score: Score, config: GradingConfig) -> Dataset:
    """The rows with the verdicts of a [`scorer`]."""
    expect_gold(rows, config.trust)
    with tqdm(total=len(rows), desc="Judging", unit=" rows", disable=None) as bar:
        judged = _judged_rows(score, rows, config.tasks)
        if isinstance(score.judge, GroupJudge):
            verdicts = score.group_verdicts(list(judged), group_keys(rows), lambda done: bar.update(done - bar.n))
        else:
            verdicts = score.verdicts(judged, lambda done: bar.update(done - bar.n))
    return with_verdicts(rows, score, verdicts, config.trust)


def with_verdicts(rows: RowView, score: Score, verdicts: Sequence[Verdict], trust: str | None = "off") -> Dataset:
    """
    Rows with the verdicts given on them, as [`grade`] returns them.

    Args:
        rows ([`RowView`]):
            The rows.
        score ([`Score`]):
            The judge, for its name and version.
        verdicts (`Sequence[Verdict]`):
            One per row.
        trust (`str`, *optional*, defaults to `"off"`):
            Whether the judge is compared with people's labels on the rows, as in [`grade`].
    """
    values = score.values(verdicts, rows.column("markers"), rows.column("lineage"))
    warning = unjudged_warning(values)
    if warning:
        logger.warning(warning)
    measured = stamp_trust(rows, values, trust)
    if measured:
        logger.warning(measured)
    return without_privileged(_with_judgment(rows, judgment_columns(values)))


def run_judge(
    data: Source,
    judge: JudgeFunction | Model | str,
    *,
    rubric: str | Path | None = None,
    config: GradingConfig | None = None,
    **knobs: Unpack[GradingKnobs],
) -> Dataset:
    """
    [`grade`] under the name it has elsewhere; arguments and result are the same, and a judge is needed.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id): Rollouts.
        judge (`Callable` or `str` or [`Model`]): Row to verdict, or a judge model.
        rubric (`str` or `Path`, *optional*): What a judge model goes by.
        config ([`GradingConfig`], *optional*): Further knobs.
        **knobs: Fields of [`GradingConfig`].

    Returns:
        `datasets.Dataset`: The judged rows.
    """
    if judge is None:
        raise ConfigurationError(
            "no judge was given; pass judge=, a callable from a row to a number, a bool or {'reward': ...}"
        )
    return grade(data, judge, rubric=rubric, config=config, **knobs)


def _judged_rows(score: Score, rows: RowView, tasks: Source | None) -> Iterator[Row]:
    """
    The rows as the judge sees them: its own to the bottom, so that what it changes stays with it.
    """
    # Rows of a Dataset are decoded for the judge alone, and a verifier promises to leave those of a list as they are.
    alone = isinstance(rows.source, Dataset) or (isinstance(score.judge, Verifier) and score.judge.reads_only)
    names = None if score.columns is None else score.reads(rows.columns)
    secrets = find_secrets(rows, tasks)
    for row, extra in zip(rows.rows(names, share=False), secrets, strict=True):
        if extra is not None or type(row) is not dict:
            row = with_secrets(row, own(extra), override=tasks is not None)
        yield row if alone else own(row)


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
