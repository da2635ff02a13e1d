import os
import signal
import subprocess
import sys

import pytest

from whileai_hf.errors import DataError
from whileai_hf.store import (
    Journal,
    PrivilegedWriter,
    read_lines,
    read_privileged,
    read_reports,
    run_folder,
    write_report,
)


def test_lines_come_back(tmp_path):
    with Journal(tmp_path / "a" / "rows.jsonl") as journal:
        for line in (b"one", b"two"):
            journal.append(line)
    assert list(read_lines(tmp_path / "a" / "rows.jsonl")) == [b"one", b"two"]


@pytest.mark.parametrize("size", [0, 10, 200_000])
def test_a_torn_line_is_cut_and_the_rest_kept(tmp_path, size):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"one\n" + b"x" * size)
    assert list(read_lines(path)) == [b"one"]
    with Journal(path, append=True) as journal:
        journal.append(b"two")
    assert list(read_lines(path)) == [b"one", b"two"]


def test_without_append_the_file_starts_anew(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"old\n")
    Journal(path).close()
    assert path.read_bytes() == b""


def test_a_killed_writer_loses_nothing_acknowledged(tmp_path):
    code = (
        "import sys\nfrom whileai_hf.store import Journal\njournal = Journal(sys.argv[1])\n"
        "for n in range(10**9):\n    journal.append(b'%d' % n)\n    print(n, flush=True)\n"
    )
    path = tmp_path / "rows.jsonl"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
        for _ in range(500):
            acknowledged = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
    kept = [int(line) for line in read_lines(path)]
    assert kept[: acknowledged + 1] == list(range(acknowledged + 1))


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot write rows to .*choose another output"):
        Journal(tmp_path / "file" / "rows.jsonl")


def test_the_run_store(tmp_path, monkeypatch):
    assert read_reports("run-never-seen") == {}
    write_report("run-1", "drawn", {"n_rows": 3})
    assert read_reports("run-1") == {"drawn": {"n_rows": 3}}
    for name in ("a", "b"):
        writer = PrivilegedWriter("run-1", name)
        writer.add(b'["sc-%s", "p", {"reference": "r"}, []]' % name.encode())
        writer.close()
    assert set(read_privileged("run-1")) == {("sc-a", "p"), ("sc-b", "p")}
    assert read_privileged("run-none") == {}
    with pytest.raises(DataError, match="cannot name a folder"):
        run_folder("../escape")
