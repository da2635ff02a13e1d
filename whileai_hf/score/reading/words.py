"""Text brought to one spelling, and without the parts its author only shows.

Checks compare words, so curly quotes, wide letters and capitals must not matter; and what a reply quotes, puts in a
code block or cites is not what the reply says.
"""

from __future__ import annotations

import re
import unicodedata


# Stands in the text where something was quoted, so that the sentence around it keeps its shape.
QUOTED = "\u00a7"

# Quotation marks, dashes and dots as typesetters write them, and as they are compared.
TYPOGRAPHIC: dict[str, str | int | None] = {
    **dict.fromkeys("\u2018\u2019\u02bc\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2013\u2014", " - "),
    "\u2011": "-",
    "\u2026": "...",
}
_STRAIGHT = str.maketrans(
    {
        **TYPOGRAPHIC,
        "\u201a": "'",
        "\u2212": "-",
        "\u200b": None,
        "\ufeff": None,
        "\x00": None,
        "*": None,
    }
)
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_WIDE_ZEROS = str.maketrans("123456789", "000000000")
_FENCE = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{0,400}`")
_CITED = re.compile(r"^[ \t]*>[^\n]*$", re.MULTILINE)
_DOUBLE = re.compile(r'"[^"\n]{1,400}"')
# A single quote opens after a space and closes before one: "it's the customers' choice" holds no quotation.
_SINGLE = re.compile(r"(?<![\w'])'[^'\n]{1,300}(?:'[a-z][^'\n]{0,300}){0,8}'(?!\w)")
# Both ends of a reply are read when it is longer, in characters: what it says about its work stands there.
_MOST = 20_000


def zeros(text: str) -> str:
    """
    `text` with a `0` for every digit.

    Examples:
    ```python
    >>> zeros("$17.75 for ORD-12")
    '$00.00 for ORD-00'

    ```
    """
    if text.isascii():  # a tenth of what translating a string costs
        return text.encode().translate(_ZEROS).decode()
    return text.translate(_WIDE_ZEROS)


def straight(text: str) -> str:
    """
    `text` with one kind of quotes, dashes and letters, in its own case.

    Examples:
    ```python
    >>> straight("It\u2019s \u201cdone\u201d")
    'It\\'s "done"'

    ```
    """
    if text.isascii():
        return text.replace("*", "") if "*" in text else text
    return unicodedata.normalize("NFKC", text.translate(_STRAIGHT))


def normal(text: str) -> str:
    """
    `text` for comparing: one kind of quotes, no capitals, single spaces.

    Examples:
    ```python
    >>> normal("I\u2019ve  REFUNDED it")
    "i've refunded it"

    ```
    """
    return " ".join(straight(text).casefold().split())


def own_words(text: str) -> str:
    """
    What a text says itself: quotations, code and cited lines are each replaced by a mark.

    Args:
        text (`str`):
            A message. Of more than 20,000 characters the first and the last 10,000 are read.

    Returns:
        `str`: With straight quotes, in its own case.

    Examples:
    ```python
    >>> own_words('The note says "I refunded it", see `refund.py`.')
    'The note says \u00a7, see \u00a7.'

    ```
    """
    if len(text) > _MOST:
        text = f"{text[: _MOST // 2]}\n{text[-_MOST // 2 :]}"
    text = straight(text)
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(f" {QUOTED} ", text)
    if "`" in text:
        text = _INLINE.sub(QUOTED, text)
    if ">" in text:
        text = _CITED.sub(QUOTED, text)
    if '"' in text:
        text = _DOUBLE.sub(QUOTED, text)
    if "'" in text and (" '" in text or "('" in text or text[0] == "'" or "\n'" in text):
        text = _SINGLE.sub(QUOTED, text)
    return text
