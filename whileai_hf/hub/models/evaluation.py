"""Whether training worked, as somebody measured it: the held-out block and the delta report in one shape."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.hub.cards.told import texts
from whileai_hf.measure.compare import DeltaReport
from whileai_hf.measure.metrics import PASS_AT_1
from whileai_hf.measure.passes import PassAt
from whileai_hf.rows import Report


# Lists of texts in a delta report.
_LISTS = ("regressed", "dropped", "warnings", "notes")


@dataclasses.dataclass(frozen=True)
class Side:
    """
    One side of a held-out evaluation; what is not known is `None`.

    Args:
        value (`float`):
            Its number.
        n_tasks (`int`, *optional*):
            Tasks behind it.
        k (`int`, *optional*):
            Rollouts of a task.
        ci95 (`tuple[float, float]`, *optional*):
            95% interval.
    """

    value: float
    n_tasks: int | None = None
    k: int | None = None
    ci95: tuple[float, float] | None = None


@dataclasses.dataclass(frozen=True)
class Holdout:
    """
    A held-out evaluation.

    Args:
        metric (`str`):
            What was measured.
        before ([`Side`], *optional*):
            The base model.
        after ([`Side`]):
            The adapter.
        delta (`float`, *optional*):
            After minus before.
        ci95 (`tuple[float, float]`, *optional*):
            Its interval.
        verdict (`str`, *optional*):
            The delta report's word.
        word (`str`, *optional*):
            `Better`, `Worse` or `About the same`.
        notes (`list[str]`):
            What a reader has to know.
    """

    metric: str
    before: Side | None
    after: Side
    delta: float | None
    ci95: tuple[float, float] | None
    verdict: str | None
    word: str | None
    notes: list[str]


def read_holdout(given: Mapping[str, Any] | PassAt | None) -> Holdout | None:
    """
    A held-out evaluation as it was given.

    Args:
        given (`Mapping` or [`~whileai_hf.measure.passes.PassAt`], *optional*):
            `{"before", "after"}`, each a number, a `pass_at` report or `{"value", "n_tasks", "k", "ci95"}`, with
            `metric`, `delta`, `ci95`, `verdict`, `word`, `notes` where they are known (a run's `holdout_summary`); or
            the `pass_at` report of the adapter alone.

    Raises:
        [`ConfigurationError`]: It is none, or holds no number for the adapter.
    """
    if given is None:
        return None
    if isinstance(given, PassAt):
        given = {"after": given}
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            f"holdout is a {type(given).__name__}; pass {{'before': ..., 'after': ...}}, or a pass_at report"
        )
    metric = given.get("metric") or PASS_AT_1
    after, before = (_side(name, given.get(name), metric) for name in ("after", "before"))
    if after is None:
        if before is None and given.get("verdict"):
            return None  # a run's block of a comparison that had nothing to compare
        raise ConfigurationError("holdout holds no number for the adapter; pass {'before': ..., 'after': ...}")
    delta = _number(given.get("delta"))
    if delta is None and before is not None:
        delta = after.value - before.value
    notes = texts(given.get("notes"))
    words = [given.get(name) if isinstance(given.get(name), str) else None for name in ("verdict", "word")]
    return Holdout(str(metric), before, after, delta, _ends(given.get("ci95")), words[0], words[1], notes)


def _side(name: str, given: Any, metric: Any) -> Side | None:
    if given is None:
        return None
    if isinstance(given, PassAt):
        given = {"value": given.pass_at_1, "n_tasks": given.n_tasks, "k": given.k, "ci95": given.ci95}
    if not isinstance(given, Mapping):
        given = {"value": given}
    value = _number(given.get("value"))
    if value is None:
        raise ConfigurationError(f"holdout[{name!r}] is {given.get('value')!r:.60}; pass a finite number")
    if metric == PASS_AT_1 and not 0 <= value <= 1:
        raise ConfigurationError(f"holdout[{name!r}] is {value:g}; pass rates lie between 0 and 1, so 58% is 0.58")
    return Side(value, _count(given.get("n_tasks")), _count(given.get("k")), _ends(given.get("ci95")))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _ends(value: Any) -> tuple[float, float] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    low, high = (_number(end) for end in value)
    return None if low is None or high is None else (low, high)


def with_delta(holdout: Holdout | None, delta: Mapping[str, Any] | None) -> Holdout | None:
    """
    A held-out evaluation with what a delta report on the same metric says of the change.

    Args:
        holdout ([`Holdout`], *optional*):
            The evaluation; without one, the report's own numbers on the tasks both sides have.
        delta (`dict`, *optional*):
            What [`read_delta`] returned.
    """
    target = None if delta is None else delta["metrics"].get(delta.get("target"))
    if delta is None or target is None or target["delta"] is None:
        return holdout
    if holdout is None:
        sides = [target["before"], target["after"]]
        if None in sides:
            return None
        before, after = (Side(value, _count(delta.get("n_paired"))) for value in sides)
        holdout = Holdout(str(delta["target"]), before, after, None, None, None, None, [])
    if holdout.metric != delta["target"] or holdout.verdict is not None:
        return holdout
    return dataclasses.replace(holdout, delta=target["delta"], ci95=target["ci95"], verdict=str(delta["verdict"]))


def read_delta(given: DeltaReport | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """
    A delta report as JSON values.

    Args:
        given ([`~whileai_hf.measure.compare.DeltaReport`] or `Mapping`, *optional*):
            The report, or its `to_dict()`.

    Raises:
        [`ConfigurationError`]: It is none.
    """
    if given is None:
        return None
    told = given.to_dict() if isinstance(given, Report) else given
    if not isinstance(told, Mapping) or not isinstance(told.get("metrics"), Mapping) or not told.get("verdict"):
        raise ConfigurationError(f"delta is a {type(given).__name__}; pass what delta_report(before, after) returns")
    changes = {str(name): _change(change) for name, change in told["metrics"].items() if isinstance(change, Mapping)}
    return {**told, "metrics": changes, **{name: texts(told.get(name)) for name in _LISTS}}


def _change(change: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: _number(change.get(name)) for name in ("before", "after", "delta", "p_adjusted")}
    return {**change, **numbers, "ci95": _ends(change.get("ci95"))}
