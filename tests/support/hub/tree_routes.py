"""Inside a repo: its tree, single paths, branches, tags, history, and pull requests as far as clients ask for them."""

from __future__ import annotations

import hashlib
import urllib.parse
from typing import Any

from hub.errors import Refusal
from hub.repos import Repo, now
from hub.requests import KINDS, Request, route


PAGE, EXPANDED_PAGE = 1000, 50


def _entry(repo: Repo, sha: str, path: str, expand: bool) -> dict[str, Any]:
    file = repo.commits[sha].tree[path]
    entry: dict[str, Any] = {"type": "file", "path": path, "size": file.size, "oid": file.oid}
    if file.lfs:
        entry["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 130}
    if expand:
        last = repo.commits[sha]
        for commit in repo.history(sha):
            if commit.tree.get(path) != file:
                break
            last = commit
        entry["lastCommit"] = {"id": last.sha, "title": last.title, "date": last.date}
    return entry


def _folder(repo: Repo, sha: str, path: str, expand: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "directory",
        "path": path,
        "size": 0,
        "oid": hashlib.sha1(path.encode()).hexdigest(),
    }
    if expand:
        commit = repo.commits[sha]
        entry["lastCommit"] = {"id": sha, "title": commit.title, "date": commit.date}
    return entry


def tree(request: Request, t: str, name: str, rev: str, path: str | None = None) -> None:
    repo = request.repo(KINDS[t], name, content=True)
    sha, path = repo.resolve(rev), (path or "").strip("/")
    start, deep, expand = f"{path}/" if path else "", request.flag("recursive"), request.flag("expand")
    files, folders = [], {}
    for found in sorted(repo.commits[sha].tree):
        if not found.startswith(start):
            continue
        pieces = found[len(start) :].split("/")
        for depth in range(1, len(pieces)):
            folders.setdefault(start + "/".join(pieces[:depth]), depth)
        if len(pieces) == 1 or deep:
            files.append(_entry(repo, sha, found, expand))
    if path and not files and not folders:
        raise Refusal(404, f'{path} does not exist on "{rev}"', "EntryNotFound", {"X-Repo-Commit": sha})
    above = [_folder(repo, sha, folder, expand) for folder, depth in folders.items() if deep or depth == 1]
    request.page([*above, *files], EXPANDED_PAGE if expand else PAGE)


def paths(request: Request, t: str, name: str, rev: str) -> None:
    repo = request.repo(KINDS[t], name, content=True)
    sha = repo.resolve(rev)
    if "json" in (request.http.headers.get("Content-Type") or ""):
        asked = request.json()
        wanted, expand = asked.get("paths", []), bool(asked.get("expand"))
    else:
        form = urllib.parse.parse_qs(request.body().decode(), keep_blank_values=True)
        wanted, expand = form.get("paths", []), (form.get("expand") or ["false"])[0].lower() in ("true", "1")
    found = []
    for path in [wanted] if isinstance(wanted, str) else wanted:
        path = path.strip("/")
        if path in repo.commits[sha].tree:
            found.append(_entry(repo, sha, path, expand))
        elif any(other.startswith(f"{path}/") for other in repo.commits[sha].tree):
            found.append(_folder(repo, sha, path, expand))
    request.reply(found)


def refs(request: Request, t: str, name: str) -> None:
    repo = request.repo(KINDS[t], name)

    def table(found: dict[str, str], prefix: str) -> list[dict[str, str]]:
        return [{"name": ref, "ref": prefix + ref, "targetCommit": sha} for ref, sha in found.items()]

    reply = {"branches": table(repo.branches, "refs/heads/"), "tags": table(repo.tags, "refs/tags/"), "converts": []}
    if request.query.get("include_prs"):
        reply["pullRequests"] = table(repo.pulls, "")
    request.reply(reply)


def commits(request: Request, t: str, name: str, rev: str) -> None:
    history = request.repo(KINDS[t], name).history(rev)
    entries = [
        {"id": c.sha, "title": c.title, "message": c.message, "date": c.date, "authors": [{"user": c.author}]}
        for c in history
    ]
    request.page(entries, PAGE)


def tag(request: Request, t: str, name: str, rev: str) -> None:
    asked = request.json() if request.method == "POST" else {}
    with request.repos.lock:
        repo = request.repo(KINDS[t], name, write=True)
        if request.method == "DELETE":
            if repo.tags.pop(rev, None) is None:
                raise Refusal(404, f"Tag {rev} does not exist", "RevisionNotFound")
        else:
            sha = repo.resolve(rev)
            if asked["tag"] in repo.tags:
                raise Refusal(409, f"Tag reference exists already: {asked['tag']}")
            repo.tags[asked["tag"]] = sha
    request.reply({})


def branch(request: Request, t: str, name: str, rev: str) -> None:
    asked = request.json() if request.method == "POST" else {}
    with request.repos.lock:
        repo = request.repo(KINDS[t], name, write=True)
        if request.method == "DELETE":
            if rev == "main":
                raise Refusal(403, "Cannot delete main")
            if repo.branches.pop(rev, None) is None:
                raise Refusal(404, f"Branch {rev} does not exist", "RevisionNotFound")
        else:
            if rev in repo.branches:
                raise Refusal(409, f"Reference already exists: {rev}")
            repo.branches[rev] = repo.resolve(asked.get("startingPoint"))
    request.reply({})


def discussions(request: Request, t: str, name: str) -> None:
    asked = request.json()
    with request.repos.lock:
        repo = request.repo(KINDS[t], name)
        request.writer()
        number = len(repo.pulls) + 1
        repo.pulls[f"refs/pr/{number}"] = repo.branches["main"]
    url = f"{request.base}/{repo.prefix}{name}/discussions/{number}"
    request.reply({"num": number, "url": url, "title": asked.get("title"), "pullRequest": True})


def discussion(request: Request, t: str, name: str, n: str) -> None:
    repo = request.repo(KINDS[t], name)
    if f"refs/pr/{n}" not in repo.pulls:
        raise Refusal(404, "Discussion not found")
    changes = {"base": "refs/heads/main"}
    about = {"title": "PR", "status": "draft", "num": int(n), "repo": {"name": name, "type": repo.kind}}
    request.reply(
        {**about, "isPullRequest": True, "createdAt": now(), "author": {"name": "alice"}, "events": []}
        | {"changes": changes, "filesWithConflicts": [], "diff": ""}
    )


ROUTES = [
    route("GET", "/api/{t}/{name}/tree/{rev}(?:/(?P<path>.*))?", tree),
    route("POST", "/api/{t}/{name}/paths-info/{rev}", paths),
    route("GET", "/api/{t}/{name}/refs", refs),
    route("GET", "/api/{t}/{name}/commits/{rev}", commits),
    route("POST|DELETE", "/api/{t}/{name}/tag/{rev}", tag),
    route("POST|DELETE", "/api/{t}/{name}/branch/{rev}", branch),
    route("POST", "/api/{t}/{name}/discussions", discussions),
    route("GET", "/api/{t}/{name}/discussions/{n}", discussion),
]
