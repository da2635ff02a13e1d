"""Taking out of a judge's reason what only the judge was allowed to see.

Reasons ride on rows that become training data. What a judge was told about a task must not: a value of it, a run of
its words, or a number or id in it that the run itself never showed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


MASK = "[privileged]"
# A run of this many words in common is a quotation; fewer happen by chance ("the order has already been").
_RUN = 5
_WORD = re.compile(r"[^\W_]+(?:[.,'/:_@-][^\W_]+)*")


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def mask(text: str, secrets: Sequence[str], shown: str) -> str:
    """
    A text without the secrets it quotes.

    Args:
        text (`str`):
            The judge's reason.
        secrets (`Sequence[str]`):
            What it must not repeat.
        shown (`str`):
            What is known anyway: words of it are no secrets.

    Examples:
    ```python
    >>> mask("It missed ticket T-991, as the reference says.", ["Open ticket T-991 first."], "Open a ticket.")
    'It missed ticket [privileged], as the reference says.'

    ```
    """
    spans = list(_WORD.finditer(text))
    said = [span.group().casefold() for span in spans]
    known = set(_words(shown))
    hidden = [False] * len(said)
    for secret in secrets:
        words = _words(secret)
        size = min(_RUN, len(words))
        if not size:
            continue
        runs = {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
        marks = {word for word in words if word not in known and any(letter.isdigit() for letter in word)}
        # One or two words that the run shows as well ("yes", "Paris") give nothing away.
        short = len(words) < _RUN and known.issuperset(words)
        for at in range(len(said)):
            if said[at] in marks:
                hidden[at] = True
            elif not short and tuple(said[at : at + size]) in runs:
                hidden[at : at + size] = [True] * len(hidden[at : at + size])
    if not any(hidden):
        return text
    pieces: list[str] = []
    end = 0
    for at, span in enumerate(spans):
        if not hidden[at]:
            continue
        if not (at and hidden[at - 1]):
            pieces += (text[end : span.start()], MASK)
        end = span.end()
    return "".join([*pieces, text[end:]])
