"""Levels of one set of rows: every metric and marker with its interval."""

from whileai_hf.measure.summaries.summary import (
    MetricLevel,
    MetricSummary,
    marker_names,
    marker_summary,
    metric_summary,
)


__all__ = ["MetricLevel", "MetricSummary", "marker_names", "marker_summary", "metric_summary"]
