"""What creating, updating and deleting tools come to. Nothing is written here: the changes are returned."""

from __future__ import annotations

from typing import Any

from whileai_hf.rows import dumps
from whileai_hf.rows.rng import rng
from whileai_hf.sandbox.effects import SETTING_VERBS, SOFT_DELETES, IdParameter
from whileai_hf.sandbox.knowledge import ACTED_ON
from whileai_hf.sandbox.ledger import Records
from whileai_hf.sandbox.naming import participle, singular, word_set
from whileai_hf.sandbox.outcomes import Outcome, refused
from whileai_hf.sandbox.records import new_id
from whileai_hf.sandbox.state import Change, Key, clone, key_of
from whileai_hf.sandbox.toolset import Profile


# Verbs that may be repeated on one record and mean it each time.
_REPEATABLE = word_set("pay charge deposit withdraw redeem extend sell subscribe rotate stage unstage flag")
# Setting verbs that add to what is there.
_ADDING = frozenset(["append", "add", "link"])
# Creating verbs that say nothing about the record's status.
_PLAIN_CREATES = word_set("create add insert new make register write upload mkdir touch generate commit")
_MOVES = frozenset({"move", "rename"})
_FLIPS = frozenset({"toggle"})


def create(records: Records, profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """A new record, under the id the call gives or a fresh one."""
    shape = records.toolset.shape(profile.entity)
    several = _several(profile, arguments)
    if several is not None:
        return _create_each(records, profile, arguments, several)
    if profile.own_id and profile.ids[0].name in arguments:
        identifier = arguments[profile.ids[0].name]
        if isinstance(identifier, list):
            identifier = identifier[0] if identifier else ""
        key = key_of(profile.entity, identifier)
        if key in records.state.created and profile.verb in ("create", "add", "invite", "register", "mkdir"):
            return _already(
                records, profile, profile.ids[0], identifier, f"{profile.entity} {identifier} already exists"
            )
    else:
        if records.premise.world_state == ACTED_ON and _is_target(records, profile):
            existing = new_id(shape, rng(records.seed, "acted", profile.name))
            records.state.known.add(key_of(profile.entity, existing))
            return refused(
                "already_done",
                f"this was already {participle(profile.verb or 'create')}; nothing was changed",
                data={shape.id_name: existing},
            )
        identifier = records.fresh_id(profile, dumps(arguments).decode())
        key = key_of(profile.entity, identifier)
    fields = {name: value for name, value in arguments.items() if not (profile.own_id and name == profile.ids[0].name)}
    if profile.verb not in _PLAIN_CREATES and profile.verb:
        fields.setdefault("status", participle(profile.verb))
    change = Change(key, identifier, fields, new=True)
    return Outcome({"status": "created", "data": {shape.id_name: identifier, **fields}}, [change], (key,))


def _several(profile: Profile, arguments: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The records a call makes when it takes a list of them: `create_entities(entities=[...])`."""
    items = next(iter(arguments.values()), None) if len(arguments) == 1 else None
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        return None
    return items if singular(next(iter(arguments))) == profile.noun else None


def _create_each(
    records: Records, profile: Profile, arguments: dict[str, Any], items: list[dict[str, Any]]
) -> Outcome:
    shape = records.toolset.shape(profile.entity)
    changes, data = [], []
    for position, item in enumerate(items):
        name = shape.id_name if shape.id_name in item else "name"
        identifier = item.get(name) or records.fresh_id(profile, f"{position}:{dumps(arguments).decode()}")
        fields = {key: value for key, value in item.items() if key != shape.id_name}
        changes.append(Change(key_of(profile.entity, identifier), identifier, fields, new=True))
        data.append({shape.id_name: identifier, **fields})
    return Outcome({"status": "created", "data": data}, changes, tuple(change.key for change in changes))


def _is_target(records: Records, profile: Profile) -> bool:
    target = records.last_action(profile.entity)
    return target is None or target is profile


def _already(records: Records, profile: Profile, item: IdParameter, identifier: Any, why: str) -> Outcome:
    key = records.resolve(item, identifier)
    data = records.view(profile, item, identifier, key)
    return Outcome({"status": "already_done", "error": f"{why}; nothing was changed", "data": data}, records=(key,))


def change(records: Records, profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """An update or deletion of the record the call names, of each one in a list, or of a setting without an id."""
    item = profile.ids[0] if profile.ids and profile.ids[0].name in arguments else None
    if item is None:
        return _nameless(records, profile, arguments)
    value = arguments[item.name]
    if not item.many:
        return _one(records, profile, item, value, arguments)
    outcomes = [
        (one, _one(records, profile, item, one, arguments)) for one in value if records.exists(item, one, main=True)
    ]
    absent = [one for one in value if not records.exists(item, one, main=True)]
    if not any(outcome.succeeded for _, outcome in outcomes):
        if outcomes:
            return outcomes[0][1]
        return refused("not_found", f"no {item.entity} found for {', '.join(map(str, absent))}")
    made = [outcome for _, outcome in outcomes if outcome.succeeded]
    reply: dict[str, Any] = {"status": made[0].reply["status"], "data": [outcome.reply["data"] for outcome in made]}
    if absent:
        reply["not_found"] = absent
    changes = [entry for outcome in made for entry in outcome.changes]
    return Outcome(reply, changes, tuple(entry.key for entry in changes))


def _one(records: Records, profile: Profile, item: IdParameter, identifier: Any, arguments: dict[str, Any]) -> Outcome:
    key = records.resolve(item, identifier)
    verb = profile.verb or "update"
    done = records.state.done.get(key, ())
    one_shot = verb not in SETTING_VERBS and verb not in _REPEATABLE
    acted = records.knowledge.condition(item, identifier, main=True) == ACTED_ON
    if acted and _is_target(records, profile) and not (verb in records.state.done.get(key, ()) and not one_shot):
        return _already(records, profile, item, identifier, f"{identifier} was already {participle(verb)}")
    if one_shot and verb in done:
        return _already(records, profile, item, identifier, f"{identifier} was already {participle(verb)}")
    if profile.effect == "delete":
        return _delete(records, profile, key, identifier, verb)
    if verb in _MOVES and (moved := _move(records, item, identifier, key, arguments)) is not None:
        return moved
    before = records.row(key, identifier, records.toolset.shape(key[0]).id_name)
    fields = _fields(profile, item, arguments, before, verb)
    if verb in SETTING_VERBS and verb not in _ADDING and fields and all(before.get(k) == v for k, v in fields.items()):
        return _already(records, profile, item, identifier, f"{identifier} already has these values")
    if verb not in SETTING_VERBS:
        fields["status"] = participle(verb)
    entry = Change(key, identifier, fields, done=verb)
    return Outcome({"status": "updated", "data": {**before, **fields}}, [entry], (key,))


def _delete(records: Records, profile: Profile, key: Key, identifier: Any, verb: str) -> Outcome:
    shape = records.toolset.shape(key[0])
    if verb in SOFT_DELETES:
        status = {"status": participle(verb)}
        entry = Change(key, identifier, status, done=verb)
        return Outcome({"status": "updated", "data": {shape.id_name: identifier, **status}}, [entry], (key,))
    entry = Change(key, identifier, gone=True)
    return Outcome({"status": "deleted", "data": {shape.id_name: identifier}}, [entry], (key,))


def _move(records: Records, item: IdParameter, identifier: Any, key: Key, arguments: dict[str, Any]) -> Outcome | None:
    """A record under a new id, when the call names one."""
    target = next(
        (arguments[name] for name in ("destination", "target", "new_path", "new_name") if name in arguments), None
    )
    if target is None or item.kind not in ("path", "name"):
        return None
    shape = records.toolset.shape(key[0])
    row = records.row(key, identifier, shape.id_name)
    fields = {name: value for name, value in row.items() if name != shape.id_name}
    there = key_of(key[0], target)
    changes = [Change(key, identifier, gone=True), Change(there, target, fields, new=True)]
    return Outcome(
        {"status": "updated", "data": {shape.id_name: target, "moved_from": identifier}}, changes, (key, there)
    )


def _fields(
    profile: Profile, item: IdParameter, arguments: dict[str, Any], before: dict[str, Any], verb: str
) -> dict[str, Any]:
    """The fields a call sets: its other arguments under the record's names for them."""
    fields: dict[str, Any] = {}
    for name, value in arguments.items():
        if name == item.name or value is None:
            continue
        plain = name.removeprefix("new_").removeprefix("updated_")
        if verb not in SETTING_VERBS and plain in before:
            # "refund_order(amount)" says what was refunded, not what the order's amount is.
            plain = f"{verb}_{plain}"
        plain = _field_of(plain, value, before)
        old = before.get(plain) if name not in profile.id_names else None
        if verb in _ADDING and isinstance(old, list):
            value = [*old, *(value if isinstance(value, list) else [value])]
        elif verb in _ADDING and isinstance(old, str) and isinstance(value, str):
            value = f"{old}\n{value}"
        elif plain == "edits" and isinstance(value, list) and isinstance(before.get("content"), str):
            plain, value = "content", _edited(before["content"], value)
        fields[plain] = value
    return fields


def _field_of(name: str, value: Any, before: dict[str, Any]) -> str:
    """The record's own name for an argument: `branch_name` is its `branch`, files added are its `staged_files`."""
    if name in before:
        return name
    if name.removesuffix("_name") in before:
        return name.removesuffix("_name")
    if isinstance(value, list):
        return next((field for field in before if field.endswith(f"_{name}")), name)
    return name


def _edited(text: str, edits: list[Any]) -> str:
    """Text after replacements; a passage that is not there is added at the end, so that the edit can be read back."""
    for edit in edits:
        if isinstance(edit, dict):
            old, new = str(edit.get("oldText", "")), str(edit.get("newText", ""))
            text = text.replace(old, new, 1) if old and old in text else f"{text}\n{new}"
    return text


def _nameless(records: Records, profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """A change to a setting, or to records that are named inside the arguments."""
    key = key_of(profile.entity, profile.name)
    before = clone(records.state.fields.get(key, {}))
    if profile.effect == "delete":
        entry = Change(key, profile.name, dict(arguments), done=profile.verb)
        return Outcome({"status": "deleted", "data": arguments}, [entry], (key,))
    fields = dict(arguments)
    if profile.verb in _FLIPS:
        fields["enabled"] = not before.get("enabled", False)
    elif profile.verb in _ADDING:
        fields = {
            name: [*before[name], *value] if isinstance(value, list) and isinstance(before.get(name), list) else value
            for name, value in arguments.items()
        }
    return Outcome(
        {"status": "updated", "data": fields}, [Change(key, profile.name, fields, done=profile.verb)], (key,)
    )
