"""Pinned tasks: how long until the first of many is played, and what they cost in memory. One JSON line."""

import argparse
import json
import resource
import sys
import tempfile
import time


# ru_maxrss is in kilobytes on Linux and in bytes on macOS.
_RSS_UNIT = 1e6 if sys.platform == "darwin" else 1e3


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _RSS_UNIT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--budget", type=int, default=16, help="rollouts played")
    args = parser.parse_args()

    from agent import POLICY, TOOLS
    from datasets import Dataset, concatenate_datasets, disable_progress_bars

    import whileai_hf as wai

    disable_progress_bars()
    # Copies of some tasks under other ids: drawing as many would take longer than the rest, and memory with it.
    some = wai.situations(tools=TOOLS, system_prompt=POLICY, n=min(args.tasks, 2_000))
    copies = -(-args.tasks // len(some))
    ids = [f"{name}-{copy}" for copy in range(copies) for name in some["scenario_id"]]
    tasks = concatenate_datasets([some] * copies).remove_columns("scenario_id").add_column("scenario_id", ids)
    with tempfile.TemporaryDirectory() as folder:
        tasks.select(range(args.tasks)).save_to_disk(folder)
        tasks = Dataset.load_from_disk(folder)
        wai.simulate(wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=POLICY, budget=4)  # imports and caches
        agent, first = wai.seeded_agent(TOOLS), []

        def timed(message: str) -> dict:
            first.append(time.perf_counter())
            return agent(message)

        before, started = peak(), time.perf_counter()
        data = wai.simulate(timed, tools=TOOLS, system_prompt=POLICY, tasks=tasks, budget=args.budget)
        seconds = time.perf_counter() - started
    result = {
        "bench": "pinned",
        "tasks": args.tasks,
        "rows": len(data),
        "seconds_to_first_rollout": round(min(first) - started, 2),
        "seconds": round(seconds, 2),
        "rss_growth_mb": round(peak() - before, 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
