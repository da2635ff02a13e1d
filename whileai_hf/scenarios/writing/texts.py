"""The texts models are given, and the circumstances of a person, read once from the files beside the code."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from whileai_hf.scenarios.phrases import Phrase, phrases


_HERE = Path(__file__).parent


@cache
def instructions(name: str) -> str:
    """The text of `prompts/<name>.txt`."""
    return (_HERE / "prompts" / f"{name}.txt").read_text("utf-8").strip()


@cache
def _circumstances() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_HERE / "circumstances.json").read_text("utf-8"))
    return found


@cache
def circumstances(*keys: str) -> tuple[Phrase, ...]:
    """
    What can be said about a person or a situation; nothing for what goes without saying (`neutral`, `fresh`).

    Examples:
    ```python
    >>> circumstances("tone", "formal")[0].text
    'They write from the office and word such messages the way they word letters.'
    >>> circumstances("tone", "neutral")
    ()

    ```
    """
    found: Any = _circumstances()
    for key in keys:
        found = found.get(key, {})
    return phrases(found) if isinstance(found, list) else ()


@cache
def angles() -> tuple[tuple[str, str], ...]:
    """Angles for asks nobody planned: the tier of each and its text."""
    entries = json.loads((_HERE / "angles.json").read_text("utf-8"))
    return tuple((entry["tier"], entry["angle"]) for entry in entries)
