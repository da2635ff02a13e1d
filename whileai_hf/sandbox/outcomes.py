"""What a call comes to: the reply the caller gets and the writes it stands for, not yet made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whileai_hf.sandbox.state import Change, Key


Reply = dict[str, Any]

# Statuses that say the call did what it was asked.
SUCCESS = frozenset({"ok", "created", "updated", "deleted"})


@dataclass
class Outcome:
    """A reply, the changes behind it, and the records it is about."""

    reply: Reply
    changes: list[Change] = field(default_factory=list)
    records: tuple[Key, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the call did what it was asked."""
        return self.reply.get("status") in SUCCESS


def refused(status: str, error: str, **more: Any) -> Outcome:
    """An outcome in which nothing happened."""
    return Outcome({"status": status, "error": error, **more})
