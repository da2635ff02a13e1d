"""One text field of training rows compared with what evaluation sets hold: verbatim, nearly, or in meaning."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hygiene.against import Known
from whileai_hf.measure.hygiene.columns import Texts
from whileai_hf.measure.hygiene.coverage import Coverage
from whileai_hf.measure.hygiene.words import words
from whileai_hf.measure.passes.codes import IntArray


Embed = Callable[[list[str]], Any]
# The rules in the order in which they are tried; a row counts at the first that fires.
RULES = ("task_id", "verbatim", "near", "semantic")
TASK_ID, VERBATIM, NEAR, SEMANTIC = range(4)
CLEAN = len(RULES)
# Words from which an equal answer is a copy: "Yes." and "Done, thank you" are said by anyone.
_ANSWER_WORDS = 4
# Rows of a block of similarities.
_BLOCK = 1024


@dataclasses.dataclass(frozen=True)
class Rule:
    """What counts as a copy; see [`decontaminate`]."""

    overlap: float
    ngram: int
    embed: Embed | None
    similarity: float


@dataclasses.dataclass(frozen=True)
class Matches:
    """
    What each row's text was found to copy.

    Args:
        rule (`np.ndarray`):
            Which rule fired, as a number of [`RULES`]; [`CLEAN`] for none.
        by (`np.ndarray`):
            Number of the evaluation text, -1 for none.
        share (`np.ndarray`):
            1 for a verbatim copy, the share of words covered for a near one, the cosine for one in meaning.
        short (`np.ndarray`):
            Texts with too few words for anything but verbatim copies; of answers, those too short for that, too.
    """

    rule: IntArray
    by: IntArray
    share: NDArray[np.float64]
    short: NDArray[np.bool_]

    def of_rows(self, code: IntArray) -> Matches:
        """The same for every row, given the text each row has."""
        return Matches(self.rule[code], self.by[code], self.share[code], self.short[code])


def _spelling(text: str, spelled: list[str]) -> str:
    # A text without a word (an emoticon) is compared as it is written.
    return " ".join(spelled) or " ".join(text.split())


def match_field(texts: Texts, known: Known, rule: Rule, answers: bool) -> Matches:
    """
    Compares a field.

    Args:
        texts (`Texts`):
            The field in the training rows.
        known (`Known`):
            Texts of the evaluation sets.
        rule (`Rule`):
            What counts as a copy.
        answers (`bool`):
            Whether the field holds replies, of which short ones are equal by chance.

    Returns:
        [`Matches`]: One entry per distinct text.
    """
    theirs = [words(text) for text in known.texts]
    places: dict[str, int] = {}
    for index, (text, spelled) in enumerate(zip(known.texts, theirs, strict=True)):
        places.setdefault(_spelling(text, spelled), index)
    ours = [[] if text is None else words(text) for text in texts.distinct]
    size = len(ours)
    found = Matches(
        np.full(size, CLEAN, np.int64),
        np.full(size, -1, np.int64),
        np.zeros(size),
        np.array([len(spelled) < rule.ngram for spelled in ours], dtype=bool),
    )
    least = _ANSWER_WORDS if answers else 0
    for index, (own, spelled) in enumerate(zip(texts.distinct, ours, strict=True)):
        place = places.get(_spelling(own, spelled)) if own and own.strip() and len(spelled) >= least else None
        if place is not None:
            found.rule[index], found.by[index], found.share[index] = VERBATIM, place, 1.0
    _match_near(found, ours, theirs, rule)
    if rule.embed is not None:
        _match_meaning(found, texts.distinct, known.texts, rule.embed, rule.similarity)
    return found


def _match_near(found: Matches, ours: Sequence[list[str]], theirs: Sequence[list[str]], rule: Rule) -> None:
    left = np.flatnonzero((found.rule == CLEAN) & ~found.short)
    covered = Coverage(theirs, rule.ngram).of([ours[index] for index in left.tolist()], rule.overlap)
    near = covered.by >= 0
    found.rule[left[near]], found.by[left[near]] = NEAR, covered.by[near]
    found.share[left[near]] = covered.share[near]


def _match_meaning(
    found: Matches, ours: Sequence[str | None], theirs: list[str], embed: Embed, similarity: float
) -> None:
    left = [index for index in np.flatnonzero(found.rule == CLEAN).tolist() if (ours[index] or "").strip()]
    if not left or not theirs:
        return
    mine, known = _unit_vectors(embed, [ours[index] or "" for index in left]), _unit_vectors(embed, theirs)
    if mine.shape[1] != known.shape[1]:
        raise ConfigurationError(
            f"embed gave vectors of {mine.shape[1]} and of {known.shape[1]} numbers; expected one length for all texts"
        )
    for begin in range(0, len(left), _BLOCK):
        cosine = mine[begin : begin + _BLOCK] @ known.T
        best = cosine.argmax(axis=1)
        value = cosine[np.arange(best.size), best]
        for offset in np.flatnonzero(value >= similarity).tolist():
            index = left[begin + offset]
            found.rule[index], found.by[index], found.share[index] = SEMANTIC, best[offset], value[offset]


def _unit_vectors(embed: Embed, texts: list[str]) -> NDArray[np.float64]:
    given = embed(texts)
    try:
        vectors = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"embed returned a {type(given).__name__} that is no table of numbers ({error}); give one vector a text"
        ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise ConfigurationError(
            f"embed returned an array of shape {vectors.shape} for {len(texts)} texts; give one finite vector a text"
        )
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))
