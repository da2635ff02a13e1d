"""Import time of the package over the bare interpreter, in fresh processes. One JSON line."""

import json
import statistics
import subprocess
import sys
import time


RUNS = 11
PROGRAMS = {
    "bare": "pass",
    "import_s": "import whileai_hf",
    "help_s": "import whileai_hf.cli as c\ntry: c.main(['--help'])\nexcept SystemExit: pass",
    "first_use_s": "import whileai_hf; whileai_hf.pass_at",
}


def seconds(program: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    times = {name: [seconds(program) for _ in range(RUNS)] for name, program in PROGRAMS.items()}
    bare = statistics.median(times.pop("bare"))
    found = {name: round(statistics.median(values) - bare, 4) for name, values in times.items()}
    print(json.dumps({"bench": "import_time", "runs": RUNS, "bare_python_s": round(bare, 4), **found}))


if __name__ == "__main__":
    main()
