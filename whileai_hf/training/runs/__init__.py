"""Records of training runs: what was logged, how each ended, and whether it worked.

A run is a folder of this machine (`place`): a record that is replaced whole and a file of points that is only appended
to, so that a killed process leaves everything readable. What the numbers of a comparison mean is `measure.compare`;
filling a run from a trainer is `training.callback`.
"""

from whileai_hf.training.runs.config import TrainingRunConfig
from whileai_hf.training.runs.opening import attach_delta, attach_holdout, get_run, list_runs, training_run
from whileai_hf.training.runs.run import TrainingRun


__all__ = [
    "TrainingRun",
    "TrainingRunConfig",
    "attach_delta",
    "attach_holdout",
    "get_run",
    "list_runs",
    "training_run",
]
