"""One tool of an agent, whatever shape it was written in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tool:
    """
    One tool: what a model is told about it, and the Python function behind it when there is one.

    Args:
        name (`str`):
            Name as the model must write it; dots, dashes and slashes are kept.
        description (`str`, *optional*, defaults to `""`):
            What the tool does.
        parameters (`dict`, *optional*):
            JSON Schema of the arguments, always with `type: object` and `properties`; `$defs` are kept.
        annotations (`dict`, *optional*):
            Hints such as MCP's `readOnlyHint` and `destructiveHint`.
        function (`Callable`, *optional*):
            The typed function the tool was read from.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> Tool("ping").openai()["function"]["parameters"]
    {'type': 'object', 'properties': {}}

    ```
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    annotations: dict[str, Any] = field(default_factory=dict)
    function: Callable[..., Any] | None = field(default=None, compare=False, repr=False)

    def openai(self) -> dict[str, Any]:
        """The tool in OpenAI function-calling shape, which is also what chat templates and TRL take."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }
