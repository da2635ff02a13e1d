"""Tables and an exact calculator. It keeps no state: every call is answered from the task alone."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from whileai_hf.sandbox import current_rollout


Reply = dict[str, Any]
# Characters of an expression, the largest power, and bits of a value: what a question here needs, and nothing that
# takes long.
_LONGEST = 2000
_MOST_POWER = 64
_MOST_BITS = 10_000
_OPERATORS: dict[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def evaluate(expression: str) -> Fraction:
    """
    The exact value of an expression of numbers, `+ - * / **` and parentheses.

    Raises:
        ValueError: It is none, or takes a power above 64.
        ZeroDivisionError: It divides by zero.
    """
    if len(expression) > _LONGEST:
        raise ValueError(f"the expression has more than {_LONGEST} characters")
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body, expression.strip())
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError("that is no expression") from error


def _value(node: ast.expr, source: str) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(ast.get_source_segment(source, node) or "")  # 0.1 is a tenth
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, source)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, source), _value(node.right, source)
        if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](left, right)
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and abs(right) <= _MOST_POWER:
            if max(left.numerator.bit_length(), left.denominator.bit_length()) * abs(int(right)) > _MOST_BITS:
                raise ValueError("the numbers get too large")
            return left ** int(right)
    raise ValueError("only numbers, + - * / ** and parentheses can be used")


def execute(tool: str, arguments: dict[str, Any]) -> Reply:
    """Answers a call."""
    if tool == "get_table":
        return _table(arguments.get("name"))
    if tool == "calculate":
        try:
            value = evaluate(str(arguments.get("expression")))
            return {"status": "ok", "exact": str(value), "about": f"{float(value):.6g}"}
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            return {"status": "invalid_arguments", "error": str(error)}
    return {"status": "unknown_tool", "error": f"there is no tool {tool!r}; there are get_table and calculate"}


def _table(name: Any) -> Reply:
    tables = {table["name"]: table for table in current_rollout().task["tables"]}
    if name not in tables:
        return {"status": "not_found", "error": f"there is no table {name!r}; there are {', '.join(tables)}"}
    return {"status": "ok", "columns": tables[name]["columns"], "rows": tables[name]["rows"]}
