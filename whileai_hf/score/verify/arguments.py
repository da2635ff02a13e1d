"""How the arguments of a tool call are compared with the expected ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import regex

from whileai_hf.errors import ConfigurationError


ArgumentMode = Literal["exact", "subset", "superset", "ignore"]
Rule = str | float | re.Pattern[str] | Callable[[Any, Any], Any]

_WORDS = ("exact", "ignore", "caseless")
# Seconds a pattern may take on one argument; arguments are the agent's, so a slow one is to be expected.
_TIMEOUT = 1.0


def same_value(made: Any, wanted: Any) -> bool:
    """
    Whether two JSON values are equal: `7.0` is `7`, `True` is not `1`, and `"7"` is no number.

    Examples:
    ```python
    >>> same_value({"n": [7.0]}, {"n": [7]}), same_value(True, 1)
    (True, False)

    ```
    """
    if isinstance(made, bool) or isinstance(wanted, bool):
        return made is wanted
    if isinstance(made, Mapping) and isinstance(wanted, Mapping):
        return made.keys() == wanted.keys() and all(same_value(made[key], wanted[key]) for key in made)
    if isinstance(made, list | tuple) and isinstance(wanted, list | tuple):
        return len(made) == len(wanted) and all(map(same_value, made, wanted))
    return bool(made == wanted)


class ArgumentRules:
    """
    The rules of one verifier.

    Args:
        mode (`str`):
            What is asked of the names: `"exact"`, `"subset"`, `"superset"` or `"ignore"`.
        rules (`Mapping[str, Rule]`):
            `"argument"` or `"tool.argument"` to a rule, or a tool's name to a mode.
    """

    def __init__(self, mode: ArgumentMode, rules: Mapping[str, Rule]) -> None:
        if mode not in get_args(ArgumentMode):
            raise ConfigurationError(
                f"ToolCalls(arguments={mode!r}) is unknown; use one of {', '.join(get_args(ArgumentMode))}"
            )
        if not isinstance(rules, Mapping):
            raise ConfigurationError(f"ToolCalls(rules={rules!r:.60}) is no mapping of argument to rule")
        self.mode = mode
        self.rules = {name: _checked(name, rule) for name, rule in rules.items()}

    def difference(self, tool: str, made: dict[str, Any] | None, wanted: dict[str, Any] | None) -> str | None:
        """What is wrong with the arguments of a call, `None` when they match."""
        given = self.rules.get(tool)
        mode = given if isinstance(given, str) and given in get_args(ArgumentMode) else self.mode
        if mode == "ignore" or wanted is None:
            return None
        made = made or {}
        for name, value in wanted.items():
            rule = self._rule(tool, name)
            if rule == "ignore":
                continue
            if name not in made:
                if mode == "subset":
                    continue
                return f"{name} is missing"
            if not _holds(rule, made[name], value):
                return f"{name} is {made[name]!r:.60}"
        if mode != "superset":
            for name in made:
                if name not in wanted and self._rule(tool, name) != "ignore":
                    return f"{name} is not expected"
        return None

    def _rule(self, tool: str, name: str) -> Rule:
        if not self.rules:
            return "exact"
        rule = self.rules.get(f"{tool}.{name}")
        return rule if rule is not None else self.rules.get(name, "exact")


def _checked(name: Any, rule: Any) -> Rule:
    if isinstance(rule, str) and (rule in _WORDS or rule in get_args(ArgumentMode)):
        return rule
    if isinstance(rule, int | float) and not isinstance(rule, bool) and math.isfinite(rule) and rule >= 0:
        return float(rule)
    if isinstance(rule, re.Pattern) and isinstance(rule.pattern, str):
        flags = {re.I: regex.I, re.M: regex.M, re.S: regex.S, re.X: regex.X, re.A: regex.A}
        timed: Any = regex.compile(rule.pattern, sum(theirs for ours, theirs in flags.items() if rule.flags & ours))
        return _Whole(timed)
    if callable(rule) and not isinstance(rule, type):
        return rule  # type: ignore[no-any-return]
    words = ", ".join(dict.fromkeys((*_WORDS, *get_args(ArgumentMode))))
    raise ConfigurationError(
        f"ToolCalls(rules={{{name!r}: {rule!r:.60}}}) is no rule; use {words}, a number, re.compile(...) or a function"
    )


class _Whole:
    """A pattern the whole value has to match, within a time."""

    def __init__(self, pattern: Any) -> None:
        self.pattern = pattern

    def __call__(self, made: Any, wanted: Any) -> bool:
        text = made if isinstance(made, str) else str(made)
        try:
            return self.pattern.fullmatch(text, timeout=_TIMEOUT) is not None
        except TimeoutError as error:
            pattern = self.pattern.pattern
            raise TimeoutError(f"the pattern {pattern!r} took longer than {_TIMEOUT:g} s on an argument") from error


def _holds(rule: Rule, made: Any, wanted: Any) -> bool:
    if callable(rule):
        return bool(rule(made, wanted))
    if isinstance(rule, float):
        numbers = [value for value in (made, wanted) if isinstance(value, int | float) and not isinstance(value, bool)]
        if len(numbers) == 2:
            return abs(numbers[0] - numbers[1]) <= rule
    elif rule == "caseless" and isinstance(made, str) and isinstance(wanted, str):
        return " ".join(made.casefold().split()) == " ".join(wanted.casefold().split())
    return same_value(made, wanted)
