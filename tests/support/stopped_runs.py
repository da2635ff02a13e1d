"""Rows of simulated runs that stopped groups by the rules the engine has."""

import numpy as np
import pyarrow as pa
from datasets import Dataset


K = 8


def table(passed, n, status, probe, chance, **columns):
    """Rows of groups of which the first `n` rollouts were run."""
    group = np.repeat(np.arange(n.size), n)
    index = np.concatenate([np.arange(size) for size in n])
    names = pa.array([f"t{i}" for i in range(n.size)])
    kept = {name: pa.array(values).take(pa.array(group)) for name, values in columns.items()}
    return Dataset(
        pa.table(
            {
                "scenario_id": names.take(pa.array(group)),
                "prompt": names.take(pa.array(group)),
                "rollout_index": index,
                "reward": passed[group, index].astype(float),
                "group_status": pa.array(list(status), pa.string()).take(pa.array(group)),
                "group_planned_k": np.full(group.size, passed.shape[1]),
                "group_probe": np.full(group.size, probe),
                "group_inclusion_p": pa.array(list(chance), pa.float64()).take(pa.array(group)),
                **kept,
            }
        )
    )


def two_stage(random, rates, k=K, probe=3, carry=0.1, unanimous=None):
    """Probe; fill to k where it disagrees, and `carry` of the rest."""
    passed = random.random((rates.size, k)) < rates[:, None]
    if unanimous is None:
        unanimous = np.isin(passed[:, :probe].sum(axis=1), (0, probe))
    filled = ~unanimous | (random.random(rates.size) < carry)
    status = np.where(filled, "complete", "stopped")
    return table(passed, np.where(filled, k, probe), status, probe, np.where(unanimous, carry, 1.0))


def successive(random, rates, k=K, probe=2):
    """
    Probe; fill to k where it disagrees, else one more while the chance of a split on it (measured on the groups
    before, with prior 1 / (n + 2)) beats the share of mixed groups over the size of the probe.
    """
    passed = random.random((rates.size, k)) < rates[:, None]
    n, split, seen, mixed = np.full(rates.size, k), np.zeros(k), np.zeros(k), 0
    for group, verdicts in enumerate(passed.tolist()):
        if len(set(verdicts[:probe])) > 1:
            mixed += 1
            continue
        for size in range(probe, k):
            if (split[size] + 1 / (size + 2)) / (seen[size] + 1) <= (mixed + 1) / (group + 3) / probe:
                n[group] = size
                break
            seen[size] += 1
            if verdicts[size] != verdicts[0]:
                split[size] += 1
                break
    return table(passed, n, np.where(n == k, "complete", "stopped"), probe, [None] * n.size)


RULES = {"two_stage": two_stage, "successive": successive}
