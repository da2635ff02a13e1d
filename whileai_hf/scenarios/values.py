"""What goes into a call: the value of each parameter, and how a person writes it in a sentence.

Identifiers, dates, paths and the like come from the world's own writers (`sandbox`), so that the world knows them.
Free text (a query, a message, a title, a reason) comes from pools that read like a person's. Decided once per tool;
a row only draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.rows.rng import Draws
from whileai_hf.sandbox import sample_value
from whileai_hf.sandbox.naming import is_plural
from whileai_hf.sandbox.strings import text_writer
from whileai_hf.scenarios.phrases import pool
from whileai_hf.scenarios.words import label_of, words_of
from whileai_hf.spec import Tool, parameter_schemas, resolve_ref


Sampler = Callable[[Draws], Any]

# Spaces from which a text inside an object is a sentence rather than a name.
_QUOTED_FROM = 3
# Nesting from which a schema is left to the world's own sampler.
_DEEP = 4
# Most items written into one sentence.
_MOST_ITEMS = 3
_FREE_TEXT = frozenset(
    "body content contents text message note notes comment comments description details feedback reply answer "
    "observation observations caption instructions remarks memo".split()
)
_MONEY = frozenset("amount price cost fee budget total refund payment salary balance tip".split())
_TIMED = frozenset("date day time timestamp datetime dob birthday deadline since until".split())
_PLACES = frozenset("city location place town destination origin country region".split())
_CONSTRAINED = ("pattern", "format", "minLength", "maxLength", "const", "allOf")
# Words of a tool's name after which a path is a folder's.
_FOLDERS = frozenset("directory directories folder folders dir tree search list find".split())
_QUOTED_CHOICE = re.compile(r"\(?['\"\u2018\u201c]([A-Za-z][\w-]{0,19})['\"\u2019\u201d]\)?")
_SHOP_WORDS = frozenset("catalog catalogue product products shop store item items inventory cart merchandise".split())
_WORK_WORDS = frozenset("email emails calendar event events file files document documents drive meeting wiki".split())


@dataclass(frozen=True)
class Param:
    """
    One parameter of a tool, ready to be drawn and written.

    Args:
        name (`str`):
            Its name in the schema.
        label (`str`):
            The name as a person says it.
        kind (`str`):
            id, email, person, text, title, query, reason, path, url, when, place, choice, flag, money, number, list,
            objects, word.
        required (`bool`):
            Whether every call passes it.
        sample (`Callable`):
            Draws a value the schema accepts.
        schema (`dict`):
            Its schema, references followed.
    """

    name: str
    label: str
    kind: str
    required: bool
    sample: Sampler
    schema: dict[str, Any]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the name; the whole name when it is written in another script."""
        return words_of(self.name) or (self.name.lower(),)

    @property
    def many(self) -> bool:
        """Whether the value is a list."""
        return self.kind in ("list", "objects")


