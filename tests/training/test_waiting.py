"""`run.wait()`: it returns when the run has ended, and does not outlast everybody who could end it."""

import os
import subprocess
import sys
import threading
import time

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.runs import get_run, training_run, waiting
from whileai_hf.training.runs.run import TrainingRun


pytestmark = pytest.mark.usefixtures("store")


class Clock:
    """Time that passes only while somebody sleeps, and what happens meanwhile."""

    def __init__(self):
        self.began = self.now = time.time()
        self.happens = []

    def time(self):
        return self.now

    monotonic = time

    def sleep(self, seconds):
        self.now += seconds
        while self.happens and self.happens[0][0] <= self.now - self.began:
            self.happens.pop(0)[1](self.now)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(waiting, "time", made)
    return made


def test_a_run_nobody_trains_is_given_up(clock):
    run = training_run("nobody")
    expected = rf"{run.id} has nobody to wait for.*for 600 seconds; call run\.finish\(\)"
    with pytest.raises(TimeoutError, match=expected):
        run.wait()
    assert 599 < clock.now - clock.began < 601
    assert get_run(run.id).status == "running"  # looked at, not touched: a thread may still come
    with pytest.raises(TimeoutError, match=expected):
        get_run(run.id).wait()
    assert clock.now - clock.began < 601  # silent for long enough before anybody waited


@pytest.mark.parametrize("quiet", (600, None))
def test_the_timeout_comes_first_where_it_is_shorter(clock, quiet):
    run = training_run("short")
    with pytest.raises(TimeoutError, match=r"still running after 90\.5 seconds"):
        run.wait(90.5, quiet=quiet)
    assert clock.now - clock.began == pytest.approx(90.5)


@pytest.mark.parametrize("sign", ("points.jsonl", "rollouts-0.jsonl", "output.log"))
def test_a_thread_that_trains_is_waited_for(clock, sign):
    """Longer than the run may be quiet, as long as it is not."""
    run = training_run("thread")

    def write(now):
        (run.folder / sign).touch()
        os.utime(run.folder / sign, (now, now))

    clock.happens = [(at, write) for at in (500, 1000, 1500, 2000)]
    clock.happens.append((2500, lambda now: get_run(run.id).finish()))
    assert get_run(run.id).wait().status == "done"
    assert 2499 < clock.now - clock.began < 2502


def test_another_process_is_waited_for_however_quiet(store, caplog):
    program = (
        "import sys, time; from whileai_hf.training.runs import training_run\n"
        "run = training_run('quiet'); print(run.id, flush=True)\n"
        "sys.stdin.readline(); run.finish()"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        run = get_run(child.stdout.readline().strip())
        threading.Timer(1.5, lambda: (child.stdin.write("\n"), child.stdin.flush())).start()
        assert run.wait(60, quiet=0.05).status == "done"
        said = [message for message in caplog.messages if "lives and has written nothing for 0.05 seconds" in message]
        assert len(said) == 1 and f"process {child.pid}" in said[0]
    finally:
        child.kill()
        child.wait()


def test_the_process_beside_the_first_sees_the_end():
    """It writes nothing, and reads what the first one wrote."""
    first = training_run("two")
    beside = TrainingRun(first.record, first.folder, writes=False)
    threading.Timer(0.2, first.finish).start()
    assert beside.wait(60).status == "done"


def test_a_silent_run_without_a_record_is_given_up(tmp_path):
    """On a machine that does not see the first process's record."""
    run = TrainingRun(training_run("far").record, tmp_path / "run-elsewhere", writes=False)
    with pytest.raises(TimeoutError, match="nobody to wait for"):
        TrainingRun(run.record, run.folder, writes=False).wait()


@pytest.mark.parametrize("quiet", (0, -1, True, "600", float("nan")))
def test_what_is_no_time(quiet):
    with pytest.raises(ConfigurationError, match="no count of seconds"):
        training_run("wrong").wait(quiet=quiet)
