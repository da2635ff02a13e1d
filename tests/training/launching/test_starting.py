"""`train` starts a program, and its run says how that went, also when the program is killed."""

import os
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest
from datasets import Dataset, DatasetDict, load_from_disk
from forked import ForkedPopen

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.launching import starting, train
from whileai_hf.training.launching.locating import find_program, read_header
from whileai_hf.training.runs import get_run, list_runs


# A program that takes the flags of the real ones and trains nothing.
PROGRAM = """
import argparse, pathlib, time
from whileai_hf.training.runs import training_run

def main(argv=None):
    parser = argparse.ArgumentParser()
    for name in ("data", "run", "name", "output_dir", "model_name_or_path", "max_steps", "use_peft", "what"):
        parser.add_argument(f"--{name}")
    asked = parser.parse_args(argv)
    if asked.what == "early":
        raise RuntimeError("before there is a record of its own")
    with training_run(asked.name, dataset=asked.data, resume=asked.run) as run:
        run.log(1, loss=0.5)
        if asked.what == "raise":
            raise ValueError("the data is odd")
        until = time.monotonic() + 60
        while asked.what and asked.what.startswith("wait:") and time.monotonic() < until:
            time.sleep(0.05)
            if pathlib.Path(asked.what[5:]).exists():
                break
        run.finish(summary={"data": asked.data}, adapter=asked.output_dir)

if __name__ == "__main__":
    main()
"""
ROWS = [{"task_id": str(task), "prompt": f"Ask {task}", "reward": task % 2} for task in range(6)]


@pytest.fixture(autouse=True)
def program(store, tmp_path, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    monkeypatch.setattr(starting, "find_program", lambda method: path)


@pytest.fixture
def forked(monkeypatch):
    """Programs start as forks; a test without it starts them as a user does."""
    monkeypatch.setattr(starting, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": ForkedPopen}))


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("where", ["inline", "subprocess"])
def test_a_program_goes_into_the_run_it_was_given(where):
    run = train(ROWS, "kto", base_model="base", where=where, steps=3, wait=True)
    assert (run.status, run["trainer"], run["base_model"]) == ("done", "kto", "base")
    assert run.series[0]["loss"] == 0.5
    assert [one.id for one in list_runs()] == [run.id]
    assert run["dataset"].startswith("list:6:")
    assert load_from_disk(run.summary["data"])["prompt"][:2] == ["Ask 0", "Ask 1"]
    assert run["adapter"].startswith(str(run.folder))


def test_both_splits_reach_the_program():
    parts = DatasetDict(train=Dataset.from_list(ROWS[:4]), holdout=Dataset.from_list(ROWS[4:]))
    run = train(parts, where="inline", epochs=1, flags={"num_train_epochs": None, "max_steps": 2})
    assert {name: len(part) for name, part in load_from_disk(run.summary["data"]).items()} == {
        "train": 4,
        "holdout": 2,
    }


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("raise", "ValueError: the data is odd"),
        ("early", "RuntimeError: before there is a record of its own"),
        ("--nonsense", "the program ended with 2"),
    ],
)
def test_a_program_that_fails_says_why(what, reason, forked):
    flags = {"what": what} if not what.startswith("--") else {"nonsense": 1}
    run = train(ROWS, "kto", flags=flags, wait=True)
    assert run.status == "failed"
    assert reason in run["reason"]
    assert (run.folder / "output.log").read_text()


def test_what_fails_here_is_raised_and_recorded():
    with pytest.raises(ValueError, match="the data is odd"):
        train(ROWS, "kto", where="inline", flags={"what": "raise"})
    assert list_runs()[0].status == "failed"


def test_data_that_is_training_gives_that_run(tmp_path, forked):
    go_on = tmp_path / "go-on"
    first = train(ROWS, "kto", flags={"what": f"wait:{go_on}"})
    until(lambda: get_run(first.id).series)
    second = train(ROWS, "kto", name="another")
    assert second.id == first.id
    go_on.touch()
    assert second.wait(60).status == "done"
    assert train(ROWS, "kto", wait=True).id != first.id


def test_a_killed_program_has_crashed_and_its_points_stay(tmp_path, forked):
    run = train(ROWS, "kto", flags={"what": f"wait:{tmp_path / 'never'}"})
    until(lambda: get_run(run.id).series)
    process = get_run(run.id).record.process
    assert process["pid"] != os.getpid()
    os.kill(process["pid"], signal.SIGKILL)
    assert run.wait(60).status == "failed"
    assert run.series[0]["loss"] == 0.5


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"method": "ppo"}, "'ppo'"),
        ({"where": "moon"}, "'moon'"),
        ({"stepz": 3}, "did you mean 'steps'"),
        ({"lora_r": 3}, "flags={'lora_r'"),
        ({"generations": 2}, "generations= is for grpo"),
        ({"reward": lambda row: 1}, "module:name"),
    ],
)
def test_wrong_knobs_leave_no_record(knobs, message):
    with pytest.raises(ConfigurationError) as error:
        train(ROWS, **knobs)
    assert message in str(error.value)
    assert not list_runs()


@pytest.mark.parametrize("method", ["sft", "dpo", "kto", "reward", "grpo"])
def test_the_programs_are_found_and_say_what_a_job_needs(method):
    header = read_header(find_program(method).read_text(encoding="utf-8"))
    assert header["requires-python"] == ">=3.11"
    assert {"flavor", "timeout", "secrets"} == set(header["tool"]["hf-jobs"])
