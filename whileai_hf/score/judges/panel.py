"""Several judges as one: their verdicts side by side as markers, and one reward made of them.

A member without a verdict has no vote, and is not counted as a no. Where the votes do not decide, the row is unjudged.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.rng import digest
from whileai_hf.score.hashing import UnhashableError, code_digest
from whileai_hf.score.judging import JudgeFunction as AnyJudge
from whileai_hf.score.judging import is_async, judge_name, judge_row, judge_row_async
from whileai_hf.score.state import state_of
from whileai_hf.score.verdicts import Described, Independent, JudgeStatus, Selective, Verdict
from whileai_hf.score.verify.base import Verifier


Row = Mapping[str, Any]

RULES = ("majority", "all", "any", "mean")
# Prefix of the markers.
MARKER = "judge:"
# From which reward on a member votes for a pass: that of the library's other counts of passes.
PASS_REWARD = 1.0
_CODE_DIGITS = 12


class Panel:
    """
    Judges rows by several judges.

    Args:
        judges (`Sequence[Callable]`):
            Two or more judges, sync or async.
        rule (`str`, *optional*, defaults to `"majority"`):
            `"majority"`, `"all"` or `"any"` of the votes give a reward of 1, else 0; `"mean"` is the mean reward.
        quorum (`int`, *optional*):
            Members that must have a verdict, else the row is unjudged; more than half by default.
        pass_reward (`float`, *optional*, defaults to `1.0`):
            Reward from which on a member votes for a pass.
        name (`str`, *optional*, defaults to `"panel"`):
            Name in `judge_name`.

    Raises:
        [`ConfigurationError`]: Fewer than two judges, an unknown rule, or a quorum that cannot be met.

    Examples:
    ```python
    >>> import asyncio
    >>> from whileai_hf.score.judges import Panel
    >>> def short(row): return len(row["final_text"]) < 20
    >>> def polite(row): return "sorry" in row["final_text"]
    >>> def vague(row): return None
    >>> verdict = asyncio.run(Panel([short, polite, vague], "any")({"final_text": "It shipped."}))
    >>> verdict.reward, verdict.markers, verdict.meta["unjudged"]
    (1.0, {'judge:short': 1.0, 'judge:polite': 0.0}, 1)

    ```
    """

    concurrency = 32
    gives_shares = True

    def __init__(
        self,
        judges: Sequence[AnyJudge],
        rule: str = "majority",
        *,
        quorum: int | None = None,
        pass_reward: float = PASS_REWARD,
        name: str | None = None,
    ) -> None:
        members = list(judges)
        if len(members) < 2 or not all(callable(judge) and not isinstance(judge, type) for judge in members):
            raise ConfigurationError(f"a panel takes two judges or more that can be called, got {members!r:.80}")
        if rule not in RULES:
            raise ConfigurationError(f"rule is {rule!r:.40}; use one of {', '.join(map(repr, RULES))}")
        if quorum is not None and not (type(quorum) is int and 1 <= quorum <= len(members)):
            raise ConfigurationError(f"quorum is {quorum!r:.40}; pass a number from 1 to {len(members)}")
        self.judges = members
        self.rule = rule
        self.quorum = len(members) // 2 + 1 if quorum is None else quorum
        self.pass_reward = float(pass_reward)
        self.name = name or "panel"
        self.names = _distinct([judge_name(judge) for judge in members])

    def __repr__(self) -> str:
        return f"Panel({self.judges!r}, {self.rule!r}, quorum={self.quorum})"

    def provenance(self) -> dict[str, Any]:
        """The members, the rule, and a version that changes with any of theirs."""
        pairs = list(zip(self.names, self.judges, strict=True))
        members = [{"name": name, **_said(judge)} for name, judge in pairs]
        versions = [f"{name} {_edition(judge, said)}" for (name, judge), said in zip(pairs, members, strict=True)]
        of = digest(*versions, self.rule, self.quorum, self.pass_reward, length=12)
        return {"members": members, "rule": self.rule, "quorum": self.quorum, "version": f"panel-{self.rule}@{of}"}

    def bind(self, policies: Iterable[str | None]) -> Panel:
        """Settles the default models of the members that have none, for rows of these policies."""
        known = list(policies)
        for judge in self.judges:
            if isinstance(judge, Independent):
                judge.bind(known)
        return self

    def hash_state(self) -> list[object]:
        """What `Dataset.map` fingerprints in place of the object itself."""
        return [*map(state_of, self.judges), *self.names, self.rule, self.quorum, self.pass_reward]

    def columns(self) -> Sequence[str] | None:
        """Those any member reads; `None` when one of them does not say."""
        names: dict[str, None] = {}
        for judge in self.judges:
            columns = judge.columns() if isinstance(judge, Selective) else None
            if columns is None:
                return None
            names.update(dict.fromkeys(columns))
        return list(names)

    async def __call__(self, row: Row) -> Verdict:
        """
        The verdict on a row.

        Args:
            row (`Mapping`):
                The row. Every member gets this same one and must not change it.

        Returns:
            [`Verdict`]: Markers `judge:<name>`; metadata `votes`, `unjudged`, `agreement` (share of the verdicts that
            vote as most do) and `missing`, the status of each member without a verdict.
        """
        verdicts = await asyncio.gather(*(_one(judge, dict(row)) for judge in self.judges))
        given = {name: made for name, made in zip(self.names, verdicts, strict=True) if made.reward is not None}
        missing = {name: _why(made) for name, made in zip(self.names, verdicts, strict=True) if made.reward is None}
        votes = [made.reward >= self.pass_reward for made in given.values() if made.reward is not None]
        yes = sum(votes)
        meta: dict[str, Any] = {
            "votes": {name: made.reward for name, made in zip(self.names, verdicts, strict=True)},
            "unjudged": len(missing),
            "agreement": max(yes, len(votes) - yes) / len(votes) if votes else None,
        }
        if missing:
            meta["missing"] = missing
        markers = {f"{MARKER}{name}": made.reward for name, made in given.items() if made.reward is not None}
        reasons = [f"{name}: {made.reason}" for name, made in given.items() if made.reason]
        reward, problem = self._decide([made.reward for made in given.values() if made.reward is not None], yes)
        status = JudgeStatus.OK
        if problem is not None:
            status, meta["error"] = JudgeStatus.MISSING_REWARD, problem
        failure = next((made.failure_class for made in given.values() if made.failure_class), None)
        return Verdict(reward, status, "\n".join(reasons) or None, markers, failure if reward != 1.0 else None, meta)

    def _decide(self, rewards: list[float], yes: int) -> tuple[float | None, str | None]:
        """The reward, or why there is none."""
        count, members = len(rewards), len(self.judges)
        if count < self.quorum:
            return None, f"{count} of {members} judges gave a verdict, and the quorum is {self.quorum}"
        if self.rule == "mean":
            return sum(rewards) / count, None
        no = count - yes
        if self.rule == "majority":
            if yes == no:
                return None, f"the judges are divided, {yes} to {no}"
            return float(yes > no), None
        # One vote decides these, and without it every member has to have voted.
        decisive = no if self.rule == "all" else yes
        if decisive:
            return (0.0 if self.rule == "all" else 1.0), None
        if count < members:
            return None, f"{members - count} of {members} judges gave no verdict, and {self.rule!r} needs theirs"
        return (1.0 if self.rule == "all" else 0.0), None


def _distinct(names: list[str]) -> list[str]:
    """Names with a number where two judges are called alike."""
    made: list[str] = []
    for name in names:
        number, free = 1, name
        while free in made:
            number += 1
            free = f"{name}#{number}"
        made.append(free)
    return made


def _why(made: Verdict) -> str:
    said = made.meta.get("error") or made.reason
    return f"{made.status.value}: {said}" if said else made.status.value


async def _one(judge: AnyJudge, row: dict[str, Any]) -> Verdict:
    if is_async(judge):
        return await judge_row_async(judge, row)
    if isinstance(judge, Verifier):  # computes and never waits
        return judge_row(judge, row)
    return await _on_a_thread(judge, row)


def _said(judge: AnyJudge) -> dict[str, Any]:
    """What a member says about itself, else a hash of its code."""
    if isinstance(judge, Described):
        return judge.provenance()
    code = code_digest(judge)
    return {} if code is None else {"code": code[:_CODE_DIGITS]}


def _edition(judge: AnyJudge, said: Mapping[str, Any]) -> str:
    """What changes when a member does: its version, else its code and state, as far as they can be hashed."""
    if said.get("version") is not None:
        return str(said["version"])
    try:
        return state_of(judge)
    except UnhashableError:
        return str(said.get("code"))


async def _on_a_thread(judge: AnyJudge, row: dict[str, Any]) -> Verdict:
    """
    A blocking member on a thread of its own: one that hangs holds up no other row, and not the end of the process.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Verdict] = loop.create_future()
    context = contextvars.copy_context()

    def hand_in(made: Verdict | None, error: BaseException | None) -> None:
        if answer.done():  # the row's time is over
            return
        if error is not None:
            answer.set_exception(error)
        elif made is not None:
            answer.set_result(made)

    def work() -> None:
        made: Verdict | None = None
        problem: BaseException | None = None
        try:
            made = context.run(judge_row, judge, row)
        except BaseException as error:  # a model that stops, an interrupt: for whoever waits
            problem = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(hand_in, made, problem)

    threading.Thread(target=work, name="whileai-panel", daemon=True).start()
    return await answer
