"""What must not leave the machine, and how it is taken out of text.

Besides the privileged block (`rows.scrub`) these are tokens and the folders of this machine. Folders of one part
(`/root`, `/tmp`) are as likely a path inside somebody's sandbox, so they stay in what was said and done.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import constants, get_token

from whileai_hf.rows import canonical, scrub


WITHHELD, LOCAL = "[withheld]", "[local]"

# Of a user (37 characters), and of an app that signed one in (a JSON web token).
_TOKEN = re.compile(r"hf_(?:[A-Za-z0-9]{30,}|(?:oauth|jwt)_[\w-]{10,}(?:\.[\w-]+)*)")
_TOKEN_BYTES = re.compile(_TOKEN.pattern.encode(), re.ASCII)
# A value of an environment variable of such a name is a secret, when it is as long as one (characters).
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|API_?KEY|CREDENTIAL", re.IGNORECASE)
_SECRET_LENGTH = 12
# What names a place and is no secret, whatever its variable is called.
_PLACE = re.compile(r"[/~.]|[A-Za-z]:\\|[\w+]+://")
# A raw embedding in JSON text, at any depth of quoting, behind a comma or before one.
_NUMBERS = r"""(\\*)"vector\1"\s*:\s*\[[-+\d.eE,\s]*\]"""
_EMBEDDING = re.compile(rf",\s*{_NUMBERS}"), re.compile(rf"{_NUMBERS}(?:\s*,\s*)?")
_ABSOLUTE = re.compile(r"(?:/|~/|[A-Za-z]:\\)[^\s'\"]*")


class Hiding:
    """
    The strings of this machine that must not leave it.

    Args:
        token (`str`, *optional*):
            The token of this push.
        narrow (`bool`, *optional*, defaults to `False`):
            Only what can stand in a conversation by accident alone: no folders of one part.
    """

    def __init__(self, token: str | bool | None = None, narrow: bool = False) -> None:
        self._replaced: dict[str, str] = dict.fromkeys(_secrets(token), WITHHELD)
        self._replaced |= dict.fromkeys(_folders(narrow), LOCAL)
        names = sorted(self._replaced, key=len, reverse=True)
        # A folder ends where its name does: /home/ann is not part of /home/anna.
        pattern = "|".join(re.escape(name) + r"(?![\w-])" for name in names) or r"(?!)"
        self._pattern = re.compile(pattern)
        self._bytes = re.compile(pattern.encode("utf-8", "replace"), re.ASCII)
        self.needles = [b"hf_", *(name.encode("utf-8", "replace") for name in names)]

    def text(self, text: str) -> str:
        """A text without them."""
        text = self._pattern.sub(lambda found: self._replaced[found[0]], text)
        return _TOKEN.sub(WITHHELD, text) if "hf_" in text else text

    def bytes(self, content: bytes) -> bytes:
        """Bytes without them."""
        content = self._bytes.sub(
            lambda found: self._replaced.get(found[0].decode("utf-8", "replace"), WITHHELD).encode(), content
        )
        return _TOKEN_BYTES.sub(WITHHELD.encode(), content) if b"hf_" in content else content

    def value(self, value: Any) -> Any:
        """A JSON value without them and without privileged keys, at any depth; lone surrogates are replaced."""
        return canonical(self._walk(scrub(value)))

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(without_embeddings(value))
        if isinstance(value, Mapping):
            return {self.text(key): self._walk(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._walk(item) for item in value]
        return value


def without_embeddings(text: str) -> str:
    """
    A text that is JSON without the embeddings in it (`vector`, a list of numbers); any other text as it is.

    Examples:
    ```python
    >>> without_embeddings('{"id": 7, "vector": [0.25, 1e-3]}'), without_embeddings('v = {"vector": [1]}')
    ('{"id": 7}', 'v = {"vector": [1]}')

    ```
    """
    if "vector" not in text or not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    for pattern in _EMBEDDING:
        text = pattern.sub("", text)
    return text


def without_paths(value: Any) -> Any:
    """
    A JSON value whose strings name files by their last part only.

    Examples:
    ```python
    >>> without_paths({"resume": "/data/runs/a.jsonl", "tools": ["/refund please", "get_order"]})
    {'resume': 'a.jsonl', 'tools': ['/refund please', 'get_order']}

    ```
    """
    if isinstance(value, str):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1] if _ABSOLUTE.fullmatch(value) else value
    if isinstance(value, Mapping):
        return {key: without_paths(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(item) for item in value]
    return value


def _secrets(token: str | bool | None) -> Iterable[str]:
    known = [token if isinstance(token, str) else None, get_token()]
    known += [value for name, value in os.environ.items() if _SECRET_NAME.search(name) and not _PLACE.match(value)]
    for value in known:
        if value and (len(value) >= _SECRET_LENGTH or value in known[:2]):
            yield value
            if (escaped := json.dumps(value)[1:-1]) != value:
                yield escaped


def _folders(narrow: bool) -> Iterable[str]:
    places = [Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(constants.HF_HOME)]
    for place in {*places, *(place.resolve() for place in places)}:
        depth = len(place.parts) - 1
        if depth > 1 or (depth == 1 and not narrow):
            yield str(place)
            yield str(place).replace("/", "\\/")  # as some write JSON
