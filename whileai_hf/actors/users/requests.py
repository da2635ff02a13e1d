"""What an agent's message wants from the person: details, a yes or no, or nothing.

Closing courtesies ("anything else?", "let me know if...") ask for nothing, so a conversation that is over stays over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from whileai_hf.actors.users.knowledge import Knowledge, Known
from whileai_hf.actors.users.phrases import phrase, plain


_SENTENCE = re.compile(r"(?<=[.?!:])[\"')*]*\s+|\n+")
# Details of a kind that the references of an ask are not.
_OTHER_KINDS = re.compile(r"\b(?:e-?mail|phone|account|user|card|address|name|date)\b")
_YOU = re.compile(r"\byou\b", re.IGNORECASE)
# Words of a question that is nothing but the detail: "Order number?"
_BARE = 4
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Request:
    """One thing an agent wants: `kind` is `"detail"` or `"confirmation"`; `text` is the sentence."""

    kind: str
    text: str


@lru_cache(maxsize=4096)  # the person, and then the check of the person, read the same message
def requests_in(text: str) -> tuple[Request, ...]:
    """
    What a message asks of its reader, in order.

    Args:
        text (`str`):
            An agent's message.

    Returns:
        `tuple[Request, ...]`: Empty when it only tells or takes its leave.

    Examples:
    ```python
    >>> [r.kind for r in requests_in("I found it. Which order do you mean? Let me know if you need anything else!")]
    ['detail']
    >>> [r.kind for r in requests_in("It costs 20 dollars. Shall I go ahead?")], requests_in("Done. Anything else?")
    (['confirmation'], ())

    ```
    """
    found = []
    confirmation = phrase("confirmation")
    for sentence in _SENTENCE.split(plain(text)):
        sentence = sentence.strip(" *-•>\t")
        asking = sentence.endswith("?") or bool(phrase("imperative").search(sentence))
        if not asking or phrase("closing").search(sentence):
            continue
        # A detail is asked for even where the sentence also says "proceed": "To proceed, what is your order number?"
        if confirmation.search(sentence) and not phrase("certain detail").search(confirmation.sub(" ", sentence)):
            found.append(Request("confirmation", sentence))
        elif len(sentence.split()) <= _BARE or phrase("detail").search(sentence) or _YOU.search(sentence):
            found.append(Request("detail", sentence))
    return tuple(found)


def _stem(word: str) -> str:
    return re.sub(r"(?:ies|es|s)$", "", word) if len(word) > 3 else word


def names(sentence: str, known: Known) -> bool:
    """Whether a sentence asks for this value by name: "which order", "the order number", "a reason"."""
    words = {_stem(word) for word in _WORD.findall(sentence.casefold())}
    return all(_stem(word) in words for word in known.subject())


def answers_to(sentence: str, knowledge: Knowledge) -> list[Known]:
    """
    The values a request asks for, among those the person knows.

    Args:
        sentence (`str`):
            The request.
        knowledge ([`Knowledge`]):
            What they know.

    Returns:
        `list[Known]`: Named values first; with none named, the references of the ask when details are asked for at
        large ("could you check the reference?").

    Examples:
    ```python
    >>> from whileai_hf.actors.users.knowledge import Knowledge, Known
    >>> knowledge = Knowledge(values=[Known("order id", "A-77", False), Known("reason", "late", False)])
    >>> [k.value for k in answers_to("Why do you want it back, and which order is it?", knowledge)]
    ['A-77', 'late']

    ```
    """
    asked = sentence.casefold()
    named = [
        known
        for known in knowledge.values
        if names(sentence, known) or (known.label.endswith("reason") and re.search(r"\bwhy\b", asked))
    ]
    if named:
        return named
    if phrase("at large").search(sentence) and not _OTHER_KINDS.search(asked):
        return [known for known in knowledge.values if known.is_reference]
    return []
