"""What a judge of pairs may answer, and how the answers of both orders become one.

A judge that prefers a position rather than a reply contradicts itself when the replies change places. So each pair is
asked about twice, and only what survives the swap is a winner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from whileai_hf.rows import canonical
from whileai_hf.score.verdicts import JudgeStatus, Verdict


Side = Literal["a", "b", "tie"]

# Words for the position that was preferred. Numbers are not among them: 0 and 1 mean "first" to some judges and
# "tie" and "first" to others.
_POSITIONS: dict[str, Literal["first", "second", "tie"]] = {
    **dict.fromkeys(("a", "first"), "first"),
    **dict.fromkeys(("b", "second"), "second"),
    **dict.fromkeys(("tie", "draw", "equal", "same"), "tie"),
}


def read_winner(answer: Any) -> Verdict:
    """
    An answer about two rows, as a verdict whose metadata holds the winner's position.

    Args:
        answer (`Any`):
            `"A"` (the first shown), `"B"`, `"tie"`, `None`; or a mapping with `winner` and optionally `reason` and
            anything else.

    Returns:
        [`Verdict`]: `meta["winner"]` is `"first"`, `"second"` or `"tie"` when the status is `ok`.

    Examples:
    ```python
    >>> read_winner("A").meta["winner"], read_winner({"winner": "tie", "reason": "Same facts."}).reason
    ('first', 'Same facts.')
    >>> read_winner(1).status.value, read_winner(None).status.value
    ('invalid_result', 'missing_reward')

    ```
    """
    if isinstance(answer, Verdict):
        return answer
    more = dict(answer) if isinstance(answer, Mapping) else {}
    said = more.pop("winner", None) if isinstance(answer, Mapping) else answer
    reason = more.pop("reason", None)
    reason = None if reason is None else str(reason)
    meta = canonical({str(name): value for name, value in more.items()})
    found = _POSITIONS.get(said.strip().casefold()) if isinstance(said, str) else None
    if found is not None:
        return Verdict(1.0, reason=reason, meta={**meta, "winner": found})
    if said is None:
        return Verdict(None, JudgeStatus.MISSING_REWARD, reason or "the judge named no winner", meta=meta)
    wrong = f"the judge answered {said!r:.60}; expected 'A', 'B', 'tie' or None"
    return Verdict(None, JudgeStatus.INVALID_RESULT, wrong, meta=meta)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known about a pair after both orders."""

    winner: Side | None
    votes: dict[str, Side | None]
    """`ab` is the vote with side a shown first, `ba` with side b first; both name sides, not positions."""
    flipped: bool
    status: str
    reason: str | None
    meta: dict[str, Any]


def _vote(verdict: Verdict, first: Side, second: Side) -> Side | None:
    if verdict.reward is None:
        return None
    return {"first": first, "second": second, "tie": "tie"}[verdict.meta["winner"]]


def _meta(verdict: Verdict) -> dict[str, Any]:
    return {name: value for name, value in verdict.meta.items() if name != "winner"}


def combine(ab: Verdict, ba: Verdict) -> Outcome:
    """
    The outcome of a pair.

    Args:
        ab ([`Verdict`]):
            The answer with side a shown first.
        ba ([`Verdict`]):
            The answer with side b shown first.

    Returns:
        [`Outcome`]: A winner when both orders name it, a tie when they differ (`flipped`), none when either failed:
        one order's word could be the position's.
    """
    votes = {"ab": _vote(ab, "a", "b"), "ba": _vote(ba, "b", "a")}
    meta: dict[str, Any] = {name: said for name, said in (("ab", _meta(ab)), ("ba", _meta(ba))) if said}
    for shown, verdict in (("a", ab), ("b", ba)):
        if verdict.reward is None:
            why = verdict.reason or verdict.meta.get("error") or verdict.status.value
            said = f"no verdict with side {shown} shown first: {why}"
            return Outcome(None, votes, False, verdict.status.value, said, meta)
    flipped = votes["ab"] != votes["ba"]
    winner: Side | None = "tie" if flipped else votes["ab"]
    reason = ab.reason or ba.reason
    if flipped:
        reason = f"{votes['ab']} with side a shown first, {votes['ba']} with side b shown first"
    return Outcome(winner, votes, flipped, JudgeStatus.OK.value, reason, meta)


def unasked(reason: str, winner: Side | None = None) -> Outcome:
    """The outcome of a pair no judge was asked about."""
    status = JudgeStatus.MISSING_REWARD if winner is None else JudgeStatus.OK
    return Outcome(winner, {"ab": None, "ba": None}, False, status.value, reason, {})
