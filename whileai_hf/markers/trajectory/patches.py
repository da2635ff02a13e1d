"""Edits written as patches: unified diffs, `apply_patch` envelopes, SEARCH/REPLACE blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whileai_hf.markers.trajectory.edits import Edit


_ENVELOPE = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$", re.MULTILINE)
_HEADER = re.compile(r"^--- ([^\n\t]+)[^\n]*\n\+\+\+ ([^\n\t]+)", re.MULTILINE)
_BLOCK = re.compile(r"^[<-]{5,} ?SEARCH[^\n]*\n(.*?)^={5,}[^\n]*\n(.*?)^[>+]{5,} ?REPLACE", re.MULTILINE | re.DOTALL)


def _sides(body: str) -> tuple[str, str]:
    """The lines a hunk takes away and those it adds."""
    old = [line[1:] for line in body.split("\n") if line.startswith("-") and not line.startswith("--- ")]
    new = [line[1:] for line in body.split("\n") if line.startswith("+") and not line.startswith("+++ ")]
    return "\n".join(old), "\n".join(new)


def _stripped(path: str) -> str:
    path = path.strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


def _sections(text: str, heads: list[re.Match[str]]) -> Iterator[tuple[re.Match[str], str]]:
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        yield head, text[head.end() : end]


def patch_edits(text: str, path: str = "") -> Iterator[Edit]:
    """
    The edits of a patch, one per file.

    Args:
        text (`str`):
            The patch.
        path (`str`, *optional*):
            The file it is for, when the patch itself does not say.

    Examples:
    ```python
    >>> [tuple(edit)[:4] for edit in patch_edits("--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a = 1\\n+a = 2\\n")]
    [('x.py', 'a = 1', 'a = 2', 'modify')]

    ```
    """
    envelopes = list(_ENVELOPE.finditer(text))
    if envelopes:
        for head, body in _sections(text, envelopes):
            how = {"Update": "modify", "Add": "create", "Delete": "delete"}[head.group(1)]
            yield Edit(head.group(2).strip(), *_sides(body), how)
        return
    headers = list(_HEADER.finditer(text))
    if headers:
        for head, body in _sections(text, headers):
            old, new = head.group(1).strip(), head.group(2).strip()
            how = "create" if old == "/dev/null" else "delete" if new == "/dev/null" else "modify"
            yield Edit(_stripped(old if how == "delete" else new), *_sides(body), how)
        return
    blocks = _BLOCK.findall(text)
    if blocks:
        for old, new in blocks:
            yield Edit(path, old, new, "modify")
        return
    # Lines of a patch without any header, when the call says which file they are for.
    bare = bool(path) and text.lstrip("\n")[:1] in ("+", "-")
    if bare or text.lstrip().startswith("@@"):
        yield Edit(path, *_sides(text), "modify")
