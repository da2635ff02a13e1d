"""Programs that read a run and its world: the conduct grade, the task checklist, the check for collateral changes."""

from whileai_hf.score.conduct.checklist import task_checklist
from whileai_hf.score.conduct.collateral import no_collateral
from whileai_hf.score.conduct.grade import conduct_grade
from whileai_hf.score.conduct.outcome import Outcome, expected_outcome, outcome_check


__all__ = ["Outcome", "conduct_grade", "expected_outcome", "no_collateral", "outcome_check", "task_checklist"]
