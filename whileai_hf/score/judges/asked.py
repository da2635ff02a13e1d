"""The two messages a judge model gets: the standard, then the run.

The texts are files in `prompts/`. They are filled in one pass over their own placeholders, so that nothing a rubric or
a run contains is taken for a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from whileai_hf.rows.rng import digest
from whileai_hf.score.judges.scales import VerdictScale
from whileai_hf.score.judges.transcript import Part, Row, as_text, code_for, fenced, parts_of


UNSURE = "cannot_assess"
_HASH_DIGITS = 12
_PLACEHOLDER = re.compile(r"\{(rubric|key|wording|code|transcript|privileged|facts)\}")
# Kept beside the task's facts, and shown as the standard.
_NOT_FACTS = frozenset({"rubric"})


@cache
def template(name: str) -> str:
    """A text of `prompts/`."""
    return (Path(__file__).parent / "prompts" / f"{name}.txt").read_text("utf-8").rstrip("\n")


@cache
def _pieces(name: str) -> list[str]:
    """A text of `prompts/`: words and placeholders in turn."""
    return _PLACEHOLDER.split(template(name))


def fill(name: str, **values: str) -> str:
    """A text of `prompts/` with its placeholders filled; what is filled in is not looked at again."""
    pieces = _pieces(name)
    return "".join([values[piece] if at % 2 else piece for at, piece in enumerate(pieces)])


def facts_of(row: Row) -> list[Part]:
    """What only a judge may see of a task: its hidden state, its reference, its principle, and whatever else."""
    privileged = row.get("privileged")
    if not isinstance(privileged, Mapping):
        return []
    return [
        Part(str(name).upper().replace("_", " "), as_text(value))
        for name, value in privileged.items()
        if name not in _NOT_FACTS and value not in (None, "")
    ]


def system_text(rubric: str, scale: VerdictScale) -> str:
    """The first message: the standard and how to answer."""
    return fill("system", rubric=as_text(rubric), key=scale.key, wording=scale.wording())


class Asked(NamedTuple):
    """The second message, and the part of it that is on the row anyway."""

    text: str
    shown: str


def user_text(row: Row, scale: VerdictScale, facts: list[Part]) -> Asked | None:
    """
    The second message: the run.

    Args:
        row (`Mapping`):
            The rollout.
        scale ([`VerdictScale`]):
            How the verdict is asked for, once more after the run.
        facts (`list[Part]`):
            Shown beside it; none unless the judge may see them.

    Returns:
        [`Asked`] or `None`: `None` when the row has nothing to judge.
    """
    parts = parts_of(row)
    if not parts:
        return None
    code = code_for(*[text for part in (*parts, *facts) for text in part])
    beside = "\n\n" + fill("privileged", facts=fenced(facts, code, "FACTS")) if facts else ""
    transcript = fenced(parts, code)
    values = {"code": code, "transcript": transcript, "privileged": beside}
    return Asked(fill("user", **values, key=scale.key, wording=scale.wording()), transcript)


def answer_schema(scale: VerdictScale) -> dict[str, Any]:
    """The JSON schema of an answer: a reason, then a verdict or that there is none."""
    asked = scale.schema()
    if "enum" in asked:
        verdict: dict[str, Any] = {**asked, "enum": [*asked["enum"], UNSURE]}
    else:
        # Bounds are left to the reading: servers that build grammars refuse them.
        verdict = {"anyOf": [{"type": asked["type"]}, {"type": "string", "enum": [UNSURE]}]}
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, scale.key: verdict},
        "required": ["reason", scale.key],
        "additionalProperties": False,
    }


def prompt_hash(rubric: str | None, scale: VerdictScale, use_privileged: bool) -> str:
    """What tells two judges of one model apart: the texts, the rubric (`None`: each row's own), the scale."""
    names = ("system", "user", "privileged") if use_privileged else ("system", "user")
    texts = [template(name) for name in names]
    own = ("rows", template("default_rubric")) if rubric is None else ("given", rubric)
    return digest(*texts, *own, repr(scale), use_privileged, length=_HASH_DIGITS)
