"""What an agent is: its tools, its system prompt, the rules in that prompt, and how its answers are judged.

Reads every shape tools come in (typed Python functions, OpenAI, bare, MCP `tools/list`, Anthropic) into [`Tool`],
and a folder or file into [`AgentSpec`]. It decides nothing about situations or worlds; those rooms read the spec.
To accept one more shape of tool, add it to `spec/reading.py`; to read one more kind of file, to `spec/files.py`.
"""

from whileai_hf.spec.agent import AgentSpec, as_spec
from whileai_hf.spec.functions import tool_schema
from whileai_hf.spec.policy import split_policy
from whileai_hf.spec.reading import read_tools
from whileai_hf.spec.references import parameter_schemas, resolve_ref
from whileai_hf.spec.tool import Tool


__all__ = [
    "AgentSpec",
    "Tool",
    "as_spec",
    "parameter_schemas",
    "read_tools",
    "resolve_ref",
    "split_policy",
    "tool_schema",
]
