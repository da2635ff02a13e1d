"""What tools and their parameters are called where they become methods, and the way back.

A trainer makes a tool of every public method of an environment and keeps some names to itself: `reset`, `get_reward`,
whatever begins with an underscore. Parameters become those of a Python function. A name that cannot be used is shown
as another one; calls arrive under either name, and everything that is kept bears the original.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.spec import Tool


# Methods of an environment that the trainer calls itself.
RESERVED = frozenset({"reset", "get_reward"})
# The receiver of a method, which no parameter can share a name with.
_RECEIVER = frozenset({"self"})
_NOT_A_WORD = re.compile(r"\W")
_NOT_ASCII = re.compile(r"[^0-9A-Za-z_]")
# Parts of an object schema that name parameters: in a list, as keys, as keys of lists; and further schemas of the same
# object.
_LISTS = ("required", "propertyOrdering")
_MAPS = ("properties", "dependentSchemas")
_NEEDED = "dependentRequired"
_BRANCHES = ("allOf", "anyOf", "oneOf")


@dataclass(frozen=True)
class Rename:
    """
    A name the model is shown in place of another.

    Args:
        tool (`str`):
            The tool, under its own name.
        parameter (`str`, *optional*):
            The parameter; `None` when the tool itself is renamed.
        shown (`str`):
            What the model sees and writes.

    Examples:
    ```python
    >>> str(Rename("search", "from", "from_"))
    "parameter 'from' of 'search' is shown as 'from_'"

    ```
    """

    tool: str
    parameter: str | None
    shown: str

    def __str__(self) -> str:
        what = f"tool {self.tool!r}" if self.parameter is None else f"parameter {self.parameter!r} of {self.tool!r}"
        return f"{what} is shown as {self.shown!r}"


@dataclass(frozen=True)
class ShownTool:
    """
    A tool as a method shows it.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool.
        name (`str`):
            What the method is called.
        schema (`dict`):
            OpenAI shape, under the names shown; otherwise word for word that of the tool.
        parameters (`Mapping[str, str]`):
            Names shown to names given, for those that differ.
    """

    tool: Tool
    name: str
    schema: Mapping[str, Any]
    parameters: Mapping[str, str]

    def restore(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments under the names the tool gives them, values untouched."""
        if not self.parameters:
            return dict(arguments)
        return {self.parameters.get(name, name): value for name, value in arguments.items()}


def _identifier(name: str, fallback: str, taken: frozenset[str]) -> str:
    """A Python identifier like `name`."""
    word = _NOT_A_WORD.sub("_", name)
    if not f"x{word}".isidentifier():  # superscripts and the like count as letters for one and not for the other
        word = _NOT_ASCII.sub("_", word)
    word = word.strip("_") or fallback
    if not word.isidentifier():  # it begins with a digit
        word = f"{fallback}_{word}"
    return f"{word}_" if keyword.iskeyword(word) or word in taken else word


def _shown_names(names: Sequence[str], fallback: str, taken: frozenset[str], hidden: bool) -> dict[str, str]:
    """The name each is shown under; those that can stay do, and nothing takes their place."""

    def stays(name: str) -> bool:
        usable = name.isidentifier() and not keyword.iskeyword(name) and name not in taken
        return usable and not (hidden and name.startswith("_"))

    shown = {name: name for name in names if stays(name)}
    used = set(shown)
    for name in names:
        if name in shown:
            continue
        word = base = _identifier(name, fallback, taken)
        number = 2
        while word in used:
            word = f"{base}_{number}"
            number += 1
        shown[name] = word
        used.add(word)
    return shown


def _listed(given: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(given, list):
        return given
    return [names.get(item, item) if isinstance(item, str) else item for item in given]


def _renamed(schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """An object schema under other parameter names; what lies deeper is untouched."""
    made = dict(schema)
    for key in _LISTS:
        made |= {key: _listed(made[key], names)} if key in made else {}
    for key in _MAPS:
        if isinstance(made.get(key), Mapping):
            made[key] = {names.get(name, name): value for name, value in made[key].items()}
    if isinstance(made.get(_NEEDED), Mapping):
        made[_NEEDED] = {names.get(name, name): _listed(value, names) for name, value in made[_NEEDED].items()}
    for key in _BRANCHES:
        if isinstance(made.get(key), list):
            made[key] = [_renamed(item, names) if isinstance(item, Mapping) else item for item in made[key]]
    return made


def show_tools(tools: Iterable[Tool]) -> tuple[tuple[ShownTool, ...], tuple[Rename, ...]]:
    """
    Tools under names that methods can have.

    Args:
        tools (`Iterable[Tool]`):
            The agent's tools.

    Returns:
        `tuple`: The tools as shown, in their order, and every name that differs.

    Examples:
    ```python
    >>> tools, renamed = show_tools([Tool("reset"), Tool("find", parameters={"properties": {"from": {}}})])
    >>> [tool.name for tool in tools], [str(name) for name in renamed]
    (['reset_', 'find'], ["tool 'reset' is shown as 'reset_'", "parameter 'from' of 'find' is shown as 'from_'"])

    ```
    """
    given = list(tools)
    names = _shown_names([tool.name for tool in given], "tool", RESERVED, hidden=True)
    shown: list[ShownTool] = []
    renamed: list[Rename] = []
    for tool in given:
        name = names[tool.name]
        if name != tool.name:
            renamed.append(Rename(tool.name, None, name))
        properties = tool.parameters.get("properties")
        own = list(properties) if isinstance(properties, Mapping) else []
        parameters = {
            given_name: word
            for given_name, word in _shown_names(own, "value", _RECEIVER, hidden=False).items()
            if given_name != word
        }
        renamed += [Rename(tool.name, given_name, word) for given_name, word in parameters.items()]
        schema = tool.openai()
        if parameters:
            schema["function"]["parameters"] = _renamed(tool.parameters, parameters)
        schema["function"]["name"] = name
        shown.append(ShownTool(tool, name, schema, {word: given_name for given_name, word in parameters.items()}))
    return tuple(shown), tuple(renamed)
