"""The scripted server, and time that passes without waiting."""

import asyncio
import ssl
import sys
from functools import partial
from pathlib import Path

import huggingface_hub
import pytest


# The tests are no package: what they share is found by path.
SUPPORT = str(Path(__file__).parents[2] / "support")
if SUPPORT not in sys.path:
    sys.path.append(SUPPORT)

from openai_server import Server  # noqa: E402

from whileai_hf.actors.models.endpoint import parse  # noqa: E402
from whileai_hf.actors.models.patience import Patience  # noqa: E402
from whileai_hf.actors.models.remote import RemoteModel  # noqa: E402
from whileai_hf.actors.models.sampling import Sampling  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def certificates_are_read_once():
    """Every HTTP session reads the certificates of the machine, which takes longer than most of these tests."""
    session = huggingface_hub.get_async_session()
    options = {"event_hooks": session.event_hooks, "follow_redirects": True, "timeout": None}
    factory = partial(type(session), verify=ssl.create_default_context(), **options)
    huggingface_hub.set_async_client_factory(factory)
    yield
    huggingface_hub.set_async_client_factory(lambda: type(session)(**options))


class FakeTime:
    """A clock that only sleeping moves; what was slept is kept."""

    def __init__(self):
        self.now = 1_000.0
        self.slept = []

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def patience(self, **bounds):
        return Patience(sleep=self.sleep, clock=lambda: self.now, **bounds)


@pytest.fixture
def time():
    return FakeTime()


@pytest.fixture
def serve():
    """`serve(behave)`: a running scripted server, stopped after the test."""
    servers = []

    def start(behave="Done.", **options):
        server = Server(behave, **options)
        server.__enter__()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


@pytest.fixture
def connect(time):
    """`connect(server, **knobs)`: a client of the server that does not wait between tries."""

    def make(server, patience=None, **knobs):
        return RemoteModel(parse(server.spec), Sampling.of(knobs), patience or time.patience())

    return make


@pytest.fixture
def complete_all():
    """`complete_all(model, calls)`: runs the calls at once; exceptions come back in place."""

    def run(model, messages, **options):
        async def together():
            calls = (model.complete(each, **options) for each in messages)
            return await asyncio.gather(*calls, return_exceptions=True)

        return asyncio.run(together())

    return run


@pytest.fixture
def complete():
    """`complete(model, text, **options)`: one completion."""

    def run(model, text="Hello", **options):
        messages = [{"role": "user", "content": text}] if isinstance(text, str) else text
        return asyncio.run(model.complete(messages, **options))

    return run
