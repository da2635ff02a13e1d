"""The world as a tool server, for harnesses that bring a tool loop of their own and take tools over MCP."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf
from mcp.types import (  # type: ignore[import-not-found, unused-ignore]
    CallToolResult,
    TextContent,
    Tool,
)

from whileai_hf.actors.played import tool_text
from whileai_hf.export.verifiers.harness import WorldState
from whileai_hf.export.verifiers.taskdata import WorldData
from whileai_hf.export.verifiers.tasks import ledger, open_world
from whileai_hf.sandbox import activate


class WorldToolsetConfig(vf.ToolsetConfig):  # type: ignore[misc]  # verifiers comes without types
    """No knobs of its own."""


class WorldToolset(vf.Toolset[WorldToolsetConfig, WorldState]):  # type: ignore[misc]
    """One rollout's world: its tools word for word, under their own names."""

    TOOL_PREFIX = None

    async def setup_task(self, task: WorldData) -> None:
        """Opens the world of the task."""
        self._data = task
        self._rollout = open_world(task.model_dump())

    def register(self, mcp: Any) -> None:
        """Puts our answers in place of those derived from signatures, which would change the schemas."""
        mcp.list_tools = self._with_state(self.list_tools)
        mcp.call_tool = self._with_state(self.call_tool)

    async def list_tools(self) -> list[Tool]:
        """The tools as they were exported."""
        functions = [tool["function"] for tool in self._data.tools]
        return [
            Tool(
                name=function["name"],
                description=function.get("description"),
                input_schema=function.get("parameters") or {"type": "object", "properties": {}},
            )
            for function in functions
        ]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> CallToolResult:
        """Makes a call, and writes down what became of the world."""
        with activate(self._rollout):
            result = self._rollout.session.call(name, arguments)
        self.state.world = ledger(self._rollout)
        return CallToolResult(content=[TextContent(type="text", text=tool_text(result))], is_error=False)


if __name__ == "__main__":
    WorldToolset.run()
