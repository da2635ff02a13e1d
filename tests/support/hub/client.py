"""This process's Hub clients, pointed at a server for the length of a block.

The clients read the endpoint, the caches and the offline flag from the environment once, at import, into the
attributes named here; the block replaces those and puts them back, and lets retries not wait. The token is read from
the environment at every call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import datasets
import huggingface_hub
from huggingface_hub import constants, hf_api
from huggingface_hub.utils import _http, close_session

from hub.server import HubServer


# The clock of the clients, with retries that do not wait.
_AT_ONCE = SimpleNamespace(**{**vars(time), "sleep": lambda seconds: None})


@dataclass(frozen=True)
class HubEnv:
    """A server and this process's clients of it: `server`, `api` (alice's), `home` (the caches)."""

    server: HubServer
    home: Path

    @property
    def api(self) -> huggingface_hub.HfApi:
        return huggingface_hub.HfApi(endpoint=self.server.url)

    @contextmanager
    def signed_in(self, token: str | None) -> Iterator[None]:
        """The block as somebody else, `None` for nobody."""
        names = {"HF_TOKEN": token} if token else {}
        with mock.patch.dict(os.environ, names):
            if not token:
                os.environ.pop("HF_TOKEN", None)
            yield

    @contextmanager
    def fresh_cache(self, name: str) -> Iterator[None]:
        """The block on another machine: with caches that hold nothing yet."""
        with ExitStack() as stack:
            _caches(stack, self.home.parent / name)
            yield


def _caches(stack: ExitStack, home: Path) -> None:
    hub, sets, assets = str(home / "hub"), home / "datasets", str(home / "assets")
    for module, name, value in (
        (constants, "HF_HOME", str(home)),
        (constants, "HF_HUB_CACHE", hub),
        (constants, "HF_ASSETS_CACHE", assets),
        (constants, "HF_TOKEN_PATH", str(home / "token")),
        (constants, "HF_STORED_TOKENS_PATH", str(home / "stored_tokens")),
        (datasets.config, "HF_CACHE_HOME", str(home)),
        (datasets.config, "HF_DATASETS_CACHE", sets),
        (datasets.config, "DOWNLOADED_DATASETS_PATH", sets / "downloads"),
        (datasets.config, "EXTRACTED_DATASETS_PATH", sets / "downloads" / "extracted"),
    ):
        stack.enter_context(mock.patch.object(module, name, value))


@contextmanager
def pointed_at(server: HubServer, home: Path, token: str | None = "hf_alice") -> Iterator[HubEnv]:
    """Points `huggingface_hub` and `datasets` of this process at a server, with caches of their own under `home`."""
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, server.url, 1)
    files = datasets.config.HUB_DATASETS_URL.replace(datasets.config.HF_ENDPOINT, server.url, 1)
    close_session()
    huggingface_hub.HfFileSystem.clear_instance_cache()
    with ExitStack() as stack:
        _caches(stack, home)
        for module, name, value in (
            (constants, "ENDPOINT", server.url),
            (constants, "HUGGINGFACE_CO_URL_TEMPLATE", template),
            (constants, "HF_HUB_OFFLINE", False),
            (constants, "HF_HUB_DISABLE_XET", True),
            (hf_api.api, "endpoint", server.url),
            (datasets.config, "HF_ENDPOINT", server.url),
            (datasets.config, "HUB_DATASETS_URL", files),
            (datasets.config, "HF_HUB_OFFLINE", False),
            (_http, "time", _AT_ONCE),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        kept = {
            name: value for name, value in os.environ.items() if name not in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
        }
        kept |= {"HF_TOKEN": token} if token else {}
        stack.enter_context(mock.patch.dict(os.environ, {**kept, "NO_PROXY": "127.0.0.1,localhost"}, clear=True))
        try:
            yield HubEnv(server, home)
        finally:
            close_session()
            huggingface_hub.HfFileSystem.clear_instance_cache()
