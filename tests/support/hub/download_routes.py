"""Downloads: files at a revision, whole or in ranges."""

from __future__ import annotations

import re
import urllib.parse

from hub.errors import Refusal
from hub.repos import CHUNK, File
from hub.requests import KINDS, Request, route


def resolve(request: Request, name: str, rev: str, path: str, t: str | None) -> None:
    repo = request.repo(KINDS[t or "models"], name, content=True)
    sha = repo.resolve(rev)
    file = repo.commits[sha].tree.get(path)
    if file is None:
        raise Refusal(404, "Entry not found", "EntryNotFound", {"X-Repo-Commit": sha})
    etag = file.sha256 if file.lfs else file.oid
    headers = {
        "X-Repo-Commit": sha,
        "ETag": f'"{etag}"',
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
        "Content-Disposition": f"inline; filename*=UTF-8''{urllib.parse.quote(path.split('/')[-1])}",
    }
    if file.lfs:
        headers |= {"X-Linked-Size": str(file.size), "X-Linked-ETag": f'"{etag}"'}
    first, last = _range(request, file)
    if first >= max(file.size, 1):
        request.reply({"error": "range"}, 416, {"Content-Range": f"bytes */{file.size}"})
        return
    whole = (first, last) == (0, file.size - 1)
    if not whole:
        headers["Content-Range"] = f"bytes {first}-{last}/{file.size}"
    size = last - first + 1
    request.start(200 if whole else 206, {**headers, "Content-Length": str(size)})
    if request.method == "HEAD":
        return
    repo.downloads += path != "README.md"
    with request.repos.path(file.sha256).open("rb") as blob:
        blob.seek(first)
        while size > 0 and (chunk := blob.read(min(size, CHUNK))):
            request.http.wfile.write(chunk)
            size -= len(chunk)


def _range(request: Request, file: File) -> tuple[int, int]:
    """First and last byte asked for."""
    end = file.size - 1
    asked = re.fullmatch(r"bytes=(\d*)-(\d*)", request.http.headers.get("Range") or "")
    if not asked or not (asked[1] or asked[2]) or not file.size:
        return 0, end
    if not asked[1]:
        return max(0, file.size - int(asked[2])), end
    return int(asked[1]), min(int(asked[2] or end), end)


ROUTES = [
    route(
        "GET|HEAD",
        r"/(?:(?P<t>datasets|spaces)/)?{name}/(?:resolve|raw)/(?P<rev>refs%2Fpr%2F\d+|refs/pr/\d+|[^/]+)/{path}",
        resolve,
    ),
]
