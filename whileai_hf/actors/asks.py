"""Reading an ask without a model: which tool it is about, and which of its arguments stand in the text.

Used by the seeded agent for tasks that do not say which call is right. It finds what is written (ids, numbers, dates,
allowed values, quoted text) and never makes up the rest: what is missing is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from whileai_hf.sandbox import id_parameters
from whileai_hf.spec import Tool, parameter_schemas, resolve_ref


_WORD = re.compile(r"[a-z0-9]+")
_QUOTED = re.compile(r"[\"“]([^\"”]{1,400})[\"”]|(?<!\w)'([^']{1,400})'(?!\w)")
_TOKEN = re.compile(r"[#@]?\w(?:[\w./:@+-]*\w)?")
_NUMBER = re.compile(r"(?<![\w-])\$?(-?\d+(?:\.\d+)?)(?![\w-])")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+\w")
_URL = re.compile(r"https?://[^\s\"'<>)]+[^\s\"'<>).,]")
_PATH = re.compile(r"(?<!\w)(?:~|\.{1,2})?/[\w./-]*\w|\b[\w-]+(?:/[\w-]+)*\.[a-z]{1,5}\b")
# Parameters whose value is the person's own words.
_FREE_TEXT = frozenset(
    "query q text message content body question keyword keywords term search prompt thought note".split()
)
# Words that say nothing about which tool is meant.
_STOP = frozenset(
    "the a an of to for in on by with and or from is are it this that my me i you your be can please all any given "
    "return returns new use used using as at if into its about".split()
)
# Shared by the ways to ask for something against the rules; an ask with one of them gets no change.
_PRESSURE = re.compile(
    r"\b(ignore (all |your |the |any )*(previous |prior )?(instructions|rules|policy)|system prompt|bypass|jailbreak|"
    r"pretend (to be|you are)|without (any )?(verification|checking|approval)|skip the (check|verification)s?|"
    r"(another|someone else'?s|other) (customer|user|person)('s|s')?)\b",
    re.IGNORECASE,
)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _stems(text: str) -> frozenset[str]:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ").lower()
    return frozenset(_stem(word) for word in _WORD.findall(split) if word not in _STOP)


@lru_cache(maxsize=2048)
def _words_of_tool(name: str, description: str) -> tuple[frozenset[str], frozenset[str]]:
    return _stems(name), _stems(description) - _stems(name)


def is_pressure(prompt: str) -> bool:
    """Whether the ask openly asks to go around the rules."""
    return bool(_PRESSURE.search(prompt))


def pick_tool(tools: tuple[Tool, ...], prompt: str) -> Tool | None:
    """
    The tool whose words the ask uses most, or `None` when it uses none's.

    Args:
        tools (`tuple[Tool, ...]`):
            The agent's tools.
        prompt (`str`):
            The ask.

    Returns:
        [`Tool`] or `None`: Words of the name count three times those of the description.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> tools = (Tool("get_order", "Look up an order."), Tool("refund_order", "Refund an order."))
    >>> pick_tool(tools, "Please refund my order A1").name, pick_tool(tools, "What is the capital of Peru?")
    ('refund_order', None)

    ```
    """
    said = _stems(prompt)
    best: Tool | None = None
    most = 1.0  # one word of a description is a coincidence
    for tool in tools:
        named, described = _words_of_tool(tool.name, tool.description)
        hits = said & named
        # A name said in full beats a longer name of which a part was said.
        score = 3 * len(hits) + len(said & described) + (len(hits) / len(named) if named else 0)
        if score > most:
            best, most = tool, score
    return best


class _Reader:
    """Takes values out of one ask; nothing is used twice."""

    def __init__(self, prompt: str, tool: Tool) -> None:
        self.prompt = prompt
        self.tool = tool
        self.ids = frozenset(id_parameters(tool))
        self.used: set[str] = set()

    def _first(self, pattern: re.Pattern[str]) -> str | None:
        for match in pattern.finditer(self.prompt):
            text: str = next((group for group in match.groups() if group), match.group())
            if text not in self.used:
                self.used.add(text)
                return text
        return None

    def _code(self) -> str | None:
        tokens: list[str] = [
            t.lstrip("#") for t in _TOKEN.findall(self.prompt) if any(map(str.isdigit, t)) and not _DATE.match(t)
        ]
        mixed: list[str] = [t for t in tokens if not t.replace(".", "").isdigit()]
        for token in [*mixed, *(t for t in tokens if t.isdigit() and len(t) > 2)]:
            if token not in self.used:
                self.used.add(token)
                return token
        return None

    def value(self, name: str, schema: dict[str, Any]) -> Any:
        schema = resolve_ref(schema, self.tool.parameters)
        options = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
        if options is not None:
            said = _stems(self.prompt)
            return next((o for o in options if isinstance(o, str) and _stems(o) and _stems(o) <= said), None)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((k for k in kind if k != "null"), None)
        if kind is None and isinstance(schema.get("anyOf"), list) and schema["anyOf"]:
            return self.value(name, schema["anyOf"][0])
        if kind in ("integer", "number"):
            return self._number(name, kind == "integer")
        if kind == "boolean":
            return True if _stems(name) <= _stems(self.prompt) else None
        if kind == "array":
            items = schema.get("items")
            item = self.value(name, items if isinstance(items, dict) else {})
            return None if item is None else [item]
        if kind == "object":
            found, missing = self.object(schema)
            return None if missing or not found else found
        return self._string(name, schema)

    def _number(self, name: str, whole: bool) -> int | float | None:
        if name in self.ids:
            code = self._code()
            return int(code) if code and code.isdigit() else None
        text = self._first(_NUMBER)
        if text is None or (whole and "." in text):
            return None
        return int(text) if whole or "." not in text else float(text)

    def _string(self, name: str, schema: Mapping[str, Any]) -> str | None:
        lowered, form = name.lower(), str(schema.get("format", ""))
        for pattern, here in (
            (_DATE, "date" in lowered or "date" in form or lowered.endswith("time")),
            (_EMAIL, "email" in lowered or form == "email" or "recipient" in lowered),
            (_URL, "url" in lowered or "uri" in lowered or form == "uri"),
            (_PATH, "path" in lowered or "file" in lowered or "dir" in lowered),
        ):
            if here:
                return self._first(pattern) or self._first(_QUOTED)
        if name in self.ids:
            return self._code() or self._first(_QUOTED)
        if lowered in _FREE_TEXT:
            return self._first(_QUOTED) or self.prompt
        labelled = re.compile(
            rf"\b{re.escape(name.replace('_', ' '))}\s*(?:is|to|=|:)?\s+[\"']?([\w@.-]+)", re.IGNORECASE
        )
        return self._first(_QUOTED) or self._first(labelled)

    def object(self, schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        properties = schema.get("properties") or {}
        return self.fill(properties, schema.get("required") or [])

    def fill(self, properties: Mapping[str, Any], required: list[str]) -> tuple[dict[str, Any], list[str]]:
        found: dict[str, Any] = {}
        for name in required:
            value = self.value(name, properties.get(name) or {})
            if value is not None:
                found[name] = value
        return found, [name for name in required if name not in found]


def read_arguments(tool: Tool, prompt: str) -> tuple[dict[str, Any], list[str]]:
    """
    The required arguments of `tool` that stand in the ask, and the names of those that do not.

    Args:
        tool ([`Tool`]):
            The tool to call.
        prompt (`str`):
            The ask.

    Returns:
        `tuple[dict, list[str]]`: Arguments found, names missing.

    Examples:
    ```python
    >>> from whileai_hf.spec import AgentSpec
    >>> spec = AgentSpec.from_tools([{"name": "refund", "parameters": {"required": ["order_id", "amount"],
    ...     "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}}}}])
    >>> read_arguments(spec.tools[0], "Refund 20 dollars on ORD-1234 please.")
    ({'order_id': 'ORD-1234', 'amount': 20}, [])
    >>> read_arguments(spec.tools[0], "Refund my order.")
    ({}, ['order_id', 'amount'])

    ```
    """
    return _Reader(prompt, tool).fill(parameter_schemas(tool), list(tool.parameters.get("required") or []))
