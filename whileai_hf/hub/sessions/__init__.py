"""Rollouts as session traces: files that the Hub's trace viewer opens, one for each rollout, in a folder of their own.

The format is the Hub's Session Trace Simple Format: a line that names the session, then one line a message. Data for
programs stays Parquet: a folder of traces is for reading.
"""

from whileai_hf.hub.sessions.exporting import SessionTraces, export_session_traces


__all__ = ["SessionTraces", "export_session_traces"]
