"""The nouns an agent is about: what a person calls its field, and what each tool deals with."""

from __future__ import annotations

import re
from collections import Counter

from whileai_hf.scenarios.descriptions import Request, first_sentence
from whileai_hf.scenarios.slots import bare, thing_of
from whileai_hf.scenarios.words import VERBS, singular, words_of
from whileai_hf.spec import AgentSpec


# How a prompt introduces its agent.
_INTRODUCED = (
    re.compile(r"\bas an? ((?:[\w-]+ ){1,2}?)(?:agent|assistant|bot)\b", re.IGNORECASE),
    re.compile(r"\byou are (?:an? |the )?((?:[\w-]+ ){1,2}?)(?:agent|assistant|bot)\b", re.IGNORECASE),
    re.compile(r"\buse the ((?:[\w-]+ ){1,2}?)tools\b", re.IGNORECASE),
    re.compile(
        r"\bfor (?:an? |the )(?:[\w-]+ )??((?:[\w-]+ )?(?:shop|store|bank|airline|hotel|clinic))\b", re.IGNORECASE
    ),
)
_NO_FIELD = frozenset(
    "ai helpful virtual language model llm smart friendly useful expert an the given provided available".split()
)
_PARTS = re.compile(r"\s+(?:of|in|to|from|for|with|on|at|into|about|between|matching|and|or|along)\s+")
_CLAUSE = re.compile(r"\s+(?:that|which|using|by)\b.*$")
# Nouns that name nothing in particular.
_EMPTY = frozenset(
    "list details detail content contents information result results id ids name names path it them me tile subject "
    "body description number numbers all other new type types user users different time".split()
)
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]{2,}\b")
_NO_NAME = frozenset(
    {"ISO", "URL", "URI", "JSON", "HTML", "DEPRECATED", "NOTE", "MIME", "API", "NOT", "ENTIRE", "PDF"}
)
_MOST_FIELDS = 2


def subjects_of(request: Request, thing: str) -> tuple[str, ...]:
    """
    The things a request deals with, each without article.

    Args:
        request ([`Request`]):
            What one asks the tool for.
        thing (`str`):
            What it is mainly about; always among them.

    Examples:
    ```python
    >>> subjects_of(Request("delete", "relations from the knowledge graph"), "relations")
    ('relation', 'knowledge graph')

    ```
    """
    found = [singular_last(thing)]
    for part in _PARTS.split(_CLAUSE.sub("", bare(request))):
        noun = thing_of(re.sub(r"^(?:(?:with|my|its|their|up|given|all|an?|the|ten|two)\s+)+", "", part))
        words = noun.lower().split()
        if not words or len(words[-1]) < 3 or _EMPTY.intersection((words[0], words[-1])) or noun.endswith("ed"):
            continue
        # "to provide metadata" is something done, not something there.
        if words[0] in VERBS and words[0] not in ("commit", "file", "direct", "email", "message"):
            continue
        found.append(singular_last(noun))
    return tuple(dict.fromkeys(found))


def fields_of(spec: AgentSpec) -> tuple[str, ...]:
    """
    What a person calls the field of an agent: `airline`, `git`, `calendar`.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.

    Examples:
    ```python
    >>> from whileai_hf.spec import AgentSpec
    >>> fields_of(AgentSpec.from_tools([{"name": "ping"}], "As an airline agent, you can help users."))
    ('airline',)

    ```
    """
    found: list[str] = []
    for pattern in _INTRODUCED:
        for match in pattern.finditer(spec.system_prompt):
            words = [word for word in match.group(1).lower().split() if word not in _NO_FIELD]
            found += [" ".join(words)] if words else []
    if not found:
        found = [*_proper_names(spec), *_frequent(spec)]
    return tuple(dict.fromkeys(found))[:_MOST_FIELDS] or ("support",)


def _proper_names(spec: AgentSpec) -> list[str]:
    """The capitalised name or acronym inside a sentence that the descriptions of several tools share most."""
    counts: Counter[str] = Counter()
    for tool in spec.tools:
        counts.update(sorted(set(_PROPER.findall(first_sentence(tool.description))) - _NO_NAME))
    return [name for name, count in counts.most_common(1) if count > 1]


def _frequent(spec: AgentSpec) -> list[str]:
    """Nouns that several tools share, most shared first; the first tool's own noun when none do."""
    counts: Counter[str] = Counter()
    for tool in spec.tools:
        words = {singular(word) for word in words_of(tool.name)[1:] if word not in VERBS and len(word) > 2}
        counts.update(sorted(words - _EMPTY - {"all", "by", "for", "current", "long", "running"}))
    shared = [word for word, count in counts.most_common(_MOST_FIELDS) if count > 1]
    if shared or not spec.tools:
        return shared
    named = [word for tool in spec.tools for word in words_of(tool.name) if word not in VERBS and len(word) > 2]
    return named[:1]


def singular_last(subject: str) -> str:
    """`subject` with its last word in the singular."""
    head, _, last = subject.rpartition(" ")
    return f"{head} {singular(last)}".strip()
