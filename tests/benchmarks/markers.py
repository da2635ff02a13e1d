"""
Precision and recall of every marker on labelled cases, with Wilson lower bounds: a table and one JSON line.

Usage: `python tests/benchmarks/markers.py [FOLDER]`; without one, each set of the repository. Positive, for precision
and recall, is the bad thing: label 0.
"""

import json
import sys
from pathlib import Path


sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from labelled import FOLDER, MARKERS, SETS, measure, read_cases


def table(folder: Path) -> list[dict]:
    """Prints what the detectors make of the cases of a folder."""
    print(f"{folder.name:<20} {'pos':>4} {'neg':>4}  precision (low)  recall (low)  wrong")
    lines = []
    for marker in sorted(MARKERS):
        if not (folder / f"{marker}.jsonl").is_file():
            continue
        found = measure(marker, read_cases(marker, folder))
        precision, recall = found.lower
        counts = f"{marker:<20} {found.positive:>4} {found.negative:>4}"
        rates = f"{found.precision:.2f} ({precision:.2f})      {found.recall:.2f} ({recall:.2f})  "
        print(f"{counts}  {rates} {' '.join(found.wrong)}")
        lines.append({"marker": marker, "n": found.positive + found.negative, "precision": found.precision,
                      "precision_low": precision, "recall": found.recall, "recall_low": recall})  # fmt: skip
    return lines


def main(arguments: list[str]) -> None:
    """Prints the tables and the line."""
    folders = [Path(name) for name in arguments] or [FOLDER / name for name in SETS]
    results = {folder.name: table(folder) for folder in folders}
    print(json.dumps({"bench": "markers", "results": results}))


if __name__ == "__main__":
    main(sys.argv[1:])
