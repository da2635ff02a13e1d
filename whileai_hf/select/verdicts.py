"""Verdicts that were given and not understood: what they are, and what to do about them."""

from __future__ import annotations

from typing import Any

from whileai_hf.measure.hacks.numbers import number_of
from whileai_hf.measure.passes.rewards import Rewards
from whileai_hf.rows import RowView


def odd_rewards(rows: RowView, rewards: Rewards) -> list[str]:
    """
    What to say about rewards that are no numbers; nothing without any.

    Args:
        rows (`RowView`):
            Graded rows.
        rewards (`Rewards`):
            What was read of their rewards.

    Examples:
    ```python
    >>> from whileai_hf.measure.passes.rewards import read_rewards
    >>> from whileai_hf.rows import view
    >>> rows = view([{"reward": "1"}, {"reward": 0}])
    >>> odd_rewards(rows, read_rewards(rows))[0][:58]
    "1 of 2 rewards are no numbers, such as '1' (str), and coun"

    ```
    """
    if not rewards.not_numbers:
        return []
    odd = next(filter(_odd, rows.column("reward")), None)
    kind = type(odd).__name__
    return [
        f"{rewards.not_numbers} of {len(rows)} rewards are no numbers, such as {odd!r:.40} ({kind}), and count as "
        "ungraded, as text is never read as a number; write numbers: row | {'reward': float(row['reward'])}"
    ]


def _odd(value: Any) -> bool:
    return value is not None and not isinstance(value, int | float) and number_of(value) is None
