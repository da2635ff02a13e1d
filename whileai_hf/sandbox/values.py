"""Values a JSON Schema accepts, shaped like what the parameter is about.

[`sample_value`] walks the schema: `$ref` (recursive ones stop growing at a depth), unions, merges, bounds, formats
and patterns; the text itself comes from `strings.py`. [`sample_arguments`] builds a whole call and checks it with
jsonschema, trying plainer calls before it gives up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.rows.rng import Draws
from whileai_hf.sandbox.effects import owner_of
from whileai_hf.sandbox.numbers import integer, number
from whileai_hf.sandbox.patterns import from_pattern
from whileai_hf.sandbox.schemas import merged
from whileai_hf.sandbox.strings import date_text, email, text_writer, url
from whileai_hf.sandbox.validation import checker_for
from whileai_hf.spec import Tool, resolve_ref


# Chance that a parameter the schema does not require is passed.
_OPTIONAL = 0.3
# Chance of `null` where a union allows it.
_NULL = 0.1
# Nesting from which optional keys are left out and arrays stay at their minimum.
_DEEP = 3
# Nesting at which a value is cut off whatever the schema says: only a schema without finite values gets here.
_DEEPEST = 12
# Tries before a plainer call is built, and in all.
_TRIES = 24
_PLAIN_FROM = 12
# Hours as `date_text` writes them stay below 20, so that an hour later is the same day.
_CLOCK = re.compile(r"(\d{2}):(\d{2})")
_SPANS = (("start", "end"), ("departure", "arrival"), ("check_in", "check_out"))
_SCALARS = ("string", "integer", "number", "boolean")
_FORMATS: dict[str, Callable[[Draws], str]] = {
    "email": email,
    "idn-email": email,
    "uri": url,
    "url": url,
    "iri": url,
    "uri-reference": url,
    "date": date_text,
    "date-time": lambda draws: date_text(draws, "YYYY-MM-DDTHH:MM:SS") + "Z",
    "time": lambda draws: date_text(draws, "HH:MM:SS") + "Z",
    "duration": lambda draws: f"P{draws.integer(1, 30)}D",
    "hostname": lambda draws: f"host-{draws.integer(10, 999)}.example.com",
    "ipv4": lambda draws: f"192.0.2.{draws.integer(1, 254)}",
    "ipv6": lambda draws: f"2001:db8::{draws.integer(1, 9999)}",
}


def _hex(count: int, draws: Draws) -> str:
    return "".join(draws.pick("0123456789abcdef") for _ in range(count))


def _uuid(draws: Draws) -> str:
    # Version 4, variant 8.
    return f"{_hex(8, draws)}-{_hex(4, draws)}-4{_hex(3, draws)}-8{_hex(3, draws)}-{_hex(12, draws)}"


class _Sampler:
    """One walk over one document: `root` for references, `draws` for choices, `plain` for the cautious retries."""

    def __init__(self, root: dict[str, Any], draws: Draws, *, entity: str = "", plain: bool = False) -> None:
        self.root = root
        self.draws = draws
        self.entity = entity
        self.plain = plain

    def value(self, schema: Any, name: str, depth: int) -> Any:
        if schema is True or not isinstance(schema, dict) or depth > _DEEPEST:
            return None if depth > _DEEPEST else self._untyped(name)
        schema = self._flat(schema, depth)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._enum(schema)
        kind = self._kind(schema)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        if kind == "integer":
            return integer(schema, name, self.draws)
        if kind == "number":
            return number(schema, name, self.draws)
        if kind == "boolean":
            return self.draws.chance(0.5)
        if kind == "null":
            return None
        if kind == "string":
            return self._string(schema, name)
        return self._untyped(name)

    def _flat(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """References followed, `allOf` merged in, one branch of each union taken."""
        flat = resolve_ref(schema, self.root)
        for _ in range(_DEEPEST):
            if "allOf" in flat:
                parts = flat.pop("allOf")
                for part in parts:
                    flat = merged(flat, resolve_ref(part, self.root))
                continue
            union = "anyOf" if "anyOf" in flat else "oneOf" if "oneOf" in flat else None
            if union is None:
                return flat
            options = [resolve_ref(option, self.root) for option in flat.pop(union) if option is not False]
            if options:
                flat = merged(flat, self._branch(options, depth))
        return flat

    def _branch(self, options: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        filled = [option for option in options if option.get("type") != "null"]
        if not filled or (len(filled) < len(options) and self.draws.chance(_NULL)):
            return {"type": "null"} if len(filled) < len(options) else options[0]
        if depth >= _DEEP:
            # Leaves first, so that a recursive union ends.
            leaves = [option for option in filled if option.get("type") not in ("object", "array")]
            filled = leaves or filled
            if not leaves and len(filled) < len(options):
                return {"type": "null"}
        return self.draws.pick(filled)

    def _kind(self, schema: dict[str, Any]) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            filled = [item for item in kind if item != "null"]
            null = "null" in kind and (not filled or self.draws.chance(_NULL))
            return "null" if null else str(self.draws.pick(filled))
        if isinstance(kind, str):
            return kind
        if "properties" in schema or "required" in schema:
            return "object"
        if "items" in schema or "prefixItems" in schema:
            return "array"
        if "minimum" in schema or "maximum" in schema or "multipleOf" in schema:
            return "number"
        return "string" if {"pattern", "format", "minLength", "maxLength"} & schema.keys() else ""

    def _enum(self, schema: dict[str, Any]) -> Any:
        options = schema["enum"]
        filled = [option for option in options if option is not None]
        return self.draws.pick(filled or options)

    def _untyped(self, name: str) -> Any:
        return text_writer(name, "", self.entity)(self.draws)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties") or {}
        required = list(schema.get("required") or ())
        optional = 0.0 if self.plain or depth >= _DEEP else _OPTIONAL
        built: dict[str, Any] = {}
        for name, item in properties.items():
            if name in required or (item is not False and self.draws.chance(optional)):
                built[name] = self.value(item, name, depth + 1)
        extra = schema.get("additionalProperties", True)
        for name in required:
            if name not in built:
                built[name] = self.value(extra if isinstance(extra, dict) else True, name, depth + 1)
        put_in_order(built)
        fewest = int(schema.get("minProperties", 0))
        for name, item in properties.items():
            if len(built) < fewest and name not in built:
                built[name] = self.value(item, name, depth + 1)
        while len(built) < fewest and extra is not False:
            name = f"key_{len(built) + 1}"
            built[name] = self.value(extra, name, depth + 1)
        return built

    def _array(self, schema: dict[str, Any], name: str, depth: int) -> list[Any]:
        prefix = schema.get("prefixItems") or (schema["items"] if isinstance(schema.get("items"), list) else [])
        rest = schema.get("items", True)
        if isinstance(rest, list):
            rest = schema.get("additionalItems", True)
        if isinstance(rest, dict) and "description" in schema:
            # What is said about the list is said about what it lists.
            rest = {"description": schema["description"], **rest}
        fewest = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", max(fewest, 3)))
        count = (
            max(fewest, min(1, most, int(self._scalar(rest))))
            if depth >= _DEEP
            else self.draws.integer(max(fewest, min(1, most)), min(most, fewest + 2, 50))
        )
        if prefix:
            count = max(fewest, min(len(prefix), most))
        if rest is False:
            count = min(count, len(prefix))
        built = [self.value(item, name, depth + 1) for item in prefix[:count]]
        for _ in range(4 * count):
            if len(built) >= count:
                break
            item = self.value(rest, name, depth + 1)
            if not (schema.get("uniqueItems") and item in built):
                built.append(item)
        return built

    def _scalar(self, schema: Any) -> bool:
        return isinstance(schema, dict) and resolve_ref(schema, self.root).get("type") in _SCALARS

    def _string(self, schema: dict[str, Any], name: str) -> str:
        form = schema.get("format")
        pattern = schema.get("pattern")
        if form == "uuid":
            text = _uuid(self.draws)
        elif form in _FORMATS:
            text = _FORMATS[str(form)](self.draws)
        else:
            shown = tuple(item for item in schema.get("examples") or () if isinstance(item, str))
            text = text_writer(name, str(schema.get("description") or ""), self.entity, shown)(self.draws)
        if pattern is not None and not _matches(pattern, text):
            text = from_pattern(pattern, self.draws) or text
        shortest, longest = int(schema.get("minLength", 0)), schema.get("maxLength")
        while len(text) < shortest:
            text += self.draws.pick("abcdefghijklmnopqrstuvwxyz")
        return text if longest is None else text[: int(longest)]


def put_in_order(built: dict[str, Any]) -> None:
    """Move an end that lies before its start, or on another day, behind it."""
    for name, start in built.items():
        first, last = next((pair for pair in _SPANS if pair[0] in name), ("start", "end"))
        other = name.replace(first, last)
        end = built.get(other)
        if other == name or not isinstance(start, str) or not isinstance(end, str) or len(start) != len(end):
            continue
        clock = _CLOCK.search(start)
        if clock is not None and _CLOCK.search(end) is not None:
            later = f"{int(clock.group(1)) + 1:02d}:{clock.group(2)}"
            built[other] = start[: clock.start()] + later + start[clock.end() :]


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        # A dialect Python does not speak: jsonschema ignores nothing, the caller's check will say so.
        return True


def sample_value(
    schema: Any, draws: Draws, *, name: str = "", root: dict[str, Any] | None = None, entity: str = ""
) -> Any:
    """
    A value `schema` accepts.

    Args:
        schema (`dict` or `bool`):
            Any JSON Schema, for instance one parameter of a tool.
        draws ([`~whileai_hf.rows.rng.Draws`]):
            Where the choices come from; equal draws give equal values.
        name (`str`, *optional*, defaults to `""`):
            Name of the parameter, which says what a text or number is about.
        root (`dict`, *optional*):
            The document `$ref`s point into; `schema` itself when absent.
        entity (`str`, *optional*, defaults to `""`):
            What the value belongs to, for names like `id`, `name` and `status` that do not say.

    Returns:
        `Any`: A JSON value.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> sample_value({"type": "integer", "minimum": 3, "maximum": 3}, rng(0, "x"))
    3
    >>> sample_value({"type": "string", "description": "Booking code, such as 'ZFA04Y'."}, rng(0, "x")).isalnum()
    True

    ```
    """
    home = root if root is not None else schema if isinstance(schema, dict) else {}
    return _Sampler(home, draws, entity=entity).value(schema, name, 0)


def sample_arguments(tool: Tool, draws: Draws) -> dict[str, Any]:
    """
    Arguments for one call of `tool`, valid against its schema.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool to call.
        draws ([`~whileai_hf.rows.rng.Draws`]):
            Where the choices come from.

    Returns:
        `dict`: Every required parameter and, by chance, optional ones.

    Raises:
        [`~whileai_hf.errors.SpecError`]: If no valid arguments could be built, as for a schema nothing satisfies.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> from whileai_hf.spec import AgentSpec
    >>> spec = AgentSpec.from_tools([{"name": "get_order", "parameters": {"type": "object",
    ...     "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}])
    >>> sorted(sample_arguments(spec.tools[0], rng(0, "call")))
    ['order_id']

    ```
    """
    checker = checker_for(tool)
    owner = owner_of(tool)
    errors: list[str] = []
    for attempt in range(_TRIES):
        sampler = _Sampler(checker.schema, draws, entity=owner, plain=attempt >= _PLAIN_FROM)
        arguments = sampler.value({**checker.schema, "type": "object"}, "", 0)
        errors = checker.errors(arguments)
        if not errors:
            return dict(arguments)
    raise SpecError(
        f"tool {tool.name!r}: no arguments could be built that its schema accepts ({errors[0]}); "
        "check the schema for parts that contradict each other."
    )
