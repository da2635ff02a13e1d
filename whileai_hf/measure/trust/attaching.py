"""`attach_labels`: what people said about rollouts, put on the rows, with who said it.

Every label stays on the row (`gold_labels`); `gold_reward` is their majority. A person's label outranks a model's, an
even split is no gold, and a label whose rollout cannot be told is counted and shown, never guessed.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from datasets import Dataset, Json, List, Value

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.trust.keys import KeyIndex
from whileai_hf.measure.trust.labels import Label, Labels, read_labels, shown_key
from whileai_hf.measure.trust.labelsreport import LabelsReport
from whileai_hf.rows import RowView, add_columns, open_rows, view
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import HUMAN, MODEL, UNKNOWN, as_numbers


# Keys shown in the report; the rest are counted.
_SHOWN = 5
GOLD_LABELS = "gold_labels"

Stored = dict[str, Any]


class Verdict(NamedTuple):
    """The majority of a row's labels: 1, 0 or `None` for an even split, by whom, and whether they all say the same."""

    reward: float | None
    kind: str | None
    unanimous: bool


def stored_labels(value: Any) -> list[Stored]:
    """The labels a row carries; what is none is left out."""
    entries = value if isinstance(value, list | tuple) else []
    return [dict(entry) for entry in entries if isinstance(entry, Mapping) and entry.get("label") in (0, 1)]


def majority(labels: Sequence[Stored]) -> Verdict:
    """
    What labels come to; people's count before anybody else's.

    Examples:
    ```python
    >>> majority([{"label": 1, "kind": "human"}, {"label": 0, "kind": "model"}])
    Verdict(reward=1.0, kind='human', unanimous=True)

    ```
    """
    people = [entry for entry in labels if entry.get("kind") == HUMAN]
    counted = people or list(labels)
    if not counted:
        return Verdict(None, None, True)
    kinds = {str(entry.get("kind") or UNKNOWN) for entry in counted}
    passes, n = sum(int(entry["label"]) for entry in counted), len(counted)
    kind = kinds.pop() if len(kinds) == 1 else UNKNOWN
    return Verdict(None if 2 * passes == n else float(2 * passes > n), kind, passes in (0, n))


@dataclasses.dataclass
class _Found:
    """Labels by row, and those that could not be placed."""

    by_row: dict[int, list[Label]] = dataclasses.field(default_factory=dict)
    unknown: list[Any] = dataclasses.field(default_factory=list)
    ambiguous: list[Any] = dataclasses.field(default_factory=list)
    blank: int = 0


def _place(labels: Sequence[Label], index: KeyIndex) -> _Found:
    found = _Found()
    for label in labels:
        rows = index.find(label.key)
        if not rows:
            found.unknown.append(label.key)
        elif not index.same_rollout(rows):
            found.ambiguous.append(label.key)
        elif label.value is None:
            found.blank += 1
        else:
            for row in rows:
                found.by_row.setdefault(row, []).append(label)
    return found


def _entries(labels: Sequence[Label], kind: str, random: bool | None) -> tuple[list[Stored], int]:
    """The labels of one row as they are kept, and how many a later one of the same named annotator replaced."""
    kept: list[Label] = []
    for label in labels:
        if label.annotator is not None:
            kept = [other for other in kept if other.annotator != label.annotator]
        kept.append(label)
    entries: list[Stored] = [
        {"annotator": label.annotator, "label": label.value, "kind": kind, "random": random} for label in kept
    ]
    return entries, len(labels) - len(kept)


def _added(before: Sequence[Stored], entries: Sequence[Stored]) -> tuple[list[Stored], int]:
    """The labels of a row with new ones added, and how many of a named annotator's say otherwise than before."""
    new = {(entry["annotator"], entry["kind"]): entry for entry in entries}
    kept, changed = [], 0
    for entry in before:
        successor = new.get((entry.get("annotator"), entry.get("kind")))
        if successor is None:
            kept.append(entry)
            continue
        changed += successor["annotator"] is not None and successor["label"] != entry["label"]
        if successor["random"] is None:  # how the row was drawn does not change with what is said about it
            successor["random"] = entry.get("random")
    return [*kept, *entries], changed


