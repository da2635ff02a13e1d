# ruff: noqa: RUF001 - look-alike signs are what this module is about
"""What the agent itself said: the text of a reply, less what it only copied from the ask.

A policy that repeats the question must not be paid because the question contains the answer. Verifiers that search a
reply look at it without verbatim copies of the ask; for all of them a reply that is nothing but the ask is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.score.reading.texts import text_of


# A copied ask is cut out from this many characters and words on; a shorter one ("yes?", "42") may well be said again.
_LEAST_CHARS = 8
_LEAST_WORDS = 2


def ask_of(prompt: Any) -> str:
    """The ask as text: a prompt that is a list of messages asks with the last one of the user."""
    if isinstance(prompt, list | tuple):
        for message in reversed(prompt):
            if isinstance(message, Mapping) and message.get("role") == "user":
                return text_of(message.get("content"))
        return ""
    return text_of(prompt)


def own_words(reply: str, ask: str, *, cut: bool) -> str | None:
    """
    The reply without the ask.

    Args:
        reply (`str`):
            What the agent said.
        ask (`str`):
            What it was asked.
        cut (`bool`):
            Cut verbatim copies of the ask out of a longer reply, too.

    Returns:
        `str` or `None`: `None` when the reply is the ask and nothing else, whatever its case, spaces and quotes.

    Examples:
    ```python
    >>> own_words("Is it 4 or 5? It is 5.", "Is it 4 or 5?", cut=True), own_words("IS it 4?", "Is it 4?", cut=True)
    ('  It is 5.', None)

    ```
    """
    ask, said = ask.strip(), reply.strip()
    if not ask:
        return reply
    if len(ask) >= _LEAST_CHARS and ask in reply and len(ask.split(None, _LEAST_WORDS)) >= _LEAST_WORDS:
        rest = reply.replace(ask, " ")
        if not any(map(str.isalnum, rest)):
            return None
        return rest if cut else reply
    if len(ask) > 2 * len(said) or len(said) > 2 * len(ask):
        return reply
    # The first letters tell nearly always, for a tenth of the cost.
    if not ask.isascii() or ask[:2].casefold() in said[:12].casefold() or not ask[:2].isalpha():
        return None if squashed(said) == squashed(ask) else reply
    return reply


def squashed(text: str) -> str:
    """Text without case, outer marks and runs of white space, for asking whether two texts are the same words."""
    return " ".join(text.casefold().split()).strip(" \"'`*_.?!:>“”‘’«»")
