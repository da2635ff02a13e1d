"""Whether a reward can be, or is being, gamed.

`hack_scan` says what separates rewards within an ask, `hack_scan_diff` what an update moved toward,
`reward_correlations` and `length_report` take the quick look, and `overoptimization` reads a training curve. Nothing
here looks at a reward's code or asks a model: it is all read off graded rollouts.
"""

from whileai_hf.measure.hacks.correlations import (
    HACK_THRESHOLD,
    RewardCorrelation,
    RewardCorrelations,
    reward_correlations,
)
from whileai_hf.measure.hacks.curve import CurveAlarm, Overoptimization, overoptimization
from whileai_hf.measure.hacks.diff import HackMove, HackScanDiff, hack_scan_diff
from whileai_hf.measure.hacks.lengths import LengthReport, length_report
from whileai_hf.measure.hacks.report import HackFeature, HackScan
from whileai_hf.measure.hacks.scan import hack_scan


__all__ = [
    "HACK_THRESHOLD",
    "CurveAlarm",
    "HackFeature",
    "HackMove",
    "HackScan",
    "HackScanDiff",
    "LengthReport",
    "Overoptimization",
    "RewardCorrelation",
    "RewardCorrelations",
    "hack_scan",
    "hack_scan_diff",
    "length_report",
    "overoptimization",
    "reward_correlations",
]
