"""Rubrics: what a reply is held to, point by point; read from what people write, written by a model, judged by one.

A [`Rubric`] is a value with a version. It lives on tasks, under `privileged.rubric` ([`attach_rubric`],
[`write_rubrics`], [`rubric_of`]); [`rubric_judge`] gives a verdict on each of its criteria.
"""

from whileai_hf.score.rubrics.attach import attach_rubric, rubric_of
from whileai_hf.score.rubrics.judge import RubricJudge, rubric_judge
from whileai_hf.score.rubrics.parsing import read_rubric
from whileai_hf.score.rubrics.rubric import Criterion, Rubric
from whileai_hf.score.rubrics.writing import RubricsReport, write_rubrics


__all__ = [
    "Criterion",
    "Rubric",
    "RubricJudge",
    "RubricsReport",
    "attach_rubric",
    "read_rubric",
    "rubric_judge",
    "rubric_of",
    "write_rubrics",
]