def attach_labels(
    rows: Source,
    labels: Labels,
    *,
    annotator: str | None = None,
    kind: str = HUMAN,
    random: bool | None = None,
) -> tuple[Dataset, LabelsReport]:
    """
    Puts labels on rollouts.

    Call it once per annotator, or once with a file that says who wrote what. Labels of earlier calls stay; a new label
    of the same annotator on the same row replaces the old one.

    Args:
        rows (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.
        labels (`str`, `Path`, `dict` or `list`):
            A JSONL file of `{"key", "label"}` (and, if it says so, `"annotator"`), or a dict of key and label, or such
            records. A label is 0 or 1; blank ones are counted and left out. A key is the row's `id`, its
            [`rollout_key`](rollout_keys), task and `rollout_index` as a pair or as columns of the record, or the task
            alone where it has one rollout.
        annotator (`str`, *optional*):
            Who wrote the labels that do not say.
        kind (`str`, *optional*, defaults to `"human"`):
            `"human"`, or `"model"` for labels a model wrote: these are no gold unless a report is told so.
        random (`bool`, *optional*):
            Whether the labelled rows were drawn at random ([`label_sheet`] draws them so). Corrected rates need to
            know; `None` is not recorded.

    Returns:
        `tuple`: The Dataset with `gold_reward` (majority; `None` for an even split), `gold_kind` and `gold_labels`
        (`annotator`, `label`, `kind`, `random` of each), and the [`LabelsReport`].

    Raises:
        [`DataError`]: A label that is neither 0 nor 1, or rows that are all empty.
        [`ConfigurationError`]: Another `kind` or `random`.

    Examples:
    ```python
    >>> rows = [{"task_id": task, "prompt": "Where is it?", "rollout_index": 0, "reward": 1.0} for task in range(3)]
    >>> labelled, report = attach_labels(rows, {0: 1, 1: 0, 9: 1}, annotator="ana")
    >>> labelled["gold_reward"][:], report.unknown
    ([1.0, 0.0, None], [9])

    ```
    """
    if kind not in (HUMAN, MODEL):
        raise ConfigurationError(f"kind={kind!r} is not known; pass 'human' or 'model'")
    if random is not None and not isinstance(random, bool):
        raise ConfigurationError(f"random={random!r} is neither True nor False; leave it out where it is not known")
    given = view(rows)
    if len(given) and not given.columns:
        raise DataError(
            f"the {len(given)} rows are empty, so no label can name one; pass rollouts with a task or an id"
        )
    said = read_labels(labels, annotator)
    found = _place(said, KeyIndex(given))
    columns, counts = _merge(given, found, kind, random)
    dataset = given.source if isinstance(given.source, Dataset) else open_rows(rows)
    features = {"gold_reward": Value("float64"), "gold_kind": Value("string"), GOLD_LABELS: List(Json())}
    labelled = add_columns(dataset, columns, features)
    by_annotator = Counter(label.annotator or "unnamed" for row in found.by_row.values() for label in row)
    return labelled, LabelsReport(
        n_rows=len(given),
        n_labels=len(said),
        n_labelled=len(found.by_row),
        kind=kind,
        random=random,
        by_annotator=dict(by_annotator),
        **counts,
        n_unknown=len(found.unknown),
        unknown=found.unknown[:_SHOWN],
        n_ambiguous=len(found.ambiguous),
        ambiguous=found.ambiguous[:_SHOWN],
        blank=found.blank,
        warnings=_warnings(found, counts),
    )


def _merge(
    rows: RowView, found: _Found, kind: str, random: bool | None
) -> tuple[dict[str, list[Any]], dict[str, int]]:
    """The three columns, and counts of what became of the labels."""
    rewards = [None if value != value else float(value) for value in as_numbers(rows.column("gold_reward"))]
    kinds = [value if isinstance(value, str) else None for value in rows.column("gold_kind")]
    kept = [stored_labels(value) or None for value in rows.column(GOLD_LABELS)]
    counts = Counter(corrected=0, conflicts=0, ties=0, unsigned=0)
    for row, labels in found.by_row.items():
        before = kept[row] or []
        entries, replaced = _entries(labels, kind, random)
        now, changed = _added(before, entries)
        counts["corrected"] += replaced + changed
        counts["unsigned"] += rewards[row] is not None and not before
        kept[row] = now
        rewards[row], kinds[row], unanimous = majority(now)
        counts["conflicts"] += not unanimous
        counts["ties"] += rewards[row] is None
    gold = [(reward, who) for reward, who in zip(rewards, kinds, strict=True) if reward in (0.0, 1.0)]
    totals = {
        "n_gold": sum(who == HUMAN for _, who in gold),
        "passes": sum(who == HUMAN and reward == 1.0 for reward, who in gold),
        "n_other_gold": sum(who != HUMAN for _, who in gold),
    }
    return {"gold_reward": rewards, "gold_kind": kinds, GOLD_LABELS: kept}, {**counts, **totals}


def _warnings(found: _Found, counts: Mapping[str, int]) -> list[str]:
    warnings = []
    if found.unknown:
        warnings.append(
            f"{len(found.unknown)} labels name no row here, the first {shown_key(found.unknown[0])}; a key is the "
            "row's id, its rollout_key, (task, rollout_index), or the task where it has one rollout"
        )
    if found.ambiguous:
        warnings.append(
            f"{len(found.ambiguous)} labels fit several rollouts, the first {shown_key(found.ambiguous[0])}, and are "
            "left out; add rollout_index, and run_id or prompt where that is not enough"
        )
    if counts["ties"]:
        warnings.append(
            f"{counts['ties']} rows have as many labels for as against; they have no gold, ask one more person"
        )
    if counts["unsigned"]:
        warnings.append(f"{counts['unsigned']} rows had a gold_reward that nobody signed; the labels replace it")
    return warnings
