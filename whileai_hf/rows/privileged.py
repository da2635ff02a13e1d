"""What only a judge may see, and how it is kept off everything that leaves the machine.

A task knows more than its prompt says: what the world hides and what a right run does. That block lives on the task
Dataset and in the local run store. `scrub` is the guard for rows that come from elsewhere: it removes the block, and
the raw embeddings some tools leave behind, at any depth.
"""

from __future__ import annotations

from typing import Any


PRIVILEGED_KEYS = frozenset({"privileged", "expected_calls"})
# Dropped like the block itself: `vector` is a raw embedding, large and of no use to a trainer.
_DROPPED_KEYS = PRIVILEGED_KEYS | {"vector"}


def scrub(value: Any) -> Any:
    """
    A copy of a row (or of any nested value) without privileged keys.

    Args:
        value (`Any`):
            Usually a row dict.

    Returns:
        `Any`: The same value without `privileged`, `expected_calls` and `vector` at any depth.

    Examples:
    ```python
    >>> scrub({"prompt": "hi", "privileged": {"reference": "42"}, "steps": [{"vector": [0.1], "tool": "f"}]})
    {'prompt': 'hi', 'steps': [{'tool': 'f'}]}

    ```
    """
    if isinstance(value, dict):
        return {key: scrub(item) for key, item in value.items() if key not in _DROPPED_KEYS}
    if isinstance(value, list | tuple):
        return [scrub(item) for item in value]
    return value
