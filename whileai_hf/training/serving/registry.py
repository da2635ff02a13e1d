"""What is being served, remembered beyond the process that started it."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from huggingface_hub import constants

from whileai_hf.errors import ConfigurationError
from whileai_hf.store.runs import replace_file
from whileai_hf.training.runs.processes import is_alive


_RECORD = "served.json"
LOG = "server.log"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,62}")
# Seconds a server has to end by itself.
_GRACE = 10.0
_LOOK_AGAIN = 0.1


@dataclasses.dataclass(frozen=True)
class Served(Mapping[str, Any]):
    """
    A served model; a mapping as well: `served["endpoint"]`, `served["model"]`.

    Args:
        name (`str`):
            What it is called here.
        endpoint (`str`):
            Base URL of its OpenAI API, with `/v1`.
        model (`str`):
            The `model` that requests name.
        server (`str`):
            What serves it: `vllm`, `transformers`, `endpoint` or `own`.
        weights (`str`):
            Folder or repo of what is served.
        run (`str`, *optional*):
            The run it comes from.
        process (`dict`, *optional*):
            The server's process; `None` for one on the Hub.
        started (`float`):
            When, in seconds since the epoch.
        namespace (`str`, *optional*):
            Whose Inference Endpoint it is; that of the account without.
    """

    name: str
    endpoint: str
    model: str
    server: str
    weights: str
    run: str | None = None
    process: dict[str, Any] | None = None
    started: float = 0.0
    namespace: str | None = None

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(dataclasses.fields(self))

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __str__(self) -> str:
        return f"{self.name}: {self.endpoint} (model {self.model!r}, {self.server})"


def folder_of(name: str) -> Path:
    """The folder of a served model; it need not exist."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"name={name!r:.80} cannot name a served model; pass up to 63 letters, digits, '.', '_' and '-'"
        )
    return Path(constants.HF_ASSETS_CACHE) / "whileai_hf" / "serving" / name


def remember(served: Served) -> None:
    """Keeps it for other processes."""
    replace_file(folder_of(served.name) / _RECORD, orjson.dumps(served.to_dict()))


def recall(name: str) -> Served | None:
    """A served model by its name; `None` when there is none, or its server is gone."""
    try:
        known = orjson.loads((folder_of(name) / _RECORD).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return None
    served = Served(**known)
    return served if served.process is None or is_alive(served.process, 0.0) else None


def all_served() -> list[Served]:
    """Those that are being served, the latest first."""
    folder = folder_of("x").parent
    names = [path.parent.name for path in folder.glob(f"*/{_RECORD}")]
    return sorted((one for one in map(recall, names) if one), key=lambda one: -one.started)


def forget(name: str) -> None:
    """Takes it off the record; the log stays."""
    (folder_of(name) / _RECORD).unlink(missing_ok=True)


def end_process(process: Mapping[str, Any]) -> None:
    """Ends a server and what it started, gently first."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(int(process["pid"]), how)
        except (ProcessLookupError, PermissionError):
            return
        until = time.monotonic() + _GRACE
        while time.monotonic() < until:
            if not is_alive(dict(process), 0.0):
                return
            time.sleep(_LOOK_AGAIN)
