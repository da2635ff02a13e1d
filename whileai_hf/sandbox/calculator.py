"""Arithmetic in a string, evaluated without `eval`: numbers, + - * / // % **, parentheses, a few functions."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable


# Longer or deeper expressions, and powers beyond this, are refused: a tool call must not hang the run.
_MAX_CHARS = 500
_MAX_POWER = 1000
_MAX_BITS = 4096

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "round": round,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "ceil": math.ceil,
}
_NAMES = {"pi": math.pi, "e": math.e}


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > _MAX_POWER or (isinstance(base, int) and base.bit_length() * abs(exponent) > _MAX_BITS):
        raise ValueError("the power is too large")
    result: float = base**exponent
    return result


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        inner = _value(node.operand)
        return inner if isinstance(node.op, ast.UAdd) else -inner
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        if type(node.op) in _BINARY:
            return _BINARY[type(node.op)](left, right)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _FUNCTIONS
        and not node.keywords
    ):
        return _FUNCTIONS[node.func.id](*(_value(argument) for argument in node.args))
    raise ValueError("only numbers, + - * / // % **, parentheses and simple functions are understood")


def calculate(expression: str) -> float:
    """
    The value of an arithmetic expression.

    Raises:
        `ValueError`: If it is not arithmetic, divides by zero or is too large.

    Examples:
    ```python
    >>> calculate("2 + 3 * (4 - 1)")
    11

    ```
    """
    if len(expression) > _MAX_CHARS:
        raise ValueError(f"the expression is longer than {_MAX_CHARS} characters")
    try:
        value = _value(ast.parse(expression.strip().replace("^", "**"), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError("the expression is not valid arithmetic") from error
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise ValueError(str(error)) from error
    if isinstance(value, complex) or not math.isfinite(value):
        raise ValueError("the result is not a finite number")
    return round(value, 10) if isinstance(value, float) else value
