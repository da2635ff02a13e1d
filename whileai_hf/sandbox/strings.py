"""What a text parameter holds, told by its name, its description and the example it shows.

[`text_writer`] decides once per (name, description) and returns a function of the draws, so that sampling is a
lookup. It knows nothing about lengths and patterns: `values.py` fits the text to the schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from whileai_hf.rows.rng import Draws
from whileai_hf.sandbox import words as lists
from whileai_hf.sandbox.naming import singular, word_set, words_of
from whileai_hf.sandbox.shapes import like, shown_examples


Writer = Callable[[Draws], str]

ID_WORDS = frozenset({"id", "ids", "uuid", "guid", "identifier", "number", "key", "code", "sku", "ref", "reference"})
# A date format named in words, longest first.
_DATE_FORMAT = re.compile(
    r"YYYY-MM-DD[ T]HH:MM(?::SS)?|YYYY-MM-DD|YYYY/MM/DD|MM/DD/YYYY|DD/MM/YYYY|YYYY-MM|HH:MM(?::SS)?", re.IGNORECASE
)
# A date shown by example.
_DATE_EXAMPLE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?Z?|\d{1,2}:\d{2}")
# Values a description lists in quotes without calling them examples: "local ('local') or all ('all')".
_CHOICE = re.compile(r"['\"`]([A-Za-z][\w-]{0,19})['\"`]")
_STEPS = ("+", "-", "*")


def date_text(draws: Draws, pattern: str = "YYYY-MM-DD") -> str:
    """A date or time written as `pattern` says (`YYYY`, `MM`, `DD`, `HH`, `MM`, `SS`)."""
    # Days stop at 28 so that every month has them.
    year, month, day = draws.integer(2024, 2026), draws.integer(1, 12), draws.integer(1, 28)
    hour, minute = draws.integer(8, 19), draws.pick((0, 15, 30, 45))
    text = pattern.upper().replace("HH:MM", f"{hour:02d}:{minute:02d}").replace(":SS", ":00")
    return text.replace("YYYY", str(year)).replace("MM", f"{month:02d}").replace("DD", f"{day:02d}")


def _birthday(draws: Draws) -> str:
    return f"{draws.integer(1950, 2004)}-{draws.integer(1, 12):02d}-{draws.integer(1, 28):02d}"


def _sentence(draws: Draws) -> str:
    return draws.pick(lists.SENTENCES).format(
        topic=draws.pick(lists.TOPICS), adjective=draws.pick(lists.ADJECTIVES), thing=draws.pick(lists.THINGS)
    )


def _product(draws: Draws) -> str:
    return f"{draws.pick(lists.ADJECTIVES)} {draws.pick(lists.THINGS)}"


def _person(draws: Draws) -> str:
    return f"{draws.pick(lists.FIRST_NAMES)} {draws.pick(lists.LAST_NAMES)}"


def email(draws: Draws) -> str:
    """A mailbox that reaches nobody."""
    return f"{draws.pick(lists.FIRST_NAMES)}.{draws.pick(lists.LAST_NAMES)}@example.com".lower()


def filename(draws: Draws) -> str:
    """A file's name with its ending."""
    return f"{draws.pick(lists.FILE_STEMS)}_{draws.integer(10, 999)}.{draws.pick(lists.FILE_ENDINGS)}"


def path(draws: Draws) -> str:
    """An absolute path of a file."""
    return f"/{draws.pick(lists.FOLDERS)}/{draws.pick(lists.TOPICS)}/{filename(draws)}"


def _folder(draws: Draws) -> str:
    return f"/{draws.pick(lists.FOLDERS)}/{draws.pick(lists.TOPICS)}_{draws.integer(10, 999)}"


def _repository(draws: Draws) -> str:
    return f"/home/{draws.pick(lists.FIRST_NAMES).lower()}/{draws.pick(lists.TOPICS)}-{draws.integer(10, 999)}"


def url(draws: Draws) -> str:
    """An address on a reserved host."""
    return f"https://www.example.com/{draws.pick(lists.TOPICS)}/{draws.pick(lists.THINGS)}-{draws.integer(10, 9999)}"


def _address(draws: Draws) -> str:
    return f"{draws.integer(1, 240)} {draws.pick(lists.STREETS)} Street, {draws.pick(lists.CITIES)}"


def _expression(draws: Draws) -> str:
    return f"{draws.integer(2, 90)} {draws.pick(_STEPS)} {draws.integer(2, 90)}"


def _code(entity: str) -> Writer:
    prefix = "".join(char for char in entity.upper() if char.isalpha())[:3] or "REF"

    def write(draws: Draws) -> str:
        return f"{prefix}-{draws.integer(1000, 999999)}"

    return write


def _choice(options: tuple[str, ...] | list[str]) -> Writer:
    return lambda draws: draws.pick(options)


