"""A Hub of its own for every test: a server on loopback, and this process's clients pointed at it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="session")
def fills() -> dict[Any, Any]:
    """What [`once`] has put on a Hub so far in this session."""
    return {}


@pytest.fixture
def once(hub: HubEnv, fills: dict[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """
    `once(fill, "alice/a")` returns what `fill("alice/a")` returns, and what that puts on a Hub is on this test's.

    It is called once a session, on another server and from other caches: this test finds what another machine pushed.
    """

    def put(fill: Callable[..., Any], *arguments: str) -> Any:
        if (fill, arguments) not in fills:
            folder = tmp_path_factory.mktemp("filled")
            with HubServer(folder / "server") as server, pointed_at(server, folder / "home"):
                fills[fill, arguments] = fill(*arguments), server.repos.snapshot()
            assert not server.unknown
        returned, snapshot = fills[fill, arguments]
        hub.server.repos.restore(snapshot)
        return returned

    return put
