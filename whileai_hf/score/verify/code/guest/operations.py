"""What operators and built-in functions do with an object, by the name of the special method they go through."""

from __future__ import annotations

import operator


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _mirrored(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda value, other: function(other, value)


_BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split()
ARITHMETIC: dict[str, Callable[..., Any]] = {}
for _name in _BINARY:
    _function = getattr(operator, _name)
    ARITHMETIC[f"__{_name.rstrip('_')}__"] = _function
    ARITHMETIC[f"__r{_name.rstrip('_')}__"] = _mirrored(_function)
"""Operators with another operand."""

COMPARISONS: dict[str, Callable[..., Any]] = {f"__{name}__": getattr(operator, name) for name in "lt le gt ge".split()}
"""Operators that order; `==` and `!=` are treated apart."""

CONVERSIONS: dict[str, Callable[..., Any]] = {
    "__abs__": abs,
    "__bool__": bool,
    "__complex__": complex,
    "__float__": float,
    "__index__": operator.index,
    "__int__": int,
    "__len__": len,
    "__round__": round,
}
"""What turns an object into a number."""

UNARY: dict[str, Callable[..., Any]] = {"__neg__": operator.neg, "__pos__": operator.pos, "__invert__": operator.inv}

OTHERS: dict[str, Callable[..., Any]] = {
    "__call__": lambda value, *args: value(*args),
    "__delitem__": operator.delitem,
    "__enter__": lambda value: type(value).__enter__(value),
    "__exit__": lambda value, *_: type(value).__exit__(value, None, None, None),
    "__format__": format,
    "__getitem__": operator.getitem,
    "__iter__": iter,
    "__next__": next,
    "__repr__": repr,
    "__reversed__": reversed,
    "__setitem__": operator.setitem,
    "__str__": str,
}
"""Operations whose results say nothing about what a test expects."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    **ARITHMETIC,
    **COMPARISONS,
    **CONVERSIONS,
    **UNARY,
    **OTHERS,
    "__contains__": operator.contains,
    "__eq__": operator.eq,
}
