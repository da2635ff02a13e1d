"""Pass rates of repeated rollouts: how good the agent is, how reliable, and where a grouped update can learn."""

from whileai_hf.measure.passes.estimate import pass_at
from whileai_hf.measure.passes.report import PassAt
from whileai_hf.measure.passes.signal import GroupSignal, group_signal


__all__ = ["GroupSignal", "PassAt", "group_signal", "pass_at"]
