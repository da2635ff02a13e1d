"""The base of every report: a frozen record that prints itself, reads like a dict and serialises to JSON.

Keys never come and go. Nothing to say is an empty list, not measured is `None`, undefined is `None` with a note.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator, Mapping
from typing import Any

from whileai_hf.rows.canonical import canonical


def _plain(value: Any) -> Any:
    if isinstance(value, Report):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@dataclasses.dataclass(frozen=True)
class Report:
    """
    Base class of reports. Subclasses are frozen dataclasses and define `__str__`, the text a person reads.

    Examples:
    ```python
    >>> import dataclasses
    >>> from whileai_hf.rows import Report
    >>> @dataclasses.dataclass(frozen=True)
    ... class Count(Report):
    ...     n_rows: int
    >>> Count(3)["n_rows"], Count(3).n_rows, Count(3).to_dict()
    (3, 3, {'n_rows': 3})

    ```
    """

    def keys(self) -> list[str]:
        """Names of the fields, in order."""
        return [field.name for field in dataclasses.fields(self)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, key: str) -> Any:
        if key not in self.keys():
            raise KeyError(f"{type(self).__name__} has no field {key!r}; it has {', '.join(self.keys())}")
        return getattr(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        """The field, or `default` when the report has none of that name."""
        return getattr(self, key) if key in self.keys() else default

    def to_dict(self) -> dict[str, Any]:
        """The report as canonical JSON values."""
        return {name: canonical(_plain(getattr(self, name))) for name in self.keys()}

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
