"""The text a judge grades by: given once for all rows, or each row's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError, SourceNotFoundError
from whileai_hf.rows import dumps


_SUFFIXES = (".md", ".txt")


def _file(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"the rubric file {path} does not exist; pass its path or its text") from error
    except OSError as error:
        raise ConfigurationError(f"the rubric file {path} cannot be read: {error.strerror}") from error


def _is_path(source: str) -> bool:
    return len(source.split()) == 1 and source.strip().lower().endswith(_SUFFIXES)


def _listed(items: list[Any] | tuple[Any, ...]) -> str:
    lines = []
    for item in items:
        text = (
            (item.get("text") or item.get("criterion") or dumps(item).decode()) if isinstance(item, Mapping) else item
        )
        name = item.get("name") if isinstance(item, Mapping) else None
        lines.append(f"- {name}: {text}" if name else f"- {text}")
    return "\n".join(lines)


def standard_text(source: Any) -> str:
    """
    A rubric as text.

    Args:
        source (`str`, `Path`, `list`, `dict` or `Rubric`):
            The text, the path of a `.md` or `.txt` file, criteria (texts, or dicts with `text`), a dict with
            `criteria`, or a rubric.

    Raises:
        [`ConfigurationError`]: The rubric has no criteria, is something else, or its file cannot be read.
        [`SourceNotFoundError`]: A path that does not exist.

    Examples:
    ```python
    >>> standard_text(["Looks the order up first.", {"name": "honest", "text": "Says so when a lookup fails."}])
    '- Looks the order up first.\\n- honest: Says so when a lookup fails.'

    ```
    """
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        return _checked(_file(Path(source)))
    return _checked(source)


def _written(source: Any) -> str:
    if isinstance(source, Mapping):
        criteria = source.get("criteria", source)
        note = f"{source['note']}\n" if source.get("note") else ""
        if isinstance(criteria, Mapping):
            criteria = [{"name": name, "text": value} for name, value in criteria.items()]
        return note + _listed(criteria if isinstance(criteria, list | tuple) else [criteria])
    if isinstance(source, list | tuple):
        return _listed(source)
    return str(source)


def _checked(source: Any) -> str:
    """The text of what can be judged by: what a rubric of criteria can be made of."""
    from whileai_hf.score.rubrics.markdown import read_markdown
    from whileai_hf.score.rubrics.parsing import written_rubric

    text = _written(source).strip()
    if not text:
        raise ConfigurationError("the rubric is empty; say in words what a right run does, or leave rubric= out")
    if not isinstance(source, str):
        written_rubric(source)
    elif not read_markdown(source)[0]:
        raise ConfigurationError("the rubric has no criteria, only a title; say in words what a right run does")
    return text


def standard_of(row: Mapping[str, Any]) -> str | None:
    """
    The row's own rubric: `privileged.rubric`, else a column `rubric`.

    Raises:
        [`ConfigurationError`]: It has one, and it is empty.
    """
    privileged = row.get("privileged")
    found = privileged.get("rubric") if isinstance(privileged, Mapping) else None
    found = row.get("rubric") if found is None else found
    # Never a path: rows come from elsewhere, and must not name files of this machine.
    return None if found is None else _checked(found)
