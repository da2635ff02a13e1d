"""Log probabilities of the tokens a policy generated: how many are known, what they say, how far it has drifted.

Rollouts carry them when they were collected with `simulate(logprobs=True)`. A reference model scores the same tokens
afterwards ([`reference_logprobs`]); the rest is arithmetic on columns.
"""

from whileai_hf.measure.logprobs.coverage import LogprobReport, logprob_report
from whileai_hf.measure.logprobs.divergence import MeanKL, mean_kl, stamp_kl
from whileai_hf.measure.logprobs.reference import reference_logprobs
from whileai_hf.measure.logprobs.staleness import StalenessReport, staleness_report


__all__ = [
    "LogprobReport",
    "MeanKL",
    "StalenessReport",
    "logprob_report",
    "mean_kl",
    "reference_logprobs",
    "staleness_report",
    "stamp_kl",
]
