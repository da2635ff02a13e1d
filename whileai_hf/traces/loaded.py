"""Rows that were read from somebody's files, and what has to be known about them."""

from __future__ import annotations

import dataclasses
from typing import Literal

from whileai_hf.rows import RowView


Format = Literal["rows", "trl_completions", "verifiers_run"]


@dataclasses.dataclass(frozen=True)
class Loaded:
    """
    Rows of ours, and where they come from.

    Args:
        rows ([`RowView`]):
            The rows.
        format (`str`):
            `rows` (ours already, or nothing to convert), `trl_completions` or `verifiers_run`.
        reward_weights (`dict[str, float]`):
            Weight of every reward function in the column `reward`; empty where it was there already and nothing is
            known about its parts.
        notes (`list[str]`):
            What a reader of the rows has to know.
    """

    rows: RowView
    format: Format
    reward_weights: dict[str, float] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)
