"""Hidden tests in the shapes in which datasets keep them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.errors import DataError


# Keys of a mapping, in the order in which they are tried; the names public datasets use.
_SOURCE_KEYS = ("tests", "test", "test_list", "unit_tests", "test_code", "asserts")
_ENTRY_KEYS = ("entry_point", "entry", "fn_name")
_PRELUDE_KEYS = ("prelude", "setup", "test_setup_code", "test_imports")
_INPUT_KEYS, _OUTPUT_KEYS = ("inputs", "input"), ("outputs", "output")


@dataclass(frozen=True, slots=True)
class Pair:
    """A program's input and the output it has to print, ending with `exit_code`."""

    stdin: str
    stdout: str
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Suite:
    """
    Hidden tests; exactly one of `sources`, `pairs` and `calls` is filled.

    Args:
        sources (`tuple[str, ...]`):
            Python source with asserts, test functions or test classes, run in one namespace after each other.
        pairs (`tuple[Pair, ...]`):
            Inputs of a program and its outputs.
        calls (`tuple[tuple[list, Any], ...]`):
            Arguments of the function `entry`, and what it has to return, as JSON values.
        entry (`str`, *optional*):
            The function that is tested.
        prelude (`str`, *optional*, defaults to `""`):
            Source that runs before the candidate, in its namespace.
    """

    sources: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    calls: tuple[tuple[list[Any], Any], ...] = ()
    entry: str | None = None
    prelude: str = ""


def _first(mapping: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((mapping[key] for key in keys if mapping.get(key) not in (None, "", [], ())), None)


def _text(value: Any) -> str:
    return "\n".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)


def _parsed(text: str) -> Any:
    """The JSON some datasets keep as text; the text itself when it is none, or a bare number or string."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def read_suite(given: Any, entry: str | None = None) -> Suite:
    """
    Reads tests.

    Args:
        given (`Any`):
            Source text; a list of asserts or source texts; a list of input and output pairs (`{"input", "output"}`,
            optionally `"exit_code"`, or `[input, output]`); a mapping with `test` or `tests`, and `entry_point`,
            `prelude`; a mapping with `inputs` and `outputs` of a program or, with `fn_name`, of a function. Any of
            it may be JSON text.
        entry (`str`, *optional*):
            The function that is tested, where the tests do not say it.

    Raises:
        DataError: When it is none of these.

    Examples:
    ```python
    >>> read_suite("assert add(1, 2) == 3").sources
    ('assert add(1, 2) == 3',)
    >>> read_suite({"inputs": ["1 2"], "outputs": ["3"]}).pairs
    (Pair(stdin='1 2', stdout='3', exit_code=0),)
    >>> read_suite({"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}).calls
    (([1, 2], 3),)

    ```
    """
    if isinstance(given, Suite):
        return given
    value = _parsed(given) if isinstance(given, str) else given
    if isinstance(value, str) and value.strip():
        return Suite(sources=(value,), entry=entry)
    if isinstance(value, list | tuple) and value:
        return _from_list(value, entry)
    if isinstance(value, Mapping):
        return _from_mapping(value, entry)
    raise DataError(
        f"tests are a {type(given).__name__}; expected source text, a list of asserts, or inputs and outputs"
    )


def _from_list(items: Sequence[Any], entry: str | None) -> Suite:
    if all(isinstance(item, str) for item in items):
        return Suite(sources=tuple(items), entry=entry)
    if all(isinstance(item, Mapping) for item in items):
        return Suite(pairs=tuple(_pair(item) for item in items))
    if all(isinstance(item, list | tuple) and len(item) == 2 for item in items):
        return Suite(pairs=tuple(Pair(_text(stdin), _text(stdout)) for stdin, stdout in items))
    raise DataError("a list of tests holds neither source texts nor pairs of input and output")


def _pair(item: Mapping[str, Any]) -> Pair:
    stdin = item.get("input", item.get("stdin", ""))
    stdout = item.get("output", item.get("stdout", item.get("expected")))
    if stdout is None:
        raise DataError(f"a test has the keys {sorted(map(str, item))}; expected 'input' and 'output'")
    code = item.get("exit_code", 0)
    if not isinstance(code, int):
        raise DataError(f"a test has exit_code={code!r}; expected an int")
    return Pair(_text(stdin or ""), _text(stdout), code)


def _from_mapping(value: Mapping[str, Any], entry: str | None) -> Suite:
    entry = _first(value, _ENTRY_KEYS) or entry
    prelude = _text(_first(value, _PRELUDE_KEYS) or "")
    source = _first(value, _SOURCE_KEYS)
    inputs, outputs = _first(value, _INPUT_KEYS), _first(value, _OUTPUT_KEYS)
    if source is not None:
        inner = read_suite(source, entry)
        return Suite(inner.sources, inner.pairs, inner.calls, inner.entry or entry, prelude)
    if outputs is None:
        raise DataError(f"tests have the keys {sorted(map(str, value))}; expected 'test', or 'inputs' and 'outputs'")
    if not (isinstance(inputs, list | tuple) and isinstance(outputs, list | tuple)):
        return Suite(pairs=(_pair(value),), prelude=prelude)
    if len(inputs) != len(outputs):
        raise DataError(f"tests have {len(inputs)} inputs and {len(outputs)} outputs; expected as many")
    if entry:
        if not all(isinstance(arguments, list | tuple) for arguments in inputs):
            raise DataError(f"inputs of the function {entry!r} are not all lists of arguments")
        calls = tuple((list(arguments), expected) for arguments, expected in zip(inputs, outputs, strict=True))
        return Suite(calls=calls, entry=entry, prelude=prelude)
    pairs = tuple(Pair(_text(stdin), _text(stdout)) for stdin, stdout in zip(inputs, outputs, strict=True))
    return Suite(pairs=pairs, prelude=prelude)
