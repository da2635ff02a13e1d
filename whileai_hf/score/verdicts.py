"""What a judge may return, and what is made of it.

A judge is any callable that takes a row: a rule, a model, a lookup, a verifier. [`verdict`] is the whole contract in
one place: a finite number or bool is a reward, a mapping may carry more, and everything else is a verdict without a
reward whose status says why. Nothing is ever scored zero because it could not be read.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import numpy as np

from whileai_hf.rows import canonical


class JudgeStatus(StrEnum):
    """How judging a row went; the `judge_status` column."""

    OK = "ok"
    """A finite reward came back."""
    MISSING_REWARD = "missing_reward"
    """The judge answered, but gave no reward: `None`, or a mapping without one."""
    INVALID_RESULT = "invalid_result"
    """The answer, or its reward, is not a finite number or bool."""
    ERROR = "error"
    """The judge raised; `judge_meta["error"]` holds the type and the first line of the message."""
    TIMEOUT = "timeout"
    """No answer within the time given to a row, or the judge raised `TimeoutError`."""


@runtime_checkable
class Named(Protocol):
    """A judge that says what it is called."""

    name: str


@runtime_checkable
class Described(Protocol):
    """A judge that says what it is made of."""

    def provenance(self) -> dict[str, Any]:
        """What every verdict of this judge has in common: `model`, `prompt_hash`, `temperature`, `version`, ..."""


@runtime_checkable
class Selective(Protocol):
    """A judge that says which columns it reads."""

    def columns(self) -> Sequence[str] | None:
        """Names of the columns, `None` for all of them."""


@runtime_checkable
class Paced(Protocol):
    """A judge that says how many rows it likes to see at the same time."""

    concurrency: int


@runtime_checkable
class Independent(Protocol):
    """A judge that chooses its model so that it is not the one whose rows it judges."""

    def bind(self, policies: Iterable[str | None]) -> Any:
        """Settles the choice for rows of these models; without effect when a model was named."""


@runtime_checkable
class GroupJudge(Protocol):
    """A judge of all rollouts of one ask together."""

    async def judge_group(self, rows: Sequence[dict[str, Any]]) -> Sequence[Any]:
        """One answer of the judge contract for each of the rows, in their order."""


@dataclass(slots=True)
class Verdict:
    """A judge's answer about one row, in the form the columns are written from."""

    reward: float | None
    """The score, finite; `None` when there is none, and `status` says why."""
    status: JudgeStatus = JudgeStatus.OK
    reason: str | None = None
    markers: dict[str, float] = field(default_factory=dict)
    """Behaviour measurements; 1.0 is the good outcome."""
    failure_class: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    """Whatever else the judge said, as canonical JSON values."""


# Longest excerpt, in characters, of a value or message that is quoted in `judge_meta`.
_QUOTE = 200
# Types whose value is read off directly, within the range that surely fits a double.
_EXACT = frozenset({int, float, bool})
_SAFE = 1e300
_OWN_KEYS = frozenset({"reward", "reason", "markers", "failure_class"})


def as_number(value: Any) -> float | None:
    """
    The value as a finite float, `None` when it is not one. Text is never a number.

    Examples:
    ```python
    >>> as_number(True), as_number(0.5), as_number("1"), as_number(float("inf"))
    (1.0, 0.5, None, None)

    ```
    """
    if type(value) in _EXACT and -_SAFE < value < _SAFE:  # nearly always
        return float(value)
    return _from_other(value)


def _from_other(value: Any) -> float | None:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, float | int | numbers.Real | Decimal | np.bool_):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError, TypeError):  # an int beyond a double, a signalling NaN, a time span
        return None
    return number if math.isfinite(number) else None


def _quote(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _QUOTE else text[:_QUOTE] + "..."


def _text(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    return str(value)


def _markers(given: Any, meta: dict[str, Any]) -> dict[str, float]:
    """Readable markers; what could not be read is named in `meta`. A `None` value is a marker not measured."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        meta["dropped_markers"] = f"markers is a {type(given).__name__}; expected a mapping of name to number"
        return {}
    kept: dict[str, float] = {}
    dropped: dict[str, str] = {}
    for name, value in given.items():
        number = as_number(value)
        if number is not None:
            kept[str(name)] = number
        elif value is not None:
            dropped[str(name)] = _quote(value)
    if dropped:
        meta["dropped_markers"] = dropped
    return kept


def _from_mapping(raw: Mapping[Any, Any]) -> Verdict:
    meta: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in _OWN_KEYS:
            meta[str(key)] = canonical(value)
    markers = _markers(raw.get("markers"), meta)
    given = raw.get("reward")
    reward = as_number(given)
    status = JudgeStatus.OK
    if given is None:
        status = JudgeStatus.MISSING_REWARD
    elif reward is None:
        status = JudgeStatus.INVALID_RESULT
        meta["error"] = f"reward is a {type(given).__name__} ({_quote(given)}); expected a finite number or bool"
    return Verdict(reward, status, _text(raw.get("reason")), markers, _text(raw.get("failure_class")), meta)


def verdict(raw: Any) -> Verdict:
    """
    Reads what a judge returned.

    Args:
        raw (`Any`):
            A number or bool; or a mapping with `reward`, and optionally `reason`, `markers` (name to number),
            `failure_class` and anything else, which is kept as metadata; or a [`Verdict`], returned as it is.

    Returns:
        [`Verdict`]: `reward` is `None` exactly when `status` is not `ok`.

    Examples:
    ```python
    >>> verdict(True).reward
    1.0
    >>> v = verdict({"reward": 0.7, "reason": "late", "markers": {"grounded": 1}, "model": "rules-2"})
    >>> v.reward, v.markers, v.meta
    (0.7, {'grounded': 1.0}, {'model': 'rules-2'})
    >>> verdict({"reason": "no idea"}).status.value, verdict("1").status.value
    ('missing_reward', 'invalid_result')

    ```
    """
    if isinstance(raw, Mapping):
        return _from_mapping(raw)
    if isinstance(raw, Verdict):
        return raw
    if raw is None:
        return Verdict(None, JudgeStatus.MISSING_REWARD, meta={"error": "the judge returned None"})
    reward = as_number(raw)
    if reward is None:
        message = f"the judge returned a {type(raw).__name__} ({_quote(raw)}); expected a finite number or a mapping"
        return Verdict(None, JudgeStatus.INVALID_RESULT, meta={"error": message})
    return Verdict(reward)


def failed(error: BaseException) -> Verdict:
    """The verdict of a judge that raised: status `timeout` for a `TimeoutError`, `error` for anything else."""
    lines = str(error).strip().splitlines()
    message = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    status = JudgeStatus.TIMEOUT if isinstance(error, TimeoutError) else JudgeStatus.ERROR
    return Verdict(None, status, meta={"error": message})


def overdue(message: str) -> Verdict:
    """The verdict of a judge that did not answer in time."""
    return Verdict(None, JudgeStatus.TIMEOUT, meta={"error": message})
