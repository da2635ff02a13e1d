"""Which run one gets, and how each of them ended."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from datasets import Dataset
from forked import ForkedPopen

from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.rows import to_dataset
from whileai_hf.training.runs import get_run, list_runs, training_run
from whileai_hf.training.runs.identity import dataset_identity
from whileai_hf.training.runs.record import change_record


ROWS = [{"prompt": "a", "n": 1}, {"prompt": "b", "n": 2}]


def test_done_failed_and_stopped():
    with training_run("done") as done:
        done.finish(summary={"final_loss": 0.1}, adapter="repo/adapter")
    with pytest.raises(ZeroDivisionError), training_run("failed") as failed:
        failed.log(1, loss=1 / 0)
    with pytest.raises(KeyboardInterrupt), training_run("stopped") as stopped:
        raise KeyboardInterrupt
    assert [(r.status, r.reason) for r in map(get_run, (done.id, failed.id, stopped.id))] == [
        ("done", None),
        ("failed", "ZeroDivisionError: division by zero"),
        ("stopped", "interrupted"),
    ]
    assert get_run(done.id).summary["final_loss"] == 0.1
    assert get_run(done.id).adapter == "repo/adapter"


@pytest.mark.parametrize(
    ("calls", "ending"),
    [
        ([("stopped", "alarm"), ("done", None)], ("stopped", "alarm")),
        ([("failed", "x"), ("stopped", "y")], ("failed", "x")),
        ([("done", None), ("failed", "late")], ("failed", "late")),
        ([("stopped", None), ("done", "why")], ("stopped", "why")),
    ],
)
def test_what_went_wrong_stays(calls, ending):
    run = training_run("endings")
    for status, reason in calls:
        run.finish(status, reason=reason, summary={status: 1})
    read = get_run(run.id)
    assert (read.status, read.reason) == ending
    assert {status for status, _ in calls} <= set(read.summary)


def test_an_ending_that_is_none():
    with pytest.raises(ConfigurationError, match="done, failed, stopped"):
        training_run("x").finish("finished")


def test_data_that_trains_already_gives_that_run():
    first = training_run("a", dataset=Dataset.from_list(ROWS))
    again = training_run("a", dataset=Dataset.from_list(ROWS))
    assert again.id == first.id
    assert training_run("b", dataset=Dataset.from_list(ROWS)).id == first.id
    assert training_run("a", dataset=Dataset.from_list(ROWS), fresh=True).id != first.id
    assert training_run("a", dataset=Dataset.from_list(ROWS[:1])).id != first.id


def test_runs_without_data_are_never_the_same():
    assert training_run("a").id != training_run("a").id


def test_data_that_was_trained_on_starts_anew():
    with training_run("a", dataset="repo/a") as first:
        first.log(1, loss=1.0)
    second = training_run("a", dataset="repo/a")
    assert second.id != first.id and second.series == []
    assert [run.id for run in list_runs(name="a")] == [second.id, first.id]
    assert [run.id for run in list_runs(status="done")] == [first.id]


def test_ids_are_a_function_of_name_data_and_count(store, tmp_path, monkeypatch):
    ids = [training_run("a", dataset=ROWS, fresh=True).id for _ in range(3)]
    monkeypatch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", str(tmp_path / "elsewhere"))
    assert [training_run("a", dataset=ROWS, fresh=True).id for _ in range(3)] == ids
    assert len(set(ids)) == 3
    assert all(len(run_id) == len("run-") + 10 for run_id in ids)


def test_threads_that_start_at_once_get_one_run():
    gate = threading.Barrier(8)

    def start(_):
        gate.wait()
        return training_run("a", dataset="repo/a").id

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(start, range(8)))) == 1


def test_going_on_with_an_ended_run():
    with training_run("a", dataset="repo/a") as first:
        first.log(1, loss=1.0)
    for resume in (True, first.id):
        again = training_run("a", dataset="repo/a", resume=resume)
        assert (again.id, get_run(first.id).status) == (first.id, "running")
        again.finish()
    assert training_run("other", dataset="repo/a", resume=True).id != first.id
    with pytest.raises(SourceNotFoundError):
        training_run("a", resume="run-0000000000")


def other_process(program, **environment):
    return ForkedPopen(
        [sys.executable, "-c", program], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    )


def test_a_run_of_another_process():
    program = (
        "import sys; from whileai_hf.training.runs import training_run\n"
        "run = training_run('a', dataset='repo/a'); run.log(7, loss=0.5); print(run.id, flush=True)\n"
        "sys.stdin.readline(); run.finish(summary={'x': 1})"
    )
    child = ForkedPopen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        run_id = child.stdout.readline().strip()
        mine = training_run("a", dataset="repo/a")
        assert (mine.id, mine.status, mine.series) == (run_id, "running", [{"step": 7, "loss": 0.5}])
        with pytest.raises(ConfigurationError, match="another process"):
            training_run("a", resume=run_id)
        with pytest.raises(TimeoutError):
            mine.wait(timeout=0.1)
        child.stdin.write("\n")
        child.stdin.flush()
        assert mine.wait(timeout=60).status == "done"
        assert mine.summary["x"] == 1
    finally:
        child.kill()
        child.wait()


def test_a_killed_process_leaves_every_point(store):
    """Killed for real, while it logs as fast as it can: each point it had announced is there."""
    program = (
        "from whileai_hf.training.runs import training_run\n"
        "run = training_run('a', dataset='repo/a', total_steps=10**6); print(run.id, flush=True)\n"
        "for step in range(10**6):\n"
        "    run.log(step, loss=1 / (step + 1))\n"
        "    print(step, flush=True)\n"
    )
    child = other_process(program)
    run_id = child.stdout.readline().strip()
    seen = [int(child.stdout.readline()) for _ in range(2000)]
    child.kill()  # SIGKILL
    seen += [int(line) for line in child.stdout if line.endswith("\n")]
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    # Dead and not waited for: a zombie, which trains nothing any more.
    assert get_run(run_id).status == "failed"
    child.wait()
    run = get_run(run_id)
    assert run.reason.startswith(f"crashed: process {child.pid} on ")
    assert [point["step"] for point in run.series][: len(seen)] == seen
    assert len(run.series) - len(seen) in (0, 1)
    assert all(point["loss"] == 1 / (point["step"] + 1) for point in run.series)
    started_anew = training_run("a", dataset="repo/a")
    assert started_anew.id != run_id
    assert training_run("a", resume=run_id).series == run.series


def test_a_torn_line_is_left_out_and_written_over():
    run = training_run("torn")
    run.log(1, loss=1.0)
    run.close()
    with (run.folder / "points.jsonl").open("ab") as file:
        file.write(b'{"step":2,"lo')
    assert get_run(run.id).series == [{"step": 1, "loss": 1.0}]
    run.log(3, loss=0.5)
    assert get_run(run.id).series == [{"step": 1, "loss": 1.0}, {"step": 3, "loss": 0.5}]


def test_processes_that_train_together(monkeypatch):
    """The first one writes; the others find its run and log nothing."""
    for name, value in {"RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}.items():
        monkeypatch.setenv(name, value)
    first = training_run("ddp", dataset="repo/a")
    monkeypatch.setenv("RANK", "1")
    second = training_run("ddp", dataset="repo/a")
    second.log(1, loss=9.0)
    second.note("not mine")
    second.alarm("length", 1, "not mine")
    second.begin(1)
    second.finish("failed")
    second.holdout(0.1, 0.2)
    first.log(1, loss=1.0)
    read = get_run(first.id)
    assert second.id == first.id and second.folder == first.folder
    assert (read.status, read.series, read.notes, read.alarms, read.word) == (
        "running",
        [{"step": 1, "loss": 1.0}],
        [],
        [],
        None,
    )


def test_a_machine_that_cannot_see_the_first_process_is_silent(monkeypatch, store):
    monkeypatch.setattr("whileai_hf.training.runs.opening._WAIT_FOR_FIRST", 0.0)
    monkeypatch.setenv("RANK", "3")
    run = training_run("ddp", dataset="repo/a")
    run.log(1, loss=1.0)
    run.finish()
    assert run.series == [] and list_runs() == []


def test_notes_and_alarms_are_on_the_summary():
    with training_run("said", total_steps=4) as run:
        run.log(2, loss=1.0)
        run.note("first\nthought \ud800")
        run.alarm("divergence", 2, "proxy up\nby 0.2")
        run.finish("stopped", reason="divergence")
    read = get_run(run.id)
    assert read.summary["notes"] == ["first\nthought \ufffd"]
    assert read.summary["alarms"] == [{"kind": "divergence", "step": 2, "message": "proxy up by 0.2"}]
    assert str(read).splitlines()[1:] == [
        f"said ({run.id}): stopped, divergence",
        "step 2 of 4, 1 points",
        "alarm: divergence at step 2: proxy up by 0.2",
        "note: first",
        "thought \ufffd",
    ]


def test_keys():
    with training_run("keys", dataset="repo/a", base_model="m", trainer="trl", parameters={"seed": 3}) as run:
        run.log(1, loss=1.0)
    read = get_run(run.id)
    assert read["series"] == [{"step": 1, "loss": 1.0}]
    assert (read["status"], read["base_model"], read["config"]["seed"]) == ("done", "m", 3)
    assert read.url.startswith("file://") and read.id in read.url
    json.dumps(read.to_dict(), allow_nan=False)
    with pytest.raises(KeyError, match="it has series"):
        read["seris"]


def test_two_writers_keep_each_other_s_changes():
    run = training_run("both")
    other = get_run(run.id)
    other.holdout(0.1, 0.9)
    run.finish(summary={"a": 1})
    assert (run.word, get_run(run.id).word) == ("Better", "Better")


def test_an_unreadable_record_hides_no_other():
    good, bad = training_run("good"), training_run("bad")
    (bad.folder / "run.json").write_text('{"id": "ru')
    assert [run.id for run in list_runs()] == [good.id]
    with pytest.raises(DataError, match="cannot be read"):
        get_run(bad.id)


def test_a_record_of_another_version_is_read(store):
    run = training_run("later")
    record = json.loads((run.folder / "run.json").read_text())
    (run.folder / "run.json").write_text(json.dumps({**record, "weather": "fine"}))
    assert get_run(run.id).name == "later"


def test_a_summary_that_is_none():
    with pytest.raises(ConfigurationError, match="summary is a str"):
        training_run("a").finish(summary="good")


def test_names_of_every_kind():
    with training_run("größer \ud800\n!", parameters={"path": os, "deep": {1: float("nan")}}) as run:
        pass
    read = get_run(run.id)
    assert read.name == run.name == "größer \ufffd\n!"
    assert read.record.config["deep"] == {"1": None}
    assert [r.id for r in list_runs(name=run.name)] == [run.id]


def test_an_unknown_id_names_the_nearest():
    run = training_run("near")
    with pytest.raises(SourceNotFoundError, match=f"did you mean {run.id}"):
        get_run(run.id[:-1] + "x")
    for wrong in ("..", "a/b", ""):
        with pytest.raises(DataError):
            get_run(wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "give the run a name"),
        ({"name": 3}, "give the run a name"),
        ({"name": "a", "total_steps": 0}, "total_steps"),
        ({"name": "a", "total_steps": True}, "total_steps"),
        ({"name": "a", "report_to": "wandb"}, "report_to"),
        ({"name": "a", "report_two": "trackio"}, "did you mean 'report_to'"),
        ({"name": "a", "dataset": 3}, "dataset is a int"),
        ({"name": "a", "parameters": [1]}, "parameters is a list"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        training_run(**arguments)
    assert list_runs() == []


def test_which_data_is_the_same(tmp_path):
    rows = Dataset.from_list(ROWS)
    assert dataset_identity(rows) == dataset_identity(Dataset.from_list(ROWS))
    assert dataset_identity(rows) == dataset_identity(
        Dataset.from_list([{"n": 1, "prompt": "a"}, {"n": 2, "prompt": "b"}])
    )
    twice = Dataset.from_list(ROWS + ROWS)
    json_rows = to_dataset([{"prompt": f"p{n}", "messages": [{"role": "user", "content": "x" * n}]} for n in range(5)])
    tail = to_dataset([{"prompt": f"p{n}", "messages": [{"role": "user", "content": "x" * n}]} for n in (3, 4)])
    assert dataset_identity(json_rows.select([3, 4])) == dataset_identity(tail)
    assert dataset_identity(twice.select([0, 1])) == dataset_identity(twice.select([2, 3])) == dataset_identity(rows)
    different = [rows.select([1, 0]), rows.select([0]), rows.remove_columns("n"), twice]
    assert len({dataset_identity(other) for other in [rows, *different]}) == 5
    path = tmp_path / "rows.jsonl"
    path.write_text("{}")
    assert dataset_identity(str(path)) == dataset_identity(path) == f"file:{path}"
    assert dataset_identity("org/name") == "org/name"
    assert dataset_identity(None) is dataset_identity(rows.to_iterable_dataset()) is None


def test_a_record_is_never_seen_half_written():
    run = training_run("racy")
    seen = []

    def read():
        for _ in range(200):
            seen.append(get_run(run.id).record.total_steps)

    def write(offset):
        for step in range(50):
            change_record(run.folder, lambda r, n=step + offset: type(r)(**{**vars(r), "total_steps": n + 1}))

    threads = [threading.Thread(target=read), *(threading.Thread(target=write, args=(n,)) for n in (0, 1000))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 200
