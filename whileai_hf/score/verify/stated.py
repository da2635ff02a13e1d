# ruff: noqa: RUF001 - look-alike signs are what this module is about
r"""Where a reply states its answer: `\boxed{42}`, `#### 42`, `<answer>42</answer>`, "The final answer is 42".

Reasoning mentions many candidates before it settles on one; what is marked as the answer is it. The strongest kind of
mark in a reply decides: a box, `####`, a tag and "final answer" are stronger than "the answer is".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whileai_hf.score.verify.denials import denied, may_deny


# Characters after a mark within which the answer has to be.
_REACH = 300
# A box is read up to this length, and this many of the last ones: unclosed braces must not cost a second look each.
_BOX_CHARS, _BOXES = 2_000, 24
# More different answers than this, all marked the same way, are a list to choose from; fewer are second thoughts.
MOST_ANSWERS = 3

_WORDS = ("answer", "antwort", "réponse", "respuesta", "risposta", "resposta", "ответ", "答案", "答え")
_ASCII_WORDS = tuple(word for word in _WORDS if word.isascii())
# "answer: 4", "**Answer**: 4", "the answer to this is 4"; the words alone ("answer the question") are no mark.
_LINK = re.compile(
    r"(?:s|\(s\))?[*_`\"”]{0,3}(?:\s(?:to|of|for)\s[^\n.:=]{1,80}?)?"
    r"(?:\s{0,3}(?:is|are|was|would be|should be|must be|equals|ist|est|es|è)\b\s{0,2}[:=]?|\s{0,3}[:=：]|[是为は])",
    re.IGNORECASE,
)
_FINAL = re.compile(r"\bfinal[\s*_]{1,3}$", re.IGNORECASE)
# Characters at the end of a reply without a mark that belong to its answer.
_CLOSING_CHARS = 400
# Words are looked for in the last part of a reply: nobody states an answer and goes on for longer.
_MARKED_CHARS = 32_000
_DENIED = re.compile(r"[\s*_]{0,5}(?:not\b|n['’]t\b|neither\b|nicht\b|pas\b|no\s)", re.IGNORECASE)
_HASHES = re.compile(r"^#{4}(?!#)[ \t]*([^\n]{1,300})", re.MULTILINE)
_TAG = re.compile(r"<answer>(.{0,2000}?)</answer>", re.DOTALL | re.IGNORECASE)
_BOX = re.compile(r"\\f?boxed\s?\{")
# What stands between members of a list: "1, 2 or 3". A dash and "to" make a range, which is no single answer either.
LIST_GAP = re.compile(
    r"[\s,;/|&$€£¥*()+~_\\-]{0,12}(?:(?:or|and|to|oder|und|ou|et|y)\b)?[\s,;/|&$€£¥*()~_\\-]{0,12}", re.IGNORECASE
)


def stated(reply: str) -> list[str]:
    r"""
    The answers a reply marks as such, in order, all of the strongest kind of mark there is; empty without a mark.

    Args:
        reply (`str`):
            What the agent said.

    Returns:
        `list[str]`: From the mark to the end of the line; boxes joined by "or", "and" or a comma are one answer.

    Examples:
    ```python
    >>> stated("The answer is 3. Wait.\nFinal answer: 4"), stated(r"So \boxed{1} or \boxed{2}."), stated("It is 7.")
    (['4'], ['1, 2'], [])

    ```
    """
    return [text for _, text in _marks(reply)[0]]


def closing(reply: str) -> str:
    r"""
    The part of a reply in which a denial takes its answer back: from its last strong mark on; without one also the
    sentences in front, because a short reply that says both contradicts itself, and a long one has thought again.

    Examples:
    ```python
    >>> closing(r"It is not 4? It is: \boxed{4}, not 5"), closing("It is 4. It is not 4.")
    ('\\boxed{4}, not 5', 'It is 4. It is not 4.')

    ```
    """
    found, strong = _marks(reply)
    if not found:
        return reply[-_CLOSING_CHARS:]
    return reply[found[-1][0] if strong else max(0, found[-1][0] - _CLOSING_CHARS // 2) :]


def _marks(reply: str) -> tuple[list[tuple[int, str]], bool]:
    """Place and text of each marked answer that is not denied, and whether the marks are of the strong kind."""
    # The one letter whose lower case is longer would shift what is found there.
    lowered = reply.replace("İ", "I").lower()
    strong: list[tuple[int, str]] = []
    if "boxed" in lowered:
        boxes, deny = _boxed(reply), may_deny(reply)
        strong = [(start, text) for start, end, text in boxes if not (deny and denied(reply, start, end))]
    if "####" in reply:
        strong += [(match.start(), match.group(1)) for match in _HASHES.finditer(reply)]
    if "</answer>" in lowered:
        strong += [(match.start(), match.group(1)) for match in _TAG.finditer(reply)]
    weak: list[tuple[int, str]] = []
    for word in _ASCII_WORDS if lowered.isascii() else _WORDS:
        if word in lowered:
            for position, final, text in _marked(reply, lowered, word):
                (strong if final else weak).append((position, text))
    found = sorted(strong or weak)
    return [(position, text.strip()) for position, text in found if text.strip()], bool(strong)


def _marked(reply: str, lowered: str, word: str) -> Iterator[tuple[int, bool, str]]:
    at = lowered.find(word, max(0, len(lowered) - _MARKED_CHARS))
    while at >= 0:
        end = at + len(word)
        link = _LINK.match(reply, end)
        if link is not None and not _DENIED.match(reply, link.end()):
            final = _FINAL.search(reply[max(0, at - 8) : at]) is not None
            yield at, final, _line(reply[link.end() : link.end() + _REACH])
        at = lowered.find(word, end)


def _line(rest: str) -> str:
    """The rest of the line; when nothing but marks is left of it, the next line that has something."""
    if "\n" not in rest:
        return rest
    first = rest.partition("\n")[0]
    if any(map(str.isalnum, first)):
        return first
    return next((line for line in rest.splitlines() if any(map(str.isalnum, line))), "")


def _boxed(reply: str) -> list[tuple[int, int, str]]:
    """Places and contents of the boxes; neighbours in a list are joined."""
    found: list[tuple[int, int, str]] = []
    end = -1
    for match in list(_BOX.finditer(reply))[-_BOXES:]:
        if match.start() < end:  # a box within a box
            continue
        inner = _braced(reply[match.end() : match.end() + _BOX_CHARS])
        if inner is None:
            continue
        gap = reply[end : match.start()] if end >= 0 and match.start() - end <= 24 else None
        if gap is not None and found and "\n" not in gap and LIST_GAP.fullmatch(gap):
            found[-1] = (found[-1][0], match.end() + len(inner) + 1, f"{found[-1][2]}, {inner}")
        else:
            found.append((match.start(), match.end() + len(inner) + 1, inner))
        end = found[-1][1]
    return found


def _braced(text: str) -> str | None:
    depth = 1
    for position, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return text[:position]
    return None
