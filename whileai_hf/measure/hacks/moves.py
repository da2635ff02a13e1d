"""How often two sets of rows show a feature, task by task, and how far that could differ by chance."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hacks.asks import FloatArray, IntArray
from whileai_hf.measure.hacks.floor import ALPHA
from whileai_hf.measure.hacks.pool import MOST_TERMS, Name, listed
from whileai_hf.measure.hacks.products import row_products
from whileai_hf.measure.hacks.sampling import Sample
from whileai_hf.measure.hacks.terms import Term, Texts, term_bits


# Shared tasks from which on a sign test can reach 5%.
FEWEST_TASKS = 6
_TINY = 1e-12


@dataclasses.dataclass(frozen=True)
class Shift:
    """
    Features of two sets of rows.

    Args:
        names (`list[Name]`):
            The features.
        before (`np.ndarray`):
            Mean over tasks of the first rows.
        after (`np.ndarray`):
            Mean over tasks of the second.
        strength (`np.ndarray`):
            Mean change in units of its spread: between -1 (every task fell by as much) and 1.
        floor (`float`):
            Strength above which a change is not noise.
        paired (`bool`):
            Whether tasks were compared with themselves.
        n_tasks (`int`):
            Tasks compared.
    """

    names: list[Name]
    before: FloatArray
    after: FloatArray
    strength: FloatArray
    floor: float
    paired: bool
    n_tasks: int


def _features(samples: Sequence[Sample], terms: list[Term], n_words: int) -> Iterator[tuple[Name, list[FloatArray]]]:
    """Every feature with its values in each of the samples, rows by their place."""
    orders = [sample.order for sample in samples]
    numbers = list(dict.fromkeys(name for sample in samples for name in sample.readings.numbers))
    for name in numbers:
        yield (
            listed(name),
            [
                sample.readings.numbers[name][order]
                if name in sample.readings.numbers
                else np.full(sample.rewards.size, np.nan)
                for sample, order in zip(samples, orders, strict=True)
            ],
        )
    for name in sorted({name for sample in samples for name in sample.readings.flags}):
        values = []
        for sample in samples:
            found = np.zeros(sample.rewards.size)
            found[sample.place[sample.readings.flags.get(name, np.zeros(0, np.int64))]] = 1.0
            values.append(found)
        yield listed(name), values
    common = terms[:MOST_TERMS]
    bits = [term_bits(Texts.of(s.readings), common, s.place, n_words) for s in samples]
    for index, term in enumerate(common):
        yield (
            Name(term.name, "auto", 1 + (term.second >= 0), term.aliases),
            [part[index].astype(np.float64) for part in bits],
        )


def _task_means(values: FloatArray, tasks: IntArray, n_tasks: int) -> FloatArray:
    known = np.isfinite(values)
    count = np.bincount(tasks[known], minlength=n_tasks)
    total = np.bincount(tasks[known], weights=values[known], minlength=n_tasks)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def compare_features(
    first: Sample, second: Sample, terms: list[Term], n_words: int, *, n_perm: int, seed: int
) -> Shift | None:
    """
    What changed between two sets of rows.

    Tasks both sides have are compared with themselves, and the floor comes from changing the signs of their
    differences; with fewer than 6 of those, tasks are compared as two groups, and the floor comes from dealing them
    anew. Either way it is the largest strength of all features that counts.

    Args:
        first ([`Sample`]):
            Rows before.
        second ([`Sample`]):
            Rows after.
        terms (`list[Term]`):
            Words and pairs to look for.
        n_words (`int`):
            Words in the vocabulary.
        n_perm (`int`):
            Draws behind the floor.
        seed (`int`):
            Their seed.

    Returns:
        [`Shift`], or `None` when there are not six tasks on either side.
    """
    sides = [sample.task_names for sample in (first, second)]
    here = [set(np.unique(sample.tasks).tolist()) for sample in (first, second)]
    known = [{name for at, name in enumerate(names) if at in have} for names, have in zip(sides, here, strict=True)]
    shared = _ordered(known[0] & known[1])
    paired = len(shared) >= FEWEST_TASKS
    if not paired and min(map(len, known)) < FEWEST_TASKS:
        return None
    wanted = [shared, shared] if paired else [_ordered(names) for names in known]
    index = []
    for sample, names in zip((first, second), wanted, strict=True):
        number = {name: at for at, name in enumerate(names)}
        codes = np.array([number.get(name, len(names)) for name in sample.task_names])
        index.append(codes[sample.tasks[sample.order]])
    features: list[Name] = []
    before, after, rows = [], [], []
    for name, values in _features((first, second), terms, n_words):
        means = [
            _task_means(value, at, len(keys) + 1)[: len(keys)]
            for value, at, keys in zip(values, index, wanted, strict=True)
        ]
        if all(np.isnan(mean).all() for mean in means):
            continue
        features.append(name)
        before.append(_mean(means[0]))
        after.append(_mean(means[1]))
        rows.append(_evidence(means, paired))
    sizes = [len(keys) for keys in wanted]
    strength, floor = _strength(np.stack(rows), sizes, paired, n_perm, np.random.default_rng(seed))
    return Shift(features, np.array(before), np.array(after), strength, floor, paired, max(sizes))


def _ordered(tasks: set[object]) -> list[object]:
    """Tasks in an order of their own, as signs are drawn one after the other."""
    return sorted(tasks, key=lambda task: (str(task), type(task).__name__))


def _mean(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _evidence(means: list[FloatArray], paired: bool) -> FloatArray:
    """A vector of length 1 whose product with a labelling of tasks is the strength of the change."""
    if paired:
        vector = np.nan_to_num(means[1] - means[0])
    else:
        joined = np.concatenate(means)
        vector = np.nan_to_num(joined - _mean(joined))
    largest = float(np.abs(vector).max(initial=0.0))
    if largest < _TINY:
        return np.zeros_like(vector)
    vector = vector / largest
    return np.asarray(vector / np.sqrt(vector @ vector), dtype=np.float64)


def _strength(
    rows: FloatArray, sizes: list[int], paired: bool, n_perm: int, generator: np.random.Generator
) -> tuple[FloatArray, float]:
    if paired:
        labels: FloatArray = np.ones(sizes[0])
        drawn: NDArray[np.float64] = generator.choice((-1.0, 1.0), size=(n_perm, sizes[0]))
    else:
        labels = np.repeat([-1.0 / sizes[0], 1.0 / sizes[1]], sizes)
        drawn = generator.permuted(np.tile(labels, (n_perm, 1)), axis=1)
    length = float(np.sqrt(labels @ labels))
    largest = np.sort(np.abs(row_products(rows, drawn) / length).max(axis=0))
    return rows @ labels / length, float(largest[-int(ALPHA * (n_perm + 1) + 1e-9)])
