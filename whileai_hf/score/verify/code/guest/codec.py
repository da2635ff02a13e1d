"""Plain Python values as JSON and back, exactly.

What is decoded is built anew from data: no class of the sender, no pickle, no code. A value that is not plain is left
to the caller, which hands over a reference to it.
"""

from __future__ import annotations

import binascii
import collections
import sys


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Other = Callable[[Any], dict[str, Any]]
    Resolve = Callable[[dict[str, Any]], Any]

_DIRECT = frozenset({type(None), bool, float, str})
# Beyond this many bits Python refuses to print an int in decimals.
_INT_BITS = 10_000
_ITEMS: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset", collections.deque: "deque"}
_BUILDERS: dict[str, Callable[[Any], Any]] = {name: kind for kind, name in _ITEMS.items()}
_MAPPINGS: dict[type, str] = {dict: "dict", collections.OrderedDict: "ordered", collections.Counter: "counter"}
_MAPPING_BUILDERS: dict[str, Callable[[Any], Any]] = {
    "dict": dict,
    "ordered": collections.OrderedDict,
    "counter": lambda pairs: collections.Counter(dict(pairs)),
}
# Types of modules that few programs load, by module and name; these write themselves as text that they can read.
_TEXTUAL = {
    ("datetime", "date"): "date",
    ("datetime", "time"): "time",
    ("datetime", "datetime"): "datetime",
    ("decimal", "Decimal"): "decimal",
    ("fractions", "Fraction"): "fraction",
}


def _written(data: bytes | bytearray) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _read_text(name: str, text: str) -> Any:
    """What [`_TEXTUAL`] types read of their own text."""
    if name == "decimal":
        from decimal import Decimal

        return Decimal(text)
    if name == "fraction":
        from fractions import Fraction

        return Fraction(text)
    import datetime

    kinds: dict[str, Any] = {"date": datetime.date, "time": datetime.time, "datetime": datetime.datetime}
    return kinds[name].fromisoformat(text)


def encode(value: Any, other: Other) -> Any:
    """
    A value as JSON.

    Args:
        value (`Any`):
            Numbers, text, bytes, the built-in containers and those of `collections`, dates, decimals, fractions and,
            where numpy is loaded, its numbers and numeric arrays are plain.
        other (`Callable`):
            Called with everything else; returns a dict with one key `"ref"`.

    Examples:
    ```python
    >>> encode([1, (2, {3})], lambda value: {"ref": 0})
    [1, {'tuple': [2, {'set': [3]}]}]

    ```
    """
    kind = type(value)
    if kind in _DIRECT:
        return value
    if kind is int:
        return value if value.bit_length() < _INT_BITS else {"int": hex(value)}
    if kind is list:
        return [encode(item, other) for item in value]
    if kind in _MAPPINGS:
        return {_MAPPINGS[kind]: [[encode(key, other), encode(item, other)] for key, item in value.items()]}
    if kind is collections.defaultdict:  # its factory stays behind; it equals a dict
        return {"dict": [[encode(key, other), encode(item, other)] for key, item in value.items()]}
    if kind in _ITEMS:
        return {_ITEMS[kind]: [encode(item, other) for item in value]}
    if kind is range:
        return {"range": [value.start, value.stop, value.step]}
    if kind is complex:
        return {"complex": [value.real, value.imag]}
    if kind in (bytes, bytearray):
        return {kind.__name__: _written(value)}
    return _less_plain(value, other)


def _less_plain(value: Any, other: Other) -> Any:
    kind = type(value)
    place = (kind.__module__, kind.__qualname__)
    if place in _TEXTUAL and vars(sys.modules[place[0]]).get(place[1]) is kind:
        return {_TEXTUAL[place]: str(value)}
    if place == ("datetime", "timedelta"):
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.generic) and value.dtype.kind in "biufc":
            return encode(value.item(), other)
        if kind is numpy.ndarray and value.dtype.kind in "biufc":
            return {"array": [value.dtype.str, list(value.shape), _written(value.tobytes())]}
    if isinstance(value, tuple) and isinstance(vars(kind).get("_fields"), tuple):
        fields = [str(field) for field in vars(kind)["_fields"]]
        return {"named": [kind.__name__, fields, [encode(item, other) for item in tuple.__iter__(value)]]}
    return other(value)


def decode(data: Any, resolve: Resolve) -> Any:
    """
    The value that [`encode`] wrote.

    Args:
        data (`Any`):
            JSON.
        resolve (`Callable`):
            Called with the dicts the `other` of [`encode`] made.

    Raises:
        ValueError: Or another exception, when nothing writes such data.

    Examples:
    ```python
    >>> decode(encode({1: b"x"}, dict), dict)
    {1: b'x'}

    ```
    """
    if isinstance(data, list):
        return [decode(item, resolve) for item in data]
    if not isinstance(data, dict):
        return data
    if "ref" in data:
        return resolve(data)
    ((name, content),) = data.items()
    if name in _BUILDERS:
        return _BUILDERS[name]([decode(item, resolve) for item in content])
    if name in _MAPPING_BUILDERS:
        return _MAPPING_BUILDERS[name]([(decode(key, resolve), decode(item, resolve)) for key, item in content])
    if name in ("bytes", "bytearray"):
        data = binascii.a2b_base64(content)
        return data if name == "bytes" else bytearray(data)
    if name in _TEXTUAL.values():
        return _read_text(name, content)
    if name == "complex":
        return complex(*content)
    if name == "int":
        return int(content, 16)
    if name == "range":
        return range(*content)
    if name == "timedelta":
        import datetime

        return datetime.timedelta(*content)
    if name == "named":
        title, fields, items = content
        return collections.namedtuple(title, fields)(*[decode(item, resolve) for item in items])
    if name == "array":
        import numpy

        dtype, shape, text = content
        return numpy.frombuffer(binascii.a2b_base64(text), dtype=numpy.dtype(str(dtype))).reshape(shape).copy()
    raise ValueError(f"unknown kind of value {name!r}")


def refresh(old: Any, new: Any) -> None:
    """
    Makes a mutable value equal to a newer copy of it, in place.

    Examples:
    ```python
    >>> row = [3, 1]
    >>> table = [row]
    >>> refresh(table, [[1, 3]])
    >>> row
    [1, 3]

    ```
    """
    if isinstance(old, list):
        if len(old) == len(new) and all(type(a) is type(b) for a, b in zip(old, new, strict=True)):
            for index, item in enumerate(new):
                if isinstance(old[index], list | dict | set | bytearray | collections.deque):
                    refresh(old[index], item)
                else:
                    old[index] = item
        else:
            old[:] = new
    elif isinstance(old, bytearray):
        old[:] = new
    elif isinstance(old, dict | set):
        old.clear()
        old.update(new)
    elif isinstance(old, collections.deque):
        old.clear()
        old.extend(new)
