"""Which judge a grading means: the caller's own, a model with a rubric, or the floor that needs neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import Model
from whileai_hf.errors import ConfigurationError
from whileai_hf.score.config import GradingConfig
from whileai_hf.score.judges import Judge, scaled
from whileai_hf.score.judges.likert import no_ratings
from whileai_hf.score.judging import judge_name


# What `judge_name` says of rows that only the floor has graded.
FLOOR = "conduct_grade"


def choose_judge(judge: Any, rubric: str | Path | None, config: GradingConfig) -> Any:
    """
    The judge that is meant.

    Args:
        judge (`Callable` or `str` or [`Model`], *optional*):
            A judge; or the model, or its spec string, that is to judge by the rubric.
        rubric (`str` or `Path`, *optional*):
            What a judge model goes by.
        config ([`GradingConfig`]):
            `scale` and `use_privileged` are read.

    Returns:
        `Callable`: [`conduct_grade`] when there is neither judge nor rubric.

    Raises:
        [`ConfigurationError`]: A rubric beside a judge that is no model, or a knob that such a judge cannot honour.
    """
    if judge is None and rubric is None:
        if config.use_privileged:
            raise ConfigurationError(
                "use_privileged=True is for a judge model, and there is none; pass rubric=, or judge='openai:<model>'"
            )
        if config.scale is not None:
            raise no_ratings(FLOOR)
        from whileai_hf.score.conduct import conduct_grade  # see _is_program

        return conduct_grade
    if judge is None or isinstance(judge, str | Model | ScriptedModel):
        return Judge(judge, rubric, scale=config.scale, use_privileged=config.use_privileged)
    if rubric is not None:
        raise ConfigurationError(
            f"judge={judge!r:.80} is a judge of your own and does not read rubric=; "
            "pass a model ('openai:<model>') as judge=, or leave one of the two out"
        )
    if config.use_privileged:
        raise ConfigurationError(
            "use_privileged=True is for a judge model; your own judge sees row['privileged'] already, leave it out"
        )
    if config.scale is not None and _is_program(judge):
        raise no_ratings(judge_name(judge))
    return judge if config.scale is None else scaled(judge, config.scale)


def _is_program(judge: Any) -> bool:
    """Is it one of the programs that count what went right? Their rewards are shares and no ratings."""
    # Not at the top: what they read texts with takes longer to load than everything else that grades.
    from whileai_hf.score.conduct import conduct_grade, no_collateral, task_checklist

    return any(judge is program for program in (conduct_grade, no_collateral, task_checklist))
