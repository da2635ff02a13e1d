"""Answers calls as a world in which nothing breaks does, and makes the writes they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whileai_hf.sandbox import answers, writes
from whileai_hf.sandbox.ledger import Records
from whileai_hf.sandbox.outcomes import Outcome, Reply, refused
from whileai_hf.sandbox.placeholders import placeholder_in
from whileai_hf.sandbox.state import Change, Key, clone, key_of
from whileai_hf.sandbox.toolset import Profile


_SIMPLE: dict[str, Callable[[Profile, dict[str, Any]], Outcome]] = {
    "note": answers.note,
    "done": answers.done,
    "calculator": answers.calculator,
    "arithmetic": answers.arithmetic,
    "clock": answers.clock,
    "convert_time": answers.convert_time,
}
_STATEFUL: dict[str, Callable[[Records, Profile, dict[str, Any]], Outcome]] = {
    "fact": answers.fact,
    "record": answers.record,
    "contents": answers.contents,
    "create": writes.create,
    "change": writes.change,
}


class Responder:
    """What one session answers when nothing breaks. Not thread-safe; the session holds its lock around every use."""

    __slots__ = ("_keyed", "records")

    def __init__(self, records: Records) -> None:
        self.records = records
        # Replies to calls that carried an idempotency key, which a second such call gets again.
        self._keyed: dict[tuple[str, str], Reply] = {}

    def answer(self, profile: Profile, arguments: Any) -> Outcome:
        """Checks, then the answer: arguments, placeholders, existence, and what the tool does. Writes nothing."""
        errors = profile.checker.errors(arguments)
        if errors:
            return refused("invalid_arguments", "; ".join(errors))
        echoed = placeholder_in(arguments, profile.id_names, profile.fixed)
        if echoed is not None:
            return refused(
                "invalid_arguments",
                f"argument {echoed[0]!r} is a placeholder ({echoed[1][:60]!r}), not a value",
                hint=f"Pass the real {echoed[0]}: take it from the conversation, look it up, or ask the user for it.",
            )
        absent = self._absent(profile, arguments)
        if absent is not None:
            return absent
        if profile.retry_key and (earlier := self._keyed.get(_retry_key(profile, arguments))) is not None:
            return Outcome(clone(earlier))
        simple = _SIMPLE.get(profile.kind)
        if simple is not None:
            return simple(profile, arguments)
        return _STATEFUL[profile.kind](self.records, profile, arguments)

    def _absent(self, profile: Profile, arguments: dict[str, Any]) -> Outcome | None:
        """The refusal for a record that is not there, or `None` when all named records are."""
        for position, item in enumerate(profile.ids):
            value = arguments.get(item.name)
            if value is None or item.many or (position == 0 and profile.own_id):
                continue
            if not self.records.exists(item, value, main=position == 0):
                return Outcome(
                    {"status": "not_found", "error": f"no {item.entity} found for {item.name} {value!r}"},
                    records=(key_of(item.entity, value),),
                )
        return None

    def write(self, profile: Profile, arguments: Any, count: int, changes: list[Change]) -> None:
        """Make the changes of a call and enter it into the ledger."""
        for change in changes:
            self.records.state.apply(change)
            self.records.state.writers[change.key] = profile.name
        # The reply may share parts of the arguments, and the reply is the caller's to change.
        self.records.writes.append({"tool": profile.name, "arguments": clone(arguments), "call": count})

    def keep_reply(self, profile: Profile, arguments: Any, reply: Reply) -> None:
        """Remember the reply to a write that carried an idempotency key."""
        if profile.retry_key and profile.retry_key in arguments:
            self._keyed[_retry_key(profile, arguments)] = clone(reply)

    def named(self, profile: Profile, arguments: Any) -> Key | None:
        """The record a call names, whether or not it is there."""
        if not profile.ids or not isinstance(arguments, dict):
            return None
        value = arguments.get(profile.ids[0].name)
        return key_of(profile.ids[0].entity, value) if isinstance(value, str | int) else None

    def before(self, profile: Profile, arguments: Any) -> dict[str, Any] | None:
        """The record a changing call names as it is now; `None` when it names none."""
        key = self.named(profile, arguments)
        if key is None or profile.kind != "change":
            return None
        shape = self.records.toolset.shape(key[0])
        return self.records.row(key, arguments[profile.ids[0].name], shape.id_name)


def _retry_key(profile: Profile, arguments: dict[str, Any]) -> tuple[str, str]:
    return profile.name, str(arguments.get(profile.retry_key))
