"""A Hub of its own for every test: a server on loopback, and this process's clients pointed at it."""

from collections.abc import Iterator
from pathlib import Path

import datasets
import pytest
from hub import HubEnv, HubServer, pointed_at


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubEnv]:
    """
    `hub.server` (a `HubServer`), `hub.api` (alice's `HfApi`), `hub.signed_in("hf_bob")`, `hub.fresh_cache("other")`.

    `hub.server.run(code)` runs a program against it in a process of its own, `hub.server.fail("POST .*/commit/", 429)`
    makes it fail, `hub.server.stop()` takes it down. Requests the server does not know fail the test.
    """
    datasets.disable_progress_bars()
    with HubServer(tmp_path / "server") as server, pointed_at(server, tmp_path / "home") as found:
        yield found
    assert not server.unknown
