"""Trajectory flags: did the agent fake the work, cut corners or do harm? Read from what was done, not from the prose.

`flags` collects what its siblings find. `shell`, `acts`, `writes` and `patches` say what a call does; `run_claims`,
`look_claims`, `change_claims` and `ignored` hold the reply against it; `tampering`, `suppression` and `bypassing`
find checks that were got round; `destruction` and `secrets` find harm. English replies, and the shells, editors and
test runners in common use.
"""

from whileai_hf.markers.trajectory.flags import MARKER_OF, trace_flags_of
from whileai_hf.markers.trajectory.marking import TraceMarkers, trace_markers
from whileai_hf.markers.trajectory.report import TraceFlagReport, trace_flag_report


__all__ = ["MARKER_OF", "TraceFlagReport", "TraceMarkers", "trace_flag_report", "trace_flags_of", "trace_markers"]
