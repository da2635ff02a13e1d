"""Prompts for self-distillation: what the student is asked, and what only its teacher is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from whileai_hf.export.building import Rows
from whileai_hf.export.formats import opsd_features
from whileai_hf.export.prompts import make_prompts
from whileai_hf.export.shaping import Job
from whileai_hf.rows import RowView, dumps
from whileai_hf.score.privileged import find_secrets


_SENTENCES = ("hidden_state", "reference")


def teacher_context(secret: Mapping[str, Any] | None) -> str | None:
    """
    What is known about a task beyond its prompt, as text; `None` when nothing is.

    Args:
        secret (`Mapping`, *optional*):
            `{"privileged": ..., "expected_calls": ...}` of the task.

    Examples:
    ```python
    >>> print(teacher_context({"privileged": {"reference": "Refund it."}, "expected_calls": [{"tool": "refund"}]}))
    Refund it.
    Expected call: refund {}

    ```
    """
    known = (secret or {}).get("privileged")
    lines = []
    if isinstance(known, Mapping):
        lines = [known[name] for name in _SENTENCES if isinstance(known.get(name), str) and known[name].strip()]
    elif isinstance(known, str) and known.strip():
        lines = [known]
    calls = (secret or {}).get("expected_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        if isinstance(call, Mapping) and isinstance(call.get("tool"), str):
            lines.append(f"Expected call: {call['tool']} {dumps(call.get('arguments') or {}).decode()}")
    return "\n".join(lines) or None


def _contexts(job: Job, firsts: RowView, _: Sequence[int]) -> list[dict[str, Any] | None]:
    own = [
        {"privileged": known, "expected_calls": calls}
        for known, calls in zip(firsts.column("privileged"), firsts.column("expected_calls"), strict=True)
    ]
    looked_up = find_secrets(firsts, job.tasks)
    texts = [teacher_context(there) or teacher_context(here) for there, here in zip(looked_up, own, strict=True)]
    return [None if text is None else {"privileged_context": text} for text in texts]


def make_opsd(view: RowView, job: Job) -> Rows:
    """
    The `"opsd"` export.

    Args:
        view (`RowView`):
            Rollouts.
        job (`Job`):
            What to do. The privileged block comes from its `tasks`, the local store of the run, or the rows.

    Returns:
        `Rows`: The prompts; `privileged_context` is the teacher's alone.
    """
    made = make_prompts(view, job, opsd_features(), partial(_contexts, job))
    job.tally.note("privileged_context holds the answers: train on these rows, do not publish them")
    return made
