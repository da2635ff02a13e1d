"""A run that is cut off anywhere is finished without playing anything twice, and ends up the same."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.rows import view


PROGRAM = """
    import sys, time
    import whileai_hf as wai

    TOOLS = [{"name": "get_order", "description": "Look up an order by id.",
              "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}]

    class Slow:
        # Keeps count of its calls outside of the process, which may be killed.
        def __init__(self):
            self.agent = wai.seeded_agent(TOOLS)

        def __call__(self, message):
            with open("calls.log", "a") as log:
                log.write("x\\n")
            time.sleep(0.004)
            return self.agent(message)

    def judge(row):
        return len(row["final_text"]) % 2

    output, resume, grader = sys.argv[1], sys.argv[2] or None, judge if sys.argv[3] else None
    wai.simulate(Slow(), tools=TOOLS, system_prompt="Help customers.", mode="rl", repeats=8, budget=240, concurrency=4,
                 output=output, resume=resume, grader=grader)
"""


def start(folder, output, resume="", grader=""):
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    environment = {**os.environ, "PYTHONPATH": str(Path(wai.__file__).parents[1]), "HF_HOME": str(folder / "hf")}
    command = [sys.executable, "program.py", output, resume, grader]
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE)


def finish(process):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()


def calls(folder):
    return len((folder / "calls.log").read_text().splitlines())


@pytest.mark.parametrize("grader", ["", "judged"])
def test_killed_at_a_random_point_and_resumed(tmp_path, grader):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir(), cut.mkdir()
    finish(start(whole, "rows.jsonl", grader=grader))

    process = start(cut, "rows.jsonl", grader=grader)
    landed, stop_after = 0, random.SystemRandom().randint(1, 200)
    deadline = time.monotonic() + 60
    while landed < stop_after and process.poll() is None and time.monotonic() < deadline:
        landed = (cut / "rows.jsonl").read_bytes().count(b"\n") if (cut / "rows.jsonl").exists() else 0
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = (cut / "rows.jsonl").read_bytes().count(b"\n")
    assert kept >= landed >= 1
    played = calls(cut)

    finish(start(cut, "rows.jsonl", resume="rows.jsonl", grader=grader))
    assert (cut / "rows.jsonl").read_bytes() == (whole / "rows.jsonl").read_bytes()
    total = calls(whole)
    assert calls(cut) - played == total - kept  # not one of the kept rollouts is played again


TOOLS = [{"name": "get_order", "parameters": {"type": "object", "properties": {}}}]


def run(agent, **knobs):
    return wai.simulate(agent, tools=TOOLS, system_prompt="Help.", **{"budget": 30} | knobs)


def hello(message):
    return {"steps": [], "final_text": f"Hello, {message}"}


def test_resuming_into_another_file_keeps_the_first_and_takes_its_rows(tmp_path):
    first, second = str(tmp_path / "first.jsonl"), str(tmp_path / "second.jsonl")
    whole = run(hello, output=first)
    lines = Path(first).read_bytes().splitlines(keepends=True)
    Path(first).write_bytes(b"".join(lines[:11]) + lines[11][:40])  # the last line is torn

    data = run(hello, output=second, resume=first)
    assert Path(second).read_bytes() == b"".join(lines)
    assert list(view(data).rows()) == list(view(whole).rows())
    assert len(Path(first).read_bytes().splitlines()) == 12


def test_an_interrupt_keeps_what_has_landed(tmp_path):
    path = str(tmp_path / "rows.jsonl")
    seen = []

    def interrupted(message):
        seen.append(message)
        if len(seen) == 12:
            raise KeyboardInterrupt
        return hello(message)

    with pytest.raises(KeyboardInterrupt):
        run(interrupted, output=path, concurrency=1)
    rows = [json.loads(line) for line in Path(path).read_bytes().splitlines()]
    assert 1 <= len(rows) <= 11
    assert [row["prompt"] for row in rows] == seen[: len(rows)]
    assert list(tmp_path.iterdir()) == [Path(path)]


def test_what_cannot_be_resumed_says_why(tmp_path):
    path = str(tmp_path / "rows.jsonl")
    run(hello, output=path)
    with pytest.raises(DataError, match=r"holds rows of run-.* and this call is run-.*differ"):
        run(hello, resume=path, seed=1)
    with pytest.raises(DataError, match="holds rows of run-"):
        wai.simulate(hello, tools=[{"name": "other"}], system_prompt="Help.", budget=30, resume=path)
    with pytest.raises(SourceNotFoundError, match="is not a file"):
        run(hello, resume=str(tmp_path / "absent.jsonl"))
    (tmp_path / "notes.jsonl").write_text("hello\n")
    with pytest.raises(DataError, match="line 1, is not a row of a run"):
        run(hello, resume=str(tmp_path / "notes.jsonl"))


def test_the_clock_ends_a_run():
    def slow(message):
        time.sleep(0.02)
        return hello(message)

    data = run(slow, budget=100_000, time_budget=0.6, concurrency=4)
    report = wai.run_report(data)
    assert report.stopped_because == "time_budget" and 20 < len(data) < 200
    assert report.search["rollouts_abandoned"] == 0 and any("time_budget" in warning for warning in report.warnings)

    def hung(message):
        time.sleep(30 if "order" in message else 0.02)
        return hello(message)

    started = time.perf_counter()
    data = run(hung, budget=100_000, time_budget=0.5, stop_grace=0.2, concurrency=4)
    assert time.perf_counter() - started < 5
    report = wai.run_report(data)
    assert report.search["rollouts_abandoned"] >= 1 and any("abandoned" in warning for warning in report.warnings)
    with pytest.raises(ConfigurationError, match="time_budget=3 with reproducible=True"):
        run(hello, time_budget=3, reproducible=True)
    assert len(run(hello, time_budget=0)) == 30


def test_other_tasks_and_unfinished_files_are_not_written_over(tmp_path):
    path = str(tmp_path / "rows.jsonl")
    run(hello, tasks=["One?", "Two?"], output=path)
    with pytest.raises(DataError, match="holds 2 rows of tasks that are not among those"):
        run(hello, tasks=["Three?"], resume=path)
    assert len(Path(path).read_bytes().splitlines()) == 2
    with pytest.raises(DataError, match="holds rows of run-"):
        run(hello, tasks=["One?", "Two?"], resume=path, runs=3)

    run(hello, output=path)  # a finished file is replaced, as any output is
    rows = [json.loads(line) for line in Path(path).read_bytes().splitlines()[:7]]
    cut = b"".join(json.dumps({k: v for k, v in row.items() if k != "group_status"}).encode() + b"\n" for row in rows)
    Path(path).write_bytes(cut.replace(b'": ', b'":'))
    with pytest.raises(ConfigurationError, match="holds the rows of a run that was cut off"):
        run(hello, output=path)
    assert len(run(hello, resume=path)) == 30 and len(Path(path).read_bytes().splitlines()) == 30
