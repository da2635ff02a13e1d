"""Rubrics out of what people write: JSON, lists of strings or dicts, and a `rubric.md`.

A text is read by its own structure: list items if it has any, else headings, else paragraphs. Nothing is guessed
beyond that, so the author of a file can predict its criteria. See `markdown.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError, SourceNotFoundError
from whileai_hf.score.rubrics.markdown import Item, read_markdown
from whileai_hf.score.rubrics.rubric import LONGEST_NAME, Criterion, Rubric


# What lists of criteria elsewhere call the three fields.
_NAMES = ("name", "title", "id")
_TEXTS = ("text", "criterion", "description", "rule", "requirement")
_WEIGHTS = ("weight", "points")
# Words and characters of a name made out of a text.
_NAME_WORDS = 6
_NAME_CHARS = 48
_WORDS = re.compile(r"\w+")


def name_of(text: str) -> str:
    """
    A name made of the first words of a text.

    Examples:
    ```python
    >>> name_of("The order is looked up before any refund is made.")
    'the_order_is_looked_up_before'

    ```
    """
    words = [found.group() for found, _ in zip(_WORDS.finditer(text[:1000]), range(_NAME_WORDS), strict=False)]
    return "_".join(words).lower()[:_NAME_CHARS].rstrip("_") or "criterion"


def read_rubric(source: Any) -> Rubric:
    """
    A rubric out of what a person writes.

    Args:
        source (`str`, `Path`, `list`, `dict` or [`Rubric`]):
            A text (list items are criteria, else headings, else paragraphs; weights as `(weight 2)`, names as
            `**name**:`), the path of a `.md` or `.txt` file, a list of strings and of dicts with `text` and
            optionally `name` and `weight`, a dict with `criteria` (and `note`), or a dict of name to text.

    Returns:
        [`Rubric`]: The rubric.

    Raises:
        [`ConfigurationError`]: No criteria, or criteria that cannot be used.
        [`SourceNotFoundError`]: A path that does not exist.

    Examples:
    ```python
    >>> rubric = read_rubric("1. **lookup** (weight 2): Looks the order up first.\\n2. Says so when a lookup fails.")
    >>> [(item.name, item.weight) for item in rubric.criteria]
    [('lookup', 2.0), ('says_so_when_a_lookup_fails', 1.0)]

    ```
    """
    if isinstance(source, PathLike) or (isinstance(source, str) and _is_file_name(source)):
        return _made(*read_markdown(_text(Path(source))))
    return written_rubric(source)


def written_rubric(source: Any) -> Rubric:
    """[`read_rubric`] for what others wrote (a row, a model): a text is the rubric, whatever file it seems to name."""
    if isinstance(source, Rubric):
        return source
    if isinstance(source, Criterion):
        return Rubric((source,))
    if isinstance(source, str):
        return _made(*read_markdown(source))
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, Sequence):
        return _made([_item(entry, number) for number, entry in enumerate(source, start=1)], "")
    raise ConfigurationError(f"rubric is {source!r:.60}; pass a Rubric, a text, a path, a list or a dict of criteria")


def _is_file_name(text: str) -> bool:
    return "\n" not in text and " " not in text.strip() and text.strip().lower().endswith((".md", ".txt"))


def _text(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"the rubric file {path} does not exist; pass its path or its text") from error
    except OSError as error:
        raise ConfigurationError(f"the rubric file {path} cannot be read: {error.strerror}") from error


def _from_mapping(data: Mapping[str, Any]) -> Rubric:
    if "criteria" not in data:
        if any(name in data for name in _TEXTS):
            return _made([_item(data, 1)], "")
        return _made([_item({"name": name, "text": text}, at) for at, (name, text) in enumerate(data.items(), 1)], "")
    criteria, note = data["criteria"], data.get("note")
    if isinstance(criteria, Mapping):
        criteria = [{"name": name, "text": text} for name, text in criteria.items()]
    if isinstance(criteria, str) or not isinstance(criteria, Sequence):
        raise ConfigurationError(f"a rubric's criteria are {criteria!r:.60}; pass a list of strings or dicts")
    return _made([_item(entry, at) for at, entry in enumerate(criteria, 1)], note if isinstance(note, str) else "")


def _item(entry: Any, number: int) -> Item | Criterion:
    if isinstance(entry, str):
        return Item(None, entry, None)
    if isinstance(entry, Criterion):
        return entry
    if not isinstance(entry, Mapping):
        raise ConfigurationError(f"criterion {number} is {entry!r:.60}; pass a text or a dict with 'text'")
    name, text, weight = (_first(entry, keys) for keys in (_NAMES, _TEXTS, _WEIGHTS))
    if text is None:
        name, text = None, name
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(f"criterion {number} is {dict(entry)!r:.80}; it has no text that can be met or not")
    return Item(None if name is None else str(name), text, weight)


def _first(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _made(items: Sequence[Item | Criterion], note: str) -> Rubric:
    taken = {item.name for item in items if item.name}
    criteria = []
    for item in items:
        if isinstance(item, Criterion):
            criteria.append(item)
            continue
        text = item.text.strip()
        if not text:
            raise ConfigurationError("a criterion has a blank text; say what must hold")
        name = (item.name or "").strip()
        if not name:  # names we make up never clash; names that were given must not
            name = _free(name_of(text), taken)
            taken.add(name)
        criteria.append(Criterion(name[:LONGEST_NAME], text, 1.0 if item.weight is None else item.weight))
    return Rubric(tuple(criteria), note)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