def _options_of(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """`schema` with its first filled branch, for unions such as `anyOf: [string, null]`."""
    for union in ("anyOf", "oneOf"):
        branches = [resolve_ref(branch, root) for branch in schema.get(union) or ()]
        filled = [branch for branch in branches if branch.get("type") != "null"]
        if filled:
            rest = {key: value for key, value in schema.items() if key != union}
            return _options_of({**filled[0], **rest}, root)
    declared = schema.get("type")
    if isinstance(declared, list):
        kept = [kind for kind in declared if kind != "null"]
        return {**schema, "type": kept[0] if kept else "null"}
    return schema


def _from_pool(name: str) -> Sampler:
    phrases = pool(name)
    return lambda draws: draws.pick(phrases).fill(draws, {})


def _query_pool(context: Sequence[str]) -> str:
    words = frozenset(context)
    if words & _SHOP_WORDS:
        return "product"
    return "work_topic" if words & _WORK_WORDS else "research_topic"


def _described_choices(description: str) -> list[str]:
    """Values a description lists in quotes: "local ('local') or all branches ('all')"."""
    if not re.search(r"whether|one of|either|must be|can be|options?|allowed", description, re.IGNORECASE):
        return []
    return list(dict.fromkeys(_QUOTED_CHOICE.findall(description)))


def _text_kind(name: str, description: str, context: Sequence[str]) -> tuple[str, Sampler | None]:
    """Kind and, where the room writes it itself, sampler of a free string."""
    words = words_of(name)
    last = words[-1] if words else ""
    lowered = description.lower()
    if last in ("id", "ids", "uuid", "sku", "sha", "hash") or (len(words) > 1 and last in ("number", "code", "key")):
        return "id", None
    if "email" in words or (last in ("recipient", "recipients", "participants", "query") and "email of" in lowered):
        return "email", text_writer("email")
    if "email address" in lowered or "email addresses" in lowered:
        return "email", text_writer("email")
    if last in ("url", "uri", "link", "website"):
        return "url", None
    if last == "type" and frozenset(words) & {"relation", "entity", "relationship", "node"}:
        return "word", _from_pool("relation_kind" if words[0].startswith("relation") else "entity_kind")
    if last == "name" and frozenset(words) & {"entity", "node", "contact", "person"}:
        return "word", text_writer("full_name")
    if last in ("path", "paths", "directory", "dir", "folder", "repo", "repository", "filename", "file"):
        return "path", None
    if last in ("source", "destination", "src", "dst") and frozenset(context) & {
        "file",
        "files",
        "directory",
        "directories",
    }:
        return "path", text_writer("path")
    if frozenset(words) & _TIMED or re.search(r"YYYY|HH:MM|ISO 8601", description):
        return "when", None
    if "timezone" in words or "airport" in lowered or "iata" in lowered or frozenset(words) & _PLACES:
        return "place", None
    if last in ("reason", "cause"):
        return "reason", _from_pool("reason")
    if last == "summary":
        return "text", _from_pool("issue")
    if last in ("thought", "question", "problem"):
        return "text", _from_pool("thought")
    if last in ("query", "q", "search", "keyword", "keywords", "term", "topic"):
        if re.search(r"\bname of\b", lowered):
            return "query", text_writer("full_name")
        return "query", _from_pool("research_topic" if last == "topic" else _query_pool(context))
    if last in ("title", "subject", "headline", "summary"):
        return "title", _from_pool("title")
    if frozenset(words) & _FREE_TEXT:
        commit = "commit" in context or "changes" in context
        return "text", _from_pool("commit_message" if commit and last == "message" else "sentence")
    if last in ("user", "recipient", "member", "assignee", "username", "owner", "author", "sender"):
        return "person", None
    if last in ("address", "street"):
        return "place", None
    return "word", None


class _Reader:
    """Reads the schemas of one tool."""

    def __init__(self, tool: Tool) -> None:
        self.root = tool.parameters
        spoken = re.findall(r"[a-z]+", tool.description.lower())
        self.context = [*words_of(tool.name), *spoken[:40]]
        self.named = len(words_of(tool.name))
        self.entity = next((word for word in reversed(words_of(tool.name))), "")

    def read(self, name: str, schema: Any, depth: int = 0) -> tuple[str, Sampler]:
        """Kind and sampler of a value; whatever is unusual is left to the world's sampler."""
        flat = _options_of(resolve_ref(schema, self.root), self.root) if isinstance(schema, dict) else {}

        def other(draws: Draws) -> Any:
            return sample_value(flat, draws, name=name, root=self.root, entity=self.entity)

        if depth > _DEEP:
            return "word", other
        choices = [value for value in flat.get("enum") or () if value is not None]
        if choices:
            return "choice", lambda draws: draws.pick(choices)
        declared = flat.get("type")
        if declared == "boolean":
            return "flag", lambda draws: draws.chance(0.5)
        if declared in ("integer", "number"):
            return self._number(name, flat, other)
        if declared == "array":
            return self._list(name, flat, depth, other)
        if declared == "object":
            return "objects", self._object(flat, depth) or other
        if declared == "string":
            return self._string(name, flat, other)
        return "word", other

    def _string(self, name: str, schema: dict[str, Any], other: Sampler) -> tuple[str, Sampler]:
        description = str(schema.get("description") or "")
        kind, own = _text_kind(name, description, self.context)
        if any(key in schema for key in _CONSTRAINED):
            return kind, other
        choices = _described_choices(description)
        if len(choices) > 1:
            return "choice", lambda draws: draws.pick(choices)
        if own is not None:
            return kind, own
        shown = tuple(item for item in schema.get("examples") or () if isinstance(item, str))
        entity = words_of(name)[-2] if kind == "id" and len(words_of(name)) > 1 else self.entity
        if kind == "path" and _FOLDERS.intersection(self.context[: self.named]):
            entity = "directory"
        return kind, text_writer(name, description, entity, shown)

    def _number(self, name: str, schema: dict[str, Any], other: Sampler) -> tuple[str, Sampler]:
        words = words_of(name)
        bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        free = not any(key in schema for key in bounds)
        if words and words[-1] in _MONEY:
            if schema["type"] == "number" and free:
                return "money", _money
            return "money", other
        if free and frozenset(words) & {
            "baggages",
            "bags",
            "quantity",
            "guests",
            "people",
            "seats",
            "nights",
            "passengers",
        }:
            # Never one: the sentence says "bags".
            return "number", lambda draws: draws.integer(2, 6)
        return ("id" if words and words[-1] == "id" else "number"), other

    def _list(self, name: str, schema: dict[str, Any], depth: int, other: Sampler) -> tuple[str, Sampler]:
        items = schema.get("items")
        if not isinstance(items, dict) or "prefixItems" in schema or "contains" in schema:
            return "list", other
        # What the list is described as goes for each of its items.
        described = {"description": schema["description"], **items} if "description" in schema else items
        kind, one = self.read(name, described, depth + 1)
        fewest = max(1, int(schema.get("minItems", 1)))
        most = max(fewest, min(_MOST_ITEMS, int(schema.get("maxItems", _MOST_ITEMS))))

        # A tool named after many things is asked about more than one; lists inside lists stay short.
        least = 2 if is_plural(self.entity) and not depth else 1
        top = most if depth < 2 else min(most, 2)

        def several(draws: Draws) -> list[Any]:
            wanted = max(fewest, min(top, draws.integer(least, _MOST_ITEMS)))
            found: list[Any] = []
            for _ in range(4 * wanted):
                item = one(draws)
                if item not in found:
                    found.append(item)
                if len(found) == wanted:
                    break
            _same_day(found)
            return found if len(found) >= fewest else list(other(draws))

        return ("objects" if kind in ("objects", "list") else "list"), several

    def _object(self, schema: dict[str, Any], depth: int) -> Sampler | None:
        properties = schema.get("properties")
        if not properties or schema.get("minProperties") or any(key in schema for key in ("oneOf", "anyOf", "allOf")):
            return None
        required = schema.get("required") or list(properties)
        if not set(required) <= set(properties):
            return None
        fields = [(name, self.read(name, properties[name], depth + 1)[1]) for name in properties if name in required]
        return lambda draws: {name: sample(draws) for name, sample in fields}


def _same_day(items: list[Any]) -> None:
    """The parts of one booking are on one day."""
    first = items[0] if items and isinstance(items[0], dict) else {}
    for key, value in first.items():
        if words_of(key)[-1:] == ("date",) and "birth" not in words_of(key) and isinstance(value, str):
            for item in items[1:]:
                if key in item:
                    item[key] = value


def _money(draws: Draws) -> float | int:
    whole = draws.integer(8, 240)
    # Two digits behind the point that survive being a float: the ask must show the very number of the call.
    return round(whole + draws.integer(1, 9) / 10 + 0.05, 2) if draws.chance(0.4) else whole


def read_params(tool: Tool) -> tuple[Param, ...]:
    """The parameters of `tool`, in the order of its schema."""
    reader = _Reader(tool)
    required = set(tool.parameters.get("required") or ())
    found = []
    for name, schema in parameter_schemas(tool).items():
        kind, sample = reader.read(name, schema)
        flat = _options_of(schema, tool.parameters)
        found.append(Param(name, label_of(name), kind, name in required, sample, flat))
    return tuple(found)


def spell(value: Any) -> str:
    """
    A value the way a person writes it, with every scalar in it as it is.

    Examples:
    ```python
    >>> spell(["a.py", "b.py"]), spell(45.5), spell(True), spell({"first_name": "Mia", "last_name": "Li"})
    ('a.py and b.py', '45.5', 'yes', 'Mia Li')

    ```
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [spell(item) for item in value]
        if any(isinstance(item, dict | list) for item in value):
            return "; ".join(parts)
        return " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    if isinstance(value, dict):
        return _spell_object(value)
    return "none" if value is None else str(value)


def _spell_object(value: dict[str, Any]) -> str:
    rest = dict(value)
    names = [rest.pop(key) for key in ("first_name", "last_name") if isinstance(rest.get(key), str)]
    parts = [" ".join(names)] if names else []
    if len(rest) == 2:
        old, new = rest.values()
        first, second = (words_of(key)[0] if words_of(key) else "" for key in rest)
        if first == "old" and second == "new":
            return f'"{old}" becomes "{new}"'
    parts += [f"{label_of(key)} {_quoted(item)}" for key, item in rest.items()]
    return ", ".join(parts)


def _quoted(value: Any) -> str:
    """A value inside an object: sentences in quotes, so that one can see where they end."""
    if isinstance(value, list):
        return spell([_quoted(item) if isinstance(item, str) else item for item in value])
    return f'"{value}"' if isinstance(value, str) and value.count(" ") >= _QUOTED_FROM else spell(value)
