"""The mock tool world: records from schemas, state that remembers, faults on schedule, one world per rollout.

[`world`] is what users hold, [`Session`] one rollout's world, [`sample_arguments`] a valid call of any tool. Modules
not re-exported here: `toolset` (what follows from the tools), `knowledge` (which records exist), `effects`, `values`,
`kinds` (which kinds of fault are common), `reach` (where each can show), `injection` (whether a planted instruction
was obeyed), and for rows that are finished `reexecution` (their calls made again) and `rowtools`.
To teach the world a new kind of tool, add its answer to `answers.py` and its recognition to `toolset.py`; to add a
fault, add it to `kinds.FAULT_KINDS`, where it can fire to `faults.py` (between two calls: `reach.py`), and what it
does to `broken.py` or `disturbed.py`.
"""

from whileai_hf.sandbox.context import ActiveRollout, activate, current_rollout
from whileai_hf.sandbox.effects import id_parameters, tool_effect
from whileai_hf.sandbox.faults import fault_plan, validate_faults
from whileai_hf.sandbox.kinds import FAULT_KINDS
from whileai_hf.sandbox.session import Session
from whileai_hf.sandbox.validation import argument_errors
from whileai_hf.sandbox.values import sample_arguments, sample_value
from whileai_hf.sandbox.world import World, world


__all__ = [
    "FAULT_KINDS",
    "ActiveRollout",
    "Session",
    "World",
    "activate",
    "argument_errors",
    "current_rollout",
    "fault_plan",
    "id_parameters",
    "sample_arguments",
    "sample_value",
    "tool_effect",
    "validate_faults",
    "world",
]
