"""Reading a Google-style docstring: what the function does and what each argument is.

Only the parts a tool schema needs are read. HF's ``name (`type`, *optional*):`` with the text on the next line is
the same style and reads the same.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from typing import Any


# Section titles of Google-style docstrings; `Args` is the one that is read, the others end it.
_SECTION = re.compile(
    r"^(args|arguments|parameters|params|returns?|yields?|raises|examples?|notes?|warnings?|see also|references|"
    r"attributes|todo)\s*:\s*$",
    re.IGNORECASE,
)
_ARGS = {"args", "arguments", "parameters", "params"}
_ENTRY = re.compile(r"^\*{0,2}(?P<name>\w+)\s*(?:\((?P<kind>.*?)\))?\s*:(?:\s+(?P<text>.*)|)$")
_CHOICES = re.compile(r"\s*\(choices:\s*(?P<values>\[.*\]|.*?)\)\s*\.?\s*$", re.IGNORECASE | re.DOTALL)


def _sections(text: str) -> tuple[str, list[str]]:
    """The text above the first section, and the lines of the `Args:` section."""
    summary: list[str] = []
    arguments: list[str] = []
    section = ""
    for line in inspect.cleandoc(text).splitlines():
        title = _SECTION.match(line) if not line.startswith((" ", "\t")) else None
        if title:
            section = title.group(1).lower()
        elif not section:
            summary.append(line)
        elif section in _ARGS:
            arguments.append(line)
    return " ".join(" ".join(summary).split()), arguments


def _entries(lines: list[str], names: set[str]) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    indent: int | None = None
    current: str | None = None
    for line in lines:
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        indent = depth if indent is None else indent
        entry = _ENTRY.match(line.strip()) if depth <= indent else None
        if entry and entry["name"] in names:
            current = entry["name"]
            texts[current] = [entry["text"] or ""]
        elif current is not None:
            texts[current].append(line.strip())
    return {name: " ".join(" ".join(parts).split()) for name, parts in texts.items()}


def _choices(text: str) -> tuple[str, list[Any] | None]:
    """The description without its `(choices: [...])`, and the choices."""
    match = _CHOICES.search(text)
    if not match:
        return text, None
    written = match["values"].strip()
    try:
        values = json.loads(written)
    except json.JSONDecodeError:
        try:
            values = ast.literal_eval(written)
        except (ValueError, SyntaxError):
            # `(choices: red, green)`: a plain enumeration of words.
            values = [part.strip().strip("'\"`") for part in written.strip("[]").split(",") if part.strip()]
    return text[: match.start()], list(values) if isinstance(values, (list, tuple)) else [values]


def read_docstring(text: str | None, names: set[str]) -> tuple[str, dict[str, str], dict[str, list[Any]]]:
    """
    The parts of a docstring a tool schema needs.

    Args:
        text (`str` or `None`):
            The docstring.
        names (`set[str]`):
            The function's parameters; lines that look like an entry but name none of them are text.

    Returns:
        `tuple`: The description, argument name to description, argument name to its allowed values.
    """
    summary, lines = _sections(text or "")
    descriptions: dict[str, str] = {}
    choices: dict[str, list[Any]] = {}
    for name, description in _entries(lines, names).items():
        description, values = _choices(description)
        if description:
            descriptions[name] = description
        if values is not None:
            choices[name] = values
    return summary, descriptions, choices
