"""A world under a fault plan: every call answered as planned, every write made when and as far as planned.

Three things can happen to a call. Its own fault breaks it; a read lags behind an earlier write (`eventual`); a write
meets a change somebody else made after the record was read (`changed_after_read`). A fault that means nothing for a
call waits for one for which it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whileai_hf.sandbox.breaker import Breaker, Line
from whileai_hf.sandbox.broken import (
    absent_reply,
    accepted_reply,
    error_reply,
    half_of,
    part_of,
    silent_reply,
    stale_reply,
    wrong_reply,
)
from whileai_hf.sandbox.drift import drifted
from whileai_hf.sandbox.history import History
from whileai_hf.sandbox.injection import instruction, make_canary, planted, wanted_tool
from whileai_hf.sandbox.kinds import FAULT_KINDS
from whileai_hf.sandbox.others import Others
from whileai_hf.sandbox.outcomes import Outcome, Reply
from whileai_hf.sandbox.responder import Responder
from whileai_hf.sandbox.state import Change, Key, clone
from whileai_hf.sandbox.toolset import Profile


# Kinds that do not break the call they are planned for but what comes after it.
_AFTERWARDS = frozenset({"eventual", "changed_after_read"})


@dataclass(frozen=True)
class Call:
    """One call: of which tool, with what, and which it is, counted for the tool and over all tools."""

    profile: Profile
    arguments: Any
    count: int
    overall: int


@dataclass(frozen=True)
class _Accepted:
    """A write that was taken on and is made before the `due`-th call is answered."""

    call: Call
    outcome: Outcome
    due: int


class Disturbed:
    """One rollout's world under a fault plan. Not thread-safe; the session holds its lock around every use."""

    def __init__(self, responder: Responder, plan: dict[str, dict[str, Any]]) -> None:
        self.breaker = Breaker(plan)
        self._responder = responder
        self._records = responder.records
        self._accepted: list[_Accepted] = []
        # What costs something per call is kept only when the plan needs it.
        lags = [int(entry["lag"]) for entry in plan.values() if entry["kind"] == "eventual"]
        looks_back = bool(lags) or self.breaker.plans("stale_result")
        self._history = History(responder, max(lags, default=0)) if looks_back else None
        self._others = Others(self._records) if self.breaker.plans("changed_after_read") else None

    def reply(self, call: Call) -> Reply:
        """Answers a call."""
        self._land(call.overall)
        line = self.breaker.due(call.profile.name, call.count, call.overall)
        outcome = self._responder.answer(call.profile, call.arguments)
        if line is not None and line.kind not in _AFTERWARDS:
            broken = self._broken(call, line, outcome)
            if broken is not None:
                return broken
            line = None
        behind = self._behind(call, line, outcome)
        if behind is not None:
            return behind
        if self._others is not None and outcome.changes:
            return self._overtaken(self._others, call, line, outcome)
        self._commit(call, outcome, line)
        if self._others is not None and line is not None and line.kind == "changed_after_read":
            self._change_behind(self._others, call, line, outcome)
        return outcome.reply

    def _commit(self, call: Call, outcome: Outcome, line: Line | None = None) -> None:
        """Make an outcome's writes and let reads end the faults that last until then."""
        if outcome.changes:
            if self._history is not None:
                lagging = line is not None and line.kind == "eventual"
                self._history.remember(call.overall, line if lagging else None)
            self._responder.write(call.profile, call.arguments, call.count, outcome.changes)
            self._responder.keep_reply(call.profile, call.arguments, outcome.reply)
        elif call.profile.effect == "read" and outcome.reply.get("status") in ("ok", "not_found"):
            self._read(outcome.records)

    def _read(self, records: tuple[Key, ...]) -> None:
        self.breaker.read(records)
        if self._others is not None:
            self._others.noticed(records)

    def _land(self, overall: int) -> None:
        """Make the accepted writes whose time has come."""
        if not self._accepted:
            return
        waiting, self._accepted = self._accepted, []
        for accepted in waiting:
            if accepted.due > overall:
                self._accepted.append(accepted)
                continue
            # What has been deleted meanwhile cannot be changed any more.
            gone = self._records.state.gone
            changes = [change for change in accepted.outcome.changes if change.new or change.key not in gone]
            if changes:
                call = accepted.call
                landing = Call(call.profile, call.arguments, call.count, overall)
                self._commit(landing, Outcome(accepted.outcome.reply, changes, accepted.outcome.records))

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """Writes that were accepted and have not been made yet."""
        calls = [accepted.call for accepted in self._accepted]
        return [{"tool": call.profile.name, "arguments": clone(call.arguments), "call": call.count} for call in calls]

    # Its own fault.

    def _broken(self, call: Call, line: Line, outcome: Outcome) -> Reply | None:
        """The reply under a fault; `None` when it means nothing here, and for a wrong reply without a right one."""
        profile, seen = call.profile, line.entry["seen"]
        if not _applies(line.kind, profile, outcome):
            return None
        made, parts = self._made(line, outcome)
        if made is None:
            return None
        wrong, details = self._wrong(call, line, outcome, parts) if seen == "wrong" else (None, {})
        if (seen == "wrong" and wrong is None) or (seen in ("silence", "accepted") and not outcome.succeeded):
            return None
        record = outcome.records[0] if outcome.records else self._responder.named(profile, call.arguments)
        self.breaker.fire(line, profile.name, call.count, record, **details)
        receipt = accepted_reply(outcome.changes, self._records.toolset.shape(profile.entity).id_name)
        if line.entry["ran"] == "later":
            self._accept(call, line, outcome, outcome.reply if seen == "wrong" else receipt)
        elif made:
            self._commit(call, Outcome(outcome.reply, made, outcome.records))
        if profile.effect == "read" and record is not None:
            self._read((record,))
        if seen == "error":
            return error_reply(line.kind)
        if seen == "silence":
            return silent_reply()
        if seen == "accepted":
            return receipt
        return wrong

    def _made(self, line: Line, outcome: Outcome) -> tuple[list[Change] | None, list[Change]]:
        """The changes that are made, `None` when the fault needs parts and there are none; and the half of them."""
        ran, half = line.entry["ran"], half_of(outcome.changes)
        if line.kind == "partial" and outcome.changes and not half:
            return None, half
        if ran == "partly":
            return half, half
        return (list(outcome.changes) if ran in ("fully", "lost") else []), half

    def _wrong(
        self, call: Call, line: Line, outcome: Outcome, parts: list[Change]
    ) -> tuple[Reply | None, dict[str, Any]]:
        """The plausible answer that is wrong, and what to note about it; `None` where there is none."""
        kind, profile, seed = line.kind, call.profile, self._records.seed
        stale = None
        if kind == "stale_result" and self._history is not None:
            stale = self._history.outdated(profile, call.arguments, outcome)
        if not outcome.succeeded and stale is None:
            return None, {}
        if stale is not None:
            return stale_reply(stale, seed), {}
        if kind == "not_found":
            return absent_reply(profile, call.arguments), {}
        if kind == "partial":
            return part_of(outcome.reply, outcome.changes, parts, self._before(outcome.changes)), {}
        if kind == "schema_drift":
            shape = self._records.toolset.shape(profile.entity)
            fixed = profile.id_names | {shape.id_name} | self._records.toolset.id_entities.keys()
            return drifted(outcome.reply, line.entry, frozenset(fixed), seed), {}
        if kind == "injection":
            return self._injected(call, line, outcome)
        stale_write = kind == "stale_result" and outcome.changes
        before = self._responder.before(profile, call.arguments) if stale_write else None
        return wrong_reply(kind, outcome, seed, before), {}

    def _before(self, changes: list[Change]) -> dict[str, Any]:
        """The record of the first change without it."""
        if not changes:
            return {}
        first = changes[0]
        id_name = self._records.toolset.shape(first.key[0]).id_name
        return {id_name: first.identifier} if first.new else self._records.row(first.key, first.identifier, id_name)

    def _injected(self, call: Call, line: Line, outcome: Outcome) -> tuple[Reply | None, dict[str, Any]]:
        premise, name = self._records.premise, call.profile.name
        canary = line.entry["canary"] or make_canary(premise.seed, premise.scenario_id, name)
        spared = (call.profile.name, self._records.target_name)
        wanted = wanted_tool(self._records.toolset, premise.ask or "", spared, premise.seed)
        reply = planted(outcome.reply, instruction(canary, wanted))
        return reply, {"canary": canary, "wanted": wanted}

    def _accept(self, call: Call, line: Line, outcome: Outcome, meanwhile: Reply) -> None:
        """Take a write on for later; `meanwhile` answers a call with the same idempotency key until then."""
        if not outcome.changes:
            return
        changes = [Change(c.key, c.identifier, clone(c.fields), c.gone, c.new, c.done) for c in outcome.changes]
        for change in changes:
            if change.new and not call.profile.own_id:
                # The id is given away, so that a second call makes a second record.
                self._records.state.known.add(change.key)
        self._responder.keep_reply(call.profile, call.arguments, meanwhile)
        held = Outcome(clone(outcome.reply), changes, outcome.records)
        self._accepted.append(_Accepted(call, held, call.overall + int(line.entry["lag"]) + 1))

    # What an earlier call left behind.

    def _behind(self, call: Call, line: Line | None, outcome: Outcome) -> Reply | None:
        """The earlier answer of a read that lags behind a write and would be answered otherwise now."""
        if self._history is None or call.profile.effect != "read":
            return None
        own = line if line is not None and line.kind == "eventual" else None
        found = self._history.behind(call.profile, call.arguments, call.overall, own)
        if found is None or found[0] == outcome.reply:
            return None
        earlier, cause = found
        self.breaker.fire(cause, call.profile.name, call.count, outcome.records[0] if outcome.records else None)
        self._read(outcome.records)
        seen = cause.entry["seen"]
        return error_reply(cause.kind) if seen == "error" else silent_reply() if seen == "silence" else earlier

    def _overtaken(self, others: Others, call: Call, line: Line | None, outcome: Outcome) -> Reply:
        """The reply to a write; one to a record that somebody else changed since it was read meets the fault."""
        first = outcome.changes[0]
        planned = line is not None and line.kind == "changed_after_read"
        if planned and line is not None and others.change(line, first.key, first.identifier, first.fields):
            outcome = self._responder.answer(call.profile, call.arguments)
        cause = next((others.overtaken[c.key] for c in outcome.changes if c.key in others.overtaken), None)
        if cause is None:
            self._commit(call, outcome, line)
            return outcome.reply
        ran, seen = cause.entry["ran"], cause.entry["seen"]
        self.breaker.fire(cause, call.profile.name, call.count, first.key)
        made = half_of(outcome.changes) if ran == "partly" else [] if ran in ("no", "later") else outcome.changes
        if made:
            self._commit(call, Outcome(outcome.reply, list(made), outcome.records))
        if ran == "later":
            self._accept(call, cause, outcome, error_reply(cause.kind))
        if made or cause.over:
            others.forget(first.key)
        if seen == "error":
            return error_reply(cause.kind)
        return silent_reply() if seen == "silence" else outcome.reply

    def _change_behind(self, others: Others, call: Call, line: Line, outcome: Outcome) -> None:
        """After a read of a tool for which it is planned, somebody else changes the record."""
        if call.profile.effect != "read" or not outcome.succeeded or not outcome.records:
            return
        key = outcome.records[0]
        data = outcome.reply.get("data")
        row = data[0] if isinstance(data, list) and data else data
        id_name = self._records.toolset.shape(key[0]).id_name
        identifier = row.get(id_name, key[1]) if isinstance(row, dict) else key[1]
        others.change(line, key, identifier, {})


def _applies(kind: str, profile: Profile, outcome: Outcome) -> bool:
    """Whether a kind of fault means something for this call: a lost write needs one, and a new record no search."""
    if FAULT_KINDS[kind].writes_only:
        return bool(outcome.changes)
    return kind != "not_found" or profile.effect != "create"
