"""Repos of ours that lie in the local cache: what can still be said when the Hub does not answer."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from huggingface_hub import constants

from whileai_hf.hub.cards.header import front_matter
from whileai_hf.hub.entries import Entry, Kind, entry_from, is_ours


_TAG_NUMBER = re.compile(r"v(\d+)")
# Bytes of a card that are read; the YAML is at its start.
_MOST = 1_000_000


def cached_entries(kind: Kind, folder: Path | None = None) -> list[Entry]:
    """
    Repos of ours in the cache, by name, each as its newest push there describes it.

    Args:
        kind (`str`):
            `dataset` or `model`.
        folder (`Path`, *optional*):
            The cache; that of `huggingface_hub` when left out.
    """
    root = Path(constants.HF_HUB_CACHE) if folder is None else folder
    found = [_newest(place, kind) for place in sorted(root.glob(f"{kind}s--*"))]
    return [entry for entry in found if entry is not None]


def _newest(place: Path, kind: Kind) -> Entry | None:
    """The newest push among the snapshots of one repo: that with the highest tag."""
    repo = place.name.removeprefix(f"{kind}s--").replace("--", "/")
    entries = []
    for card in filter(Path.is_file, sorted(place.glob("snapshots/*/README.md"))):
        # Cards are read as they lie there; one that cannot be is no push of ours.
        with card.open("rb") as file:
            data = front_matter(file.read(_MOST).decode("utf-8", "replace"))
        tags = data.get("tags")
        named = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
        if is_ours(named):
            described = entry_from(repo, kind, data, named)
            entries.append(dataclasses.replace(described, commit=card.parent.name))
    return max(entries, key=lambda entry: _number(entry.tag), default=None)


def _number(tag: str | None) -> int:
    found = _TAG_NUMBER.fullmatch(tag or "")
    return int(found[1]) if found else -1
