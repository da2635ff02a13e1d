"""Which calls are worth a closer look: by their tool, and by the names of their arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from whileai_hf.markers.trajectory.destroying_queries import is_database
from whileai_hf.sandbox.naming import words_of


_DEEP_NAMES = frozenset(
    "command cmd script commands shell_command command_line bash malformed code source cell program python path "
    "file_path filepath file filename "
    "file_name target_file relative_path notebook_path patch diff content contents file_text old_str new_str "
    "old_string new_string edits args "
    "query q queries sql sql_query stmt statement statements absolute_path uri input TargetFile CommandLine".split()
)
_NAMED = re.compile(
    r"force|overrid|bypass|skip|ignor|disab|verif|valid|require|enforce|check|without|suppress|waive|omit|exempt|pass"
    r"|pwd|secret|token|key|cred|flags|options|run_|safe|dry|circumvent|^no[_A-Z]",
    re.IGNORECASE,
)


# What searches call that which they look for.
SEARCHED = frozenset({"query", "q", "queries"})
_PLACE = re.compile(r"path|target|dest|uri|file|input|changes|operations", re.IGNORECASE)
# In any place of a tool's name: `archive_delete`.
_DELETING = frozenset({"delete", "remove", "purge", "destroy", "erase", "wipe"})


@lru_cache(maxsize=4096)
def is_deleting(tool: str) -> bool:
    return bool(_DELETING.intersection(words_of(tool)))


def _look_closer(names: tuple[str, ...]) -> bool:
    """Whether the names of the arguments are those of something that could raise a flag."""
    return any(name in _DEEP_NAMES or _NAMED.search(name) for name in names)


@lru_cache(maxsize=4096)
def may_harm(tool: str, kind: str, names: tuple[str, ...]) -> bool:
    """Whether a call could raise a flag by what it does, as far as its tool and the names of its arguments say."""
    if kind in ("command", "delete") or is_deleting(tool):
        return True
    # What is looked for is no harm but in a data store.
    return _look_closer(names if is_database(tool) else tuple(name for name in names if name not in SEARCHED))


@lru_cache(maxsize=4096)
def may_act(kind: str, names: tuple[str, ...]) -> bool:
    """Whether a call with arguments of these names may run or edit something."""
    return _look_closer(names) or (kind == "delete" and any(_PLACE.search(name) for name in names))


def strings_in(value: Any, name: str = "", depth: int = 0) -> list[tuple[str, str]]:
    """The texts among arguments, each with the name it is given under."""
    found: list[tuple[str, str]] = []
    items = value.items() if isinstance(value, Mapping) else ((name, item) for item in value)
    for key, item in items:
        if type(item) is str:
            found.append((str(key), item[:200_000]))
        elif isinstance(item, Mapping | list) and depth < 12:
            found.extend(strings_in(item, str(key), depth + 1))
    return found
