"""The sample agent of the demo: an order desk of a small shop, its judge, and its spec folder.

The desk is rule-based so that the demo needs no model. It is imperfect on purpose: now and then it skips the lookup
its policy asks for, or reports success without reading what the tool said. [`judge`] finds exactly that from the row.
"""

from pathlib import Path

from whileai_hf.cli.sample.desk import agent
from whileai_hf.cli.sample.judging import judge


# Holds spec.json, policy.md and rubric.md; `AgentSpec.load(FOLDER)` reads it.
FOLDER = Path(__file__).parent

__all__ = ["FOLDER", "agent", "judge"]
