"""The publish gate: what rows are checked for before they leave the machine."""

from whileai_hf.errors import PublishGateError
from whileai_hf.select.publishing.gate import publish_gate
from whileai_hf.select.publishing.report import GateReport


__all__ = ["GateReport", "PublishGateError", "publish_gate"]
