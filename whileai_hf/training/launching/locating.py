"""The training programs on disk, and what their headers say about a job."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from whileai_hf.errors import SourceNotFoundError


# A wheel carries the programs in the package; in a checkout they lie beside it.
_PLACES = ("_trainers", "../trainers")
_HEADER = re.compile(r"^# /// script\n((?:#(?: .*)?\n)+?)# ///$", re.MULTILINE)


def find_program(method: str) -> Path:
    """
    The program of a method.

    Args:
        method (`str`):
            `"sft"`, `"dpo"`, `"kto"`, `"reward"` or `"grpo"`.

    Raises:
        [`SourceNotFoundError`]: It is not installed.
    """
    package = Path(__file__).parents[2]
    for place in _PLACES:
        path = (package / place / f"{method}.py").resolve()
        if path.is_file():
            return path
    raise SourceNotFoundError(
        f"trainers/{method}.py is neither in {package} nor beside it; install whileai-hf from its wheel or checkout"
    )


def read_header(text: str) -> dict[str, Any]:
    """
    The inline metadata of a script (PEP 723).

    Args:
        text (`str`):
            The script.

    Returns:
        `dict`: `requires-python`, `dependencies`, `tool`; empty without a header.

    Examples:
    ```python
    >>> read_header('# /// script\\n# dependencies = ["trl"]\\n# ///\\n')
    {'dependencies': ['trl']}

    ```
    """
    found = _HEADER.search(text)
    if found is None:
        return {}
    return tomllib.loads("\n".join(line[2:] for line in found.group(1).splitlines()))
