"""A rubric: what a reply is held to, point by point, each with a name and a weight.

It is a value: checked once, hashable, with a version that changes when and only when its content does. How it is read
from text or JSON is in `parsing.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import canonical, dumps
from whileai_hf.rows.rng import digest
from whileai_hf.score.verdicts import as_number


# Criteria of one rubric: published rubrics stay below 50, and one answer has to hold a verdict on each.
MOST_CRITERIA = 64
# Characters of a name: it is a marker's name and a failure class.
LONGEST_NAME = 80
_VERSION_DIGITS = 12


@dataclass(frozen=True)
class Criterion:
    """
    One point of a rubric.

    Args:
        name (`str`):
            Name of the marker (`rubric:<name>`) and of the failure class.
        text (`str`):
            What must hold, as one statement that can be met or not.
        weight (`float`, *optional*, defaults to `1.0`):
            What it counts relative to the others, above 0. A point to be avoided is worded as such ("does not ...");
            its weight is positive, too.

    Raises:
        [`ConfigurationError`]: Blank name or text, or a weight that is not a number above 0.
    """

    name: str
    text: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        for field in ("name", "text"):
            value = getattr(self, field)
            if not isinstance(value, str) or not value.strip():
                raise ConfigurationError(f"a criterion's {field} is {value!r:.60}; pass a text")
            value = canonical(value)
            object.__setattr__(self, field, " ".join(value.split()) if field == "name" else value.strip())
        if len(self.name) > LONGEST_NAME:
            raise ConfigurationError(
                f"the criterion name {self.name[:40]!r}... has {len(self.name)} characters; keep to {LONGEST_NAME}"
            )
        object.__setattr__(self, "weight", _weight(self.weight, self.name))


def _weight(value: Any, name: str) -> float:
    number = None if isinstance(value, bool) else as_number(value)
    # A weight of 1e-12 is 0 once it has been stored: what counts is the stored form.
    weight = canonical(number)
    if weight is None or weight <= 0:
        raise ConfigurationError(
            f"the weight of criterion {name!r} is {value!r}; pass a number above 0, and word what is to be avoided "
            "as 'does not ...'"
        )
    return float(weight)


@dataclass(frozen=True)
class Rubric:
    """
    What replies are held to.

    Args:
        criteria (`tuple[Criterion, ...]`):
            The points, at least one, at most 64, no two of one name.
        note (`str`, *optional*):
            What the judge should know before the points, such as the service's field.

    Raises:
        [`ConfigurationError`]: No criterion, too many, or two of one name.

    Examples:
    ```python
    >>> rubric = Rubric((Criterion("cites", "The answer cites the order number.", 2), Criterion("polite", "Polite.")))
    >>> [criterion.weight for criterion in rubric.criteria], len(rubric.version)
    ([2.0, 1.0], 12)
    >>> Rubric.from_dict(rubric.to_dict()) == rubric
    True

    ```
    """

    criteria: tuple[Criterion, ...]
    note: str = ""

    def __post_init__(self) -> None:
        given = tuple(self.criteria)
        for item in given:
            if not isinstance(item, Criterion):
                raise ConfigurationError(
                    f"a rubric's criteria hold a {type(item).__name__}; pass Criterion(name, text, weight), or let "
                    "read_rubric make them"
                )
        if not given:
            raise ConfigurationError("a rubric has no criteria; list at least one statement a reply can meet or not")
        if len(given) > MOST_CRITERIA:
            raise ConfigurationError(f"a rubric has {len(given)} criteria; keep to {MOST_CRITERIA}")
        twice = [name for name, count in Counter(item.name for item in given).items() if count > 1]
        if twice:
            raise ConfigurationError(f"a rubric has several criteria named {twice[0]!r}; names are markers, so differ")
        object.__setattr__(self, "criteria", given)
        object.__setattr__(self, "note", canonical(str(self.note or "")).strip())

    @cached_property
    def version(self) -> str:
        """Hash of names, texts, weights, order and note."""
        content = [self.note, [[item.name, item.text, item.weight] for item in self.criteria]]
        return digest("rubric", dumps(content).decode(), length=_VERSION_DIGITS)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the criteria in order."""
        return tuple(item.name for item in self.criteria)

    def to_dict(self) -> dict[str, Any]:
        """The rubric as JSON values, the form kept under `privileged.rubric`."""
        criteria = [{"name": item.name, "text": item.text, "weight": item.weight} for item in self.criteria]
        return {"criteria": criteria, "note": self.note, "version": self.version}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Rubric:
        """What [`Rubric.to_dict`] gave, as a rubric again; the version is computed anew."""
        from whileai_hf.score.rubrics.parsing import read_rubric

        return read_rubric(data)

    def __str__(self) -> str:
        lines = [f"- {item.name} (weight {item.weight:g}): {item.text}" for item in self.criteria]
        return "\n".join([*([self.note] if self.note else []), *lines])
