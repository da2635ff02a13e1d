"""All pairs of token sets whose Jaccard similarity reaches a threshold, without comparing all pairs.

Two sets that similar share a token among the rarest few of each (prefix filtering: Chaudhuri, Ganti and Kaushik 2006;
Bayardo, Ma and Srikant 2007), so only sets that meet in such a short prefix are compared, and those exactly. Sets that
differ in nothing but tokens nobody else has (one template, one order number each) are one group: how similar they are
follows from their sizes. Where so many pairs are left that counting them would be quadratic, they are estimated from
a random sample of the sets and the result says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from whileai_hf.measure.hygiene.tokens import Overlaps, TokenGroups, group_sets
from whileai_hf.measure.passes.codes import IntArray


FloatArray = NDArray[np.float64]
# Meetings followed exactly: a few seconds, and more than 10,000 prompts out of a few templates bring about. Those
# followed where there are more, around a sample of the sets.
MOST_MEETINGS, SAMPLED_MEETINGS = 20_000_000, 4_000_000
# Numbers held at a time in one step, 8 bytes each.
_BLOCK = 250_000
# Pairs compared at a time.
_PAIRS = 32_768
# A similarity that equals the threshold in exact arithmetic reaches it, whatever the last bit of the quotient.
_SLACK = 1e-9


@dataclasses.dataclass(frozen=True)
class SimilarPairs:
    """
    Pairs of similar sets.

    Args:
        n_pairs (`int`):
            Pairs at or above the threshold; rounded when estimated.
        standard_error (`float`, *optional*):
            Of an estimated count, `None` for an exact one.
        left, right (`np.ndarray`):
            Pairs that were seen, one for each two groups of sets.
        similarity (`np.ndarray`):
            Their Jaccard similarities.
        cluster (`np.ndarray`):
            For every set, the smallest set it is connected with through similar pairs.
    """

    n_pairs: int
    standard_error: float | None
    left: IntArray
    right: IntArray
    similarity: FloatArray
    cluster: IntArray


@dataclasses.dataclass(frozen=True)
class _Meetings:
    """
    The rarest tokens of every group, ordered by token and size of the group.

    Entry k may meet the entries `low[k]` to `high[k]`; `rest` counts the tokens of its group from this one on.
    """

    group: IntArray
    rest: IntArray
    low: IntArray
    high: IntArray
    leads: NDArray[np.bool_]  # whether its group can be the smaller one of a pair that meets here

    def pairs(
        self, groups: TokenGroups, threshold: float, entries: IntArray, begin: IntArray, end: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Groups that meet at `entries` with those from `begin` to `end`, as far as they can be similar."""
        size = groups.size
        for one, other in _expand(entries, begin, end):
            # Where two sets meet first, what they share from there on is all they share.
            reach = np.minimum(self.rest[one], self.rest[other])
            one, other = self.group[one], self.group[other]
            near = reach >= _needed(size[one] + size[other], threshold)
            yield one[near], other[near]


def _needed(total: IntArray, threshold: float) -> IntArray:
    """Shared tokens from which two sets with `total` tokens between them are similar."""
    return np.asarray(np.ceil(total * (threshold / (1 + threshold)) - _SLACK), dtype=np.int64)


def _meet(groups: TokenGroups, threshold: float) -> _Meetings:
    size = groups.size
    owner = np.repeat(np.arange(size.size), groups.shared)
    position = np.arange(groups.token.size) - groups.start[owner]
    rest = groups.shared[owner] - position
    # A set of n tokens shares at least threshold * n of them with its partner, so one of the rarest.
    smallest = np.ceil(threshold * size - _SLACK).astype(np.int64)
    inside = rest >= smallest[owner]
    owner, token, rest = owner[inside], groups.token[inside], rest[inside]
    order = np.lexsort((owner, size[owner], token))
    owner, token, rest = owner[order], token[order], rest[order]
    width = int(size.max(initial=0)) + 2
    largest = np.minimum(np.floor(size / threshold + _SLACK).astype(np.int64), width - 1)
    key = token * width + size[owner]
    low = np.searchsorted(key, token * width + smallest[owner], side="left")
    high = np.searchsorted(key, token * width + largest[owner], side="right")
    leads = rest >= _needed(2 * size, threshold)[owner]
    return _Meetings(owner, rest, low.astype(np.int64), high.astype(np.int64), leads)


