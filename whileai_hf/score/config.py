"""The knobs of a grading: one dataclass, from which keywords are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import field
from typing import TypedDict

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.view import Source
from whileai_hf.score.trust import check_trust


@dataclasses.dataclass(frozen=True)
class GradingConfig:
    """
    Knobs of [`grade`] and [`evaluate`]. Every field is also a keyword of both.

    Examples:
    ```python
    >>> GradingConfig(scale=(1, 5)).scale
    (1, 5)

    ```
    """

    scale: tuple[float, float] | None = field(
        default=None,
        metadata={"help": "lowest and highest rating of a judge that rates; reward = (rating - low) / (high - low)"},
    )
    use_privileged: bool = field(
        default=False, metadata={"help": "a judge model also reads the privileged block of the task"}
    )
    tasks: Source | None = field(
        default=None,
        metadata={"help": "the task set of the rollouts, for its privileged block; otherwise the run's local store"},
    )
    version: str | None = field(default=None, metadata={"help": "the judge's version, recorded on every row"})
    name: str | None = field(default=None, metadata={"help": "name recorded as judge_name; the judge's own otherwise"})
    timeout: float | None = field(default=None, metadata={"help": "seconds a row may take"})
    concurrency: int | None = field(
        default=None, metadata={"help": "rows judged at the same time; 8, for verifiers 1, unless the judge says more"}
    )
    columns: Sequence[str] | None = field(
        default=None, metadata={"help": "columns the judge reads; the others are not decoded"}
    )
    trust: str | None = field(
        default=None,
        metadata={"help": "'require' refuses a judge that people's labels do not bear out, 'off' does not look"},
    )

    def __post_init__(self) -> None:
        if not isinstance(self.use_privileged, bool):
            raise ConfigurationError(f"use_privileged={self.use_privileged!r} is neither True nor False")
        check_trust(self.trust)


class GradingKnobs(TypedDict, total=False):
    """The fields of [`GradingConfig`] as keywords."""

    scale: tuple[float, float] | None
    use_privileged: bool
    tasks: Source | None
    version: str | None
    name: str | None
    timeout: float | None
    concurrency: int | None
    columns: Sequence[str] | None
    trust: str | None
