"""Scoring: from rollouts to verdicts.

[`grade`] judges rows, [`Score`] does the same as a map function, [`verdict`] is the contract a judge has to honour,
and `whileai_hf.score.verify` holds verifiers, the judges that are programs.
"""

from whileai_hf.score.evaluating import evaluate
from whileai_hf.score.grading import grade, run_judge
from whileai_hf.score.hashing import fingerprint
from whileai_hf.score.passing import failed_traces, passes
from whileai_hf.score.reporting import GradeReport, grade_report
from whileai_hf.score.scorer import Score
from whileai_hf.score.verdicts import JudgeStatus, Verdict, verdict


__all__ = [
    "GradeReport",
    "JudgeStatus",
    "Score",
    "Verdict",
    "evaluate",
    "failed_traces",
    "fingerprint",
    "grade",
    "grade_report",
    "passes",
    "run_judge",
    "verdict",
]
