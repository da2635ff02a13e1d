"""`evaluate`: grading that measures. The same verdicts as [`grade`], marked as not to be trained on."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Unpack

from datasets import Dataset

from whileai_hf.actors.models import Model
from whileai_hf.errors import ConfigurationError
from whileai_hf.knobs import overlay
from whileai_hf.rows import add_columns, view
from whileai_hf.rows.view import Source
from whileai_hf.score.config import GradingConfig, GradingKnobs
from whileai_hf.score.grading import graded, scorer
from whileai_hf.score.hollow import hollow_warnings
from whileai_hf.score.judging import JudgeFunction


logger = logging.getLogger(__name__)


def evaluate(
    data: Source,
    judge: JudgeFunction | Model | str | None = None,
    *,
    model: str | None = None,
    rubric: str | Path | None = None,
    config: GradingConfig | None = None,
    **knobs: Unpack[GradingKnobs],
) -> Dataset:
    """
    [`grade`] for measuring: the rows say that their reward comes from an evaluation, so that selection can warn when
    one is trained on, and a hollow run says so.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.
        judge (`Callable` or `str` or [`Model`], *optional*):
            As for [`grade`].
        model (`str`, *optional*):
            Name of the model that is measured, for the rows' `model_version`; the default judge is another one.
        rubric (`str` or `Path`, *optional*):
            As for [`grade`].
        config ([`GradingConfig`], *optional*):
            Further knobs.
        **knobs:
            Fields of [`GradingConfig`].

    Returns:
        `datasets.Dataset`: As [`grade`] returns it, with `lineage["source"] == "eval"`. What makes the numbers
        doubtful is logged and stands in [`grade_report`]`(...).warnings`: no rollout called a tool, a declared tool
        was never touched, a marker has one value on every row, many rows are unjudged.

    Examples:
    ```python
    >>> from whileai_hf.score import evaluate
    >>> rows = [{"prompt": "Where is order 4412?", "final_text": "Sorry, I cannot say."}]
    >>> evaluate(rows, lambda row: 1, model="tuned-v1")[0]["model_version"]
    'tuned-v1'

    ```
    """
    settings = overlay(GradingConfig, config, knobs)
    if model is not None and (not isinstance(model, str) or not model.strip()):
        raise ConfigurationError(f"model={model!r} is no name; pass the name of the model that is measured")
    rows = view(data)
    score = scorer(rows, judge, rubric, settings, policies=() if model is None else (model,))
    score.source = "eval"
    judged = graded(rows, score, settings)
    if model is not None:
        judged = add_columns(judged, {"model_version": [model] * len(judged)})
    for warning in hollow_warnings(view(judged)):
        logger.warning(warning)
    return judged
