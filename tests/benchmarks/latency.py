"""A 50 ms agent, sync and async, at two concurrencies: throughput as a share of the ideal. One JSON line.

The ideal is every worker busy all the time: rows x latency / concurrency. There are 20 rows a worker, so that the
start and the end of a run weigh as they do in practice.
"""

import json
import time

from agent import POLICY, TOOLS, sleeping, sleeping_async
from datasets import disable_progress_bars

import whileai_hf as wai


LATENCY_S = 0.05
CONCURRENCIES = (32, 256)
ROWS_PER_WORKER = 20


def measure(kind: str, concurrency: int) -> dict:
    agent = (sleeping_async if kind == "async" else sleeping)(LATENCY_S)
    budget = concurrency * ROWS_PER_WORKER
    started = time.perf_counter()
    data = wai.simulate(agent, tools=TOOLS, system_prompt=POLICY, budget=budget, concurrency=concurrency)
    seconds = time.perf_counter() - started
    ideal = len(data) * LATENCY_S / concurrency
    return {
        "agent": kind,
        "concurrency": concurrency,
        "rows": len(data),
        "seconds": round(seconds, 3),
        "share_of_ideal": round(ideal / seconds, 3),
    }


def main() -> None:
    disable_progress_bars()
    wai.simulate(sleeping(0.0), tools=TOOLS, system_prompt=POLICY, budget=4)  # imports and caches
    runs = [measure(kind, concurrency) for kind in ("sync", "async") for concurrency in CONCURRENCIES]
    print(json.dumps({"bench": "latency", "latency_s": LATENCY_S, "runs": runs}))


if __name__ == "__main__":
    main()
