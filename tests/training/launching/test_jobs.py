"""Jobs on the Hub, with a Hub that is made up: what is sent, and how the run follows the job."""

from types import SimpleNamespace

import orjson
import pytest
from huggingface_hub import JobStage

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.launching import JobRun, jobs, train
from whileai_hf.training.launching.publishing import RECORD_FILE, record_bytes
from whileai_hf.training.runs import get_run, list_runs, training_run


class MadeUpHub:
    """Takes jobs; `stage` is what they say of themselves, `pushed` what they left in the model repo."""

    token = "hf_mine"

    def __init__(self):
        self.sent, self.stage, self.pushed = [], JobStage.RUNNING, None

    def run_uv_job(self, script, **launch):
        self.sent.append({"script": script, **launch})
        return self._job()

    def inspect_job(self, *, job_id, namespace):
        assert (job_id, namespace) == ("job-1", "me")
        return self._job()

    def _job(self):
        status = SimpleNamespace(stage=self.stage, message="out of memory")
        return SimpleNamespace(
            id="job-1", url="https://huggingface.co/jobs/me/job-1", status=status, owner=SimpleNamespace(name="me")
        )

    def hf_hub_download(self, repo, path):
        assert (repo, path) == ("me/out", RECORD_FILE)
        if self.pushed is None:
            raise ConnectionError("no such file")
        return self.pushed


@pytest.fixture
def hub(store, monkeypatch):
    made = MadeUpHub()
    monkeypatch.setattr(jobs, "hub_api", lambda token: made)
    monkeypatch.setattr(jobs, "_EVERY", 0.01)
    return made


def start(**knobs):
    return train("me/refunds", "grpo", base_model="Qwen/Qwen3-0.6B", where="jobs", **{"push_to": "me/out", **knobs})


def test_what_is_sent(hub):
    run = start(steps=5, flavor="h200", reward="hf:me/judge")
    (sent,) = hub.sent
    assert sent["script"].endswith("trainers/grpo.py")
    flags = " ".join(sent["script_args"])
    assert "--data me/refunds" in flags
    assert "--hub_model_id me/out" in flags
    assert "--run" not in sent["script_args"]
    assert (sent["flavor"], sent["timeout"], sent["secrets"]) == ("h200", "6h", {"HF_TOKEN": "hf_mine"})
    assert isinstance(run, JobRun)
    assert (run.status, run.url) == ("running", "https://huggingface.co/jobs/me/job-1")
    assert get_run(run.id).status == "running"
    assert "hf_mine" not in (run.folder / "run.json").read_text()


def test_a_job_that_is_done_brings_its_record(hub, tmp_path):
    run = start()
    assert run.refresh().status == "running"
    told = training_run("there", fresh=True)
    told.log(1, loss=0.5)
    told.holdout(0.25, 0.75, n_tasks=60)
    told.finish(summary={"steps": 1})
    (tmp_path / "run.json").write_bytes(record_bytes(told))
    hub.pushed, hub.stage = str(tmp_path / "run.json"), JobStage.COMPLETED
    assert run.wait(5).status == "done"
    again = get_run(run.id)
    assert (again.word, again.series[0]["loss"], again.summary["steps"]) == ("Better", 0.5, 1)
    assert again["adapter"] == "https://huggingface.co/me/out"
    assert orjson.loads((run.folder / "run.json").read_bytes())["config"]["job"] == "job-1"


@pytest.mark.parametrize(
    ("stage", "status", "reason"),
    [
        (JobStage.ERROR, "failed", "out of memory"),
        (JobStage.CANCELED, "stopped", "out of memory"),
        (JobStage.COMPLETED, "failed", "pushed no record"),
    ],
)
def test_a_job_that_ends_otherwise(hub, stage, status, reason):
    run = start()
    hub.stage = stage
    assert run.wait(5).status == status
    assert reason in run["reason"]


def test_waiting_ends(hub):
    with pytest.raises(TimeoutError):
        start().wait(0.05)


@pytest.mark.parametrize(
    ("data", "knobs", "message"),
    [
        ([{"prompt": "x"}], {}, "what is on the Hub only"),
        ("me/refunds", {"push_to": None}, "needs push_to="),
        ("me/refunds", {"reward": "rewards:short"}, "reward is code of this machine"),
        ("me/refunds", {"base_model": "."}, "base_model='.' is on this machine"),
    ],
)
def test_what_a_job_cannot_reach_is_refused(hub, data, knobs, message):
    with pytest.raises(ConfigurationError) as error:
        train(data, "grpo", where="jobs", **{"push_to": "me/out", **knobs})
    assert message in str(error.value)
    assert not hub.sent
    assert not list_runs()
