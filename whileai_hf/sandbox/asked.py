"""Which records an ask names, and of which entity: what a list in the same rollout must not overlook.

Only ids are read (`ORD-7`, `4412`), no names or paths: those are words of the ask as often as they are records. An id
whose entity cannot be told is left out, because a list that shows an order among products is worse than a short one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from whileai_hf.sandbox.knowledge import id_tokens
from whileai_hf.sandbox.shapes import shape_of, shown_examples
from whileai_hf.sandbox.toolset import Toolset


# Letters an id starts with before its number; one letter says nothing.
_PREFIX = re.compile(r"([a-z]{2,})[-_]?\d")
# The word an id is introduced by: "order 4412", "order number #4412".
_INTRODUCED = re.compile(r"([a-z]+)\s*(?:(?:number|no\.?|nr\.?|id)\s*)?[:#]?\s*$")


@lru_cache(maxsize=2048)
def _named(ask: str) -> tuple[tuple[str, str], ...]:
    """The ids of an ask, each with the word that introduces it."""
    found = []
    for at, token in id_tokens(ask):
        word = _INTRODUCED.search(ask[max(0, at - 40) : at].casefold())
        found.append((token.lstrip("#"), word.group(1) if word else ""))
    return tuple(found)


def asked_for(toolset: Toolset, ask: str, entity: str, focus: str | None) -> Iterator[Any]:
    """
    The ids in `ask` that are of `entity`.

    Args:
        toolset ([`Toolset`]):
            The tools, whose entities an id may belong to.
        ask (`str`):
            The user's words.
        entity (`str`):
            The entity that is being listed.
        focus (`str`, *optional*):
            The entity the situation is about.
    """
    for token, word in _named(ask):
        if _entity(toolset, token, word, focus) != entity:
            continue
        if toolset.shape(entity).id_schema.get("type") != "integer":
            yield token
        elif token.isdigit():
            yield int(token)


def _entity(toolset: Toolset, token: str, word: str, focus: str | None) -> str | None:
    """The entity of an id, by its format, the word before it, its prefix, or because nothing else is possible."""
    coded = {item.entity for profile in toolset.profiles.values() for item in profile.ids if item.kind == "code"}
    entities = sorted(coded)
    for entity in entities:
        examples = shown_examples(str(toolset.shape(entity).id_schema.get("description") or ""))
        if any(shape_of(example).fullmatch(form) for example in examples for form in (token, f"#{token}")):
            return entity
    if word in entities:
        return word
    prefix = _PREFIX.match(token.casefold())
    if prefix is not None:
        begun = [entity for entity in entities if entity.startswith(prefix.group(1))]
        if begun:
            return begun[0] if len(begun) == 1 else None
    if focus is not None:
        return focus if focus in coded else None
    return entities[0] if len(entities) == 1 else None
