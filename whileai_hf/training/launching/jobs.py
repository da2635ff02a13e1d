"""A training program as a job on the Hub, and the run that follows it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from whileai_hf.errors import ConfigurationError, HubError
from whileai_hf.store.repos import hub_api, hub_errors
from whileai_hf.training.launching.config import TrainConfig
from whileai_hf.training.launching.locating import read_header
from whileai_hf.training.launching.publishing import RECORD_FILE
from whileai_hf.training.runs import TrainingRun, training_run
from whileai_hf.training.runs.processes import JOB_HOST
from whileai_hf.training.runs.record import DONE, FAILED, RUNNING, STOPPED
from whileai_hf.training.runs.waiting import wait_for_end


# How a job that has ended ends its run.
_ENDED = {"COMPLETED": DONE, "CANCELED": STOPPED, "DELETED": STOPPED, "ERROR": FAILED}
_JOB, _REPO = "job", "push_to"
# Seconds between two looks at a job.
_EVERY = 15.0
# Fields that the record pushed by the job replaces here.
_TOLD = ("status", "reason", "holdout", "delta", "total_steps")


class JobRun(TrainingRun):
    """
    The run of a job: `refresh` and `wait` ask the Hub how it is, and bring its record here once it has ended.

    Examples: see [`train`] with `where="jobs"`.
    """

    def refresh(self) -> JobRun:
        """Asks the Hub; when the job has ended, its record and its points are read from the repo it pushed to."""
        if self.record.status != RUNNING:
            return self
        told = self.record.config
        with hub_errors(f"asking for job {told[_JOB]}"):
            job = hub_api(None).inspect_job(job_id=told[_JOB], namespace=told.get("namespace"))
        ended = _ENDED.get(job.status.stage.value)
        # After an hour in which nobody asked, the record alone would count as that of a crashed process.
        self.change(process=_elsewhere(told[_JOB]), status=RUNNING, reason=None)
        if ended is None:
            return self
        pushed = self._pushed(told[_REPO]) if ended == DONE else None
        if pushed is not None:
            for point in pushed.get("series") or ():
                self.add_point(point["step"], {key: v for key, v in point.items() if key not in ("step", "time")})
            self.change(
                **{name: pushed[name] for name in _TOLD if name in pushed},
                adapter=f"https://huggingface.co/{told[_REPO]}",
                summary={**self.record.summary, **(pushed.get("summary") or {}), "repo": told[_REPO]},
            )
        else:
            message = job.status.message or f"the job ended as {job.status.stage.value}"
            reason = "the job is done and pushed no record" if ended == DONE else message
            self.finish(FAILED if ended == DONE else ended, reason=reason)
        self.close()
        return self

    def wait(self, timeout: float | None = None, *, quiet: float | None = None) -> JobRun:
        """
        Returns once the job has ended; raises `TimeoutError` when it has not after `timeout` seconds. How long it has
        been `quiet` says nothing here: the Hub knows whether a job runs, and ends it when its time is up.
        """
        wait_for_end(self, timeout, None, every=_EVERY)
        return self

    def _pushed(self, repo: str) -> Mapping[str, Any] | None:
        try:
            with hub_errors(f"reading the record of {self.id}"):
                path = hub_api(None).hf_hub_download(repo, RECORD_FILE)
        except HubError:
            return None
        read = orjson.loads(Path(path).read_bytes())
        return read if isinstance(read, dict) else None


def _elsewhere(job: str) -> dict[str, Any]:
    """A process of another machine: its run counts as running for as long as somebody asks for it."""
    return {"host": f"{JOB_HOST}{job}", "boot": "", "pid": 0, "started": None}


def start_job(
    program: Path, flags: list[str], data: Any, base_model: str, name: str, method: str, config: TrainConfig
) -> JobRun:
    """
    Starts a program as a job.

    Args:
        program (`Path`):
            The program; hardware, time and secrets are those of its header unless the knobs say otherwise.
        flags (`list[str]`):
            Its command line.
        data (`str`):
            Dataset repo.
        base_model (`str`):
            Model repo.
        name (`str`):
            Name of the run.
        method (`str`):
            The method.
        config ([`TrainConfig`]):
            The knobs.

    Raises:
        [`ConfigurationError`]: The job could not reach something, or its result would be lost.
        [`HubError`]: The Hub said no, or nothing.
    """
    _check_reachable(data, base_model, config)
    header = read_header(program.read_text(encoding="utf-8"))
    launch: dict[str, Any] = dict(header.get("tool", {}).get("hf-jobs", {}))
    api = hub_api(None)
    secrets = {key: _secret(key, api) for key in launch.get("secrets", ())}
    with hub_errors(f"starting {program.name} as a job"):
        job = api.run_uv_job(
            str(program),
            script_args=flags,
            flavor=config.flavor or launch.get("flavor"),
            timeout=config.timeout or launch.get("timeout"),
            image=launch.get("image"),
            python=launch.get("python"),
            env=launch.get("env"),
            labels={"whileai-hf": method},
            secrets=secrets,
            namespace=config.namespace or launch.get("namespace"),
        )
    parameters = {_JOB: job.id, _REPO: config.push_to, "namespace": job.owner.name if job.owner else None}
    opened = training_run(
        name, dataset=str(data), base_model=base_model, trainer=method, fresh=True, parameters=parameters
    )
    opened.change(process=_elsewhere(job.id), url=job.url)
    return JobRun(opened.record, opened.folder)


def _secret(name: str, api: Any) -> str:
    value = api.token if name == "HF_TOKEN" and isinstance(api.token, str) else os.environ.get(name)
    if not value and name == "HF_TOKEN":
        from huggingface_hub import get_token

        value = get_token()
    if not value:
        raise ConfigurationError(
            f"the job needs {name}, which is not set here; export it, or log in with hf auth login"
        )
    return value


def _check_reachable(data: Any, base_model: str, config: TrainConfig) -> None:
    if not isinstance(data, str) or Path(data).expanduser().exists() or "/" not in data:
        raise ConfigurationError(
            f"where='jobs' and the data is {data!r:.60}: a job sees what is on the Hub only; push(data, "
            "'namespace/name') and pass 'namespace/name'"
        )
    for what, value in (("base_model", base_model), ("holdout", config.holdout), ("agent", config.agent)):
        if value is not None and Path(value).expanduser().exists():
            raise ConfigurationError(
                f"where='jobs' and {what}={value!r:.60} is on this machine; pass a repo of the Hub"
            )
    if config.push_to is None:
        raise ConfigurationError("where='jobs' needs push_to='namespace/name': what a job leaves on its disk is lost")
    for what in ("reward", "gold", "execute"):
        value = getattr(config, what)
        if value is not None and (not isinstance(value, str) or not value.startswith(("hf:", "openai:"))):
            if isinstance(value, str) and value.startswith("whileai_hf."):
                continue
            raise ConfigurationError(
                f"where='jobs' and {what} is code of this machine, which the job does not have; name a judge model "
                "('hf:<model>') or a function of an installed package"
            )
