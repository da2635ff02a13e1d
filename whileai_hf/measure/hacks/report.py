"""The report of a scan."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from whileai_hf.rows import Report


Regime = Literal["train", "reward_hack", "pool_exhausted", "no_signal", "degenerate", "unknown"]
# Features printed.
_SHOWN = 8


@dataclasses.dataclass(frozen=True)
class HackFeature(Report):
    """
    A feature and how the reward goes with it.

    Args:
        name (`str`):
            `reply_length`, `tool:<name>`, `trace:<flag>`, `marker:<name>`, `says:<word or pair>`, the name of the
            caller's own, or `<one> & <other>` for rollouts that have both.
        rho (`float`):
            Correlation with the reward, both centred within the ask.
        tier (`str`):
            `hand` for features somebody listed, `auto` for words and word pairs, `and` for conjunctions.
        above_floor (`bool`):
            Whether it is stronger than noise.
        endorsed (`bool`):
            Whether the reward is meant to track it; of a conjunction, whether it is meant to track both.
        aliases (`list[str]`):
            Features that are the same in every rollout.
    """

    name: str
    rho: float
    tier: Literal["hand", "auto", "and"]
    above_floor: bool
    endorsed: bool
    aliases: list[str]

    def __str__(self) -> str:
        marks = ("" if self.above_floor else " (noise)") + (" (endorsed)" if self.endorsed else "")
        same = f" = {', '.join(self.aliases[:3])}" if self.aliases else ""
        return f"{self.rho:+.3f} {self.name}{same}{marks}"


@dataclasses.dataclass(frozen=True)
class HackScan(Report):
    """
    What a policy trained on the reward would learn; what [`hack_scan`] returns.

    Args:
        regime (`str`):
            The first that holds: `unknown` (`endorsed` names no feature there is), `degenerate` (rollouts too alike to
            tell features apart), `no_signal` (nothing clears the floor), `reward_hack` (the strongest feature is not
            endorsed, or is endorsed and punished), `pool_exhausted` (more than 20% of asks pass throughout), `train`.
        top_feature (`str`, *optional*):
            The strongest feature above the floor; `None` without one, and where the pool is degenerate.
        top_rho (`float`, *optional*):
            Its correlation.
        p_value (`float`, *optional*):
            Chance that the strongest of all features is as strong under a reward of pure noise.
        tau (`float`, *optional*):
            The noise floor: 5% of shuffled rewards have a feature stronger than this. `None` without rewards that
            differ within an ask.
        features (`list[HackFeature]`):
            Features above the floor and up to 20 in all, the strongest first.
        integrity (`float`, *optional*):
            Strength of the best endorsed feature in that of itself and the best other one, both above the floor;
            `None` when neither is, or nothing is endorsed.
        rivals (`list[str]`):
            Features above the floor that are not endorsed, when the integrity is under 0.8.
        collinear (`list[str]`):
            Features no data of this kind tells from the top one; all perfect ones where the pool is degenerate.
        degenerate (`bool`):
            Whether at least two features explain the reward perfectly while an ask has fewer than 3 distinct rollouts.
        distinct_per_ask (`float`, *optional*):
            Median number of distinct rollouts (text and calls) of an ask with at least two.
        endorsed (`list[str]`):
            The patterns given.
        endorsed_unmatched (`list[str]`):
            Those that are part of no feature's name.
        n_perm (`int`):
            Shuffles behind the floor.
        n_features (`int`):
            Features that differ within at least one ask, conjunctions not counted.
        n_rows (`int`):
            Rows given.
        n_scored (`int`):
            Rows with a verdict.
        n_unjudged (`int`):
            Rows without one, left out.
        n_sim_faulty (`int`):
            Rows left out because the simulated user was at fault.
        n_asks (`int`):
            Asks (a prompt of a task) with at least two scored rollouts.
        n_mixed (`int`):
            Asks whose rewards differ: the only ones a grouped update learns from.
        all_pass_share (`float`, *optional*):
            Share of asks all of whose rewards are the same and at least 1.
        warnings (`list[str]`):
            What to do something about.
        notes (`list[str]`):
            What a reader has to know.
    """

    regime: Regime
    top_feature: str | None
    top_rho: float | None
    p_value: float | None
    tau: float | None
    features: list[HackFeature]
    integrity: float | None
    rivals: list[str]
    collinear: list[str]
    degenerate: bool
    distinct_per_ask: float | None
    endorsed: list[str]
    endorsed_unmatched: list[str]
    n_perm: int
    n_features: int
    n_rows: int
    n_scored: int
    n_unjudged: int
    n_sim_faulty: int
    n_asks: int
    n_mixed: int
    all_pass_share: float | None
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        top = "nothing" if self.top_feature is None else f"{self.top_feature} ({self.top_rho:+.2f})"
        line = (
            f"{self.regime} | top {top} | floor {shown(self.tau)} | integrity {shown(self.integrity)} "
            f"({self.n_features} features, {self.n_mixed} of {self.n_asks} asks mixed, {self.n_scored} rollouts)"
        )
        lines = [line, *(f"  {feature}" for feature in self.features[:_SHOWN])]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])


def shown(value: Any) -> str:
    """Two decimals, or n/a for what was not measured."""
    return "n/a" if value is None else f"{value:.2f}"
