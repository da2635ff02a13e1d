"""`annotator_agreement`: how far the people themselves agree, which is as far as any judge can be asked to."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import combinations
from typing import Any

from whileai_hf.measure.trust.attaching import GOLD_LABELS, Stored, stored_labels
from whileai_hf.rows import Report, view
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import HUMAN
from whileai_hf.stats import Interval, cohen_kappa, wilson
from whileai_hf.stats.agreement import krippendorff_alpha


# Two annotators with fewer rows in common are not compared.
_FEW = 10
# Alpha below which labels are too uncertain to measure a judge by (Krippendorff's floor for tentative conclusions).
_ALPHA_FLOOR = 0.667


@dataclasses.dataclass(frozen=True)
class PairAgreement(Report):
    """Two annotators on the rows both labelled; `kappa` is `None` where it is undefined."""

    first: str
    second: str
    n: int
    agreement: float
    ci95: Interval
    kappa: float | None

    def __str__(self) -> str:
        kappa = "undefined" if self.kappa is None else f"{self.kappa:.2f}"
        low, high = self.ci95
        return (
            f"{self.first} and {self.second}: agree on {self.agreement:.2f} [{low:.2f}, {high:.2f}] of {self.n} rows, "
            f"kappa {kappa}"
        )


@dataclasses.dataclass(frozen=True)
class AnnotatorAgreement(Report):
    """
    What [`annotator_agreement`] returns.

    Args:
        n_rows (`int`): Rows.
        n_labelled (`int`): Rows with a person's label.
        n_shared (`int`): Rows labelled by two people or more.
        agreement (`float`, *optional*): Share of those on which all say the same.
        ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        alpha (`float`, *optional*): Krippendorff's alpha over all annotators; `None` where it is undefined.
        pairs (`list[PairAgreement]`): Every two annotators with rows in common.
        by_annotator (`dict`): `n` labels and their `pass_rate`, by name.
        notes (`list[str]`): What a reader has to know.
    """

    n_rows: int
    n_labelled: int
    n_shared: int
    agreement: float | None
    ci95: Interval | None
    alpha: float | None
    pairs: list[PairAgreement]
    by_annotator: dict[str, dict[str, Any]]
    notes: list[str]

    def __str__(self) -> str:
        if self.agreement is None or self.ci95 is None:
            head = f"annotators NOT COMPARED: no row of {self.n_labelled} labelled ones has labels of two people"
        else:
            alpha = "undefined" if self.alpha is None else f"{self.alpha:.2f}"
            low, high = self.ci95
            span = f"[{low:.2f}, {high:.2f}]"
            head = f"annotators agree on {self.agreement:.2f} {span} of {self.n_shared} rows, alpha {alpha}"
        return "\n".join([head, *map(str, self.pairs), *(f"note: {note}" for note in self.notes)])


def annotator_agreement(data: Source) -> AnnotatorAgreement:
    """
    How far annotators agree with each other.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with `gold_labels`, as [`attach_labels`] leaves them; those of models are not counted.

    Returns:
        [`AnnotatorAgreement`]: Overall and for every two of them.

    Examples:
    ```python
    >>> said = [(1, 1), (0, 0), (1, 0), (1, 1)]
    >>> rows = [{"gold_labels": [{"annotator": who, "label": label, "kind": "human"}
    ...          for who, label in zip(("ana", "ben"), labels)]} for labels in said]
    >>> print(annotator_agreement(rows))
    annotators agree on 0.75 [0.30, 0.95] of 4 rows, alpha 0.53
    ana and ben: agree on 0.75 [0.30, 0.95] of 4 rows, kappa 0.50
    note: 4 rows have labels of two people; 10 are the fewest to go by

    ```
    """
    rows = view(data)
    labels = [_people(value) for value in rows.column(GOLD_LABELS)]
    labelled = [entries for entries in labels if entries]
    shared = [entries for entries in labelled if len(entries) > 1]
    agreed = sum(len({entry["label"] for entry in entries}) == 1 for entries in shared)
    alpha = krippendorff_alpha([[entry["label"] for entry in entries] for entries in shared])
    notes = []
    if not rows.has(GOLD_LABELS):
        notes.append("the rows have no gold_labels; attach_labels(rows, labels, annotator=...) puts them there")
    elif 0 < len(shared) < _FEW:
        notes.append(f"{len(shared)} rows have labels of two people; {_FEW} are the fewest to go by")
    if alpha is not None and alpha < _ALPHA_FLOOR and len(shared) >= _FEW:
        notes.append(
            f"alpha is under {_ALPHA_FLOOR}: people do not agree on what a pass is, and no judge can agree with all "
            "of them; settle the rubric first"
        )
    return AnnotatorAgreement(
        n_rows=len(rows),
        n_labelled=len(labelled),
        n_shared=len(shared),
        agreement=agreed / len(shared) if shared else None,
        ci95=wilson(agreed, len(shared)),
        alpha=alpha,
        pairs=_pairs(shared),
        by_annotator=_each(labelled),
        notes=notes,
    )


def _people(value: Any) -> list[Stored]:
    return [entry for entry in stored_labels(value) if entry.get("kind") == HUMAN]


def _name(entry: Stored) -> str:
    return str(entry.get("annotator") or "unnamed")


def _pairs(shared: list[list[Stored]]) -> list[PairAgreement]:
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for entries in shared:
        # One of the unnamed cannot be told from the next, so only named ones are paired.
        said = {_name(entry): int(entry["label"]) for entry in entries if entry.get("annotator")}
        for one, other in combinations(sorted(said), 2):
            found.setdefault((one, other), []).append((said[one], said[other]))
    pairs = []
    for (one, other), labels in sorted(found.items()):
        first, second = zip(*labels, strict=True)
        same = sum(a == b for a, b in labels)
        interval = wilson(same, len(labels))
        assert interval is not None  # a pair is only there with a row
        pairs.append(PairAgreement(one, other, len(labels), same / len(labels), interval, cohen_kappa(first, second)))
    return pairs


def _each(labelled: list[list[Stored]]) -> dict[str, dict[str, Any]]:
    n, passes = Counter[str](), Counter[str]()
    for entries in labelled:
        for entry in entries:
            n[_name(entry)] += 1
            passes[_name(entry)] += int(entry["label"])
    return {name: {"n": count, "pass_rate": passes[name] / count} for name, count in sorted(n.items())}
