"""Programs for the large push: make rows on disk, push them, pull them; each prints one JSON line with its memory."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
from datasets import Dataset
from pushed import graded

from whileai_hf.rows import to_dataset


# Rows made at a time.
_PIECE = 20_000


class Memory:
    """The most memory this process held inside a block, over what it held at its start (MB)."""

    def __enter__(self) -> Memory:
        self._over = threading.Event()
        self._start = self._peak = _resident()
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.grown = {name: round((self._peak[name] - self._start[name]) / 1024) for name in self._peak}
        self.seconds = time.monotonic() - self._started

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            now = _resident()
            self._peak = {name: max(now[name], self._peak[name]) for name in now}


def _resident() -> dict[str, int]:
    """Memory in kB: `own` (anonymous), `all` (with the pages of mapped files)."""
    found = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {"own": int(found["RssAnon"].split()[0]), "all": int(found["VmRSS"].split()[0])}


def make(path: Path, rows: int) -> None:
    """A file of graded rows, four a task."""
    one = to_dataset(graded(_PIECE // 4, run_id="run-large"))
    schema = one.features.arrow_schema
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        for start in range(0, rows, _PIECE):
            table = one.data.table
            for name in ("scenario_id", "prompt"):
                values = [f"{value}-{start}" for value in table.column(name).to_pylist()]
                table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))
            writer.write_table(table.slice(0, rows - start).cast(schema), max_chunksize=1000)


def main(what: str, path: str, rows: str, gate: str) -> None:
    """Makes, pushes or pulls."""
    from whileai_hf.hub.pulling import pull
    from whileai_hf.hub.pushing import push

    if what == "make":
        make(Path(path), int(rows))
        return
    data = Dataset.from_file(path) if what == "push" else None
    push(graded(3), "alice/small")  # everything is imported before memory is looked at
    pull("alice/small")
    with Memory() as memory:
        if what == "push":
            found = push(data, "alice/large", holdout=0.2, gate=gate == "gate", max_shard_size=100_000_000).splits
        else:
            found = {split: len(pull("alice/large", split=split)) for split in ("train", "holdout")}
    print(json.dumps({"splits": found, "grown": memory.grown, "seconds": round(memory.seconds, 1)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
