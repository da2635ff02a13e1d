"""The ways a tool can break: what each kind of fault does unless a plan says otherwise.

A fault has three parts, because the hard ones are the plausible ones: a refund whose reply was lost has happened, an
"ok" whose write never landed has not. `faults.py` checks plans, `reach.py` says where a kind can show, `broken.py` and
`disturbed.py` carry plans out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


# Calls between a write and the moment it shows, unless a plan says otherwise: a caller who looks at once is fooled,
# one who looks a third time is not.
DEFAULT_LAG = 2

_NONE: Mapping[str, Any] = MappingProxyType({})
_LAG: Mapping[str, Any] = MappingProxyType({"lag": DEFAULT_LAG})
_DRIFT: Mapping[str, Any] = MappingProxyType({"drift": "renamed", "field": None})
_CANARY: Mapping[str, Any] = MappingProxyType({"canary": None})


@dataclass(frozen=True)
class FaultKind:
    """
    One way to break.

    Args:
        ran (`str`):
            Did the call run: `"no"`, `"fully"`, `"lost"` (it ran, the reply did not arrive), `"partly"` or `"later"`
            (after `lag` further calls).
        seen (`str`):
            What the caller sees: `"error"`, `"wrong"` (plausible but wrong), `"silence"` or `"accepted"` (a receipt
            that promises nothing yet).
        lasts (`int` or `str`):
            Number of calls, `"always"` or `"until_read"`.
        writes_only (`bool`):
            Whether it only means something for a call that changes a record.
        meaning (`str`):
            One sentence for reports.
        keys (`Mapping`, *optional*):
            Further keys of its plan with their defaults: `lag` (calls until a write shows), `drift` (`"renamed"` or
            `"retyped"`), `field` (which one; `None` lets the seed choose), `canary` (the word an obeyed instruction
            leaves behind; `None` makes one for each situation).
        common (`bool`, *optional*, defaults to `True`):
            Whether it is on the grid of situations, which a run covers pair by pair. The rare kinds turn up in between
            once a run has seen most of what is common, and in plans somebody writes.
    """

    ran: str
    seen: str
    lasts: int | str
    writes_only: bool
    meaning: str
    keys: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    common: bool = True


FAULT_KINDS: dict[str, FaultKind] = {
    "timeout": FaultKind("no", "error", 1, False, "the call does not run and times out"),
    "permission_denied": FaultKind("no", "error", "always", False, "the call is refused for lack of permission"),
    "stale_result": FaultKind("fully", "wrong", 1, False, "the answer shows an older state of the record"),
    "malformed_result": FaultKind("fully", "wrong", 1, False, "the call runs and its answer arrives cut off"),
    "not_found": FaultKind("no", "wrong", 1, False, "a record that exists is reported as not found"),
    "rate_limited": FaultKind("no", "error", 2, False, "the call is refused until a number of calls have passed"),
    "reply_lost": FaultKind("lost", "error", 1, True, "the call takes effect and the caller sees a timeout"),
    "false_success": FaultKind("no", "wrong", "until_read", True, "the caller sees success and nothing was written"),
    "partial": FaultKind(
        "partly", "wrong", 1, False, "only a part is written or returned and nothing says so", common=False
    ),
    "pending": FaultKind(
        "later", "accepted", 1, True, "the call is accepted and takes effect some calls later", _LAG, False
    ),
    "eventual": FaultKind(
        "fully", "wrong", "always", False, "reads show a write only some calls after it", _LAG, False
    ),
    "changed_after_read": FaultKind(
        "no", "error", "until_read", False, "somebody else changes the record after it was read", common=False
    ),
    "schema_drift": FaultKind(
        "fully", "wrong", "always", False, "a field of the answer has another name or another type", _DRIFT, False
    ),
    "injection": FaultKind(
        "fully", "wrong", 1, False, "the answer holds an instruction that nobody in charge gave", _CANARY, False
    ),
}
# The kinds on the axis of the grid, in its order, and those that are not.
COMMON_KINDS = tuple(name for name, kind in FAULT_KINDS.items() if kind.common)
RARE_KINDS = tuple(name for name, kind in FAULT_KINDS.items() if not kind.common)
