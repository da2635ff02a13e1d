"""What a rollout left behind in its world: every record it made, changed or removed, before and after.

The digest says whether two ends are equal; this says what the end is, for a judge and for rewards that forbid
side effects. A record that was made and removed again, or changed back, has not moved.
"""

from __future__ import annotations

from typing import Any

from whileai_hf.sandbox.ledger import Records
from whileai_hf.sandbox.state import clone


def changes_left(records: Records) -> list[dict[str, Any]]:
    """
    The records that are not as they were.

    Args:
        records ([`Records`]):
            The records of a session.

    Returns:
        `list[dict]`: `{"entity", "id", "change", "before", "after", "tool"}`, sorted by entity and id. `change` is
        `"created"`, `"updated"` or `"deleted"`; `before` and `after` hold the fields that differ, `None` where the
        record was not there; `tool` is the last that wrote it, `None` for somebody outside the rollout.
    """
    state = records.state
    found = []
    for key in sorted({*state.fields, *state.created, *state.gone}):
        if key in state.created:
            change, before, after = "created", None, clone(state.fields.get(key, {}))
        elif key in state.gone:
            if key not in state.updated:  # made here and gone again
                continue
            change, before, after = "deleted", records.initial(key, state.updated[key]), None
        else:
            was = records.initial(key, state.updated.get(key, key[1]))
            after = {name: clone(value) for name, value in state.fields[key].items() if was.get(name) != value}
            if not after:
                continue
            change, before = "updated", {name: was.get(name) for name in after}
        identifier = state.created.get(key, state.updated.get(key, key[1]))
        found.append(
            {
                "entity": key[0],
                "id": identifier,
                "change": change,
                "before": before,
                "after": after,
                "tool": state.writers.get(key),
            }
        )
    return found