def _state(entity: str) -> Writer:
    for entities, states in lists.STATES:
        if entity in entities:
            return _choice(states)
    return _choice(lists.ANY_STATE)


# Parameter words that say what the text is, the more telling first.
_BY_WORD: tuple[tuple[frozenset[str], Writer], ...] = (
    (frozenset({"email", "emails", "mailbox"}), email),
    (frozenset({"url", "uri", "link", "href", "website", "webpage"}), url),
    (frozenset({"repo", "repository"}), _repository),
    (frozenset({"filename", "entry"}), filename),
    (frozenset({"directory", "folder", "dir"}), _folder),
    (frozenset({"path", "paths", "filepath"}), path),
    (frozenset({"file", "files", "attachment", "attachments"}), filename),
    (
        frozenset({"branch", "target"}),
        lambda d: f"{d.pick(lists.BRANCHES)}/{d.pick(lists.TOPICS)}-{d.integer(10, 999)}",
    ),
    (
        frozenset({"revision", "commit", "sha", "hash"}),
        lambda d: "".join(d.pick("0123456789abcdef") for _ in range(7)),
    ),
    (frozenset({"expression", "formula", "equation"}), _expression),
    (frozenset({"airport", "iata"}), _choice(tuple(lists.AIRPORTS))),
    (frozenset({"timezone", "tz", "zone"}), _choice(tuple(lists.ZONES))),
    (frozenset({"phone", "mobile", "telephone"}), lambda d: f"+1 555 01{d.integer(10, 99)} {d.integer(100, 999)}"),
    (frozenset({"address", "street"}), _address),
    (frozenset({"city", "town", "location", "origin", "place"}), _choice(lists.CITIES)),
    (frozenset({"country", "region"}), _choice(lists.COUNTRIES)),
    (frozenset({"currency"}), _choice(lists.CURRENCIES)),
    (frozenset({"language", "locale", "lang"}), _choice(lists.LANGUAGES)),
    (frozenset({"color", "colour"}), _choice(lists.COLORS)),
    (frozenset({"channel", "channels"}), _choice(lists.CHANNELS)),
    (frozenset({"body", "content", "contents", "text", "message", "note", "notes", "comment", "thought"}), _sentence),
    (frozenset({"summary", "description", "details", "feedback", "observations", "answer", "reply"}), _sentence),
    (frozenset({"reason", "cause"}), _choice(lists.REASONS)),
    (frozenset({"subject", "title", "topic", "headline"}), lambda d: f"{d.pick(lists.TOPICS)} {d.pick(lists.TOPICS)}"),
    (frozenset({"pattern", "glob"}), lambda d: f"*{d.pick(lists.FILE_STEMS)}*.{d.pick(lists.FILE_ENDINGS)}"),
    (frozenset({"query", "search", "keyword", "keywords", "term", "q"}), _product),
    (frozenset({"product", "item", "items", "products"}), _product),
    (frozenset({"first", "given"}), _choice(lists.FIRST_NAMES)),
    (frozenset({"last", "family", "surname"}), _choice(lists.LAST_NAMES)),
    (frozenset({"user", "recipient", "recipients", "username", "member"}), _choice(lists.FIRST_NAMES)),
    (
        frozenset(
            {
                "author",
                "assignee",
                "owner",
                "sender",
                "customer",
                "passenger",
                "contact",
                "participant",
                "participants",
            }
        ),
        _person,
    ),
    (frozenset({"permissions", "permission"}), _choice(("read", "write", "admin"))),
    (frozenset({"name", "names"}), _person),
    (frozenset({"tag", "tags", "label", "labels", "category", "type", "kind"}), _choice(lists.TOPICS)),
)
# The first entries name things so particular that a description mentioning them is about them.
_TELLING_IN_PROSE = 18
# Names that say how a value is used and not what it is.
_POINTERS = word_set("query q search from to")
_TYPES = {"entry": ("file", "directory"), "file": ("text", "document", "spreadsheet")}
_PATH_WORDS = frozenset({"path", "dir", "directory", "root"})
_FOLDER_WORDS = frozenset({"directory", "folder", "dir"})
_REPOSITORY_WORDS = frozenset({"repo", "repository", "git"})
_DATE_WORDS = frozenset({"date", "day", "dob", "birthday", "deadline", "due", "birth"})
_BIRTH_WORDS = frozenset({"dob", "birth", "birthday", "birthdate"})
_TIME_WORDS = frozenset(
    {"time", "timestamp", "at", "start", "end", "datetime", "since", "until", "modified", "created"}
)


