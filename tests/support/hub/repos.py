"""Repos: commits that each hold their whole tree, branches, tags and pull requests, over content-addressed blobs."""

from __future__ import annotations

import copy
import datetime
import hashlib
import itertools
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from hub.errors import Refusal


CHUNK = 1 << 20  # bytes copied at a time
MOST_REPOS = 10_000
_commits = itertools.count()


def now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


@dataclass(frozen=True)
class File:
    """One file of a tree; `oid` is its git id (of the pointer for an LFS file)."""

    size: int
    sha256: str
    oid: str
    lfs: bool


@dataclass(frozen=True)
class Commit:
    sha: str
    parent: str | None
    tree: dict[str, File]
    title: str
    message: str
    date: str
    author: str


@dataclass
class Repo:
    kind: str  # "dataset", "model" or "space"
    name: str  # "namespace/name"
    private: bool
    created: str = field(default_factory=now)
    modified: str = field(default_factory=now)
    gated: str | bool = False
    granted: list[str] = field(default_factory=list)
    downloads: int = 0
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    pulls: dict[str, str] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        return self.name.split("/")[0]

    @property
    def prefix(self) -> str:
        return "" if self.kind == "model" else f"{self.kind}s/"

    def commit(self, parent: str | None, tree: dict[str, File], title: str, message: str, author: str) -> str:
        """Adds a commit that no branch points at yet."""
        sha = hashlib.sha1(f"{self.kind} {self.name} {parent} {title} {next(_commits)}".encode()).hexdigest()
        self.modified = now()
        self.commits[sha] = Commit(sha, parent, tree, title, message, self.modified, author)
        return sha

    def resolve(self, revision: str | None) -> str:
        """The commit a branch, tag, pull request or (shortened) commit id names."""
        name = (revision or "main").removeprefix("refs/heads/").removeprefix("refs/tags/")
        for table in (self.branches, self.tags, self.pulls):
            if name in table:
                return table[name]
        found = [sha for sha in self.commits if sha == name or (len(name) >= 7 and sha.startswith(name))]
        if len(found) != 1:
            raise Refusal(404, f"Invalid rev id: {name}", "RevisionNotFound")
        return found[0]

    def tree(self, revision: str | None = None) -> dict[str, File]:
        return self.commits[self.resolve(revision)].tree

    def history(self, revision: str | None = None) -> Iterator[Commit]:
        sha: str | None = self.resolve(revision)
        while sha:
            commit = self.commits[sha]
            yield commit
            sha = commit.parent


class Repos:
    """Every repo of a server, and the blobs they share. Blobs are on disk; the rest is in memory."""

    def __init__(self, root: Path) -> None:
        self.blobs = root / "blobs"
        self.parts = root / "parts"
        self.blobs.mkdir(parents=True)
        self.lock = threading.RLock()
        self._repos: dict[tuple[str, str], Repo] = {}

    def get(self, kind: str, name: str) -> Repo | None:
        return self._repos.get((kind, name))

    def add(self, repo: Repo) -> None:
        if len(self._repos) >= MOST_REPOS:
            raise Refusal(400, "too many repos for a test server")
        self._repos[repo.kind, repo.name] = repo

    def drop(self, repo: Repo) -> None:
        del self._repos[repo.kind, repo.name]

    def all(self, kind: str) -> list[Repo]:
        return [repo for repo in self._repos.values() if repo.kind == kind]

    def snapshot(self) -> tuple[list[Repo], dict[str, bytes]]:
        """A copy of every repo and blob, for [`restore`] of another server."""
        return copy.deepcopy(list(self._repos.values())), {
            blob.name: blob.read_bytes() for blob in self.blobs.iterdir()
        }

    def restore(self, snapshot: tuple[list[Repo], dict[str, bytes]]) -> None:
        """Adds what [`snapshot`] gave; the same snapshot fills any number of servers."""
        repos, blobs = snapshot
        for name, content in blobs.items():
            self.path(name).write_bytes(content)
        for repo in copy.deepcopy(repos):
            self.add(repo)

    def path(self, sha256: str) -> Path:
        return self.blobs / sha256

    def has(self, sha256: str, size: int) -> bool:
        path = self.path(sha256)
        return path.exists() and path.stat().st_size == size

    def read(self, file: File) -> bytes:
        return self.path(file.sha256).read_bytes()

    def store(self, source: BinaryIO, size: int, expected: str | None = None) -> str:
        """Copies `size` bytes into a blob and returns its SHA-256; 400 when it is not the expected one."""
        temporary = self.blobs / f".{threading.get_ident()}"
        digest = hashlib.sha256()
        with temporary.open("wb") as blob:
            while size > 0 and (chunk := source.read(min(size, CHUNK))):
                digest.update(chunk)
                blob.write(chunk)
                size -= len(chunk)
        found = digest.hexdigest()
        if size or (expected and found != expected):
            temporary.unlink()
            raise Refusal(400, f"sha256 mismatch: got {found}")
        os.replace(temporary, self.path(found))
        return found

    def file(self, sha256: str, lfs: bool) -> File:
        """The tree entry of a stored blob."""
        path = self.path(sha256)
        size = path.stat().st_size
        pointer = f"version https://github.com/git-lfs/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
        content = pointer if lfs else path.read_bytes()
        return File(size, sha256, hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(), lfs)


def dump(value: object) -> bytes:
    return json.dumps(value).encode()
