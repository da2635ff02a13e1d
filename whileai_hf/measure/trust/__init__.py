"""Whether a judge can be believed: people's labels, agreement with them, rates without the judge's bias, its holes.

[`attach_labels`] puts labels on rows, [`judge_trust`] measures the judge by them, [`corrected_rate`] takes its
mistakes out of a rate, [`judge_probes`] tries on it what a policy would find. The small stamp that grading itself
leaves is `score.trust`.
"""

from whileai_hf.measure.trust.agreement import JudgeAgreement, judge_agreement
from whileai_hf.measure.trust.annotators import annotator_agreement
from whileai_hf.measure.trust.attaching import attach_labels
from whileai_hf.measure.trust.auditing import audit_grades
from whileai_hf.measure.trust.budget import label_budget
from whileai_hf.measure.trust.keys import rollout_keys
from whileai_hf.measure.trust.labelsreport import LabelsReport
from whileai_hf.measure.trust.probing import judge_probes
from whileai_hf.measure.trust.rates import CorrectedRate, corrected_rate
from whileai_hf.measure.trust.sheet import label_sheet
from whileai_hf.measure.trust.trust import judge_trust
from whileai_hf.measure.trust.trustreport import TrustReport


__all__ = [
    "CorrectedRate",
    "JudgeAgreement",
    "LabelsReport",
    "TrustReport",
    "annotator_agreement",
    "attach_labels",
    "audit_grades",
    "corrected_rate",
    "judge_agreement",
    "judge_probes",
    "judge_trust",
    "label_budget",
    "label_sheet",
    "rollout_keys",
]
