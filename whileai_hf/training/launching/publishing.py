"""The result of a program on the Hub: weights with their card, and the record beside them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from whileai_hf.errors import WhileaiError
from whileai_hf.rows import canonical
from whileai_hf.store.repos import hub_api, hub_errors
from whileai_hf.training.runs import TrainingRun


logger = logging.getLogger(__name__)

Publish = Callable[..., Any]
# Where the record of a run lies in a model repo.
RECORD_FILE = "training/run.json"
# What a whole model is made of; optimizer states and pickled arguments stay behind.
_WHOLE = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model", "README.md")
_LEFT = ("checkpoint-*", "completions/*", "trainer_state.json")
# Fields of the record that are about this machine.
_OWN = ("process", "launch", "adapter")


def push_result(run: TrainingRun, repo: str, folder: Path, *, publish: Publish | None, config: Any) -> None:
    """
    Pushes what a run trained. What goes wrong is noted on the run: the weights are on disk.

    Args:
        run ([`TrainingRun`]):
            The run, ended.
        repo (`str`):
            Model repo, "namespace/name".
        folder (`Path`):
            Where the weights are.
        publish (`Callable`, *optional*):
            Pushes an adapter of a run, as `push_adapter` does; a whole model goes up as it is.
        config (`transformers.TrainingArguments`):
            `hub_private_repo` and `hub_token` are read.
    """
    private = True if config.hub_private_repo is None else config.hub_private_repo
    api = hub_api(config.hub_token)
    try:
        if publish is not None:
            pushed = publish(run, repo, private=private, token=config.hub_token)
            print(pushed)
            repo = pushed.repo
        else:
            with hub_errors(f"pushing {repo}"):
                repo = api.create_repo(repo, private=private, exist_ok=True).repo_id
                api.upload_folder(
                    repo_id=repo, folder_path=folder, allow_patterns=list(_WHOLE), ignore_patterns=list(_LEFT)
                )
        with hub_errors(f"pushing the record of {run.id}"):
            api.upload_file(repo_id=repo, path_or_fileobj=record_bytes(run), path_in_repo=RECORD_FILE)
    except WhileaiError as error:
        logger.error("%s was not pushed (%s); its weights are in %s", run.id, error, folder)
        run.note(f"not pushed to {repo}: {error}")
        return
    run.change(summary={**run.record.summary, "repo": repo})


def record_bytes(run: TrainingRun) -> bytes:
    """The record of a run and its points as JSON, without what is about this machine."""
    told = {name: value for name, value in run.to_dict().items() if name not in _OWN}
    if str(told.get("dataset") or "").startswith("file:"):
        told["dataset"] = Path(told["dataset"]).name
    if Path(str(told.get("base_model") or "")).is_absolute():
        told["base_model"] = Path(told["base_model"]).name
    return orjson.dumps(canonical({**told, "series": run.series}), option=orjson.OPT_INDENT_2)
