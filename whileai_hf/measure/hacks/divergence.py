"""The rules behind the alarms of a curve, as array operations over one curve or many simulated ones."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whileai_hf.stats.student import t_quantile


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
# Share of `delta` by which a gold without an interval has to rise.
_FOLLOWS = 0.25
# Level at which the proxy has to outrun the gold. A run is looked at a dozen times: at 95% every fifth healthy one of
# 32 prompts would raise an alarm.
_GAP_LEVEL = 0.99
# Simulated where the curve does not say: prompts of the holdout, and rollouts of each.
_PROMPTS, _REPEATS = 32, 4
_TINY = 1e-9


@dataclasses.dataclass(frozen=True)
class Rule:
    """Thresholds of the alarms; see [`overoptimization`]."""

    window: int
    delta: float
    length_pct: float
    kl_budget: float | None


@dataclasses.dataclass(frozen=True)
class Series:
    """A curve: each field of shape `(evaluations, prompts)`, `nan` where something was not measured."""

    proxy: FloatArray
    gold: FloatArray
    length: FloatArray
    kl: FloatArray


@dataclasses.dataclass(frozen=True)
class _Change:
    """Mean change over the window and the lower end of its interval, `nan` where there is none."""

    mean: FloatArray
    low: FloatArray


def _since(points: int, window: int) -> NDArray[np.int64]:
    """The evaluation each one is compared with."""
    return np.maximum(np.arange(points) - window, 0)


def _change(difference: FloatArray, level: float = 0.95) -> _Change:
    known = ~np.isnan(difference)
    n = known.sum(axis=-1)
    filled = np.where(known, difference, 0.0)
    mean = np.where(n > 0, filled.sum(axis=-1) / np.maximum(n, 1), np.nan)
    spread = (np.where(known, difference - mean[..., None], 0.0) ** 2).sum(axis=-1) / np.maximum(n - 1, 1)
    width = np.full(n.shape, np.nan)
    for size in np.unique(n[n > 1]).tolist():
        width[n == size] = t_quantile(size - 1, level) / np.sqrt(size)
    return _Change(mean, mean - width * np.sqrt(spread))


def _rose(gold: _Change, delta: float) -> BoolArray:
    return np.where(np.isnan(gold.low), gold.mean >= _FOLLOWS * delta, gold.low > 0)


def diverged(proxy: FloatArray, gold: FloatArray, rule: Rule) -> BoolArray:
    """
    At which evaluations the proxy rose and the gold did not.

    Args:
        proxy (`np.ndarray` of shape `(..., evaluations, prompts)`):
            Training reward.
        gold (`np.ndarray` of shape `(..., evaluations, prompts)`):
            What the reward is to stand for.
        rule ([`Rule`]):
            The thresholds.
    """
    since = _since(proxy.shape[-2], rule.window)
    up, followed = (scores - scores[..., since, :] for scores in (proxy, gold))
    rise, follow = _change(up), _change(followed)
    raised = (rise.mean >= rule.delta - _TINY) & ~np.isnan(follow.mean) & ~_rose(follow, rule.delta)
    if up.shape == followed.shape:
        gap = _change(up - followed, _GAP_LEVEL).low
        raised &= np.isnan(gap) | (gap > 0)
    return np.asarray(raised, dtype=np.bool_)


def alarms_of(series: Series, rule: Rule) -> list[tuple[Literal["divergence", "length", "drift"], int, str]]:
    """
    The alarms of a curve: kind, evaluation and reason, in the order in which they are raised.

    Args:
        series ([`Series`]):
            The curve.
        rule ([`Rule`]):
            The thresholds.
    """
    points = len(series.proxy)
    if not points:
        return []
    since = _since(points, rule.window)
    gold, proxy = _change(series.gold - series.gold[since]), _change(series.proxy - series.proxy[since])
    length, kl = series.length[:, 0], series.kl[:, 0]
    growth = length / np.where(length[since] > 0, length[since], np.nan) - 1
    longer = (growth >= rule.length_pct - _TINY) & ~np.isnan(gold.mean) & ~_rose(gold, rule.delta)
    budget = np.inf if rule.kl_budget is None else rule.kl_budget
    found: list[tuple[Literal["divergence", "length", "drift"], int, str]] = []
    for at in np.flatnonzero(diverged(series.proxy, series.gold, rule))[:1].tolist():
        text = f"proxy {proxy.mean[at]:+.3f} since evaluation {since[at]}, gold {_told(gold, at)}"
        found.append(("divergence", at, text))
    for at in np.flatnonzero(longer)[:1].tolist():
        text = f"replies {growth[at]:+.0%} since evaluation {since[at]}, gold {_told(gold, at)}"
        found.append(("length", at, text))
    for at in np.flatnonzero(kl > budget)[:1].tolist():
        found.append(("drift", at, f"KL {kl[at]:.4g} is past its budget of {budget:.4g}"))
    return sorted(found, key=lambda alarm: alarm[1])


def _told(change: _Change, at: int) -> str:
    mean, low = float(change.mean[at]), float(change.low[at])
    return f"{mean:+.3f}" + ("" if np.isnan(low) else f" [{low:+.3f}, {2 * mean - low:+.3f}]")


def healthy_alarm_rate(series: Series, rule: Rule, *, n_sim: int, seed: int) -> float:
    """
    How often a healthy curve of the same size and rise raises a divergence.

    Proxy and gold pass with the same chance on each prompt, which rises with the proxy of the curve (by 0 to 1 in
    all); each is the mean of 4 rollouts.

    Args:
        series ([`Series`]):
            The curve.
        rule ([`Rule`]):
            The thresholds.
        n_sim (`int`):
            Curves.
        seed (`int`):
            Their seed.
    """
    level = np.nan_to_num(_change(series.proxy).mean, nan=float(np.nanmean(series.proxy)))
    span = float(level.max() - level.min())
    # A proxy of another scale rises from 0.2 to 0.6; one between 0 and 1 as far as it did.
    inside = level.min() >= 0 and level.max() <= 1
    path = level if inside else 0.2 + 0.4 * (level - level.min()) / max(span, _TINY)
    # A healthy agent does not fall back and rise again: only the way up is simulated.
    path = np.maximum.accumulate(path)
    width = series.gold.shape[1]
    prompts = width if width > 1 else _PROMPTS
    return simulated_alarm_rate(path, rule, prompts=prompts, scores=width > 1, n_sim=n_sim, seed=seed)


def simulated_alarm_rate(
    path: FloatArray, rule: Rule, *, prompts: int, scores: bool, n_sim: int, seed: int, repeats: int = _REPEATS
) -> float:
    """
    Share of healthy curves that raise a divergence.

    Args:
        path (`np.ndarray` of shape `(evaluations,)`):
            Mean pass rate at each evaluation.
        rule ([`Rule`]):
            The thresholds.
        prompts (`int`):
            Prompts of the holdout.
        scores (`bool`):
            Whether the rule sees a score per prompt, or their mean.
        n_sim (`int`):
            Curves.
        seed (`int`):
            Their seed.
        repeats (`int`, *optional*, defaults to `4`):
            Rollouts of a prompt at each evaluation.
    """
    generator = np.random.default_rng(seed)
    # Prompts differ in difficulty: chances spread around the path.
    offset = generator.normal(0.0, 0.15, size=(n_sim, 1, prompts))
    chance = np.clip(path[None, :, None] + offset, 0.0, 1.0)
    proxy, gold = (generator.binomial(repeats, chance) / repeats for _ in range(2))
    if not scores:
        proxy, gold = (drawn.mean(axis=-1, keepdims=True) for drawn in (proxy, gold))
    return float(diverged(proxy, gold, rule).any(axis=-1).mean())
