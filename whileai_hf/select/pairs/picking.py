"""Which rollouts of a group are compared with which."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from whileai_hf.measure.passes.codes import IntArray
from whileai_hf.select.pairs.config import PairConfig
from whileai_hf.select.pairs.conversation import Conversation
from whileai_hf.select.pairs.cutting import Cut, cut_pair
from whileai_hf.select.rates import FloatArray


# Pairs of one group that are tried; of so many that part elsewhere than at the agent, the rest would, too.
_TRIES = 500


@dataclasses.dataclass(frozen=True)
class Picked:
    """A pair: the rows of both sides and what of them is compared."""

    chosen: int
    rejected: int
    cut: Cut


def possible_pairs(
    rows: Sequence[int], rewards: FloatArray, policies: IntArray, config: PairConfig, refused: dict[str, int]
) -> tuple[IntArray, IntArray]:
    """
    Pairs of a group that the rewards and policies allow, as positions in `rows`.

    Args:
        rows (`Sequence[int]`):
            Rows of the group.
        rewards (`np.ndarray`):
            Rewards of all rows.
        policies (`np.ndarray`):
            Policy of every row, as a number.
        config ([`PairConfig`]):
            The knobs.
        refused (`dict[str, int]`):
            Counts of pairs refused, added to.
    """
    reward, policy = rewards[rows], policies[rows]
    gap = reward[:, None] - reward[None, :]
    wide = (gap > 0) & (gap >= config.margin)
    refused["margin"] += int(np.count_nonzero((gap > 0) & ~wide))
    if config.same_policy:
        same = policy[:, None] == policy[None, :]
        refused["policy"] += int(np.count_nonzero(wide & ~same))
        wide &= same
    better, worse = np.nonzero(wide)
    return better.astype(np.int64), worse.astype(np.int64)


def pick_pairs(
    rows: Sequence[int],
    told: Mapping[int, Conversation],
    rewards: FloatArray,
    pairs: tuple[IntArray, IntArray],
    config: PairConfig,
    refused: dict[str, int],
) -> list[Picked]:
    """
    Picks up to `per_prompt` pairs of a group, no rollout twice: the widest gap first, among equal gaps the texts that
    are nearest in length, then the earlier rows.

    Args:
        rows (`Sequence[int]`):
            Rows of the group.
        told (`Mapping[int, Conversation]`):
            Their conversations.
        rewards (`np.ndarray`):
            Rewards of all rows.
        pairs (`tuple[np.ndarray, np.ndarray]`):
            What [`possible_pairs`] gave.
        config ([`PairConfig`]):
            The knobs.
        refused (`dict[str, int]`):
            Counts of pairs refused, added to.
    """
    better, worse = pairs
    reward = rewards[rows]
    length = np.array([told[row].length for row in rows])
    apart = np.abs(length[better] - length[worse]) if config.match_length else np.zeros(better.size)
    order = np.lexsort((worse, better, apart, reward[worse] - reward[better]))
    picked: list[Picked] = []
    used: set[int] = set()
    tries = 0
    for at in order.tolist():
        chosen, rejected = rows[better[at]], rows[worse[at]]
        if chosen in used or rejected in used:
            continue
        if tries == _TRIES or len(picked) == config.per_prompt:
            break
        tries += 1
        cut = cut_pair(told[chosen], told[rejected], config.cut)
        if cut is None:
            refused["cut"] += 1
        elif _too_uneven(cut, config.max_length_ratio):
            refused["length"] += 1
        else:
            picked.append(Picked(chosen, rejected, cut))
            used |= {chosen, rejected}
    return picked


def _too_uneven(cut: Cut, most: float | None) -> bool:
    if most is None:
        return False
    short, long = sorted(cut.lengths)
    return long > most * max(short, 1)