def _expand(entries: IntArray, begin: IntArray, end: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Every entry with every place from `begin` to `end`, a block at a time."""
    length = np.maximum(end - begin, 0)
    total = np.cumsum(length)
    at = 0
    while at < entries.size:
        done = total[at - 1] if at else 0
        stop = max(at + 1, int(np.searchsorted(total, done + _BLOCK, side="right")))
        part = length[at:stop]
        left = np.repeat(entries[at:stop], part)
        offset = np.arange(left.size) - np.repeat(np.cumsum(part) - part, part)
        yield left, np.repeat(begin[at:stop], part) + offset
        at = stop


def _compare(
    groups: TokenGroups, overlaps: Overlaps, pairs: Iterable[tuple[IntArray, IntArray]], threshold: float
) -> tuple[IntArray, IntArray, FloatArray]:
    """The distinct pairs of groups among `pairs` that are similar, smaller number first."""
    count, size = groups.first.size, groups.size
    keys, similar = [np.empty(0, np.int64)], [np.empty(0)]
    for one, other in pairs:
        for begin in range(0, one.size, _PAIRS):
            here = slice(begin, begin + _PAIRS)
            a, b = np.minimum(one[here], other[here]), np.maximum(one[here], other[here])
            total = size[a] + size[b]
            shared = overlaps.of(a, b, _needed(total, threshold))
            jaccard = shared / (total - shared)
            enough = (jaccard >= threshold - _SLACK) & (a != b)
            keys.append((a * count + b)[enough])
            similar.append(jaccard[enough])
    key, first = np.unique(np.concatenate(keys), return_index=True)
    return key // count, key % count, np.concatenate(similar)[first]


def _components(size: int, left: IntArray, right: IntArray) -> IntArray:
    """The smallest member of every node's connected component."""
    label = np.arange(size)
    while True:
        low = np.minimum(label[left], label[right])
        hooked = label.copy()
        np.minimum.at(hooked, label[left], low)
        np.minimum.at(hooked, label[right], low)
        while not np.array_equal(hooked, hooked[hooked]):
            hooked = hooked[hooked]
        if np.array_equal(hooked, label):
            return label
        label = hooked


def _sampled(
    groups: TokenGroups, overlaps: Overlaps, meetings: _Meetings, threshold: float, seed: int
) -> tuple[tuple[IntArray, IntArray, FloatArray], float, float]:
    """Similar pairs around a random sample of the groups, the estimated number of pairs of sets, its error."""
    count = groups.first.size
    cost = np.bincount(meetings.group, weights=meetings.high - meetings.low, minlength=count)
    order = np.random.default_rng(seed).permutation(count)
    drawn = max(2, int(np.searchsorted(np.cumsum(cost[order]), SAMPLED_MEETINGS)))
    chosen = np.zeros(count, bool)
    chosen[order[:drawn]] = True
    entries = np.flatnonzero(chosen[meetings.group])
    around = meetings.pairs(groups, threshold, entries, meetings.low[entries], meetings.high[entries])
    left, right, similarity = _compare(groups, overlaps, around, threshold)
    partners = np.bincount(left, weights=groups.count[right], minlength=count)
    partners += np.bincount(right, weights=groups.count[left], minlength=count)
    pairs = (partners * groups.count)[chosen]
    error = count / 2 * float(pairs.std(ddof=1)) * ((1 - drawn / count) / drawn) ** 0.5
    # Neighbours in a posting list, so that what the sample did not touch is in clusters all the same.
    chain = np.flatnonzero(meetings.high > np.arange(meetings.group.size) + 1)
    links = _compare(groups, overlaps, [(meetings.group[chain], meetings.group[chain + 1])], threshold)
    left, right = np.concatenate([left, links[0]]), np.concatenate([right, links[1]])
    found = left, right, np.concatenate([similarity, links[2]])
    return found, count / 2 * float(pairs.mean()), error


def similar_pairs(sets: Sequence[Sequence[str]], threshold: float, seed: int = 0) -> SimilarPairs:
    """
    Pairs of sets with a Jaccard similarity of at least `threshold`.

    Args:
        sets (`Sequence[Sequence[str]]`):
            Tokens of each set, none of them empty; repeats count once.
        threshold (`float`):
            Between 0 and 1.
        seed (`int`, *optional*, defaults to `0`):
            Of the sample that is taken when there is too much to compare.

    Returns:
        [`SimilarPairs`]: All pairs, or how many there are by estimate.

    Examples:
    ```python
    >>> found = similar_pairs([["a", "b", "c", "d"], ["a", "b", "c", "d", "e"], ["x"]], 0.8)
    >>> found.n_pairs, found.similarity.tolist(), found.cluster.tolist()
    (1, [0.8], [0, 0, 2])

    ```
    """
    if not len(sets):
        none = np.empty(0, np.int64)
        return SimilarPairs(0, None, none, none, np.empty(0), none)
    groups = group_sets(sets)
    overlaps, meetings = Overlaps(groups), _meet(groups, threshold)
    leading = np.flatnonzero(meetings.leads).astype(np.int64)
    inner = groups.shared / (groups.shared + 2 * groups.own)
    alike = (groups.count > 1) & (inner >= threshold - _SLACK)
    within = float((groups.count[alike] * (groups.count[alike] - 1) // 2).sum())
    error: float | None = None
    if int(np.maximum(meetings.high[leading] - leading - 1, 0).sum()) <= MOST_MEETINGS:
        pairs = meetings.pairs(groups, threshold, leading, leading + 1, meetings.high[leading])
        left, right, similarity = _compare(groups, overlaps, pairs, threshold)
        across = float((groups.count[left] * groups.count[right]).sum())
    else:
        (left, right, similarity), across, error = _sampled(groups, overlaps, meetings, threshold, seed)
    involved = alike.copy()
    involved[left] = involved[right] = True
    label = _components(groups.first.size, left, right)
    own = np.arange(groups.of.size)
    cluster = np.where(involved[groups.of], groups.first[label[groups.of]], own)
    second = _seconds(groups.of)
    left = np.concatenate([groups.first[left], groups.first[alike]])
    right = np.concatenate([groups.first[right], second[alike]])
    return SimilarPairs(
        round(within + across), error, left, right, np.concatenate([similarity, inner[alike]]), cluster
    )


def _seconds(of: IntArray) -> IntArray:
    """The second set of every group, the first of those that have one only."""
    order = np.argsort(of, kind="stable")
    start = np.searchsorted(of[order], np.arange(int(of.max()) + 1))
    after = np.minimum(start + 1, of.size - 1)
    return np.where(of[order[after]] == of[order[start]], order[after], order[start]).astype(np.int64)
