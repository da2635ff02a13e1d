"""Judges that are models: one call a row, panels of them, and the reading of what they write.

[`Judge`] asks a model, [`Panel`] combines judges, [`scaled`] turns ratings into rewards. [`read_verdict`] and
[`read_choice`] read replies; `scales.py` is where a scale is added, `prompts/` holds the texts.
"""

from whileai_hf.score.judges.cache import VerdictCache
from whileai_hf.score.judges.choice import read_choice
from whileai_hf.score.judges.json_text import read_json
from whileai_hf.score.judges.judge import Judge
from whileai_hf.score.judges.likert import scaled
from whileai_hf.score.judges.names import default_judge_model, same_model
from whileai_hf.score.judges.panel import Panel
from whileai_hf.score.judges.reading import Reading, read_verdict
from whileai_hf.score.judges.scales import Binary, Letters, Scale, YesNo


__all__ = [
    "Binary",
    "Judge",
    "Letters",
    "Panel",
    "Reading",
    "Scale",
    "VerdictCache",
    "YesNo",
    "default_judge_model",
    "read_choice",
    "read_json",
    "read_verdict",
    "same_model",
    "scaled",
]
