"""Uploads: what goes through LFS, LFS itself (basic and in parts), and the commit."""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import json
import shutil
from typing import Any

from hub.errors import Refusal
from hub.repos import CHUNK, File
from hub.requests import KINDS, Request, route


# Larger files go through LFS whatever they are called (bytes).
LFS_SIZE = 10 << 20
# Uploads larger than this come in parts of the second size (bytes).
WHOLE_SIZE, PART_SIZE = 64 << 20, 16 << 20
_LFS_NAMES = [
    f"*.{ending}"
    for ending in "parquet safetensors bin arrow gz zip tar pt pth npz npy h5 onnx model pkl png jpg gguf".split()
]


def _through_lfs(path: str, size: int) -> bool:
    return size > LFS_SIZE or any(fnmatch.fnmatch(path.lower(), pattern) for pattern in _LFS_NAMES)


def preupload(request: Request, t: str, name: str, rev: str) -> None:
    asked = request.json()
    repo = request.repo(KINDS[t], name, write=not request.flag("create_pr"))
    request.writer()
    sha = repo.resolve(rev)
    known = repo.commits[sha].tree
    ignored = [line for line in (asked.get("gitIgnore") or "").splitlines() if line.strip() and line[0] != "#"]
    files = []
    for file in asked["files"]:
        path = file["path"]
        entry: dict[str, Any] = {
            "path": path,
            "uploadMode": "lfs" if _through_lfs(path, file["size"]) else "regular",
            "shouldIgnore": any(fnmatch.fnmatch(path, pattern.rstrip("/")) for pattern in ignored),
        }
        if path in known:
            entry["oid"] = known[path].sha256 if known[path].lfs else known[path].oid
        files.append(entry)
    request.reply({"files": files, "commitOid": sha})


def commit(request: Request, t: str, name: str, rev: str) -> None:
    lines = [json.loads(line) for line in request.body().splitlines() if line.strip()]
    pull = request.flag("create_pr")
    with request.repos.lock:
        repo = request.repo(KINDS[t], name, write=not pull)
        user = request.writer()
        parent = repo.resolve(rev)
        if not pull and rev not in repo.branches and rev not in repo.pulls:
            raise Refusal(400, f"Cannot commit to {rev}: not a branch")
        header = next(line["value"] for line in lines if line["key"] == "header")
        if header.get("parentCommit") and not parent.startswith(header["parentCommit"]):
            raise Refusal(412, "A commit has happened since. Please refresh and try again.")
        files = _changed(request, repo.commits[parent].tree, lines)
        sha = repo.commit(parent, files, header.get("summary", ""), header.get("description", ""), user.name)
        reply = {"success": True, "commitOid": sha, "hookOutput": ""}
        reply["commitUrl"] = f"{request.base}/{repo.prefix}{name}/commit/{sha}"
        if pull:
            number = len(repo.pulls) + 1
            repo.pulls[f"refs/pr/{number}"] = sha
            reply["pullRequestUrl"] = f"{request.base}/{repo.prefix}{name}/discussions/{number}"
        else:
            (repo.pulls if rev in repo.pulls else repo.branches)[rev] = sha
    request.reply(reply)


def _changed(request: Request, tree: dict[str, File], lines: list[dict[str, Any]]) -> dict[str, File]:
    """The tree after the operations of a commit."""
    tree = dict(tree)
    for line in lines:
        kind, value = line["key"], line["value"]
        if kind == "file":
            text = value["content"]
            content = base64.b64decode(text) if value.get("encoding", "base64") == "base64" else text.encode()
            tree[value["path"]] = request.hub.keep(content)
        elif kind == "lfsFile":
            if not request.repos.path(value["oid"]).exists():
                raise Refusal(400, f"an LFS pointer points to a file that does not exist: {value['path']}")
            tree[value["path"]] = request.repos.file(value["oid"], lfs=True)
        elif kind == "deletedFile":
            if tree.pop(value["path"], None) is None:
                raise Refusal(404, f'A file with the name "{value["path"]}" does not exist', "EntryNotFound")
        elif kind == "deletedFolder":
            start = value["path"].rstrip("/") + "/"
            tree = {path: file for path, file in tree.items() if not path.startswith(start)}
        elif kind != "header":
            raise Refusal(400, f"unknown operation {kind}")
    return tree


# LFS


def lfs_batch(request: Request, name: str, t: str | None) -> None:
    asked = request.json()
    request.repo(KINDS[t or "models"], name, write=True)
    found = []
    for item in asked["objects"]:
        oid, size = item["oid"], item["size"]
        entry: dict[str, Any] = {"oid": oid, "size": size, "authenticated": True}
        if not request.repos.has(oid, size):
            url = f"{request.base}/_lfs/{oid}"
            upload: dict[str, Any] = {"href": url, "header": {}}
            if size > WHOLE_SIZE:
                parts = {f"{n:05d}": f"{url}/part/{n}" for n in range(1, -(-size // PART_SIZE) + 1)}
                upload = {"href": f"{url}/complete", "header": {"chunk_size": str(PART_SIZE), **parts}}
            entry["actions"] = {"upload": upload, "verify": {"href": f"{url}/verify", "header": {}}}
        found.append(entry)
    request.reply({"transfer": "basic", "objects": found})


def lfs_put(request: Request, oid: str) -> None:
    request.repos.store(*request.stream(), expected=oid)
    request.reply(headers={"ETag": f'"{oid}"'})


def lfs_part(request: Request, oid: str, n: str) -> None:
    folder = request.repos.parts / oid
    folder.mkdir(parents=True, exist_ok=True)
    source, left = request.stream()
    digest = hashlib.md5()
    with (folder / f"{int(n):05d}").open("wb") as part:
        while left > 0 and (chunk := source.read(min(left, CHUNK))):
            part.write(chunk)
            digest.update(chunk)
            left -= len(chunk)
    request.reply(headers={"ETag": f'"{digest.hexdigest()}"'})


def lfs_complete(request: Request, oid: str) -> None:
    request.body()
    folder = request.repos.parts / oid
    whole = folder / "whole"
    with whole.open("wb") as out:
        for part in sorted(folder.glob("[0-9]*")):
            with part.open("rb") as source:
                shutil.copyfileobj(source, out, CHUNK)
    with whole.open("rb") as source:
        request.repos.store(source, whole.stat().st_size, expected=oid)
    shutil.rmtree(folder)
    request.reply({})


def lfs_verify(request: Request, oid: str) -> None:
    if not request.repos.has(oid, request.json()["size"]):
        raise Refusal(404, "object missing")
    request.reply({})


ROUTES = [
    route("POST", "/api/{t}/{name}/preupload/{rev}", preupload),
    route("POST", "/api/{t}/{name}/commit/{rev}", commit),
    route("POST", r"/(?:(?P<t>datasets|spaces)/)?{name}\.git/info/lfs/objects/batch", lfs_batch),
    route("PUT", "/_lfs/{oid}", lfs_put),
    route("PUT", "/_lfs/{oid}/part/{n}", lfs_part),
    route("POST", "/_lfs/{oid}/complete", lfs_complete),
    route("POST", "/_lfs/{oid}/verify", lfs_verify),
]
