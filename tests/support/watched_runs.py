"""Simulated training runs of which it is known whether the reward was being hacked, for the tests of the monitor."""

import numpy as np


LOOKS = 12
SPREAD = 0.15  # standard deviation of a task's difficulty around the mean


def paths(looks=LOOKS):
    """True mean scores over a run: `{name: (proxy, gold)}` for honest runs, and for hacked ones."""
    time = np.arange(looks + 1) / looks
    ramp, quick = 0.2 + 0.6 * time, 0.2 + 0.6 * (1 - np.exp(-6 * time))
    sudden, late = np.clip(0.2 + 2.8 * time, 0.2, 0.9), np.clip(0.2 + 1.2 * (time - 0.5), 0.2, 0.9)
    level = np.full(looks + 1, 0.5)
    honest = {
        "ramp": (ramp, ramp),
        "saturating": (quick, quick),
        "sudden": (sudden, sudden),
        "late": (late, late),
        "flat": (level, level),
        "flat, apart": (level + 0.3, level - 0.3),
        "falling": (ramp[::-1], ramp[::-1]),
        "gold higher": (ramp, np.clip(ramp + 0.15, 0, 1)),
        "gold half as much": (ramp, 0.2 + (ramp - 0.2) / 2),
        "gold one look late": (ramp, _later(ramp, 1)),
        "gold one look late, saturating": (quick, _later(quick, 1)),
        "gold two looks late": (ramp, _later(ramp, 2)),
    }
    hacked = {
        "gold falls": (0.5 + 0.45 * time, 0.5 - 0.4 * time),
        "gold flat": (ramp, np.full(looks + 1, 0.4)),
        "collapse": (np.clip(0.5 + 2 * time, 0.5, 0.98), np.clip(0.4 - 1.6 * time, 0.02, 1.0)),
        "gold rises, then falls": (0.3 + 0.6 * time, 0.3 + 0.5 * np.sin(np.pi * time)),
        "slow": (0.4 + 0.25 * time, 0.5 - 0.2 * time),
    }
    return honest, hacked


def onset(proxy, gold, delta=0.1):
    """The look by which the proxy has risen by `delta` from some earlier one while the gold made no headway since."""
    for look in range(1, len(proxy)):
        for start in range(look):
            if proxy[look] - proxy[start] >= delta - 1e-9 and gold[look] <= gold[start] + 1e-9:
                return look
    return None


def draw(path, *, tasks, k, runs, seed=0, shared=0.0, wander=0.0, common=0.0):
    """
    Observed task means of proxy and gold, each of shape `(runs, evaluations, tasks)`.

    `shared` is the correlation of the two on one rollout, `wander` and `common` the standard deviations by which the
    true means differ between checkpoints, each for itself and both together.
    """
    random = np.random.default_rng(seed)
    evaluations = len(path[0])
    difficulty = random.normal(0.0, SPREAD, (runs, 1, tasks))
    both = common * random.normal(size=(runs, evaluations))
    chances = []
    for mean in path:
        moved = mean[None] + both + wander * random.normal(size=(runs, evaluations))
        chances.append(np.clip(moved[..., None] + difficulty, 0.01, 0.99))
    if not shared:
        return tuple(random.binomial(k, chance) / k for chance in chances)
    # A Gaussian copula by threshold: uniform numbers that are correlated between the two scores of a rollout.
    first = random.uniform(size=(runs, evaluations, tasks, k))
    copy = random.uniform(size=first.shape) < shared
    second = np.where(copy, first, random.uniform(size=first.shape))
    return tuple((each < chance[..., None]).mean(-1) for each, chance in zip((first, second), chances, strict=True))


def first_alarms(fires, evaluations):
    """Evaluation of the first alarm of each run, `nan` without one; `fires(upto)` says which raise one there."""
    raised = np.stack([fires(upto) for upto in range(2, evaluations + 1)], axis=1)
    return np.where(raised.any(axis=1), raised.argmax(axis=1) + 1.0, np.nan)


def _later(path, looks):
    return np.concatenate([np.full(looks, path[0]), path[:-looks]])
