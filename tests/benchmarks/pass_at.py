"""Time of pass_at on a large Dataset and on a list of full row dicts. One JSON line."""

import json
import time

import numpy as np
import pyarrow as pa
from datasets import Dataset

from whileai_hf.measure import pass_at


DATASET_ROWS, LIST_ROWS, K, RUNS = 1_000_000, 50_000, 4, 3


def dataset() -> Dataset:
    """Task ids and rewards."""
    rewards = np.random.default_rng(0).integers(0, 2, DATASET_ROWS).astype(float)
    ids = pa.array([f"sc-{i // K:010x}" for i in range(DATASET_ROWS)])
    return Dataset(pa.table({"scenario_id": ids, "reward": pa.array(rewards)}))


def dicts() -> list[dict]:
    """Rows as wide as rollouts are."""
    rewards = np.random.default_rng(0).integers(0, 2, LIST_ROWS).tolist()
    return [
        {
            "scenario_id": f"sc-{i // K:010x}",
            "prompt": f"Where is order {i // K}?",
            "rollout_index": i % K,
            "run_id": "run",
            "reward": reward,
            "policy_version": "policy",
            "judge_name": "judge",
            "lineage": {"judge_version": "1"},
            "sampling": {"temperature": 0.8},
            "messages": [{"role": "user", "content": "..."}, {"role": "assistant", "content": f"reply {i}"}],
            **{f"other_{column}": i for column in range(16)},
        }
        for i, reward in enumerate(rewards)
    ]


def fastest(rows: Dataset | list[dict]) -> float:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        pass_at(rows)
        times.append(time.perf_counter() - started)
    return round(min(times), 4)


def main() -> None:
    found = {"dataset_rows": DATASET_ROWS, "dataset_s": fastest(dataset())}
    found |= {"shuffled_dataset_s": fastest(dataset().shuffle(seed=0))}
    found |= {"list_rows": LIST_ROWS, "list_s": fastest(dicts())}
    print(json.dumps({"bench": "pass_at", "k": K, "runs": RUNS, **found}))


if __name__ == "__main__":
    main()
