"""Rows: what they hold, how they are typed, read, written and compared. Everything the rooms above share.

A run is a plain `datasets.Dataset`; this room says which columns it has ([`rollout_features`]), reads them fast
([`view`]), makes Datasets out of anything ([`open_rows`]) and keeps values in the one form that survives every round
trip ([`canonical`]). Modules not re-exported here: `columns` (JSON text in Arrow), `schema` (typed records),
`features`, `validation`, `rng`.
"""

from whileai_hf.rows.canonical import canonical, dumps, loads
from whileai_hf.rows.columns import add_columns, to_dataset
from whileai_hf.rows.identity import group_keys, task_key, task_keys
from whileai_hf.rows.open import open_rows, select_rows, view
from whileai_hf.rows.report import Report
from whileai_hf.rows.rng import rng
from whileai_hf.rows.scrubbing import scrub
from whileai_hf.rows.view import RowView


__all__ = [
    "Report",
    "RowView",
    "add_columns",
    "canonical",
    "dumps",
    "group_keys",
    "loads",
    "open_rows",
    "rng",
    "scrub",
    "select_rows",
    "task_key",
    "task_keys",
    "to_dataset",
    "view",
]
