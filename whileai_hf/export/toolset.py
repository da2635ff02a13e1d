"""The tools a row offers, in the wrapper chat templates print.

No tools is an absent list, never an empty one: some templates (Llama 3) print their tool instructions for `[]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whileai_hf.errors import DataError, SpecError
from whileai_hf.export.messages import Declared
from whileai_hf.rows import dumps, loads
from whileai_hf.rows.privileged import PRIVILEGED_KEYS
from whileai_hf.spec import read_tools


_NULLABLE = frozenset({"default", "const"})
# Keywords whose values are data, and those whose keys are names.
_VALUES = _NULLABLE | {"enum", "examples"}
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


@dataclass(frozen=True)
class ToolSet:
    """The tools of one row as JSON texts and as dicts, `None` for none, and the parameter names of each."""

    texts: list[bytes] | None
    declared: Declared
    schemas: list[dict[str, Any]] | None = None


def _shown(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without what only a judge may see. Names of parameters lie deeper and stay."""
    return {key: value for key, value in schema.items() if key not in PRIVILEGED_KEYS}


def _unfilled(schema: Any, names: bool = False) -> Any:
    """
    A schema without the `None` a struct type left in it: only a `default` or a `const` can be `null` in JSON Schema.

    Examples:
    ```python
    >>> _unfilled({"properties": {"a": {"default": None, "enum": None}, "b": None}})
    {'properties': {'a': {'default': None}}}

    ```
    """
    if isinstance(schema, dict):
        return {
            key: value if key in _VALUES and not names else _unfilled(value, key in _NAMED and not names)
            for key, value in schema.items()
            if value is not None or (key in _NULLABLE and not names)
        }
    return [_unfilled(item) for item in schema] if isinstance(schema, list) else schema


def _parsed(parameters: Any) -> Any:
    """Parameters that are JSON text as the object they are."""
    if not isinstance(parameters, str):
        return parameters
    read = loads(parameters)
    if not isinstance(read, dict):
        raise SpecError(f"its parameters are the text {parameters!r:.40}")
    return read


def _wrapped(tool: Any) -> dict[str, Any]:
    """OpenAI shape. A tool that has it is kept word for word, because the rollout was shown those words."""
    if isinstance(tool, Mapping) and isinstance(tool.get("function"), Mapping) and tool["function"].get("name"):
        function = {key: value for key, value in _shown(tool["function"]).items() if value is not None}
        if isinstance(function.get("parameters"), Mapping | str):
            function["parameters"] = _unfilled(_shown(_parsed(function["parameters"])))
        return {"type": "function", "function": function}
    return read_tools([tool])[0][0].openai()


def _parameter_names(tool: dict[str, Any]) -> frozenset[str]:
    parameters = tool["function"].get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    return frozenset(properties) if isinstance(properties, Mapping) else frozenset()


def _tool_set(tools: list[dict[str, Any]]) -> ToolSet:
    texts = [dumps(tool) for tool in tools]
    return ToolSet(
        texts or None,
        {tool["function"]["name"]: _parameter_names(tool) for tool in tools},
        [loads(text) for text in texts] or None,
    )


class ToolReader:
    """
    Reads the `tools` cells of rows; a list seen before is not read again.

    Args:
        given (`list`, *optional*):
            Tools in any shape [`read_tools`] knows, in place of those of the rows.
    """

    def __init__(self, given: Any = None) -> None:
        self._seen: dict[bytes, ToolSet] = {}
        self._last: Any = None
        self._last_set = ToolSet(None, {})
        self._given = None if given is None else _tool_set([tool.openai() for tool in read_tools(given)[0]])

    def read(self, cell: Any, index: int) -> ToolSet:
        """
        The tools of one row.

        Args:
            cell (`list[dict]` or `str`, *optional*):
                The row's `tools`, as a list or as the JSON text of one.
            index (`int`):
                Position of the row, for the error.

        Raises:
            [`DataError`]: The cell holds no tools.
        """
        if self._given is not None:
            return self._given
        if cell is None or cell is self._last:
            return self._last_set if cell is not None else ToolSet(None, {})
        key = dumps(cell)
        if key not in self._seen:
            self._seen[key] = self._parse(cell, index)
        self._last, self._last_set = cell, self._seen[key]
        return self._last_set

    def _parse(self, cell: Any, index: int) -> ToolSet:
        try:
            tools = loads(cell) if isinstance(cell, str) else cell
            if not isinstance(tools, list | tuple):
                raise SpecError(f"it is a {type(tools).__name__}")
            return _tool_set([_wrapped(tool) for tool in tools])
        except ValueError as error:  # JSON text that is none, or entries that are no tools
            raise DataError(
                f"row {index}: tools is not a list of tool schemas ({error}); repair it or pass tools="
            ) from error
