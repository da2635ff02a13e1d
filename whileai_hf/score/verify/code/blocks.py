"""The program in a reply: its last block of Python, or the whole of it."""

from __future__ import annotations

from typing import NamedTuple


_FENCES = ("```", "~~~")
_PYTHON = frozenset({"python", "python3", "py", "py3", "ipython"})


class _Block(NamedTuple):
    language: str
    text: str


def _blocks(reply: str) -> list[_Block]:
    found: list[_Block] = []
    fence, language, lines = "", "", list[str]()
    for line in reply.splitlines():
        start = line.strip()
        if not fence and start.startswith(_FENCES):
            fence = start[: len(start) - len(start.lstrip(start[0]))]
            words = start[len(fence) :].strip().lower().split()
            language, lines = (words[0] if words else ""), []
        elif fence and start.startswith(fence) and not start.strip(fence[0]):
            found.append(_Block(language, "\n".join(lines)))
            fence = ""
        elif fence:
            lines.append(line)
    if fence:  # a reply that was cut off, or forgot the end
        found.append(_Block(language, "\n".join(lines)))
    return found


def program_of(reply: str) -> str:
    """
    The candidate program in a reply.

    Args:
        reply (`str`):
            What the agent finally said.

    Returns:
        `str`: The last block marked as Python; else the last block without a language; else, when there is no block
        at all, the reply.

    Examples:
    ```python
    >>> program_of("Here:\\n```python\\nx = 1\\n```\\nIt prints:\\n```text\\n1\\n```")
    'x = 1'
    >>> program_of("x = 1")
    'x = 1'

    ```
    """
    blocks = _blocks(reply)
    for languages in (_PYTHON, {""}):
        fitting = [block.text for block in blocks if block.language in languages]
        if fitting:
            return fitting[-1]
    return blocks[-1].text if blocks else reply
