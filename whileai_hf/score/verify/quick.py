"""A JSON schema compiled to functions: the first error of a document at a tenth of what jsonschema takes.

It knows the keywords that nearly all schemas are made of, in the order in which the schema has them, as jsonschema
goes through them; a schema with any other is left to jsonschema whole, so that this can be faster but never different.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sized
from functools import partial
from typing import Any, NamedTuple

import regex

from whileai_hf.score.verify.arguments import same_value


class Fault(NamedTuple):
    """The first error of a document: where it is, and what is wrong."""

    path: tuple[str | int, ...]
    words: Callable[[], str]
    """What is wrong; in words only when asked, because a document can be long."""


Check = Callable[[Any], Fault | None]

# Seconds one `pattern` may take on one string; the strings are the agent's, so a slow one is to be expected.
PATTERN_SECONDS = 1.0
_DRAFTS = re.compile(r"https?://json-schema\.org/(?:draft-07/schema|draft/2019-09/schema|draft/2020-12/schema)#?")
_ANNOTATIONS = frozenset(
    "title description default examples deprecated readOnly writeOnly format $comment $schema $defs "
    "definitions".split()
)
_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
    "number": lambda value: type(value) is int or type(value) is float,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
}
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda value, bound: value < bound, "less than the minimum of"),
    "maximum": (lambda value, bound: value > bound, "greater than the maximum of"),
    "exclusiveMinimum": (lambda value, bound: value <= bound, "less than or equal to the minimum of"),
    "exclusiveMaximum": (lambda value, bound: value >= bound, "greater than or equal to the maximum of"),
}
_SIZES: dict[str, tuple[type[Sized], bool, str]] = {
    "minLength": (str, True, "is too short"),
    "maxLength": (str, False, "is too long"),
    "minItems": (list, True, "is too short"),
    "maxItems": (list, False, "is too long"),
    "minProperties": (dict, True, "does not have enough properties"),
    "maxProperties": (dict, False, "has too many properties"),
}


class _Unknown(Exception):
    """The schema has a keyword that is not known here."""


def compiled(schema: Any) -> Check | None:
    """
    The check of a schema.

    Args:
        schema (`dict` or `bool`):
            A valid schema.

    Returns:
        `Callable[[Any], Fault | None]` or `None`: `None` when jsonschema has to decide. Documents are what a JSON
        parser gives: plain dicts, lists, texts and numbers.

    Examples:
    ```python
    >>> check = compiled({"type": "object", "properties": {"n": {"minimum": 1}}})
    >>> check({"n": 0}).path, check({"n": 0}).words(), check({"n": 1})
    (('n',), '0 is less than the minimum of 1', None)

    ```
    """
    if isinstance(schema, Mapping) and not _DRAFTS.fullmatch(str(schema.get("$schema", _DEFAULT_DRAFT))):
        return None
    try:
        return _Compiler(schema).check(schema)
    except _Unknown:
        return None


_DEFAULT_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class _Compiler:
    """One schema on its way to functions; recursive ones refer to themselves."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.known: dict[str, list[Check]] = {}

    def check(self, schema: Any) -> Check:
        if isinstance(schema, bool):
            return _nothing if schema else lambda value: Fault((), lambda: f"False schema does not allow {value!r}")
        parts = [self.keyword(name, given, schema) for name, given in schema.items() if name not in _ANNOTATIONS]
        if len(parts) == 1:
            return parts[0]

        def every(value: Any) -> Fault | None:
            for part in parts:
                fault = part(value)
                if fault is not None:
                    return fault
            return None

        return every if parts else _nothing

    def keyword(self, name: str, given: Any, schema: Mapping[str, Any]) -> Check:
        if name == "type":
            return _type(given)
        if name in ("enum", "const"):
            return _enum(given) if name == "enum" else _const(given)
        if name in _BOUNDS:
            return _bound(given, *_BOUNDS[name])
        if name in _SIZES:
            return _size(given, *_SIZES[name])
        if name == "pattern":
            return _pattern(given)
        if name == "required":
            return _required(given)
        if name == "properties":
            return _properties({key: self.check(item) for key, item in given.items()})
        if name == "additionalProperties" and "patternProperties" not in schema:
            return self.additional(given, frozenset(schema.get("properties", ())))
        if name == "items" and "prefixItems" not in schema and not isinstance(given, list):
            return _items(self.check(given))
        if name == "anyOf":
            return _any_of([self.check(item) for item in given])
        if name == "allOf":
            return self.check_all(given)
        if name == "$ref" and not schema.keys() - _ANNOTATIONS - {"$ref"}:  # older drafts ignore what stands beside
            return self.reference(given)
        raise _Unknown(name)

    def check_all(self, schemas: list[Any]) -> Check:
        parts = [self.check(item) for item in schemas]
        return lambda value: next((fault for part in parts if (fault := part(value)) is not None), None)

    def additional(self, given: Any, names: frozenset[str]) -> Check:
        if isinstance(given, bool):
            return _nothing if given else _closed(names)
        check = self.check(given)

        def others(value: Any) -> Fault | None:
            if type(value) is dict:
                for key, item in value.items():
                    if key not in names and (fault := check(item)) is not None:
                        return Fault((key, *fault.path), fault.words)
            return None

        return others

    def reference(self, pointer: str) -> Check:
        target = self.known.get(pointer)
        if target is None:
            target = self.known[pointer] = []
            target.append(self.check(self.resolved(pointer)))
        return lambda value: target[0](value)

    def resolved(self, pointer: str) -> Any:
        node = self.root
        if pointer != "#" and not re.fullmatch(r"#(?:/[\w$.-]+)+", pointer):
            raise _Unknown(pointer)
        for key in pointer.split("/")[1:]:
            if not isinstance(node, Mapping) or key not in node:
                raise _Unknown(pointer)
            node = node[key]
        return node


