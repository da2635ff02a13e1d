"""Answers that change nothing: records, lists of records, arithmetic, the clock, and tools about no record."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from whileai_hf.rows import dumps
from whileai_hf.rows.rng import Draws, rng
from whileai_hf.sandbox.calculator import calculate
from whileai_hf.sandbox.clock import NOW, now_in, offset
from whileai_hf.sandbox.naming import word_set, words_of
from whileai_hf.sandbox.outcomes import Outcome, refused
from whileai_hf.sandbox.records import Shape, new_id
from whileai_hf.sandbox.state import Key, clone, key_of
from whileai_hf.sandbox.toolset import Profile
from whileai_hf.sandbox.values import put_in_order


if TYPE_CHECKING:
    from whileai_hf.sandbox.ledger import Records


# How many records a list has at most.
_MOST_HITS = 5
_FEW_HITS = 2
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# Argument names that hold words to look for, and fields those words are found in.
_QUERY_WORDS = word_set("query q search keyword keywords term text name filename title subject topic")
_TITLE_FIELDS = ("title", "name", "subject", "filename", "topic", "description", "body", "content")
_SORTED_LISTS = frozenset({"log", "list", "search"})


def note(profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """Thinking and echoing: what was said comes back, nothing else happens."""
    if profile.verb == "echo":
        text = next((value for value in arguments.values() if isinstance(value, str)), "")
        return Outcome({"status": "ok", "data": text})
    return Outcome({"status": "ok"})


def done(profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """A tool that acts on nothing the world keeps."""
    verb = profile.verb or "run"
    return Outcome({"status": "ok", "data": {"action": verb, **arguments}})


def calculator(profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """Arithmetic written in a string."""
    expression = next((value for value in arguments.values() if isinstance(value, str)), "")
    try:
        return Outcome({"status": "ok", "data": calculate(expression)})
    except ValueError as error:
        return refused("invalid_arguments", f"cannot calculate {expression[:80]!r}: {error}")


def arithmetic(profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """A sum, product, difference, quotient or mean of the numbers passed."""
    numbers = [value for value in arguments.values() if isinstance(value, int | float)]
    words = frozenset(words_of(profile.name))
    sign = "*" if words & {"multiply", "product"} else "-" if words & {"subtract", "difference"} else "+"
    sign = "/" if "divide" in words else sign
    text = sign.join(f"({number!r})" for number in numbers)
    if words & {"average", "mean"}:
        text = f"({text})/{len(numbers)}"
    return calculator(profile, {"expression": text})


def clock(profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """The world's date or time."""
    zone = next((value for value in arguments.values() if isinstance(value, str) and value), "Etc/UTC")
    now = now_in(zone)
    if now is None:
        return refused("invalid_arguments", f"{zone!r} is not an IANA time zone; use a name such as 'Europe/London'")
    if "time" not in words_of(profile.name):
        return Outcome({"status": "ok", "data": now.date().isoformat()})
    return Outcome({"status": "ok", "data": {"timezone": zone, "datetime": now.isoformat(timespec="seconds")}})


