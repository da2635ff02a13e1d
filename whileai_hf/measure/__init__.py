"""Measurement: what graded rows say about the agent, with intervals, and what they do not say.

Every function takes rows in any form, changes nothing and returns a report. Rows without a verdict are left out and
counted, never read as failures. Numbers come from `stats`; this room decides what is counted. Packages: `passes`
(pass@1, pass^k, pass@k and the group signal).
"""

from whileai_hf.measure.passes import GroupSignal, PassAt, group_signal, pass_at


__all__ = ["GroupSignal", "PassAt", "group_signal", "pass_at"]
