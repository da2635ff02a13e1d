"""The server: a thread that answers requests, the users it knows, and a log of what was asked."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections import deque
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from hub import collection_routes, download_routes, repo_routes, tree_routes, upload_routes
from hub.errors import Refusal
from hub.faults import Fault
from hub.repos import File, Repo, Repos
from hub.requests import Handler, Request, User


USERS = {
    "hf_alice": User("alice", ("acme",)),
    "hf_alice_read": User("alice", ("acme",), "read"),
    "hf_bob": User("bob"),
}
KEPT_REQUESTS = 20_000
# Collections come first: their paths would also fit the general ones.
_ROUTES = [
    *collection_routes.ROUTES,
    *repo_routes.ROUTES[:4],
    *tree_routes.ROUTES,
    *upload_routes.ROUTES,
    *repo_routes.ROUTES[4:],
    *download_routes.ROUTES,
]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, hub: HubServer, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.hub = hub
        self.connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that went away; errors of the server itself are answered and logged

    def cut(self) -> None:
        """Ends every open connection, as a host that goes down does."""
        for connection in list(self.connections):
            with suppress(OSError):  # it ended by itself
                connection.shutdown(socket.SHUT_RDWR)


class HubServer:
    """
    A Hub on an ephemeral port of 127.0.0.1. Use it as a context manager.

    Args:
        root (`Path`):
            Folder for the blobs.
        users (`dict[str, User]`, *optional*):
            Users by token.
        most_requests (`int`, *optional*, defaults to `20_000`):
            Requests after which it answers 410, so that a test that loops forever ends.

    Attributes:
        log (`deque`): the last `(method, path, status)`.
        unknown (`list[str]`): requests no route fits, and failures of the server itself. A test wants it empty.
        faults (`list[Fault]`): what to answer instead, see [`Fault`].
    """

    def __init__(self, root: Path, users: dict[str, User] | None = None, most_requests: int = KEPT_REQUESTS) -> None:
        self.repos = Repos(root / "hub")
        self.root = root
        self.users = USERS if users is None else users
        self.most_requests = most_requests
        self.collections: dict[str, dict[str, Any]] = {}
        self.log: deque[tuple[str, str, int]] = deque(maxlen=KEPT_REQUESTS)
        self.unknown: list[str] = []
        self.faults: list[Fault] = []
        self.n_requests = 0
        self._http: _Http | None = None
        self._port = 0

    # Life

    def start(self) -> HubServer:
        """Serves; again on the same port after [`stop`]."""
        self._http = _Http(self, self._port)
        self._port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        """Goes down: open connections are cut, new ones are refused. Repos stay for the next [`start`]."""
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http.cut()
            self._http = None

    def __enter__(self) -> HubServer:
        return self.start()

    def __exit__(self, *error: object) -> None:
        for fault in self.faults:
            if fault.hold is not None:
                fault.hold.set()
        self.stop()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    # Answers

    def fail(self, pattern: str, status: int | None = 500, **fault: Any) -> Fault:
        """Adds a [`Fault`] and returns it."""
        self.faults.append(Fault(pattern, status, **fault))
        return self.faults[-1]

    def answer(self, http: Handler) -> None:
        """Answers one request and logs it."""
        self.n_requests += 1
        request = Request(http, self)
        status = 200
        try:
            status = self._serve(request) or 200
        except Refusal as refusal:
            status = refusal.status
            request.reply({"error": refusal.message, **refusal.extra}, status, refusal.headers)
        except (BrokenPipeError, ConnectionResetError):
            http.close_connection = True
        except Exception as error:
            status = 500
            self.unknown.append(f"500 {request.method} {http.path} {type(error).__name__}: {error}")
            request.reply({"error": str(error)}, status, {"X-Error-Message": type(error).__name__})
        finally:
            self.log.append((request.method, http.path, status))

    def _serve(self, request: Request) -> int | None:
        if self.n_requests > self.most_requests:
            raise Refusal(410, f"the test asked more than {self.most_requests} times")
        for fault in self.faults:
            if fault.strikes(f"{request.method} {request.http.path}"):
                fault.reached.set()
                if fault.hold is not None:
                    fault.hold.wait(fault.hold_for)
                if fault.status == 0:
                    request.http.close_connection = True
                    request.http.connection.shutdown(socket.SHUT_RDWR)
                    return 499
                if fault.status is not None:
                    raise Refusal(fault.status, fault.message, headers=fault.headers)
        request.authenticate()
        for route in _ROUTES:
            found = route.pattern.fullmatch(request.path)
            if found and request.method in route.methods:
                pieces = {key: value and urllib.parse.unquote(value) for key, value in found.groupdict().items()}
                route.endpoint(request, **pieces)
                return None
        self.unknown.append(f"{request.method} {request.http.path}")
        raise Refusal(404, "Sorry, we can't find the page you are looking for.")

    # For tests

    def keep(self, content: bytes) -> File:
        """Stores bytes and returns their tree entry."""
        return self.repos.file(self.repos.store(io.BytesIO(content), len(content)), lfs=False)

    def repo(self, name: str, kind: str = "dataset") -> Repo:
        """A repo, whoever may see it."""
        found = self.repos.get(kind, name)
        assert found is not None, f"no {kind} repo {name}"
        return found

    def files(self, name: str, revision: str | None = None, kind: str = "dataset") -> dict[str, bytes]:
        """Every file of a repo at a revision."""
        return {path: self.repos.read(file) for path, file in self.repo(name, kind).tree(revision).items()}

    def put(self, name: str, files: dict[str, bytes], kind: str = "dataset", private: bool = False) -> str:
        """Commits files to a repo, made when absent, past every check; returns the commit."""
        with self.repos.lock:
            repo = self.repos.get(kind, name)
            if repo is None:
                repo = Repo(kind, name, private)
                self.repos.add(repo)
            parent = repo.branches.get("main")
            tree = {**(repo.commits[parent].tree if parent else {}), **{p: self.keep(c) for p, c in files.items()}}
            repo.branches["main"] = repo.commit(parent, tree, "put", "", "test")
            return repo.branches["main"]

    def env(self, token: str | None = "hf_alice", home: Path | None = None) -> dict[str, str]:
        """The environment of a client process; its caches are under `home`."""
        home = home or self.root / "home"
        found = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        found |= {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1",
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            "USE_TORCH": "0",  # datasets imports it for streaming, which takes seconds
        }
        return {**found, "HF_TOKEN": token} if token else found

    def spawn(
        self,
        code: str,
        *arguments: str,
        token: str | None = "hf_alice",
        home: Path | None = None,
        stdin: bool = False,
    ) -> subprocess.Popen[str]:
        """Starts `python -c code` against this server, in a process of its own; `stdin` to talk to it."""
        command = [sys.executable, "-c", code, *arguments]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        pipes["stdin"] = subprocess.PIPE if stdin else subprocess.DEVNULL
        return subprocess.Popen(command, env=self.env(token, home), **pipes)

    def run(
        self,
        code: str,
        *arguments: str,
        token: str | None = "hf_alice",
        home: Path | None = None,
        timeout: float = 120,
        ok: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Runs `python -c code` against this server and waits; with `ok` it has to end well."""
        started = time.monotonic()
        process = self.spawn(code, *arguments, token=token, home=home)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(
                f"no end after {time.monotonic() - started:.0f} s: {out[-2000:]} {err[-4000:]}"
            ) from None
        assert not ok or process.returncode == 0, f"{out[-2000:]}\n{err[-6000:]}"
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)
