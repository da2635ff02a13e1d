"""Rewards from running code: the verifier, what it asks of a sandbox, and the sandbox of this machine.

Everything in `guest` runs inside of the sandbox. To run candidates elsewhere, write a [`Runner`].
"""

from whileai_hf.score.verify.code.exec import CodeExec
from whileai_hf.score.verify.code.local import LocalRunner
from whileai_hf.score.verify.code.outcome import Limits, Outcome, Runner
from whileai_hf.score.verify.code.suite import Pair, Suite, read_suite


__all__ = ["CodeExec", "Limits", "LocalRunner", "Outcome", "Pair", "Runner", "Suite", "read_suite"]
