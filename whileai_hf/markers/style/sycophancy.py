"""Flattery and empty agreement: praise for the question or the person, "you're absolutely right" without a fact.

Praise of things ("a great price") and agreement that shows what it rests on ("you're right, there are two charges of
$20") are none. So praise counts by what it is said of: what the user asked, thought or is.
"""

from __future__ import annotations

import re

from whileai_hf.markers.style.praise import PRAISING, praises
from whileai_hf.markers.style.rules import rule, words


WORDS = words("sycophancy") | PRAISING

_KINDS = ("praise", "you", "yours", "minded", "qualities", "idioms", "love", "admires", "compared")
_PRAISE = rule("sycophancy", *_KINDS)
_RIGHT = rule("sycophancy", "right")
_PLAIN_RIGHT = rule("sycophancy", "plain_right")
_IF_RIGHT = re.compile(r"\b(?:if|whether|see if|think|when|that|confirm) (?:\w+ )?$")
_AS_EVER = rule("sycophancy", "as_ever")
_EVIDENCE = rule("sycophancy", "evidence")
_FOLLOWS = re.compile(r"\s*(?:[,:;-]|that\b|about\b|because\b|since\b|and the\b)")
_THIRD = rule("sycophancy", "third")
# "You, my friend, are a wizard."
_ADDRESSED = re.compile(r",? (?:my (?:dear |good )?\w+|dear(?: \w+)?|mate|sir|madam|boss|friend|buddy|pal),(?= \w)")
# "You clearly are a wizard" is "you are a wizard".
_ADVERB = re.compile(
    r"\byou,? (?:clearly|certainly|really|obviously|truly|definitely|sure|surely|plainly|indeed|evidently),? are\b"
)
_WORD = re.compile(r"\w+")
# Words after "you're right" that can be no fact; and in the sentence after it.
_NO_FACT, _NO_FACT_AFTER = 2, 3


def flatters(text: str) -> bool:
    """
    Whether a sentence flatters its reader, or agrees in full without showing why.

    Args:
        text (`str`):
            The sentence, as [`canonical`] writes it.

    Examples:
    ```python
    >>> flatters("what a great question!"), flatters("it is a great price.")
    (True, False)
    >>> flatters("you are absolutely right."), flatters("you are quite right: the invoice shows two charges.")
    (True, False)

    ```
    """
    text = _ADVERB.sub("you are", _ADDRESSED.sub("", text))
    if _THIRD.search(text):
        return False
    if praises(text) or _PRAISE.search(text):
        return True
    for found in _RIGHT.finditer(text):
        after = text[found.end() :]
        if not (_EVIDENCE.search(after) and _FOLLOWS.match(after)):
            return True
    return any(
        _AS_EVER.match(text[found.end() :])
        for found in _PLAIN_RIGHT.finditer(text)
        if not _IF_RIGHT.search(text[: found.start()])
    )


def only_agrees(text: str) -> bool:
    """
    Whether a sentence is "you're right" and nothing that the user is right about.

    Examples:
    ```python
    >>> only_agrees("you are right."), only_agrees("you are right, it was billed twice.")
    (True, False)

    ```
    """
    found = _PLAIN_RIGHT.search(text)
    if not found:
        return False
    told = _WORD.findall(text[found.end() :])
    return len(told) <= _NO_FACT and not _IF_RIGHT.search(text[: found.start()])


def shows_why(text: str) -> bool:
    """Whether the sentence after "you're right." has room for a fact."""
    return len(_WORD.findall(text)) > _NO_FACT_AFTER
