"""Hygiene of data: copies within it, overlap with what it is measured on, which stage it fed, and how to split it.

A number is only as good as the distance between what was trained on and what is measured. Everything here takes rows
in any form, changes none of them, and returns new Datasets with a report, or the report alone.
"""

from whileai_hf.measure.hygiene.contamination import Contamination
from whileai_hf.measure.hygiene.copies import Duplicates, dedupe_groups, duplicate_report
from whileai_hf.measure.hygiene.decontaminate import contamination_report, decontaminate
from whileai_hf.measure.hygiene.duplicates import NearDuplicates, near_duplicate_prompts
from whileai_hf.measure.hygiene.splitting import split
from whileai_hf.measure.hygiene.stages import STAGES, StageReport, stage_of, stage_report, stamp_stage


__all__ = [
    "STAGES",
    "Contamination",
    "Duplicates",
    "NearDuplicates",
    "StageReport",
    "contamination_report",
    "decontaminate",
    "dedupe_groups",
    "duplicate_report",
    "near_duplicate_prompts",
    "split",
    "stage_of",
    "stage_report",
    "stamp_stage",
]
