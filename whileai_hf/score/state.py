"""What a judge holds that decides its verdicts, as text: its own word for it, else its code and state."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from whileai_hf.score.hashing import fingerprint


@runtime_checkable
class Stateful(Protocol):
    """A judge that says what decides about its verdicts."""

    def hash_state(self) -> list[object]:
        """Items with a stable `str`."""


def state_of(judge: Any) -> str:
    """
    What tells a judge from another, equal across processes.

    Args:
        judge (`Callable`):
            Any judge.

    Raises:
        [`~whileai_hf.score.hashing.UnhashableError`]: Part of its state has no stable content.

    Examples:
    ```python
    >>> state_of(lambda row: 1) == state_of(lambda row: 0)
    False

    ```
    """
    if isinstance(judge, Stateful):
        return str([str(item) for item in judge.hash_state()])
    return fingerprint(judge)
