"""Offline simulation: rows per second, whether the cost stays linear, and how memory grows. One JSON line.

Every size runs in a process of its own, since peak memory never goes down again within one.
"""

import argparse
import json
import resource
import subprocess
import sys
import time


SIZES = (1_000, 20_000)
# ru_maxrss is in kilobytes on Linux and in bytes on macOS.
_RSS_UNIT = 1e6 if sys.platform == "darwin" else 1e3


def run_once(mode: str, budget: int) -> dict:
    from agent import POLICY, TOOLS
    from datasets import disable_progress_bars

    import whileai_hf as wai

    disable_progress_bars()
    repeats = {"repeats": 4} if mode == "rl" else {}
    wai.simulate(wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=POLICY, budget=4)  # imports and caches
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    data = wai.simulate(
        wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=POLICY, mode=mode, budget=budget, **repeats
    )
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "budget": budget,
        "rows": len(data),
        "distinct_prompts": len(data.unique("prompt")),
        "rows_per_s": round(len(data) / seconds, 1),
        "peak_rss_mb": round(peak / _RSS_UNIT, 1),
        "rss_before_mb": round(before / _RSS_UNIT, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("explore", "rl"), default="explore")
    parser.add_argument("--budget", type=int, help="run this size in this process only")
    args = parser.parse_args()
    if args.budget is not None:
        print(json.dumps(run_once(args.mode, args.budget)))
        return
    found = []
    for size in SIZES:
        command = [sys.executable, __file__, "--mode", args.mode, "--budget", str(size)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found.append(json.loads(output.splitlines()[-1]))
    small, large = found[0], found[-1]
    result = {
        "bench": "simulate",
        "mode": args.mode,
        "runs": found,
        "speed_ratio_large_to_small": round(large["rows_per_s"] / small["rows_per_s"], 3),
        "rss_growth_mb": round(large["peak_rss_mb"] - small["peak_rss_mb"], 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