def convert_time(profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """A time of day in another zone."""
    zones = [value for name, value in arguments.items() if "zone" in name.lower() and isinstance(value, str)]
    time = str(arguments.get("time", ""))
    hour, _, minute = time.partition(":")
    if len(zones) < 2 or not (hour.isdigit() and minute[:2].isdigit() and int(hour) < 24 and int(minute[:2]) < 60):
        return refused("invalid_arguments", f"time {time!r} is not a 24-hour time such as '14:30'")
    source, target = zones[:2]
    ahead, wanted = offset(source), offset(target)
    if ahead is None or wanted is None:
        wrong = source if ahead is None else target
        return refused("invalid_arguments", f"{wrong!r} is not an IANA time zone; use a name such as 'Europe/London'")
    start = NOW.replace(hour=int(hour), minute=int(minute[:2]), tzinfo=None)
    hours = (wanted - ahead) / timedelta(hours=1)
    return Outcome(
        {
            "status": "ok",
            "data": {
                "source": {"timezone": source, "time": start.strftime("%H:%M")},
                "target": {"timezone": target, "time": (start + wanted - ahead).strftime("%H:%M")},
                "time_difference": f"{hours:+.1f}h",
            },
        }
    )


def fact(records: Records, profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """One answer that depends on the arguments alone."""
    given = {name: value for name, value in arguments.items() if not isinstance(value, dict | list)}
    base = records.untouched(profile.entity, "/".join(map(str, given.values())) or profile.name)
    shape = records.toolset.shape(profile.entity)
    data = {name: clone(value) for name, value in base.items() if name != shape.id_name}
    return Outcome({"status": "ok", "data": {**data, **given}})


def record(records: Records, profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """One record by its id, or several when the tool takes a list of ids."""
    item = profile.ids[0]
    value = arguments.get(item.name)
    if value is None:
        return contents(records, profile, arguments)
    if not item.many:
        key = records.resolve(item, value)
        data = records.view(profile, item, value, key)
        return Outcome({"status": "ok", "data": _cut(data, arguments)}, records=(key,))
    found, absent, keys = [], [], []
    for one in value:
        if records.exists(item, one, main=True):
            keys.append(records.resolve(item, one))
            found.append(records.view(profile, item, one, keys[-1]))
        else:
            absent.append(one)
    if not found and absent:
        return refused("not_found", f"no {item.entity} found for {', '.join(map(str, absent))}")
    reply: dict[str, Any] = {"status": "ok", "data": found}
    if absent:
        reply["not_found"] = absent
    return Outcome(reply, records=tuple(keys))


def _cut(data: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The first or last lines, for readers that take `head` or `tail`."""
    text = data.get("content")
    for name in ("head", "tail"):
        count = arguments.get(name)
        if isinstance(text, str) and isinstance(count, int | float) and count > 0:
            lines = text.splitlines()
            kept = lines[: int(count)] if name == "head" else lines[-int(count) :]
            return {**data, "content": "\n".join(kept)}
    return data


def contents(records: Records, profile: Profile, arguments: dict[str, Any]) -> Outcome:
    """The records a search or list finds: what this rollout made, what the ask is about, and what was there before."""
    entity = profile.entity
    shape = records.toolset.shape(entity)
    query = _query(profile, arguments)
    wanted = query.casefold()
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for key, identifier in records.candidates(profile, arguments):
        data = records.row(key, identifier, shape.id_name)
        if key not in records.state.gone and (not wanted or _matches(data, wanted)):
            found[key] = data
    for key, identifier in list(records.standing(entity)):
        if key not in found:
            data = records.listed(key, identifier, shape.id_name)
            if _fits(profile, arguments, key, data) and (not wanted or _matches(data, wanted)):
                found[key] = data
    if not records.hides(wanted):
        for identifier, base in _hits(records, profile, arguments, query):
            key = key_of(entity, identifier)
            if key in records.state.gone or key in found:
                continue
            records.show(key, base)
            found[key] = records.row(key, identifier, shape.id_name)
    for key, data in found.items():
        records.meet(key, shape, data)
    rows = list(found.values())
    return Outcome({"status": "ok", "data": rows, "count": len(rows)}, records=tuple(found))


def _query(profile: Profile, arguments: dict[str, Any]) -> str:
    for name, value in arguments.items():
        if isinstance(value, str) and name not in profile.id_names and _QUERY_WORDS.intersection(words_of(name)):
            return value.strip()
    return ""


def _fits(profile: Profile, arguments: dict[str, Any], key: Key, data: dict[str, Any]) -> bool:
    """Whether a record lies in what is being listed and has the values the call narrows the list down to."""
    values = {
        str(one).casefold() for value in data.values() for one in (value if isinstance(value, list) else [value])
    }
    for name, value in arguments.items():
        wanted = str(value).casefold()
        if name in profile.id_names:
            if wanted not in values and not key[1].startswith(wanted.rstrip("/") + "/"):
                return False
            continue
        narrows = (
            name in data and isinstance(value, str | int | float) and not _QUERY_WORDS.intersection(words_of(name))
        )
        if narrows and str(data[name]).casefold() != wanted:
            return False
    return True


def _matches(data: Any, query: str) -> bool:
    text = dumps(data).decode().casefold()
    return query in text or all(word in text for word in query.split())


def _hits(
    records: Records, profile: Profile, arguments: dict[str, Any], query: str
) -> list[tuple[Any, dict[str, Any]]]:
    """The records of the untouched world this call finds, the same for equal arguments."""
    key = (records.seed, profile.name, dumps(arguments))
    known = records.toolset.listings.get(key)
    if known is not None:
        return known
    draws = rng(records.seed, "list", profile.name, key[2].decode())
    shape = records.toolset.shape(profile.entity)
    parent = next((item for item in profile.ids if item.name in arguments), None)
    hits = []
    # A name or an address finds few.
    most = _FEW_HITS if query and ("name" in words_of(profile.name) or "@" in query) else _MOST_HITS
    for _ in range(draws.integer(1, most)):
        identifier = _hit_id(new_id(shape, draws), parent is not None and parent.kind == "path", profile, arguments)
        base = dict(records.untouched(profile.entity, identifier))
        base.update(_echoed(profile, arguments, base, shape))
        _dated(base, arguments)
        if query:
            _title(base, shape.id_name, query, draws)
        hits.append((base[shape.id_name], base))
    records.toolset.keep_listing(key, hits)
    return hits


def _hit_id(identifier: Any, in_folder: bool, profile: Profile, arguments: dict[str, Any]) -> Any:
    if not in_folder or not isinstance(identifier, str) or profile.ids[0].entity != "file":
        return identifier
    folder = str(arguments[profile.ids[0].name]).rstrip("/")
    return f"{folder}/{identifier.rsplit('/', 1)[-1]}"


def _echoed(profile: Profile, arguments: dict[str, Any], base: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Arguments that narrow a search down hold for what it finds, and so does what it is looked for in."""
    parents = {
        field.name: arguments[item.name]
        for item in profile.ids
        if item.name in arguments and not item.many
        for field in shape.fields
        if field.refers == item.entity
    }
    return parents | {
        name: value
        for name, value in arguments.items()
        if isinstance(value, str | int | float | bool)
        and name not in profile.id_names
        and (name in base or (profile.verb == "search" and not _CONTROL_WORDS.intersection(words_of(name))))
        and not _QUERY_WORDS.intersection(words_of(name))
    }


_CONTROL_WORDS = word_set("limit max count page offset sort order pattern include exclude head tail")


def _dated(base: dict[str, Any], arguments: dict[str, Any]) -> None:
    """What is looked for on a day happens on that day."""
    days = [value for value in arguments.values() if isinstance(value, str) and _DAY.fullmatch(value)]
    if len(days) == 1:
        for name, value in base.items():
            if isinstance(value, str) and len(value) > len(days[0]) and _DAY.match(value):
                base[name] = days[0] + value[len(days[0]) :]
        put_in_order(base)


def _title(base: dict[str, Any], id_name: str, query: str, draws: Draws) -> None:
    if "@" in query and "email" in base:
        base["email"] = query
        return
    for name in _TITLE_FIELDS:
        text = base.get(name)
        if isinstance(text, str) and name != id_name:
            if query.casefold() not in text.casefold():
                base[name] = (
                    query if name in ("name", "filename") else f"{query} {draws.pick(('update', 'notes', 'plan'))}"
                )
            return
