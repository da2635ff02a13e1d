"""One call that says whether rollouts are fit to train or measure on, whoever wrote them.

[`audit`] reads rows through `traces`, asks the other packages of this room, and puts what they find in order. To add a
check: measure in a module of its own, judge in `findings`, and hang both into `auditing`.
"""

from whileai_hf.measure.audit.auditing import audit
from whileai_hf.measure.audit.report import AuditReport, Finding, LengthEffect, RewardFunction, TaskNeed


__all__ = ["AuditReport", "Finding", "LengthEffect", "RewardFunction", "TaskNeed", "audit"]
