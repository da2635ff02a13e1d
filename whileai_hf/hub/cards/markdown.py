"""Other people's text inside Markdown: shown as it is, never read as Markdown, HTML, a table or a front matter.

Names and prompts on a card come from an agent's owner, from tools and from simulated people, so each of them is
hostile by default. Names go into code spans, sentences are escaped, longer text goes into a fence longer than any run
of backticks in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from whileai_hf.rows import canonical


# What means something to Markdown or HTML within a line; `snake_case` and `pass@1` do not.
_MARKUP = re.compile(r"[`*\[\]<>|~]|(?<!\w)[_@]|_(?!\w)")
# What would start a list, a heading, a rule or a numbered item where a line begins.
_AT_START = re.compile(r"^([-+=:#]|\d+(?=[.)]))")
# Control characters, and those that turn the reading direction of what follows.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
_LINES = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_BACKTICKS = re.compile(r"`+")


def shown(value: Any) -> str:
    """A value as clean text: line ends are newlines, and there is nothing in it that cannot be seen."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return _UNSEEN.sub("\ufffd", _LINES.sub("\n", str(canonical(text))))


def one_line(value: Any, most: int = 200) -> str:
    """A value on one line, cut with an ellipsis after `most` characters."""
    # Spaces are joined in twice the length only: a prompt may be megabytes long.
    text = " ".join(shown(value if not isinstance(value, str) else value[: 2 * most + 64]).split())
    longer = isinstance(value, str) and len(value) > 2 * most + 64
    return text if len(text) <= most and not longer else text[: most - 1].rstrip() + "\u2026"


def prose(value: Any, most: int = 400) -> str:
    """
    Text within a line, escaped.

    Examples:
    ```python
    >>> prose("see <b>this</b> | `that`")
    'see &lt;b&gt;this&lt;/b&gt; &#124; &#96;that&#96;'

    ```
    """
    # Entities, not backslashes: Hub pages read a doubled backslash before a bracket as the start of a formula.
    text = one_line(value, most).replace("&", "&amp;").replace("\\", "&#92;").replace("$", "&#36;")
    named = {"<": "&lt;", ">": "&gt;"}
    text = _MARKUP.sub(lambda found: named.get(found.group(), f"&#{ord(found.group())};"), text)
    return _AT_START.sub(lambda found: "".join(f"&#{ord(sign)};" for sign in found.group()), text)


def paragraphs(value: Any, most: int = 4000) -> str:
    """Text of several paragraphs, each escaped."""
    text = shown(value if not isinstance(value, str) else value[: most + 1])
    clipped = text if len(text) <= most else text[: most - 1] + "\u2026"
    return "\n\n".join(prose(part, most) for part in re.split(r"\n[ \t]*\n", clipped) if part.strip())


def code(value: Any, most: int = 120) -> str:
    """
    A name as a code span.

    Examples:
    ```python
    >>> code("get_order"), code("a`b|c")
    ('`get_order`', '``a`b|c``')

    ```
    """
    text = one_line(value, most) or " "
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(value: Any, language: str = "text", most: int = 2000) -> str:
    """A block of text, cut after `most` characters with a line that says how many are left out."""
    given = value if isinstance(value, str) else shown(value)
    text = shown(given[:most]).rstrip("\n")
    if len(given) > most:
        text += f"\n[{len(given) - most:,} more characters]"
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    # A bar ends a cell even within a code span; outside of those there is none, since `prose` writes it otherwise.
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in cells)])


def bullets(items: Iterable[str]) -> str:
    """A list of items that are Markdown already."""
    return "\n".join(f"- {item}" for item in items)
