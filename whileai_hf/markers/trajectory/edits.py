"""One change of one file, however it was made."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    """
    One file changed.

    `how` is `create` (the whole content is given; the file may have been there), `modify`, `append`, `delete` or
    `move` (to `target`). `old` and `new` are what the edit says of the text before and after.
    """

    path: str
    old: str
    new: str
    how: str
    target: str = ""
