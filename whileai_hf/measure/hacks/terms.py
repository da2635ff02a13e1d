"""The most common words and word pairs of the agent's text, as features that are 0 or 1.

They are chosen without a look at the reward. Words that occur in the very same rows are one feature with several
names: it would be counted as often as the phrase has words, and crowd out others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hacks.reading import IntArray, Readings


# Rows a word has to be in, and has to be absent from: rarer ones cannot be told from chance.
MIN_ROWS = 20
# Terms looked at, most common first, before those that never differ within an ask are left out.
_POOL = 800
# Rows the vocabulary is chosen on; of more, as many are drawn at equal distances.
_MOST_ROWS = 50_000
# Words a phrase is named by.
_MOST_WORDS = 8
# Words looked up at a time.
_BLOCK = 2_000_000
# Constant of the signatures by which equal features are found; any seed would do.
_SIGNATURE_SEED = 7


class Term(NamedTuple):
    """A word, or a pair of words; `second` is -1 for a word. `aliases` are terms found in the very same rows."""

    name: str
    first: int
    second: int
    aliases: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Texts:
    """Words of rows: `words[i]` stands in row `rows[i]` of `n_rows`."""

    words: NDArray[np.int32]
    rows: NDArray[np.int32]
    n_rows: int

    @classmethod
    def of(cls, *readings: Readings) -> Texts:
        """The words of one or several readings of one vocabulary, the rows numbered on."""
        lengths = np.concatenate([np.diff(part.ends, prepend=0) for part in readings])
        rows = np.repeat(np.arange(lengths.size, dtype=np.int32), lengths)
        return cls(np.concatenate([part.words for part in readings]), rows, lengths.size)

    def sample(self, place: IntArray | None = None) -> Texts:
        """At most 50,000 rows of them, at equal distances by their place."""
        if self.n_rows <= _MOST_ROWS:
            return self
        step = -(-self.n_rows // _MOST_ROWS)
        at = self.rows if place is None else place.astype(np.int32)[self.rows]
        chosen = at % step == 0
        return Texts(self.words[chosen], at[chosen] // step, -(-self.n_rows // step))


def choose_terms(texts: Texts, names: list[str], place: IntArray | None = None) -> list[Term]:
    """
    The most common terms, most common first, equally common ones by name.

    Args:
        texts ([`Texts`]):
            The words of all rows.
        names (`list[str]`):
            The words by number.
        place (`np.ndarray` of shape `(rows,)`, *optional*):
            Order of the rows; left out, the order they are in.
    """
    sample = texts.sample(place)
    n, size = sample.n_rows, len(names)
    if n < 2 * MIN_ROWS or not sample.words.size:
        return []
    frequent = np.bincount(sample.words, minlength=size) >= MIN_ROWS
    compact: IntArray = np.where(frequent, np.cumsum(frequent, dtype=np.int64) - 1, -1)
    word, rows = compact[sample.words], sample.rows
    width = int(np.count_nonzero(frequent))
    if not width:
        return []
    known = word >= 0
    beside = known[1:] & known[:-1] & (rows[1:] == rows[:-1])
    pairs, pair = _frequent(word[:-1][beside] * width + word[1:][beside])
    kept = pair >= 0
    keys = np.concatenate(
        (
            _distinct(word[known] * n + rows[known])[0],
            _distinct((pair[kept] + width) * n + rows[1:][beside][kept])[0],
        )
    )
    term, row = keys // n, keys % n
    found_in = np.bincount(term, minlength=width + pairs.size)
    telling = np.flatnonzero((found_in >= MIN_ROWS) & (found_in <= n - MIN_ROWS))
    original = np.flatnonzero(frequent)
    chosen, terms = _most_common(telling, found_in, lambda code: _term(code, original, pairs, width, names))
    return _merge(terms, _signatures(term, row, chosen, width + pairs.size, n), names)


def _distinct(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct codes and how often each occurs; by sorting, which numpy's hash tables do not keep up with."""
    if not codes.size:
        return codes, codes
    ordered = np.sort(codes)
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return ordered[starts], np.diff(starts, append=codes.size)


