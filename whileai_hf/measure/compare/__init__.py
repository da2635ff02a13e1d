"""Comparing runs: what changed between two sets of rows, how sure that is, and how large a change could be seen."""

from whileai_hf.measure.compare.changes import DeltaReport, MetricDelta
from whileai_hf.measure.compare.checking import SelfCheck, self_check
from whileai_hf.measure.compare.comparison import RunComparison
from whileai_hf.measure.compare.delta import delta_report
from whileai_hf.measure.compare.noise import EvalVariance, eval_variance
from whileai_hf.measure.compare.runs import compare_runs
from whileai_hf.measure.compare.sizing import EvalSize, detectable_effect, holdout_size


__all__ = [
    "DeltaReport",
    "EvalSize",
    "EvalVariance",
    "MetricDelta",
    "RunComparison",
    "SelfCheck",
    "compare_runs",
    "delta_report",
    "detectable_effect",
    "eval_variance",
    "holdout_size",
    "self_check",
]
