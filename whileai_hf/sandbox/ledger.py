"""The records of one session as its tools see them: the untouched world with this rollout's writes laid over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from whileai_hf.rows.rng import rng, unit
from whileai_hf.sandbox.asked import asked_for
from whileai_hf.sandbox.effects import SETTING_VERBS, IdParameter
from whileai_hf.sandbox.knowledge import ACTED_ON, DUPLICATED, MISSING, PARTIAL, Knowledge, Premise, mentions
from whileai_hf.sandbox.naming import participle
from whileai_hf.sandbox.records import Shape, new_id
from whileai_hf.sandbox.state import Key, State, clone, key_of
from whileai_hf.sandbox.strings import date_text
from whileai_hf.sandbox.toolset import Profile, Toolset


class Records:
    """Reads records for one session. `writes` is the session's ledger of calls that took effect."""

    __slots__ = ("_premise", "_target", "knowledge", "seed", "state", "toolset", "writes")

    def __init__(self, toolset: Toolset, premise: Premise, target: Profile | None) -> None:
        self.toolset = toolset
        self.seed = premise.seed
        self.state = State()
        self.writes: list[dict[str, Any]] = []
        self._premise = premise
        self._target = target
        focus = target.ids[0].entity if target is not None and target.ids else None
        self.knowledge = Knowledge(premise, self.state, focus)

    @property
    def premise(self) -> Premise:
        """What the rollout started from."""
        return self._premise

    @property
    def target_name(self) -> str:
        """The tool the situation is about; empty when it does not say."""
        return self._target.name if self._target is not None else ""

    def hear(self, text: str) -> None:
        """The user has said something more: what it names exists as what the ask names does."""
        if self._premise.ask is not None:
            self._premise = replace(self._premise, ask=f"{self._premise.ask}\n{text}")
            self.knowledge.hear(self._premise)

    def untouched(self, entity: str, identifier: Any) -> dict[str, Any]:
        """The record as it was before the rollout; shared, not to be changed."""
        return self.toolset.record(self.seed, entity, identifier)

    def exists(self, item: IdParameter, identifier: Any, *, main: bool) -> bool:
        """Whether the record is there now."""
        schema = self.toolset.shape(item.entity).id_schema
        return self.knowledge.exists(item, identifier, schema, main)

    def resolve(self, item: IdParameter, identifier: Any) -> Key:
        """The key of the record an id names, which may have been created under another entity's name."""
        key = key_of(item.entity, identifier)
        if key in self.state.created or key in self.state.known:
            return key
        return self.state.holding(identifier) or key

    def row(self, key: Key, identifier: Any, id_name: str) -> dict[str, Any]:
        """A record with the rollout's writes; a copy the caller may hand out."""
        written = self.state.fields.get(key)
        if key in self.state.created:
            created: dict[str, Any] = clone({id_name: self.state.created[key], **(written or {})})
            return created
        base = self.state.shown.get(key)
        if base is None:
            base = self.untouched(key[0], identifier)
        data = {**base, **written} if written else dict(base)
        for name, value in data.items():
            if isinstance(value, dict | list):
                data[name] = clone(value)
        return data

    def view(self, profile: Profile, item: IdParameter, identifier: Any, key: Key) -> dict[str, Any]:
        """A record as a reading tool shows it, in the condition the situation says it is in."""
        shape = self.toolset.shape(key[0])
        data = self.row(key, identifier, shape.id_name)
        condition = self.knowledge.condition(item, identifier, main=item is profile.ids[0])
        if condition == ACTED_ON and key not in self.state.fields:
            data.update(self.acted(key))
        elif condition == PARTIAL and key not in self.state.fields:
            data["status"] = self._half_done()
        elif condition == DUPLICATED:
            data["possible_duplicates"] = [self._twin(shape, identifier, key)]
        self.meet(key, shape, data)
        return data

    def initial(self, key: Key, identifier: Any) -> dict[str, Any]:
        """A record as the rollout found it, in the condition the situation says it is in; not to be changed."""
        base = self.state.shown.get(key)
        if base is None:
            base = self.untouched(key[0], identifier)
        _, item = self._reader(key[0])
        condition = self.knowledge.condition(item, identifier, main=True) if item is not None else None
        if condition == ACTED_ON:
            return {**base, **self.acted(key)}
        return {**base, "status": self._half_done()} if condition == PARTIAL else base

    def acted(self, key: Key) -> dict[str, Any]:
        """The traces of what has already been done to a record when the situation says something was."""
        profile = self.last_action(key[0])
        day = date_text(rng(self.seed, "acted", *key))
        if profile is None:
            return {"status": "completed", "completed_at": day}
        traces: dict[str, Any] = {"last_action": profile.name, "last_action_at": day}
        if profile.verb not in SETTING_VERBS and profile.effect != "create":
            traces["status"] = participle(profile.verb)
        return traces

    def last_action(self, entity: str) -> Profile | None:
        """The tool whose work was already done: the target, or the one the ask speaks of, or the first that writes."""
        if self._target is not None and self._target.effect in ("create", "update", "delete"):
            return self._target
        writers = [
            profile
            for profile in self.toolset.profiles.values()
            if profile.effect in ("update", "delete") and profile.entity == entity
        ]
        ask = (self._premise.ask or "").casefold()
        return next(
            (profile for profile in writers if profile.verb and profile.verb in ask), writers[0] if writers else None
        )

    def _half_done(self) -> str:
        verb = self._target.verb if self._target is not None else ""
        if verb and verb not in SETTING_VERBS and self._target is not None and self._target.effect != "read":
            return f"partially_{participle(verb)}"
        return "in_progress"

    def _twin(self, shape: Shape, identifier: Any, key: Key) -> Any:
        """The id of the second record with the same content."""
        other = new_id(shape, rng(self.seed, "twin", *key))
        twin = key_of(key[0], other)
        self.state.known.add(twin)
        self.state.shown.setdefault(twin, {**self.untouched(key[0], identifier), shape.id_name: other})
        return other

    def meet(self, key: Key, shape: Shape, data: dict[str, Any]) -> None:
        """Whatever a reply names is known from then on: the record itself and the ids it holds."""
        self.state.known.add(key)
        for item in shape.fields:
            if item.refers:
                value = data.get(item.name)
                for one in value if isinstance(value, list) else (value,):
                    if isinstance(one, str | int):
                        self.state.known.add(key_of(item.refers, one))
        for value in data.values():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                self._meet_nested(value)

    def _meet_nested(self, rows: list[Any]) -> None:
        for row in rows:
            for name, value in row.items() if isinstance(row, dict) else ():
                entity = self.toolset.id_entities.get(name)
                if entity is not None and isinstance(value, str | int):
                    self.state.known.add(key_of(entity, value))

    def show(self, key: Key, base: dict[str, Any]) -> None:
        """Remember what a list said about a record, so that reading it says the same."""
        self.state.shown.setdefault(key, base)

    def hides(self, query: str) -> bool:
        """Whether a search comes back empty because the situation says that what the ask names is missing."""
        return (
            self._premise.world_state == MISSING
            and bool(query)
            and mentions((self._premise.ask or "").casefold(), query)
        )

    def candidates(self, profile: Profile, arguments: dict[str, Any]) -> Iterator[tuple[Key, Any]]:
        """Records a list must not overlook: those this rollout created or added to what is being listed."""
        parents = [str(arguments[item.name]).casefold() for item in profile.ids if item.name in arguments]
        for key, identifier in self.state.created.items():
            if not self._belongs(key, profile.entity):
                continue
            values = [str(value).casefold() for value in self.state.fields.get(key, {}).values()]
            if all(parent in values or key[1].startswith(parent.rstrip("/") + "/") for parent in parents):
                yield key, identifier
        if parents:
            yield from self._added(profile, parents)

    def standing(self, entity: str) -> Iterator[tuple[Key, Any]]:
        """Records of before this rollout that a list must not overlook: those it updated and those the ask names."""
        for key, identifier in self.state.updated.items():
            # A setting without an id is kept under its tool's name.
            if key in self.state.fields and self._belongs(key, entity) and identifier not in self.toolset.profiles:
                yield key, identifier
        if self._premise.ask:
            shape = self.toolset.shape(entity)
            for identifier in asked_for(self.toolset, self._premise.ask, entity, self.knowledge.focus):
                item = self._reader(entity)[1] or IdParameter(shape.id_name, entity, False, True, "code")
                if self.exists(item, identifier, main=True):
                    yield self.resolve(item, identifier), identifier

    def _reader(self, entity: str) -> tuple[Profile | None, IdParameter | None]:
        """A tool that takes one id of `entity` first, and that parameter."""
        for profile in self.toolset.profiles.values():
            if profile.ids and profile.ids[0].entity == entity and not profile.ids[0].many:
                return profile, profile.ids[0]
        return None, None

    def listed(self, key: Key, identifier: Any, id_name: str) -> dict[str, Any]:
        """A record in a list: what reading it shows."""
        profile, item = self._reader(key[0])
        if key in self.state.created or profile is None or item is None:
            return self.row(key, identifier, id_name)
        data = self.view(profile, item, identifier, key)
        return data if id_name in data else {id_name: identifier, **data}

    def _belongs(self, key: Key, entity: str) -> bool:
        return key[0] == entity or {key[0], entity} == {"file", "entry"} or {key[0], entity} == {"node", "entity"}

    def _added(self, profile: Profile, parents: list[str]) -> Iterator[tuple[Key, Any]]:
        """Records an earlier call put into the one being listed: a user added to a channel."""
        for write in self.writes:
            writer = self.toolset.profiles[write["tool"]]
            if writer.effect != "update":
                continue
            given = [(item, write["arguments"].get(item.name)) for item in writer.ids]
            if any(str(value).casefold() in parents for _, value in given):
                for item, value in given:
                    if item.entity == profile.entity and isinstance(value, str | int):
                        yield key_of(item.entity, value), value

    def fresh_id(self, profile: Profile, arguments: str) -> Any:
        """The id of a record about to be created, different for every creation, equal in equal rollouts."""
        shape = self.toolset.shape(profile.entity)
        again = sum(write["tool"] == profile.name for write in self.writes)
        for attempt in range(1000):
            draws = rng(self.seed, self._premise.scenario_id, "create", profile.name, arguments, again, attempt)
            identifier = new_id(shape, draws)
            key = key_of(profile.entity, identifier)
            if key not in self.state.known and key not in self.state.created:
                return identifier
        return f"{profile.entity}-{again}-{int(unit(self.seed, arguments) * 1e9)}"
