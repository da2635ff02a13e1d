"""Prompts that say nearly the same: the reward of one task under two names counts twice, in a run and in an eval."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hygiene.columns import read_texts
from whileai_hf.measure.hygiene.similar import SimilarPairs, similar_pairs
from whileai_hf.measure.hygiene.words import words
from whileai_hf.rows import Report, view
from whileai_hf.rows.view import Source


# Share of words in common from which two prompts are near copies.
THRESHOLD = 0.8
_EXAMPLES = 20
# Characters of a text that a report shows.
SHOWN = 200
# Share of the prompts in clusters from which a reader should know.
_MANY = 0.05


@dataclasses.dataclass(frozen=True)
class NearDuplicates(Report):
    """
    What [`near_duplicate_prompts`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        n_prompts (`int`):
            Distinct prompts that hold at least one word.
        n_pairs (`int`):
            Pairs of distinct prompts at or above the threshold.
        n_pairs_se (`float`, *optional*):
            Standard error of `n_pairs` where it is an estimate; `None` where every pair was counted.
        method (`str`):
            `"exact"`, or `"sampled"` where there are too many pairs to count: then `n_pairs` is estimated from the
            pairs around a random sample of the prompts, and a cluster may be shown in parts.
        n_prompts_involved (`int`):
            Prompts with at least one near copy.
        threshold (`float`):
            Share of words in common (Jaccard) from which two prompts are near copies.
        clusters (`list[list[int]]`):
            Prompts connected through near copies, largest cluster first, each as the rows where its prompts first
            stand. Keep one row of each to be rid of the copies.
        examples (`list[dict]`):
            `{"a", "b", "rows", "jaccard"}` of the most similar pairs.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What speaks against using the rows as they are.
    """

    n_rows: int
    n_prompts: int
    n_pairs: int
    n_pairs_se: float | None
    method: str
    n_prompts_involved: int
    threshold: float
    clusters: list[list[int]]
    examples: list[dict[str, Any]]
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        about = "" if self.n_pairs_se is None else f" (estimated, standard error {self.n_pairs_se:.0f})"
        lines = [
            f"near-duplicate prompts: {self.n_pairs} pairs{about} among {self.n_prompts} prompts share at least "
            f"{self.threshold:g} of their words; {self.n_prompts_involved} prompts in {len(self.clusters)} clusters"
        ]
        lines += [f"  {pair['jaccard']:.2f}  {pair['a']!r:.80}  ~  {pair['b']!r:.80}" for pair in self.examples[:3]]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def near_duplicate_prompts(data: Source, *, threshold: float = THRESHOLD, seed: int = 0) -> NearDuplicates:
    """
    Distinct prompts that share most of their words.

    Two prompts are near copies when the sets of their words have a Jaccard similarity of at least `threshold`; case,
    punctuation and white space do not count. Every pair is found (see [`similar_pairs`]), in near linear time.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with a `prompt`, or with `messages`.
        threshold (`float`, *optional*, defaults to `0.8`):
            Above 0 and at most 1; 1 finds prompts made of the same words.
        seed (`int`, *optional*, defaults to `0`):
            Of the sample drawn where millions of pairs are near copies.

    Returns:
        [`NearDuplicates`]: The pairs, and the clusters they make.

    Raises:
        [`ConfigurationError`]: A threshold outside (0, 1].
        [`MissingColumnError`]: No row has a prompt.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import near_duplicate_prompts
    >>> asks = ["Please refund order 4412", "Refund order 4412, please!", "Refund order 4412 now, please", "Where?"]
    >>> found = near_duplicate_prompts([{"prompt": ask} for ask in asks])
    >>> found.n_pairs, found.clusters
    (3, [[0, 1, 2]])

    ```
    """
    if not isinstance(threshold, int | float) or not 0.0 < threshold <= 1.0:
        raise ConfigurationError(f"threshold={threshold!r} is not a similarity; pass a number above 0 and at most 1")
    rows = view(data)
    texts = read_texts(rows, "prompt")
    spelled = [[] if text is None else words(text) for text in texts.distinct]
    told = [code for code, said in enumerate(spelled) if said]
    found = similar_pairs([spelled[code] for code in told], float(threshold), seed)
    first = texts.first_row
    place = first[np.array(told, np.int64)] if told else np.empty(0, np.int64)
    size = np.bincount(found.cluster, minlength=len(told))
    involved = int(size[size > 1].sum())
    blank = int(np.isin(texts.code, [code for code, said in enumerate(spelled) if not said]).sum())
    return NearDuplicates(
        n_rows=len(rows),
        n_prompts=len(told),
        n_pairs=found.n_pairs,
        n_pairs_se=found.standard_error,
        method="exact" if found.standard_error is None else "sampled",
        n_prompts_involved=involved,
        threshold=float(threshold),
        clusters=_clusters(found, place),
        examples=_examples(found, place, [texts.distinct[code] or "" for code in told]),
        notes=_notes(blank, found),
        warnings=_warnings(involved, len(told)),
    )


def _clusters(found: SimilarPairs, place: np.ndarray[Any, np.dtype[np.int64]]) -> list[list[int]]:
    size = np.bincount(found.cluster, minlength=found.cluster.size)
    inside = np.flatnonzero(size[found.cluster] > 1)
    members: dict[int, list[int]] = {}
    for prompt in inside.tolist():
        members.setdefault(int(found.cluster[prompt]), []).append(int(place[prompt]))
    return sorted(members.values(), key=lambda rows: (-len(rows), rows[0]))


def _examples(
    found: SimilarPairs, place: np.ndarray[Any, np.dtype[np.int64]], texts: list[str]
) -> list[dict[str, Any]]:
    order = np.lexsort((found.right, found.left, -found.similarity))[:_EXAMPLES]
    return [
        {
            "a": texts[a][:SHOWN],
            "b": texts[b][:SHOWN],
            "rows": [int(place[a]), int(place[b])],
            "jaccard": round(similarity, 3),
        }
        for a, b, similarity in zip(
            found.left[order].tolist(), found.right[order].tolist(), found.similarity[order].tolist(), strict=True
        )
    ]


def _notes(blank: int, found: SimilarPairs) -> list[str]:
    notes = []
    if blank:
        notes.append(f"{blank} rows have no prompt with a word in it; they are left out")
    if found.standard_error is not None:
        notes.append(
            "nearly every prompt is a near copy of thousands of others (one template?): the pairs were estimated from "
            "a random sample, and clusters may be shown in parts"
        )
    return notes


def _warnings(involved: int, prompts: int) -> list[str]:
    if involved <= _MANY * prompts:
        return []
    return [
        f"{involved} of {prompts} prompts have a near copy: they count as tasks of their own, so intervals are too "
        "narrow and a split may put copies on both sides; keep one of each cluster"
    ]
