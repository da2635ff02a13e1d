"""What a search for contamination found, as a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hygiene.against import Known
from whileai_hf.measure.hygiene.columns import Texts
from whileai_hf.measure.hygiene.duplicates import SHOWN
from whileai_hf.measure.hygiene.matching import CLEAN, NEAR, RULES, SEMANTIC, TASK_ID, VERBATIM, Matches, Rule
from whileai_hf.rows import Report


# Contaminated rows that a report shows.
_OFFENDERS = 20


@dataclasses.dataclass(frozen=True)
class Found:
    """What was found in one field; of task ids (`"task"`) there are no texts."""

    field: str
    texts: Texts | None
    known: Known | None
    matches: Matches

    @classmethod
    def of_tasks(cls, same: NDArray[np.bool_]) -> Found:
        """Rows whose task id is one of the evaluation's."""
        rule = np.where(same, TASK_ID, CLEAN)
        nothing = np.full(same.size, -1, np.int64)
        return cls("task", None, None, Matches(rule, nothing, same.astype(np.float64), np.zeros(same.size, bool)))


@dataclasses.dataclass(frozen=True)
class Contamination(Report):
    """
    What [`decontaminate`] returns beside the clean rows.

    Args:
        n_rows (`int`):
            Rows given.
        n_clean (`int`):
            Rows kept.
        n_contaminated (`int`):
            Rows taken out; each counts at the first rule that fires, so the next four add up to it.
        n_same_task (`int`):
            Rows whose task id an evaluation set has.
        n_verbatim (`int`):
            Rows with an evaluation text but for case, punctuation and white space.
        n_near (`int`):
            Rows of which one evaluation text covers `overlap` of the words with shared n-grams.
        n_semantic (`int`):
            Rows found by their embedding.
        by_field (`dict[str, dict[str, int]]`):
            For every field, rows by rule; a row found in two fields counts in both. `task` are the ids.
        n_against (`int`):
            Evaluation rows compared with.
        rows (`list[int]`):
            The contaminated rows.
        offenders (`list[dict]`):
            The first of them: `{"row", "task", "field", "rule", "share", "text", "match", "source"}`; `share` is how
            much of the text is covered (for `semantic` the cosine), `source` the evaluation row.
        overlap (`float`):
            Share of words that makes a near copy.
        ngram (`int`):
            Words of an n-gram.
        rules_skipped (`list[str]`):
            Rules that were not applied; a zero in their count says nothing.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What speaks against the result.
    """

    n_rows: int
    n_clean: int
    n_contaminated: int
    n_same_task: int
    n_verbatim: int
    n_near: int
    n_semantic: int
    by_field: dict[str, dict[str, int]]
    n_against: int
    rows: list[int]
    offenders: list[dict[str, Any]]
    overlap: float
    ngram: int
    rules_skipped: list[str]
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        lines = [
            f"contamination: {self.n_contaminated} of {self.n_rows} rows ({self.n_same_task} by task id, "
            f"{self.n_verbatim} verbatim, {self.n_near} near copies, {self.n_semantic} in meaning) against "
            f"{self.n_against} evaluation rows"
        ]
        for field, counts in self.by_field.items():
            said = ", ".join(f"{count} {rule}" for rule, count in counts.items() if count)
            lines.append(f"  {field}: {said or 'none'}")
        lines += [
            f"  row {one['row']} {one['rule']} {one['share']:.2f} {one['text']!r:.80}" for one in self.offenders[:3]
        ]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def report(
    ids: Sequence[str | int | None], n_against: int, found: Sequence[Found], rule: Rule, skipped: Sequence[str]
) -> Contamination:
    """
    The report of a search.

    Args:
        ids (`Sequence`):
            The task id of every training row.
        n_against (`int`):
            Evaluation rows.
        found (`Sequence[Found]`):
            What each field gave.
        rule (`Rule`):
            What counts as a copy.
        skipped (`Sequence[str]`):
            Rules that were not applied.
    """
    table = np.stack([one.matches.rule for one in found])
    first = table.min(axis=0)
    where = table.argmin(axis=0)
    bad = np.flatnonzero(first < CLEAN)
    counts = np.bincount(first, minlength=CLEAN + 1).tolist()
    return Contamination(
        n_rows=len(ids),
        n_clean=len(ids) - int(bad.size),
        n_contaminated=int(bad.size),
        n_same_task=counts[TASK_ID],
        n_verbatim=counts[VERBATIM],
        n_near=counts[NEAR],
        n_semantic=counts[SEMANTIC],
        by_field={one.field: _by_rule(one) for one in found},
        n_against=n_against,
        rows=bad.tolist(),
        offenders=[_offender(found[where[row]], row, ids, found[-1]) for row in bad[:_OFFENDERS].tolist()],
        overlap=rule.overlap,
        ngram=rule.ngram,
        rules_skipped=list(skipped),
        notes=_notes(found, rule, skipped),
        warnings=_warnings(ids, found),
    )


def _by_rule(found: Found) -> dict[str, int]:
    counts = np.bincount(found.matches.rule, minlength=CLEAN + 1).tolist()
    rules = (TASK_ID,) if found.known is None else (VERBATIM, NEAR, SEMANTIC)
    return {RULES[rule]: counts[rule] for rule in rules}


def _offender(found: Found, row: int, ids: Sequence[str | int | None], asked: Found) -> dict[str, Any]:
    matches = found.matches
    one: dict[str, Any] = {"row": row, "task": ids[row], "field": found.field}
    if found.texts is None or found.known is None:
        told = asked.texts
        text = None if told is None else told.distinct[int(told.code[row])]
        return one | {
            "rule": RULES[TASK_ID],
            "share": 1.0,
            "text": (text or "")[:SHOWN],
            "match": None,
            "source": None,
        }
    by = int(matches.by[row])
    return one | {
        "rule": RULES[int(matches.rule[row])],
        "share": round(float(matches.share[row]), 3),
        "text": (found.texts.distinct[int(found.texts.code[row])] or "")[:SHOWN],
        "match": found.known.texts[by][:SHOWN],
        "source": found.known.source[by],
    }


def _notes(found: Sequence[Found], rule: Rule, skipped: Sequence[str]) -> list[str]:
    notes = []
    if "task_id" in skipped:
        notes.append("task ids were not compared: one side has no scenario_id or task_id, or ids=False")
    if "semantic" in skipped:
        notes.append("paraphrases are not found by words in common; pass embed= to look for them")
    for one in found:
        short = int(one.matches.short.sum())
        if short:
            notes.append(
                f"{short} rows have fewer than {rule.ngram} words in {one.field}; they match verbatim only"
                + ("" if one.field == "prompt" else ", and below four words not at all")
            )
    return notes


def _warnings(ids: Sequence[str | int | None], found: Sequence[Found]) -> list[str]:
    warnings = [
        f"the evaluation rows hold no text to compare {one.field} with, so nothing can be found there"
        for one in found
        if one.known is not None and not one.known.texts
    ]
    tasks = next((one.matches for one in found if one.known is None), None)
    same = np.empty(0, np.int64) if tasks is None else np.flatnonzero(tasks.rule == TASK_ID)
    others = [one.matches.rule for one in found if one.known is not None]
    alike = any((rule[same] < CLEAN).any() for rule in others)
    if same.size and not alike and all(str(ids[row]).isdecimal() for row in same.tolist()):
        warnings.append(
            f"{same.size} rows share a task id with the evaluation, all ids are plain numbers and no text is alike: "
            "if both sides merely number their rows, pass ids=False"
        )
    return warnings
