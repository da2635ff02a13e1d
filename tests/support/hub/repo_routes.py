"""Repos as a whole: who am I, create, delete, move, settings, access, describe, list."""

from __future__ import annotations

from hub.cards import repo_info
from hub.errors import Refusal
from hub.repos import Repo, now
from hub.requests import KINDS, Request, route


PAGE = 1000
_ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n*.safetensors filter=lfs diff=lfs merge=lfs -text\n"


def whoami(request: Request) -> None:
    if request.user is None:
        raise Refusal(401, "Invalid username or password.")
    user = request.user
    orgs = [{"type": "org", "id": org, "name": org, "fullname": org, "roleInOrg": "write"} for org in user.orgs]
    token = {"displayName": "test", "role": user.role, "createdAt": now()}
    request.reply(
        {
            "type": "user",
            "id": user.name,
            "name": user.name,
            "fullname": user.name.title(),
            "email": f"{user.name}@example.org",
            "emailVerified": True,
            "canPay": False,
            "isPro": False,
            "periodEnd": None,
            "orgs": orgs,
            "auth": {"type": "access_token", "accessToken": token},
        }
    )


def create(request: Request) -> None:
    asked, user = request.json(), request.writer()
    kind, namespace = asked.get("type") or "model", asked.get("organization") or user.name
    name = f"{namespace}/{asked['name']}"
    if not request.member(namespace):
        raise Refusal(403, f'You don\'t have the rights to create a {kind} under the namespace "{namespace}"')
    with request.repos.lock:
        repo = Repo(kind, name, private=asked.get("private") is True or asked.get("visibility") == "private")
        url = f"{request.base}/{repo.prefix}{name}"
        if request.repos.get(kind, name):
            raise Refusal(409, f"You already created this {kind} repo: {name}", extra={"url": url})
        attributes = request.hub.keep(_ATTRIBUTES)
        repo.branches["main"] = repo.commit(None, {".gitattributes": attributes}, "initial commit", "", user.name)
        request.repos.add(repo)
    request.reply({"url": url, "name": name, "id": repo.branches["main"][:24]})


def delete(request: Request) -> None:
    asked = request.json()
    namespace = asked.get("organization") or request.writer().name
    with request.repos.lock:
        repo = request.repo(asked.get("type") or "model", f"{namespace}/{asked['name']}", write=True)
        request.repos.drop(repo)
    request.reply({})


def move(request: Request) -> None:
    asked = request.json()
    with request.repos.lock:
        repo = request.repo(asked.get("type") or "model", asked["fromRepo"], write=True)
        if not request.member(asked["toRepo"].split("/")[0]):
            raise Refusal(403, "Forbidden target namespace")
        request.repos.drop(repo)
        repo.name = asked["toRepo"]
        request.repos.add(repo)
    request.reply({})


def settings(request: Request, t: str, name: str) -> None:
    asked = request.json()
    with request.repos.lock:
        repo = request.repo(KINDS[t], name, write=True)
        if "visibility" in asked or "private" in asked:
            repo.private = asked.get("visibility") == "private" or asked.get("private") is True
        repo.gated = asked.get("gated", repo.gated)
    request.reply({"private": repo.private, "gated": repo.gated})


def grant(request: Request, t: str, name: str) -> None:
    asked = request.json()
    request.repo(KINDS[t], name, write=True).granted.append(asked.get("user"))
    request.reply({})


def check(request: Request, t: str, name: str) -> None:
    request.repo(KINDS[t], name, content=True)
    request.reply({})


def describe(request: Request, t: str, name: str, rev: str | None = None) -> None:
    repo = request.repo(KINDS[t], name)
    info = repo_info(request.repos, repo, repo.resolve(rev), blobs=request.flag("blobs"))
    expand = request.query.get("expand")
    request.reply({key: info[key] for key in info if key in ("_id", "id", *expand)} if expand else info)


def listed(request: Request, t: str) -> None:
    query, found = request.query, []
    expand = query.get("expand")
    full = request.flag("full") or request.flag("cardData") or bool(expand)
    for repo in request.repos.all(KINDS[t]):
        if repo.private and not request.member(repo.namespace):
            continue
        if query.get("author") and repo.namespace not in query["author"]:
            continue
        if any(text.lower() not in repo.name.lower() for text in query.get("search", [])):
            continue
        info = repo_info(request.repos, repo, repo.branches["main"], full=full)
        wanted = [tag for tags in query.get("filter", []) for tag in tags.split(",")]
        if any(tag not in info["tags"] for tag in wanted):
            continue
        if query.get("gated") and bool(repo.gated) != request.flag("gated"):
            continue
        found.append(info)
    key = (query.get("sort") or ["lastModified"])[0]
    found.sort(key=lambda info: str(info.get(key, "")), reverse=True)
    if expand:
        found = [{key: info[key] for key in info if key in ("_id", "id", *expand)} for info in found]
    request.page(found, PAGE)


ROUTES = [
    route("GET", "/api/whoami-v2", whoami),
    route("POST", "/api/repos/create", create),
    route("DELETE", "/api/repos/delete", delete),
    route("POST", "/api/repos/move", move),
    route("GET", "/api/{t}", listed),
    route("PUT", "/api/{t}/{name}/settings", settings),
    route("GET", "/api/{t}/{name}/auth-check", check),
    route("POST", "/api/{t}/{name}/user-access-request/grant", grant),
    route("GET|HEAD", "/api/{t}/{name}/revision/{rev}", describe),
    route("GET|HEAD", "/api/{t}/{name}", describe),
]
