"""What a program leaves on a Hub: whole models as they are, adapters with their own card, the record of the run."""

import json
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from hub import HubEnv, HubServer, pointed_at

from whileai_hf.training.launching.publishing import RECORD_FILE, push_result
from whileai_hf.training.runs import training_run


REPO = "alice/refunds-grpo"
CONFIG = SimpleNamespace(hub_private_repo=None, hub_token=None)


@pytest.fixture
def hub(tmp_path) -> Iterator[HubEnv]:
    with HubServer(tmp_path / "server") as server, pointed_at(server, tmp_path / "home") as found:
        yield found


@pytest.fixture
def run(hub):
    made = training_run("refunds", base_model="Qwen/Qwen3-0.6B")
    made.log(1, loss=0.25)
    made.finish()
    return made


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "out"
    (place / "checkpoint-1").mkdir(parents=True)
    for name in ("model.safetensors", "config.json", "README.md", "training_args.bin", "checkpoint-1/config.json"):
        (place / name).write_text(name)
    return place


def test_a_whole_model(hub, run, folder):
    push_result(run, REPO, folder, publish=None, config=CONFIG)
    files = set(hub.api.list_repo_files(REPO)) - {".gitattributes"}
    assert files == {"model.safetensors", "config.json", "README.md", RECORD_FILE}
    assert hub.api.model_info(REPO).private
    with open(hub.api.hf_hub_download(REPO, RECORD_FILE), encoding="utf-8") as file:
        record = json.load(file)
    assert (record["id"], record["status"], record["series"][0]["loss"]) == (run.id, "done", 0.25)
    assert "process" not in record
    assert run.refresh().summary["repo"] == REPO


def test_an_adapter_goes_through_the_publisher(hub, run, folder):
    asked = []

    def publish(source, repo, **knobs):
        asked.append((source.id, repo, knobs))
        return SimpleNamespace(repo=hub.api.create_repo(repo, private=True).repo_id)

    push_result(run, "refunds-grpo", folder, publish=publish, config=CONFIG)
    assert asked == [(run.id, "refunds-grpo", {"private": True, "token": None})]
    assert RECORD_FILE in hub.api.list_repo_files(REPO)
    assert "model.safetensors" not in hub.api.list_repo_files(REPO)


def test_a_push_that_fails_is_noted_and_the_run_is_done(hub, run, folder):
    with hub.signed_in("hf_alice_read"):
        push_result(run, REPO, folder, publish=None, config=CONFIG)
    assert run.refresh().status == "done"
    assert f"not pushed to {REPO}" in run.notes[-1]
    assert "repo" not in run.summary
