"""Verdicts and reasons in JSON answers, under whatever key a judge put them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.score.judges.hits import Hit, agreed, from_text, off_scale
from whileai_hf.score.judges.json_text import Found
from whileai_hf.score.judges.scales import VerdictScale


_VERDICT_KEYS = (
    "verdict", "rating", "score", "grade", "reward", "judgment", "judgement", "decision", "final_score",
    "final_verdict", "final_grade", "final_rating", "overall_score", "overall_rating", "total_score",
)  # fmt: skip
# Keys that tool results have as well: they count in what ends the reply, not in what it may have quoted.
_WEAK_KEYS = (
    "result", "answer", "label", "overall", "total", "pass", "passed", "correct", "is_correct", "met", "success",
    "value",
)  # fmt: skip
# What stands around objects without saying anything.
_AROUND = " \t\r\n,;`"
_REASON_KEYS = (
    "reason", "reasoning", "explanation", "rationale", "justification", "why", "evidence", "feedback", "comment",
    "analysis", "critique", "thoughts", "thought",
)  # fmt: skip


def _from_value(value: Any, scale: VerdictScale) -> Hit:
    """The verdict of a JSON value."""
    if value is None:
        return Hit(0, None, "the judge gave no verdict: null", abstained=True)
    if isinstance(value, bool):
        number = scale.words.get(str(value).lower())
        return Hit(0, number, None if number is not None else off_scale(scale, value))
    if isinstance(value, int | float):
        number = scale.number(float(value)) if abs(value) < 1e9 else None
        return Hit(0, number, None if number is not None else off_scale(scale, value))
    if isinstance(value, str):
        hit = from_text(value, scale)
        if hit is not None:
            return hit
    return Hit(0, None, off_scale(scale, value))


def _keyed(value: Any, scale: VerdictScale, keys: tuple[str, ...]) -> list[Hit]:
    """The verdicts of a JSON object, its own keys before those one level down."""
    if not isinstance(value, Mapping):
        return []
    lower = {str(key).strip().lower().replace(" ", "_").replace("-", "_"): item for key, item in value.items()}
    if scale.key in lower and not isinstance(lower[scale.key], Mapping | list):
        return [_from_value(lower[scale.key], scale)]
    hits = [
        _from_value(lower[key], scale) for key in keys if key in lower and not isinstance(lower[key], Mapping | list)
    ]
    if hits:
        return hits
    return [hit for key in keys if isinstance(lower.get(key), Mapping) for hit in _keyed(lower[key], scale, keys)]


def reason_of(value: Any) -> str | None:
    """What a JSON answer gives as its reason."""
    if not isinstance(value, Mapping):
        return None
    lower = {str(key).strip().lower(): item for key, item in value.items()}
    for key in _REASON_KEYS:
        item = lower.get(key)
        if isinstance(item, list) and item and all(isinstance(part, str) for part in item):
            item = " ".join(item)
        if isinstance(item, str) and item.strip():
            return item.strip()
    return None


def from_json(found: list[Found], text: str, scale: VerdictScale) -> tuple[Hit, str | None] | None:
    """The verdict of the last JSON object with one; of several in a row that differ, none."""
    told: list[tuple[Found, Hit]] = []
    for item in found:
        parts = item.value if isinstance(item.value, list) else [item.value]
        keys = _VERDICT_KEYS if text[item.end :].strip(_AROUND) else _VERDICT_KEYS + _WEAK_KEYS
        hit = agreed([hit for part in parts for hit in _keyed(part, scale, keys)])
        if hit is not None:
            told.append((item, hit))
    if not told:
        return None
    last, verdict = told[-1]
    run = [verdict]
    for (earlier, hit), (later, _) in zip(told[-2::-1], told[:0:-1], strict=False):
        # Words between two objects say that the second corrects the first.
        if text[earlier.end : later.start].strip(_AROUND):
            break
        run.append(hit)
    joint = agreed(run) if len(run) > 1 else verdict
    reason = reason_of(last.value[-1] if isinstance(last.value, list) and last.value else last.value)
    return (joint or verdict), reason
