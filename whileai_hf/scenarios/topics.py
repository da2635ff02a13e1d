"""What a rule is about, in a word or two, so that an ask can touch it without quoting it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from whileai_hf.scenarios.words import gerund, plain_verb


_DATA = Path(__file__).parent / "data"
# Words that carry no subject: grammar, the actors every prompt talks about, and the verbs of obligation.
_STOP = frozenset((_DATA / "stopwords.txt").read_text("utf-8").split())
# Verbs that are at home as nouns.
_NOUNS = frozenset(
    "refund order search address change update report transfer upgrade review access call charge discount "
    "delivery return payment purchase record email message file copy price plan offer visit test log commit "
    "branch query schedule booking baggage insurance support release download upload backup reset stock trade".split()
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|[^\sA-Za-z]+")
_LONGEST_TOPIC = 3
_MOST_TOPICS = 4
_LONGEST_VERB = 8
# What people call rules they have not read.
_NO_TOPIC = "fine print"


@lru_cache(maxsize=2048)
def topics_of(clause: str, known: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """
    The subjects of a clause, the most telling first.

    Args:
        clause (`str`):
            A rule of the prompt.
        known (`frozenset[str]`, *optional*):
            Words of the agent's tools: a subject that shares one is preferred.

    Returns:
        `tuple[str, ...]`: One to three words each; `("fine print",)` when the clause has no subject of its own.

    Examples:
    ```python
    >>> topics_of("Never refund more than 100 dollars without a supervisor.")
    ('supervisor', 'refund')

    ```
    """
    named = re.search(r"\b[Uu]se the ([a-z]+ tools)\b", clause)
    if named and named.group(1).split()[0] not in ("provided", "available", "given", "right"):
        return (named.group(1),)
    runs: list[list[str]] = [[]]
    for token in _WORD.findall(clause):
        word = token.strip("'-").lower()
        # Names of tools and settings (`get-roots-list`, MAX_SIZE) are the prompt's vocabulary, not a person's.
        if word.endswith(("able", "ible", "ed")) and len(word) > 4:
            # Adjectives and participles end a subject: "cancelled flight" is about a flight.
            runs.append([])
        elif not word.isascii() or not word[:1].isalpha() or word in _STOP or "-" in word or token.isupper():
            runs.append([])
        else:
            runs[-1].append(word.removesuffix("'s") if word.count("'") else word)
    found: dict[str, tuple[int, int, int]] = {}
    for order, run in enumerate(runs):
        trimmed = _without_verbs(run)
        phrase = " ".join(trimmed[-_LONGEST_TOPIC:])
        if len(phrase) > 2 and phrase not in found:
            shared = -sum(word in known or word.rstrip("s") in known for word in trimmed)
            lone_verb = len(trimmed) == 1 and _is_verb(trimmed[0])
            found[phrase] = (lone_verb, shared, -order)
    ranked = sorted(found, key=lambda phrase: found[phrase])
    nouns = [phrase for phrase in ranked if not found[phrase][0]]
    if not nouns and ranked:
        verb = plain_verb(ranked[0]) or ranked[0]
        return (gerund(verb) if len(verb) <= _LONGEST_VERB else _NO_TOPIC,)
    return tuple(nouns[:_MOST_TOPICS]) or (_NO_TOPIC,)


def _is_verb(word: str) -> bool:
    return (plain_verb(word) or word) not in _NOUNS and plain_verb(word) is not None


def _without_verbs(run: list[str]) -> list[str]:
    """A run without a leading or trailing verb form, as long as something is left."""
    while len(run) > 1 and plain_verb(run[0]) is not None:
        run = run[1:]
    while len(run) > 1 and (run[-1].endswith("ing") or (run[-1].endswith("s") and _is_verb(run[-1]))):
        run = run[:-1]
    return run


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts, for `known`."""
    return frozenset(word for text in texts for word in re.findall(r"[a-z]{3,}", text.lower()))