def _nothing(value: Any) -> Fault | None:
    return None


def _type(given: Any) -> Check:
    names = [given] if isinstance(given, str) else list(given)
    tests = [_TYPES[name] for name in names]
    kinds = ", ".join(map(repr, names))
    if len(tests) == 1:
        test = tests[0]
        return lambda value: None if test(value) else Fault((), lambda: f"{value!r} is not of type {kinds}")
    return lambda value: (
        None if any(test(value) for test in tests) else Fault((), lambda: f"{value!r} is not of type {kinds}")
    )


def _enum(given: list[Any]) -> Check:
    if all(type(item) is str for item in given):
        allowed = frozenset(given)
        return lambda value: (
            None
            if type(value) is str and value in allowed
            else Fault((), lambda: f"{value!r} is not one of {given!r}")
        )
    return lambda value: (
        None
        if any(same_value(value, item) for item in given)
        else Fault((), lambda: f"{value!r} is not one of {given!r}")
    )


def _const(given: Any) -> Check:
    return lambda value: None if same_value(value, given) else Fault((), lambda: f"{given!r} was expected")


def _bound(bound: Any, wrong: Callable[[Any, Any], bool], words: str) -> Check:
    def check(value: Any) -> Fault | None:
        if (type(value) is int or type(value) is float) and wrong(value, bound):
            return Fault((), lambda: f"{value!r} is {words} {bound!r}")
        return None

    return check


def _size(size: int, kind: type[Sized], least: bool, words: str) -> Check:
    words = "should be non-empty" if least and size == 1 else words

    def check(value: Any) -> Fault | None:
        if isinstance(value, kind) and (len(value) < size if least else len(value) > size):
            return Fault((), lambda: f"{value!r} {words}")
        return None

    return check


def _pattern(given: str) -> Check:
    try:
        find = regex.compile(given).search
    except regex.error as error:
        raise _Unknown(given) from error

    def check(value: Any) -> Fault | None:
        if type(value) is str and searched(find, given, value) is None:
            return Fault((), lambda: f"{value!r:.60} does not match {given!r}")
        return None

    return check


def searched(find: Callable[..., Any], pattern: str, text: str) -> Any:
    """A search within the time; `TimeoutError` when it runs out."""
    try:
        return find(text, timeout=PATTERN_SECONDS)
    except TimeoutError as error:
        raise TimeoutError(f"the pattern {pattern!r} took longer than {PATTERN_SECONDS:g} s on this reply") from error


def _required(names: list[str]) -> Check:
    def check(value: Any) -> Fault | None:
        if type(value) is dict:
            for name in names:
                if name not in value:
                    return Fault((), partial("{!r} is a required property".format, name))
        return None

    return check


def _properties(checks: dict[str, Check]) -> Check:
    def check(value: Any) -> Fault | None:
        if type(value) is dict:
            for name, inner in checks.items():
                if name in value:
                    fault = inner(value[name])
                    if fault is not None:
                        return Fault((name, *fault.path), fault.words)
        return None

    return check


def _closed(names: frozenset[str]) -> Check:
    def check(value: Any) -> Fault | None:
        if type(value) is dict and not value.keys() <= names:
            others = ", ".join(repr(name) for name in sorted(value.keys() - names))
            verb = "was" if len(value.keys() - names) == 1 else "were"
            return Fault((), lambda: f"Additional properties are not allowed ({others} {verb} unexpected)")
        return None

    return check


def _items(inner: Check) -> Check:
    def check(value: Any) -> Fault | None:
        if type(value) is list:
            for index, item in enumerate(value):
                fault = inner(item)
                if fault is not None:
                    return Fault((index, *fault.path), fault.words)
        return None

    return check


def _any_of(checks: list[Check]) -> Check:
    def check(value: Any) -> Fault | None:
        for inner in checks:
            if inner(value) is None:
                return None
        return Fault((), lambda: f"{value!r} is not valid under any of the given schemas")

    return check
