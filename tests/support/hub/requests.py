"""One HTTP request: who asks, what is asked, and how it is answered."""

from __future__ import annotations

import json
import re
import tempfile
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, BinaryIO

from hub.errors import Refusal
from hub.repos import CHUNK, Repo, dump


if TYPE_CHECKING:
    from hub.server import HubServer


MOST_BODY = 256 << 20  # bytes of a body that is read whole
KINDS = {"models": "model", "datasets": "dataset", "spaces": "space"}


@dataclass(frozen=True)
class User:
    name: str
    orgs: tuple[str, ...] = ()
    role: str = "write"


class Request:
    """A request, with what a handler needs to answer it."""

    def __init__(self, http: Handler, hub: HubServer) -> None:
        url = urllib.parse.urlsplit(http.path)
        self.http = http
        self.hub = hub
        self.repos = hub.repos
        self.method: str = http.command
        self.path = url.path
        self.query = urllib.parse.parse_qs(url.query)
        self.size = int(http.headers.get("Content-Length") or 0)
        self._left = self.size
        self.user: User | None = None

    @property
    def base(self) -> str:
        return f"http://{self.http.headers.get('Host') or self.hub.host}"

    def flag(self, name: str) -> bool:
        return (self.query.get(name) or ["false"])[0].lower() in ("true", "1")

    # Bodies

    def stream(self) -> tuple[BinaryIO, int]:
        """The body, to be read once and wholly, and its size in bytes."""
        if "chunked" in (self.http.headers.get("Transfer-Encoding") or "").lower():
            return self._spooled()
        self._left = 0
        return self.http.rfile, self.size

    def _spooled(self) -> tuple[BinaryIO, int]:
        lines = self.http.rfile
        body = tempfile.TemporaryFile()  # noqa: SIM115  the endpoint reads it
        while size := int(lines.readline().split(b";")[0], 16):
            while size and (chunk := lines.read(min(size, CHUNK))):
                body.write(chunk)
                size -= len(chunk)
            lines.readline()
        while lines.readline().strip():
            pass
        total = body.tell()
        body.seek(0)
        return body, total

    def body(self) -> bytes:
        source, size = self.stream()
        if size > MOST_BODY:
            raise Refusal(413, "the body is too large")
        content = source.read(size)
        if len(content) < size:
            raise Refusal(400, "the body ended early")
        return content

    def json(self) -> Any:
        return json.loads(self.body() or b"{}")

    def drain(self) -> None:
        """Reads what a handler left, so that the connection can be used again."""
        while self._left > 0 and (chunk := self.http.rfile.read(min(self._left, CHUNK))):
            self._left -= len(chunk)

    # Who may do what

    def authenticate(self) -> None:
        header = self.http.headers.get("Authorization")
        if header:
            self.user = self.hub.users.get(header.split(" ", 1)[-1].strip())
            if self.user is None:
                raise Refusal(401, "Invalid credentials in Authorization header")

    def writer(self) -> User:
        if self.user is None:
            raise Refusal(401, "Invalid username or password.")
        if self.user.role != "write":
            raise Refusal(403, "Forbidden: this token has only read permission")
        return self.user

    def member(self, namespace: str) -> bool:
        return self.user is not None and (namespace == self.user.name or namespace in self.user.orgs)

    def repo(self, kind: str, name: str, write: bool = False, content: bool = False) -> Repo:
        """A repo the user may see; with `write` may change, with `content` may read the files of."""
        repo = self.repos.get(kind, name)
        if repo is None or (repo.private and not self.member(repo.namespace)):
            if self.user is None:
                raise Refusal(401, "Invalid username or password.", "RepoNotFound")
            raise Refusal(404, "Repository not found", "RepoNotFound")
        if write:
            self.writer()
            if not self.member(repo.namespace):
                raise Refusal(403, f"Forbidden: you don't have write access to {kind} {name}")
        granted = self.member(repo.namespace) or (self.user is not None and self.user.name in repo.granted)
        if content and repo.gated and not granted:
            status = 401 if self.user is None else 403
            raise Refusal(status, f"Access to {kind} {name} is restricted and you are not in the list.", "GatedRepo")
        return repo

    # Replies

    def reply(self, value: Any = None, status: int = 200, headers: dict[str, str] | None = None) -> None:
        payload = b"" if value is None else dump(value)
        kind = {"Content-Type": "application/json; charset=utf-8", "Content-Length": str(len(payload))}
        self.start(status, {**kind, **(headers or {})})
        if self.method != "HEAD":
            self.http.wfile.write(payload)

    def start(self, status: int, headers: dict[str, str]) -> None:
        """Sends the status and the headers; the handler writes the rest."""
        self.drain()
        self.http.send_response(status)
        for name, value in {"X-Request-Id": f"test-{self.hub.n_requests}", **headers}.items():
            self.http.send_header(name, value)
        self.http.end_headers()

    def page(self, items: list[Any], size: int) -> None:
        """One page of a list, and the link to the next."""
        start = int((self.query.get("cursor") or ["0"])[0])
        size = int((self.query.get("limit") or [str(size)])[0])
        headers = {}
        if start + size < len(items):
            query = urllib.parse.urlencode({**self.query, "cursor": [str(start + size)]}, doseq=True)
            headers["Link"] = f'<{self.base}{self.path}?{query}>; rel="next"'
        self.reply(items[start : start + size], headers=headers)


Endpoint = Callable[..., None]


@dataclass(frozen=True)
class Route:
    methods: tuple[str, ...]
    pattern: re.Pattern[str]
    endpoint: Endpoint


# What the braces of a route stand for.
_PIECES = {
    "{t}": "(?P<t>models|datasets|spaces)",
    "{name}": "(?P<name>[^/]+/[^/]+)",
    "{rev}": "(?P<rev>[^/]+)",
    "{path}": "(?P<path>.+)",
    "{oid}": "(?P<oid>[0-9a-f]{64})",
    "{slug}": "(?P<slug>[^/]+/[^/]+)",
    "{n}": r"(?P<n>\d+)",
}


def route(methods: str, pattern: str, endpoint: Endpoint) -> Route:
    """A route: methods split by `|`, and a path with the pieces above."""
    for piece, expression in _PIECES.items():
        pattern = pattern.replace(piece, expression)
    return Route(tuple(methods.split("|")), re.compile(pattern), endpoint)


class Handler(BaseHTTPRequestHandler):
    """Reads requests off a connection and has the server answer them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120  # seconds a connection may say nothing

    def log_message(self, format: str, *args: object) -> None:
        pass  # the server keeps its own log

    def answer(self) -> None:
        self.server.hub.answer(self)  # type: ignore[attr-defined]

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = answer
