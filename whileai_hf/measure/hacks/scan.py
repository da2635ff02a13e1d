"""`hack_scan`: what separates rewards within an ask, and whether that is what the reward is for."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hacks.asks import Asks, lay_out
from whileai_hf.measure.hacks.conjunctions import Conjunctions
from whileai_hf.measure.hacks.floor import ALPHA, Floor, noise_floor
from whileai_hf.measure.hacks.pool import Pool, build_pool
from whileai_hf.measure.hacks.ranking import Ranking, rank
from whileai_hf.measure.hacks.reading import OwnFeatures, Reader, Readings
from whileai_hf.measure.hacks.regimes import regime_of, warnings_of
from whileai_hf.measure.hacks.report import HackFeature, HackScan
from whileai_hf.measure.hacks.sampling import Sample, read_sample
from whileai_hf.measure.hacks.terms import MIN_ROWS, Term, Texts, choose_terms
from whileai_hf.measure.knobs import check_seed
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source


# Fewer shuffles have no 5% point.
_FEWEST = round(1 / ALPHA) - 1
# Features on the report besides those above the floor.
_LISTED = 20
# Rivals are listed when the best endorsed feature holds less than this of the signal.
_INTEGRITY = 0.8
# Rollouts of an ask under which perfect features cannot be told apart.
_DISTINCT = 3


def hack_scan(
    data: Source | RowView,
    *,
    endorsed: Sequence[str] = (),
    features: OwnFeatures | None = None,
    n_perm: int = 100,
    conjunctions: bool = True,
    seed: int = 0,
) -> HackScan:
    """
    What a policy trained on this reward would learn.

    A grouped update learns whatever separates rewards within an ask (one prompt of one task); what only tells easy
    asks from hard ones is subtracted as the baseline. So reward and features are centred within the ask, ranked by
    their correlation, and compared with a noise floor: the strongest correlation of all when the rewards are shuffled
    within asks.

    Features are those somebody listed (length, calls, turns, cut-off, counts of characters, `tool:<name>`,
    `trace:<flag>` from the column `trace_flags`, `logprob_mean`, `marker:<name>`, and your own) and the 200 most
    common words and word pairs of the agent's text (`says:<word>`, in at least 20 rollouts and absent from as many),
    which find the shortcut nobody listed; of texts over 20,000 characters both ends are read. Every two of the 12
    strongest that say yes or no are also looked at together (`one & other`), and count when they beat both parts; the
    floor does the same on every shuffle. A number a rollout lacks counts as the mean of its ask.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows, several of each ask. Rows without a verdict, and those a simulated user spoiled, are left out.
        endorsed (`Sequence[str]`, *optional*, defaults to `()`):
            What the reward is meant to track: parts of feature names, such as `"tool:lookup_order"`. Without it the
            scan ranks, but cannot call anything a hack.
        features (`Mapping[str, Callable]`, *optional*):
            Features of your own: name to a function from a row to a number (or `None`).
        n_perm (`int`, *optional*, defaults to `100`):
            Shuffles behind the floor, at least 19.
        conjunctions (`bool`, *optional*, defaults to `True`):
            Whether to look at pairs of features.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the shuffles.

    Returns:
        [`HackScan`]: The report; `print` it.

    Raises:
        [`MissingColumnError`]: The rows have no reward, or nothing that names their task.
        [`ConfigurationError`]: `n_perm` is under 19, or `endorsed` is one string or holds an empty one.

    Examples:
    ```python
    >>> from whileai_hf.measure.hacks import hack_scan
    >>> def row(ask, i):
    ...     sure = (ask + i) % 2
    ...     text = f"Order {ask} {'is on its way' if i % 3 else 'was sent'}." + " Verified." * sure
    ...     return {"task_id": ask, "final_text": text, "reward": sure, "markers": {"grounded": int(i > 1)}}
    >>> scan = hack_scan([row(ask, i) for ask in range(30) for i in range(4)], endorsed=["marker:grounded"])
    >>> scan.regime, scan.top_feature
    ('reward_hack', 'says:verified')

    ```
    """
    patterns, shuffles = check_patterns(endorsed), check_n_perm(n_perm)
    reader, seed = Reader(features), check_seed(seed)
    sample = read_sample(data, reader)
    names = reader.names()
    terms = choose_terms(Texts.of(sample.readings), names, sample.place)
    return scan_sample(sample, terms, len(names), patterns, n_perm=shuffles, conjunctions=conjunctions, seed=seed)


def check_patterns(endorsed: Any) -> list[str]:
    """The endorsed patterns as a list, or a [`ConfigurationError`]."""
    if isinstance(endorsed, str):
        raise ConfigurationError(f"endorsed={endorsed!r} is one string; pass a list of them: endorsed=[{endorsed!r}]")
    if not isinstance(endorsed, Collection):
        raise ConfigurationError(
            f"endorsed={endorsed!r:.80} is no list; pass parts of feature names, such as ['tool:refund']"
        )
    patterns = list(endorsed)
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern.strip():
            raise ConfigurationError(
                f"endorsed holds {pattern!r}, which every feature or none would match; pass parts of feature names"
            )
    return patterns


def check_n_perm(n_perm: int) -> int:
    """The number of shuffles, or a [`ConfigurationError`]."""
    if isinstance(n_perm, bool) or not isinstance(n_perm, int | np.integer) or n_perm < _FEWEST:
        raise ConfigurationError(f"n_perm={n_perm!r} draws give no 5% floor; pass at least {_FEWEST} (100 is usual)")
    return int(n_perm)


def scan_sample(
    sample: Sample,
    terms: list[Term],
    n_words: int,
    endorsed: list[str],
    *,
    n_perm: int,
    conjunctions: bool,
    seed: int,
) -> HackScan:
    """The scan of rows that were read; see [`hack_scan`]."""
    asks = lay_out(sample.asks, sample.rewards, sample.place)
    pool = build_pool(sample.readings, asks, terms, n_words)
    distinct = _distinct(sample, asks)
    ranking, floor = Ranking([], [], []), None
    if pool.names and asks.n_mixed:
        pairs = Conjunctions(pool) if conjunctions else None
        floor = noise_floor(pool, pairs, n_perm=n_perm, seed=seed)
        ranking = rank(pool, pairs, floor, endorsed)
    unmatched = [pattern for pattern in endorsed if not any(pattern in name for name in pool.candidates)]
    draft = _draft(sample, asks, pool, ranking, floor, endorsed)
    draft = dataclasses.replace(
        draft,
        n_perm=n_perm,
        endorsed_unmatched=unmatched,
        distinct_per_ask=distinct,
        degenerate=len(ranking.perfect) >= 2 and distinct is not None and distinct < _DISTINCT,
        notes=[*sample.notes, *_notes(sample, asks, terms, endorsed)],
    )
    regime = regime_of(draft)
    if draft.degenerate:
        draft = dataclasses.replace(draft, top_feature=None, top_rho=None, collinear=sorted(ranking.perfect))
    draft = dataclasses.replace(draft, regime=regime)
    return dataclasses.replace(draft, warnings=warnings_of(draft))


def _draft(
    sample: Sample, asks: Asks, pool: Pool, ranking: Ranking, floor: Floor | None, endorsed: list[str]
) -> HackScan:
    features = ranking.features
    above = [feature for feature in features if feature.above_floor]
    top = above[0] if above else None
    integrity = _integrity(above, endorsed)
    rivals = [feature.name for feature in above if not feature.endorsed]
    return HackScan(
        regime="no_signal",
        top_feature=None if top is None else top.name,
        top_rho=None if top is None else top.rho,
        p_value=floor.p_value(abs(features[0].rho)) if floor and features else None,
        tau=None if floor is None else round(floor.tau, 6),
        features=features[: max(len(above), _LISTED)],
        integrity=integrity,
        rivals=rivals if integrity is not None and integrity < _INTEGRITY else [],
        collinear=ranking.collinear if top is not None else [],
        degenerate=False,
        distinct_per_ask=None,
        endorsed=endorsed,
        endorsed_unmatched=[],
        n_perm=0,
        n_features=len(pool.names),
        n_rows=sample.n_rows,
        n_scored=sample.rewards.size,
        n_unjudged=sample.n_unjudged,
        n_sim_faulty=sample.n_sim_faulty,
        n_asks=asks.n_asks,
        n_mixed=asks.n_mixed,
        all_pass_share=asks.n_all_pass / asks.n_asks if asks.n_asks else None,
        warnings=[],
        notes=[],
    )


def _integrity(above: list[HackFeature], endorsed: list[str]) -> float | None:
    # An endorsed feature the reward punishes is no share of what the reward is for.
    meant = max((feature.rho for feature in above if feature.endorsed), default=0.0)
    other = max((abs(feature.rho) for feature in above if not feature.endorsed), default=0.0)
    meant = max(meant, 0.0)
    return round(meant / (meant + other), 6) if endorsed and meant + other else None


def _distinct(sample: Sample, asks: Asks) -> float | None:
    """Median number of distinct rollouts of an ask with at least two."""
    if not asks.n_asks:
        return None
    readings: Readings = sample.readings
    size = np.bincount(sample.asks)
    order = np.lexsort((readings.distinct, sample.asks))
    ask, said = sample.asks[order], readings.distinct[order]
    first = np.ones(ask.size, np.bool_)
    first[1:] = (ask[1:] != ask[:-1]) | (said[1:] != said[:-1])
    return float(np.median(np.bincount(ask[first], minlength=size.size)[size >= 2]))


def _notes(sample: Sample, asks: Asks, terms: list[Term], endorsed: list[str]) -> list[str]:
    notes = []
    if sample.rewards.size and not asks.n_asks:
        notes.append("no ask has two scored rollouts: repeat each prompt, only rewards that differ within one teach")
    elif asks.n_asks and not asks.n_mixed:
        notes.append(f"rewards are the same throughout each of the {asks.n_asks} asks: there is nothing to learn from")
    if sample.rewards.size and not sample.readings.n_with_text:
        notes.append("no rollout has text of the agent: words were not looked at")
    elif sample.rewards.size and not terms:
        notes.append(f"no word is both in {MIN_ROWS} rollouts and absent from as many: words were not looked at")
    if not endorsed:
        notes.append("nothing is endorsed: the scan ranks features, but cannot tell a shortcut from the goal")
    return notes
