"""Collections, and what clients ask for that this server has nothing to say about."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from hub.errors import Refusal
from hub.repos import now
from hub.requests import Request, route


def _id(*parts: str) -> str:
    return hashlib.md5("/".join(parts).encode()).hexdigest()[:24]


def _collection(request: Request, slug: str, write: bool = False) -> dict[str, Any]:
    found = request.hub.collections.get(slug)
    mine = request.member(slug.split("/")[0])
    if found is None or (found["private"] and not mine):
        raise Refusal(404, "Collection not found")
    if write:
        request.writer()
        if not mine:
            raise Refusal(403, "Forbidden")
    return found


def listed(request: Request) -> None:
    owners = request.query.get("owner")
    request.reply(
        [
            found
            for slug, found in request.hub.collections.items()
            if (not owners or slug.split("/")[0] in owners)
            and (not found["private"] or request.member(slug.split("/")[0]))
        ]
    )


def create(request: Request) -> None:
    asked = request.json()
    request.writer()
    namespace, title = asked["namespace"], asked["title"]
    if not request.member(namespace):
        raise Refusal(403, "Forbidden namespace")
    slug = f"{namespace}/{re.sub('[^a-z0-9]+', '-', title.lower()).strip('-')}-{_id(namespace, title)}"
    if slug in request.hub.collections:
        raise Refusal(409, "Collection already exists", extra={"slug": slug})
    about = {"slug": slug, "title": title, "description": asked.get("description")}
    owner = {"owner": {"name": namespace, "type": "user"}, "private": bool(asked.get("private"))}
    looks = {"items": [], "lastUpdated": now(), "position": 0, "theme": "blue", "upvotes": 0}
    request.hub.collections[slug] = {**about, **owner, **looks}
    request.reply(request.hub.collections[slug])


def one(request: Request, slug: str) -> None:
    request.reply(_collection(request, slug))


def update(request: Request, slug: str) -> None:
    asked = request.json()
    found = _collection(request, slug, write=True)
    found.update({key: asked[key] for key in ("title", "description", "private", "theme") if key in asked})
    request.reply({"data": found})


def delete(request: Request, slug: str) -> None:
    _collection(request, slug, write=True)
    del request.hub.collections[slug]
    request.reply({})


def add(request: Request, slug: str) -> None:
    asked = request.json()
    found, item = _collection(request, slug, write=True), asked["item"]
    if any((known["id"], known["type"]) == (item["id"], item["type"]) for known in found["items"]):
        raise Refusal(409, "Item already in collection")
    note = {"note": {"text": asked["note"]}} if asked.get("note") else {}
    place = {"_id": _id(slug, item["type"], item["id"]), "position": len(found["items"])}
    found["items"].append({**place, **item, **note})
    request.reply(found)


def remove(request: Request, slug: str, item: str) -> None:
    found = _collection(request, slug, write=True)
    if all(known["_id"] != item for known in found["items"]):
        raise Refusal(404, "Item not found")
    found["items"] = [known for known in found["items"] if known["_id"] != item]
    request.reply({})


def valid(request: Request) -> None:
    request.reply({"errors": [], "warnings": []})


def nothing(request: Request) -> None:
    raise Refusal(404, "not served here")


ROUTES = [
    route("GET", "/api/collections", listed),
    route("POST", "/api/collections", create),
    route("GET", "/api/collections/{slug}", one),
    route("PATCH", "/api/collections/{slug}", update),
    route("DELETE", "/api/collections/{slug}", delete),
    route("POST", "/api/collections/{slug}/items?", add),
    route("DELETE", "/api/collections/{slug}/items/(?P<item>[^/]+)", remove),
    route("POST", "/api/validate-yaml", valid),
    route("GET", "/api/agent-harnesses", nothing),
    route("GET", "/(?:parquet|info|is-valid|splits|croissant)", nothing),
]
