"""The rubric in a writer model's reply: JSON as asked for, JSON in another arrangement, or a list in prose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.judges.json_text import read_json
from whileai_hf.score.judges.plain import without_reasoning
from whileai_hf.score.rubrics.parsing import written_rubric
from whileai_hf.score.rubrics.rubric import Rubric
from whileai_hf.score.verdicts import as_number


SCHEMA = {
    "type": "object",
    "properties": {
        "criteria": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "text": {"type": "string"},
                    "weight": {"type": "number"},
                },
                "required": ["name", "text", "weight"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["criteria"],
    "additionalProperties": False,
}


def read_written(text: Any, most: int) -> Rubric:
    """
    The rubric of a reply.

    Args:
        text (`str`):
            What the model wrote.
        most (`int`):
            Criteria that are kept, the first ones.

    Returns:
        [`Rubric`]: The rubric.

    Raises:
        [`ConfigurationError`]: No criteria can be read.

    Examples:
    ```python
    >>> read_written('Sure: {"criteria": [{"name": "lookup", "text": "Looks A1 up.", "weight": 3}]}', 5).names
    ('lookup',)

    ```
    """
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError("the model answered nothing")
    said = without_reasoning(text)
    value = read_json(said)
    if value is None:
        # Prose would be read as one criterion a paragraph; from a model it is no answer.
        if "{" in said or not any(line.lstrip()[:1] in ("-", "*", "1") for line in said.splitlines()):
            raise ConfigurationError("the model's answer holds no list of criteria")
        return Rubric(written_rubric(said).criteria[:most])
    if isinstance(value, Mapping):
        value = value.get("criteria") or next((item for item in value.values() if isinstance(item, list)), value)
    entries = value if isinstance(value, list) else [{"name": name, "text": text} for name, text in value.items()]
    return written_rubric(_usable(entries)[:most])


def _usable(entries: Sequence[Any]) -> list[Any]:
    """The entries as written, less names used before, and less points to avoid (a weight of 0 or below)."""
    kept: list[Any] = []
    names: set[str] = set()
    for entry in entries:
        if not isinstance(entry, Mapping):
            kept.append(entry)
            continue
        weight = entry.get("weight")
        number = None if isinstance(weight, bool) else as_number(weight)
        if number is not None and number <= 0:
            continue
        left_out = {"name"} if str(entry.get("name")) in names else set()
        left_out |= {"weight"} if number is None else set()
        names.add(str(entry.get("name")))
        kept.append({key: value for key, value in entry.items() if key not in left_out})
    return kept
