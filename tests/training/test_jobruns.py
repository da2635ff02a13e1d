"""The run of a job on the Hub, looked at again after a while: by its id, and after an hour in which nobody asked."""

import os
import time
from types import SimpleNamespace

import pytest
from huggingface_hub import JobStage

from whileai_hf.training.launching import jobs
from whileai_hf.training.launching.jobs import JobRun
from whileai_hf.training.runs import get_run, list_runs, training_run


class MadeUpHub:
    """Says how the one job is."""

    stage = JobStage.RUNNING
    asked = 0

    def inspect_job(self, *, job_id, namespace):
        assert (job_id, namespace) == ("job-7", "me")
        self.asked += 1
        return SimpleNamespace(status=SimpleNamespace(stage=self.stage, message="out of time"))


@pytest.fixture
def hub(store, monkeypatch):
    made = MadeUpHub()
    monkeypatch.setattr(jobs, "hub_api", lambda token: made)
    monkeypatch.setattr(jobs, "_EVERY", 0.01)
    return made


@pytest.fixture
def run(hub):
    parameters = {"job": "job-7", "push_to": "me/out", "namespace": "me"}
    opened = training_run("far away", dataset="me/tasks", parameters=parameters)
    opened.change(process=jobs._elsewhere("job-7"))
    return JobRun(opened.record, opened.folder)


def two_hours_pass(run):
    then = time.time() - 7200
    for path in run.folder.iterdir():
        os.utime(path, (then, then))


def test_a_job_nobody_asked_about_is_not_crashed(hub, run):
    two_hours_pass(run)
    assert [each.status for each in list_runs()] == ["failed"]  # nobody asks the Hub for a list
    for found in (run, get_run(run.id)):
        assert isinstance(found, JobRun)
        with pytest.raises(TimeoutError, match=r"still running after 0\.05 seconds"):
            found.wait(0.05)
    assert hub.asked >= 2
    assert [(each.status, each.reason) for each in list_runs()] == [("running", None)]


@pytest.mark.parametrize(
    ("stage", "status", "reason"),
    [(JobStage.CANCELED, "stopped", "out of time"), (JobStage.ERROR, "failed", "out of time")],
)
def test_how_it_ended_is_what_the_hub_says(hub, run, stage, status, reason):
    two_hours_pass(run)
    hub.stage = stage
    assert get_run(run.id).wait(60).status == status
    ended = get_run(run.id)
    assert (ended.status, ended.reason) == (status, reason)
    assert not isinstance(ended, JobRun)  # nothing is left to ask


def test_a_parameter_of_that_name_makes_no_job(store):
    with training_run("mine", parameters={"job": "nightly"}) as run:
        assert not isinstance(get_run(run.id), JobRun)
    assert get_run(run.id).wait(5)["config"]["job"] == "nightly"
