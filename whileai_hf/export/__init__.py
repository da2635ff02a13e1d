"""Rollouts in the columns a trainer takes.

[`to_trl`] turns rollout rows into Datasets for trainers of TRL, [`export_dataset`] writes files, [`check_template`]
says what a chat template would lose, and [`export_report`] what an export left out. Which rows are worth training on
is decided before (`select`), and running a trainer is not done here. To add a kind, write a module that makes its rows
(`kto.py` is one) and name it in `trl.py`.
"""

from whileai_hf.export.checking import TemplateReport, check_template
from whileai_hf.export.config import ExportConfig
from whileai_hf.export.files import export_dataset, export_preference, export_training, training_rows
from whileai_hf.export.masks import loss_mask
from whileai_hf.export.report import ExportReport, export_report
from whileai_hf.export.trl import to_sft, to_trl


__all__ = [
    "ExportConfig",
    "ExportReport",
    "TemplateReport",
    "check_template",
    "export_dataset",
    "export_preference",
    "export_report",
    "export_training",
    "loss_mask",
    "to_sft",
    "to_trl",
    "training_rows",
]
