"""A run as text, the word first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.training.runs.points import Logged
from whileai_hf.training.runs.record import Record


def _measured(block: Mapping[str, Any]) -> str:
    sides = [block[name] for name in ("before", "after")]
    numbers = " -> ".join("n/a" if side is None else f"{side['value']:.3g}" for side in sides)
    interval = "" if block["ci95"] is None else f", change within [{block['ci95'][0]:+.3g}, {block['ci95'][1]:+.3g}]"
    verdict = "" if block["verdict"] is None else f" ({block['verdict']})"
    return f"{block['word'] or 'Not measured'}: {block['metric']} {numbers}{interval}{verdict}"


def text_of(record: Record, logged: Logged) -> str:
    """The run in a few lines, the word first."""
    last = logged.points[-1]["step"] if logged.points else 0
    of = "" if record.total_steps is None else f" of {record.total_steps}"
    lines = [_measured(record.holdout)] if record.holdout else ["Held-out evaluation: not measured"]
    lines.append(f"{record.name} ({record.id}): {record.status}" + (f", {record.reason}" if record.reason else ""))
    lines.append(f"step {last}{of}, {len(logged.points)} points")
    lines += [f"alarm: {alarm['kind']} at step {alarm['step']}: {alarm['message']}" for alarm in logged.alarms]
    lines += [f"note: {note}" for note in logged.notes]
    return "\n".join(lines)
