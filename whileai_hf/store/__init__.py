"""Where bytes go: the journal of a running simulation and the local store of finished runs."""

from whileai_hf.store.journal import Journal, read_lines
from whileai_hf.store.runs import PrivilegedWriter, read_privileged, read_reports, run_folder, write_report


__all__ = [
    "Journal",
    "PrivilegedWriter",
    "read_lines",
    "read_privileged",
    "read_reports",
    "run_folder",
    "write_report",
]
