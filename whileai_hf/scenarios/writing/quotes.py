"""Whether a message repeats words it cannot know, and whether two messages are the same one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from whileai_hf.scenarios.writing.facts import outside, without


COMMON = frozenset((Path(__file__).parents[1] / "data" / "stopwords.txt").read_text("utf-8").split())
Run: TypeAlias = tuple[str, ...]
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

# Words in a row that make a quote of a private sentence, and how many of them must say something that is not the
# tools' own vocabulary: chance gives one such word, hardly two.
_QUOTE_WORDS = 3
_QUOTE_CONTENT = 2
# Words in a row that are a quote whatever they are, as long as one of them says something.
_LONG_QUOTE_WORDS = 5
# Characters from which a run is a quote.
_QUOTE_CHARACTERS = 12
# Words in a row that make a quote of the policy. Shorter runs are everyday phrases of the field ("a one way flight").
_POLICY_WORDS = 6
# Words outside the values from which an equal wording with other values is still a copy.
_COPY_WORDS = 12


def words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return _WORD.findall(text.lower())


def _runs(found: list[str], length: int) -> set[Run]:
    return {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}


def private_runs(sentences: Iterable[str], values: Iterable[str], familiar: frozenset[str]) -> set[Run]:
    """
    The runs of words that give private sentences away.

    Args:
        sentences (`Iterable[str]`):
            What only the world and the judge know.
        values (`Iterable[str]`):
            Values in them that the person knows as well.
        familiar (`frozenset[str]`):
            Words of the tools, which any message about them may use.
    """
    kept = list(values)
    found: set[Run] = set()
    for part in (part for sentence in sentences for part in outside(sentence, kept)):
        spoken = words(part)
        for length, content in ((_QUOTE_WORDS, _QUOTE_CONTENT), (_LONG_QUOTE_WORDS, 1)):
            found |= {run for run in _runs(spoken, length) if _telling(run, content, familiar)}
    return found


def _telling(run: Run, least: int, familiar: frozenset[str]) -> bool:
    content = sum(word not in COMMON and word not in familiar for word in run)
    return content >= least and sum(map(len, run)) + len(run) > _QUOTE_CHARACTERS


def policy_runs(policy: str, known: Iterable[str]) -> set[Run]:
    """The runs of words only the policy has: what also stands in a tool's description may be said."""
    found = _runs(words(policy), _POLICY_WORDS)
    for text in known:
        found -= _runs(words(text), _POLICY_WORDS)
    return found


def quotes(text: str, runs: set[Run]) -> bool:
    """
    Whether a text holds one of the runs.

    Examples:
    ```python
    >>> private = private_runs(["Behind the scenes order ORD-7 is on file twice."], ["ORD-7"], frozenset({"order"}))
    >>> quotes("I think it is on file twice?", private), quotes("where is ORD-7", private)
    (True, False)

    ```
    """
    spoken = words(text)
    return any(not runs.isdisjoint(_runs(spoken, length)) for length in {len(run) for run in runs})


def copy_keys(text: str, values: Iterable[str]) -> tuple[str, ...]:
    """What two copies have in common: the words and, in messages of some length, the words besides the values."""
    own = words(without(text, values))
    worded = ("worded " + " ".join(own),) if len(own) >= _COPY_WORDS else ()
    return ("whole " + " ".join(words(text)), *worded)
