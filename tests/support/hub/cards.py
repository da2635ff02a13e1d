"""What the Hub says about a repo: its card's YAML, the tags that follow from it, and its files."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from hub.repos import Repo, Repos


_FRONT = re.compile(r"\s*---\r?\n(.*?)\r?\n---", re.S)
_TAGGED = ("language", "license", "task_categories", "task_ids", "size_categories", "datasets", "base_model")


def card_data(repos: Repos, repo: Repo, sha: str) -> dict[str, Any]:
    """The YAML of a repo's card, empty when it has none that can be read."""
    file = repo.commits[sha].tree.get("README.md")
    found = _FRONT.match(repos.read(file).decode("utf-8", "replace")) if file else None
    if not found:
        return {}
    try:
        data = yaml.safe_load(found[1])
    except yaml.YAMLError:
        return {}
    return json.loads(json.dumps(data, default=str)) if isinstance(data, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _tags(repo: Repo, card: dict[str, Any], paths: list[str]) -> list[str]:
    tags = [str(tag) for tag in _listed(card.get("tags"))]
    for key in _TAGGED:
        prefix = "dataset:" if key == "datasets" else "" if (key, repo.kind) == ("language", "model") else f"{key}:"
        tags += [f"{prefix}{value}" for value in _listed(card.get(key))]
    if card.get("library_name") == "peft" or card.get("base_model_relation") == "adapter":
        tags += [f"base_model:adapter:{base}" for base in _listed(card.get("base_model"))]
    tags += [card[key] for key in ("library_name", "pipeline_tag") if card.get(key)]
    if repo.kind == "dataset" and any(path.endswith(".parquet") for path in paths):
        tags += ["format:parquet", "library:datasets"]
    return list(dict.fromkeys([*tags, "region:us"]))


def repo_info(repos: Repos, repo: Repo, sha: str, blobs: bool = False, full: bool = True) -> dict[str, Any]:
    """A repo at a commit, as the API describes it; `full` adds the card and the files, `blobs` their sizes."""
    tree = repo.commits[sha].tree
    card = card_data(repos, repo, sha)
    info: dict[str, Any] = {
        "_id": sha[:24],
        "id": repo.name,
        "author": repo.namespace,
        "sha": sha,
        "lastModified": repo.modified,
        "createdAt": repo.created,
        "private": repo.private,
        "gated": repo.gated,
        "disabled": False,
        "downloads": repo.downloads,
        "likes": 0,
        "tags": _tags(repo, card, list(tree)),
        "usedStorage": sum(file.size for file in tree.values()),
    }
    if full:
        info |= {"cardData": card, "siblings": _siblings(repo, sha, blobs)}
    if repo.kind == "model":
        info |= {
            "modelId": repo.name,
            "library_name": card.get("library_name"),
            "pipeline_tag": card.get("pipeline_tag"),
        }
        info |= {"model-index": card["model-index"]} if card.get("model-index") else {}
    return info


def _siblings(repo: Repo, sha: str, blobs: bool) -> list[dict[str, Any]]:
    found = []
    for path, file in sorted(repo.commits[sha].tree.items()):
        entry: dict[str, Any] = {"rfilename": path}
        if blobs:
            entry |= {"size": file.size, "blobId": file.oid}
            entry |= {"lfs": {"size": file.size, "sha256": file.sha256, "pointerSize": 130}} if file.lfs else {}
        found.append(entry)
    return found
