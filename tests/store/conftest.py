"""The Hub of `tests/hub`, for the part of this room that speaks to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hub import HubEnv, HubServer, pointed_at


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubEnv]:
    """A server of its own, and this process's clients pointed at it."""
    with HubServer(tmp_path / "server") as server, pointed_at(server, tmp_path / "home") as found:
        yield found
    assert not server.unknown
