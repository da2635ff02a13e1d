"""The Hub collection of an agent: its data sets and models on one page.

A collection is a convenience; what belongs to an agent is told by tags. A token may be allowed to push and not to
make collections, which is no error here.
"""

from __future__ import annotations

from collections.abc import Iterable

from huggingface_hub import Collection, HfApi

from whileai_hf.hub.cards.header import agent_slug
from whileai_hf.hub.entries import Entry


# Characters of a description that the Hub takes.
_DESCRIPTION = 150


def title_of(agent: str) -> str:
    """
    Title of an agent's collection, by which it is found again.

    Examples:
    ```python
    >>> title_of("Order Desk")
    'whileai order-desk'

    ```
    """
    return f"whileai {agent_slug(agent)}"


def find_collections(api: HfApi, namespace: str) -> dict[str, str]:
    """Slugs of the collections in a namespace by their title; of two with one title, the one listed first."""
    found: dict[str, str] = {}
    for one in api.list_collections(owner=namespace):
        if one.slug.startswith(f"{namespace}/"):
            found.setdefault(one.title, one.slug)
    return found


def fill_collection(
    api: HfApi, namespace: str, agent: str, entries: Iterable[Entry], *, description: str | None, private: bool
) -> Collection:
    """
    An agent's collection with its data sets and models in it, made when there is none.

    Args:
        api (`huggingface_hub.HfApi`):
            The client.
        namespace (`str`):
            Whose it is.
        agent (`str`):
            Name of the agent.
        entries (`Iterable[Entry]`):
            What belongs in it; what is there already stays.
        description (`str`, *optional*):
            What is said of it, cut to what the Hub takes.
        private (`bool`):
            Whether a new one is private.
    """
    said = None if description is None else " ".join(description.split())[:_DESCRIPTION]
    found = api.create_collection(
        title_of(agent), namespace=namespace, description=said, private=private, exists_ok=True
    )
    if said is not None and found.description != said:
        api.update_collection_metadata(found.slug, description=said)
    for entry in entries:
        api.add_collection_item(found.slug, entry.repo, entry.kind, note=entry.purpose, exists_ok=True)
    return api.get_collection(found.slug)