def _dated(words: tuple[str, ...], description: str, examples: tuple[str, ...]) -> Writer | None:
    if _BIRTH_WORDS.intersection(words) and "YYYY-MM-DD" in description:
        return _birthday
    named = _DATE_FORMAT.search(description)
    if named is not None:
        pattern = named.group(0)
        return lambda draws: date_text(draws, pattern)
    for example in examples:
        if _DATE_EXAMPLE.fullmatch(example):
            shape = "HH:MM" if len(example) <= 5 else "YYYY-MM-DDTHH:MM:SS"[: len(example.rstrip("Z"))]
            return lambda draws: date_text(draws, shape.replace("T", example[10]) if len(shape) > 10 else shape)
    if "zone" in words or "timezone" in words or examples:
        return None
    if _BIRTH_WORDS.intersection(words):
        return _birthday
    if _DATE_WORDS.intersection(words):
        return date_text
    if _TIME_WORDS.intersection(words[-1:]):
        return lambda draws: date_text(draws, "YYYY-MM-DDTHH:MM:SS")
    return None


def _shown(examples: tuple[str, ...], description: str) -> Writer | None:
    """A writer in the format of the examples, when they show one."""
    if not examples:
        return None
    if any(example in lists.ZONES for example in examples) or "IANA" in description:
        return _choice(tuple(lists.ZONES))
    if all(re.fullmatch(r"[A-Z]{3}", example) for example in examples):
        airport = re.search(r"airport|IATA|city", description, re.IGNORECASE)
        return _choice(tuple(lists.AIRPORTS)) if airport else _choice(examples)
    if all(re.fullmatch(r"[\d\s+*/().-]+", example) for example in examples) and not examples[0].isdigit():
        return _expression
    if any(char.isdigit() for example in examples for char in example):
        return lambda draws: like(draws.pick(examples), draws)
    return None


@lru_cache(maxsize=8192)
def text_writer(name: str, description: str = "", entity: str = "", examples: tuple[str, ...] = ()) -> Writer:
    """
    How to write a text for a parameter.

    Args:
        name (`str`):
            Name of the parameter or field.
        description (`str`, *optional*, defaults to `""`):
            What the schema says about it.
        entity (`str`, *optional*, defaults to `""`):
            The record it belongs to, used for `id`, `name` and `status`.
        examples (`tuple` of `str`, *optional*, defaults to `()`):
            The schema's own `examples`, before those of the description.

    Returns:
        `Callable[[Draws], str]`: A function of the draws.

    Examples:
    ```python
    >>> from whileai_hf.rows import rng
    >>> text_writer("order_id")(rng(0, "x"))[:4]
    'ORD-'

    ```
    """
    words = words_of(name)
    shown = examples + shown_examples(description)
    telling = _dated(words, description, shown) or _shown(shown, description)
    if telling is not None:
        return telling
    if "airport" in description.lower() and "code" in description.lower():
        return _choice(tuple(lists.AIRPORTS))
    last = singular(words[-1]) if words else ""
    if last in ("status", "state"):
        return _state(entity)
    if last == "type" and entity in _TYPES:
        return _choice(_TYPES[entity])
    if last in ID_WORDS and last not in ("email", "url"):
        owner = words[-2] if len(words) > 1 else entity or "record"
        return _choice(tuple(lists.AIRPORTS)) if owner == "airport" else _code(owner)
    listed = tuple(dict.fromkeys(_CHOICE.findall(description)))
    if len(listed) >= 2 and not shown:
        return _choice(listed)
    return _named(words, entity, description, shown)


def _anything(draws: Draws) -> str:
    return f"{draws.pick(lists.TOPICS)} {draws.integer(10, 99)}"


def _about(told: frozenset[str]) -> Writer | None:
    return next((writer for telling, writer in _BY_WORD[:_TELLING_IN_PROSE] if told & telling), None)


def _named(words: tuple[str, ...], entity: str, description: str, shown: tuple[str, ...]) -> Writer:
    """The writer a word of the name asks for, the last word first; else an example; else a word of the description."""
    if _PATH_WORDS.intersection(words[-1:]) and _REPOSITORY_WORDS.intersection(words):
        return _repository
    # "name" says the least: what it is the name of is asked first.
    telling_words = [word for word in reversed(words) if word != "name"]
    if len(telling_words) < len(words):
        telling_words += [entity, "name"]
    if entity in _FOLDER_WORDS and "path" in words:
        return _folder
    told = frozenset(singular(word) for word in words_of(description))
    if words == ("name",) and not entity and (writer := _about(told)) is not None:
        return writer
    lowered = description.lower()
    if lowered.startswith("the name of") and _POINTERS.intersection(words[-1:]):
        telling_words.insert(0, "name")
    if "email address" in lowered or lowered.startswith("the email of"):
        return email
    for word in telling_words:
        for telling, writer in _BY_WORD:
            if word in telling or singular(word) in telling:
                return writer
    if words in (("source",), ("destination",)):
        return path
    if shown:
        return _choice(shown)
    return _about(told) or _anything