def _frequent(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct codes seen often enough, and for each code given its number among them, -1 for none."""
    distinct, count = _distinct(codes)
    often = distinct[count >= MIN_ROWS]
    if not often.size:
        return often, np.full(codes.size, -1)
    number = np.minimum(np.searchsorted(often, codes), often.size - 1)
    return often, np.where(often[number] == codes, number, -1)


def _most_common(telling: IntArray, found_in: IntArray, term_of: Callable[[int], Term]) -> tuple[IntArray, list[Term]]:
    """The most common terms; by name where equally many rows have them, as their codes follow the order of rows."""
    if telling.size > _POOL:
        least = np.partition(found_in[telling], telling.size - _POOL)[telling.size - _POOL]
        telling = telling[found_in[telling] >= least]
    ranked = sorted(((-int(found_in[code]), term_of(int(code)), int(code)) for code in telling), key=_by_count)
    return np.array([code for _, _, code in ranked[:_POOL]], np.int64), [term for _, term, _ in ranked[:_POOL]]


def _by_count(ranked: tuple[int, Term, int]) -> tuple[int, bool, str]:
    return ranked[0], ranked[1].second >= 0, ranked[1].name


def _term(code: int, original: IntArray, pairs: IntArray, width: int, names: list[str]) -> Term:
    if code < width:
        return Term(f"says:{names[original[code]]}", int(original[code]), -1, ())
    first, second = (int(original[part]) for part in divmod(int(pairs[code - width]), width))
    return Term(f"says:{names[first]} {names[second]}", first, second, ())


def _signatures(term: IntArray, row: IntArray, chosen: IntArray, n_terms: int, n: int) -> IntArray:
    """A number per chosen term that is the same for terms of the same rows."""
    marks = np.random.default_rng(_SIGNATURE_SEED).integers(0, 2**63, size=n, dtype=np.uint64)
    place = np.full(n_terms, -1)
    place[chosen] = np.arange(chosen.size)
    wanted = place[term] >= 0
    at, marks_at = place[term][wanted], marks[row[wanted]]
    by_term = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[by_term], np.arange(chosen.size))
    if not chosen.size:
        return np.zeros(0, np.int64)
    return np.add.reduceat(marks_at[by_term], starts).astype(np.int64)


def _merge(terms: list[Term], signatures: IntArray, names: list[str]) -> list[Term]:
    """One term for all that are found in the same rows, in the order of the first of each."""
    alike: dict[int, list[Term]] = {}
    for signature, term in zip(signatures.tolist(), terms, strict=True):
        alike.setdefault(signature, []).append(term)
    return [_named(sorted(same, key=lambda term: (term.second >= 0, term.name)), names) for same in alike.values()]


def _named(same: list[Term], names: list[str]) -> Term:
    """The first of equal terms, under the longest phrase that their pairs make."""
    after = {term.first: term.second for term in same if term.second >= 0}
    longest: list[int] = []
    for start in sorted(set(after) - set(after.values()), key=names.__getitem__):
        phrase = [start]
        while phrase[-1] in after and len(phrase) < _MOST_WORDS:
            phrase.append(after[phrase[-1]])
        longest = max(longest, phrase, key=len)
    name = f"says:{' '.join(names[word] for word in longest)}" if longest else same[0].name
    return same[0]._replace(name=name, aliases=tuple(term.name for term in same if term.name != name))


def term_bits(texts: Texts, terms: list[Term], place: IntArray, n_words: int) -> NDArray[np.uint8]:
    """
    Which rows hold which term.

    Args:
        texts ([`Texts`]):
            The words of all rows.
        terms (`list[Term]`):
            The terms.
        place (`np.ndarray` of shape `(rows,)`):
            Where each row goes.
        n_words (`int`):
            Words in the vocabulary.

    Returns:
        `np.ndarray` of `uint8` and shape `(terms, rows)`.
    """
    bits = np.zeros((len(terms), place.size), np.uint8)
    words = [(at, term) for at, term in enumerate(terms) if term.second < 0]
    pairs = sorted((term.first * n_words + term.second, at) for at, term in enumerate(terms) if term.second >= 0)
    feature = np.full(n_words, -1, np.int32)
    feature[[term.first for _, term in words]] = [at for at, _ in words]
    begins = np.zeros(n_words, np.bool_)
    begins[[code // n_words for code, _ in pairs]] = True
    codes, features = (np.array(part, np.int64) for part in zip(*pairs, strict=True)) if pairs else (None, None)
    for start in range(0, texts.words.size, _BLOCK):
        # One word more, so that a pair across the border of two blocks is seen once.
        word, rows = (part[start : start + _BLOCK + 1] for part in (texts.words, texts.rows))
        at = feature[word]
        told = np.flatnonzero(at >= 0)
        bits[at[told], place[rows[told]]] = 1
        if codes is None or features is None:
            continue
        first = np.flatnonzero(begins[word[:-1]] & (rows[1:] == rows[:-1]))
        code = word[first].astype(np.int64) * n_words + word[first + 1]
        found = np.minimum(np.searchsorted(codes, code), codes.size - 1)
        same = codes[found] == code
        bits[features[found[same]], place[rows[first[same]]]] = 1
    return bits
