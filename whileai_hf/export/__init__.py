"""Rollouts in the columns a trainer takes.

[`to_trl`] turns rollout rows into Datasets for trainers of TRL; [`export_report`] says what an export left out. Which
rows are worth training on is decided before (`select`), and running a trainer is not done here. To add a kind, write
a module that makes its rows (`sft.py` and `prompts.py` are two) and name it in `trl.py`.
"""

from whileai_hf.export.report import ExportReport, export_report
from whileai_hf.export.trl import to_trl


__all__ = ["ExportReport", "export_report", "to_trl"]
