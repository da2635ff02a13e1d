"""What a rule is about, in a word or two, so that an ask can touch it without quoting it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from whileai_hf.scenarios.words import gerund, plain_verb


# Words that carry no subject: grammar, the actors every prompt talks about, and the verbs of obligation.
_STOP = frozenset(
    "a an the this that these those each every all any some no not none one two it its they them their he she his her you "
    "your we our us i me my who whom which what whatever when where why how if then else unless until while before after "
    "during since once and or but nor so because as of in on at to for from by with without within into onto over under "
    "about above below between against per via than too very also only just even still always never ever again more most "
    "less least many much few such same other another own both either neither is are was were be been being am do does did "
    "done can cannot could should would may might must shall will need needs needed has have had having make makes made "
    "let lets try tries use uses used using say says said so ask asks asked asking tell tells told give gives given get "
    "gets got go goes going take takes taken provide provides provided providing obtain obtains collect help helps please "
    "first last next initial now today explicitly proactively simultaneously already instead otherwise respectively "
    "user users customer customers agent agents assistant assistants model tool tools function functions system task tasks "
    "available current default ephemeral lost flown true false something anything everything nothing accessible possible two three four five six ten several "
    "request requests thing things way case cases time times example information out up off down prefer enable check verify "
    "dollar dollars euro euros percent day days hour hours minute minutes week weeks month months year years "
    "don't doesn't didn't can't won't isn't aren't yes ok sure really there here following new don doesn t s re ve ll e g"
    .split()
)
# Verbs that are at home as nouns.
_NOUNS = frozenset(
    "refund order search address change update report transfer upgrade review access call charge discount delivery return "
    "payment purchase record email message file copy list price plan offer visit test log commit branch query schedule "
    "booking baggage insurance support release download upload backup reset share stock trade insurance".split()
) - {"share", "list"}
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|[^\sA-Za-z]+")
_LONGEST_TOPIC = 3
_MOST_TOPICS = 4


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
        `tuple[str, ...]`: One to three words each; `("rules",)` when the clause has no subject of its own.

    Examples:
    ```python
    >>> topics_of("Never refund more than 100 dollars without a supervisor.")
    ('supervisor', 'dollars', 'refund')

    ```
    """
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
        return tuple(gerund(plain_verb(phrase) or phrase) for phrase in ranked[:1])
    return tuple(nouns[:_MOST_TOPICS]) or ("rules",)


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
