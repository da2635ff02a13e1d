"""Where values go in a request: `the event with the given event_id` becomes `event` plus a mark for the id.

A mark is one private-use character per parameter, so that a request is a plain string until the very end, typing
quirks cannot touch a value, and filling in is one `str.translate`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from whileai_hf.scenarios.descriptions import Request, personal
from whileai_hf.scenarios.values import Param
from whileai_hf.scenarios.words import VERBS, article, plural, singular, words_of


# First of 64 marks, in Unicode's private-use area.
_FIRST_MARK = 0xE000
_MOST_MARKS = 64

# Other words for what a parameter is called.
_ALSO = {
    "path": ("file or directory", "file", "directory", "folder", "path"),
    "dir": ("directory", "folder"),
    "directory": ("folder",),
    "folder": ("directory",),
    "filename": ("file",),
    "repo": ("repository",),
    "repository": ("repo",),
    "revision": ("commit",),
    "url": ("webpage", "web page", "page", "website", "link"),
    "symbol": ("stock", "ticker"),
    "zone": ("timezone", "time zone"),
    "timezone": ("time zone",),
    "day": ("date",),
    "city": ("location", "place"),
    "location": ("city", "place"),
    "username": ("user",),
}
_CHANGING = frozenset("change update set modify edit replace rename adjust amend".split())
_GENERIC = "given|specified|specific|particular|certain|provided|new|existing|whole|entire|single|current|target|text"
_LINKING = "of|in|to|from|for|with|on|at|by|and|or|that|which|is|are|as|into|about|between|matching"
_NOT_ADJECTIVE = f"{_LINKING}|all|both|containing|the|a|an"
_ENDS = rf"(?=$|[.,;:)]|\s+(?:{_LINKING}|back)\b)"
# What stands for the one text a tool takes.
_ANYTHING = r"\bsomething\b|\bthe (?:input|given|provided) (?:string|text|message)\b"
_DIRECT = frozenset("id path url when place number email".split())
# Containers one says by name: "the sales channel".
_NAMED_BEFORE = frozenset(
    "channel folder list board team group category label playlist room queue project topic".split()
)


def mark(index: int) -> str:
    """The character that stands for the value of parameter number `index`."""
    return chr(_FIRST_MARK + index % _MOST_MARKS)


@dataclass(frozen=True)
class Slotted:
    """A request with marks: the text after the verb, which parameters stand in it, and the record it is about."""

    verb: str
    rest: str
    placed: frozenset[str]
    entity: str


def _spoken(param: Param) -> list[str]:
    """What the description may call the parameter, the most telling first."""
    words = list(param.words)
    while len(words) > 1 and words[-1] in ("id", "ids", "name", "names", "number", "code", "key", "path", "paths"):
        words.pop()
    names = [" ".join(words), words[-1]] if words else []
    described = str(param.schema.get("description") or "")
    of = re.search(
        r"\b(?:id|name|email|path|title|url|sha|number|address)s? of (?:the|an?) (\w+)", described, re.IGNORECASE
    )
    if of:
        names.append(of.group(1).lower())
    said = re.match(r"(?:the|an?) (\w+) (?:to|whose|that|where|from|for)\b", described, re.IGNORECASE)
    if said:
        names.append(said.group(1).lower())
    for name in list(names):
        names.extend(_ALSO.get(name, ()))
    return list(dict.fromkeys(name for name in names if len(name) > 1))


def _shown(param: Param, noun: str, sign: str, qualifier: str = "") -> str:
    """How the value stands in the sentence: `order X`, `the sales channel`, or by itself."""
    noun = re.sub(rf"^(?:(?:{_GENERIC})\s+)+", "", noun.strip())
    if param.kind == "id":
        return f"{noun} {sign}" if noun not in ("id", "") else sign
    if param.kind == "word" and noun.rpartition(" ")[2] in _NAMED_BEFORE:
        return f"the {sign} {noun.rpartition(' ')[2]}"
    if param.kind == "word" and singular(noun) in ("branch", "commit", "revision", "tag", "node", "entity"):
        return f"{singular(noun)} {sign}"
    if param.kind == "path" and noun in ("repository", "repo"):
        return f"the {noun} at {sign}"
    if param.kind == "path" and qualifier:
        return f"the {qualifier} {noun.rpartition(' ')[2]} {sign}"
    if param.kind in ("query", "title"):
        return f'"{sign}"'
    return sign


def _backticked(rest: str, params: Sequence[Param], signs: dict[str, str]) -> tuple[str, set[str], str]:
    """Names the description quotes: ours become marks, others go with their preposition."""
    placed: set[str] = set()
    entity = ""
    for param in params:
        quoted = rf"(?:the\s+|an?\s+)?(?:given\s+|specified\s+|provided\s+)?[`'\"]{re.escape(param.name)}[`'\"]"
        if param.kind in ("text", "objects"):
            rest = re.sub(rf"\s*(?:with|using|to|saying)\s+{quoted}|{quoted}", "", rest)
            continue
        owned = re.search(rf"(?:the|an?)\s+(\w+)\s+with\s+{quoted}", rest)
        if owned:
            shown = f"{owned.group(1)} {signs[param.name]}" if param.kind == "id" else signs[param.name]
            rest, entity = rest.replace(owned.group(0), shown, 1), entity or shown
            placed.add(param.name)
        elif re.search(quoted, rest):
            shown = _shown(param, param.label.removesuffix(" ID"), signs[param.name])
            rest = re.sub(quoted, shown.replace("\\", r"\\"), rest, count=1)
            placed.add(param.name)
    rest = re.sub(
        r"\s+(?:from|to|with|by|for|of|in|at|using)\s+(?:the\s+|an?\s+)?(?:given\s+|specified\s+)?`\w+`", "", rest
    )
    return rest.replace("`", ""), placed, entity


def _qualifier(noun: str, name_words: Sequence[str]) -> str:
    """The word the tool's name puts before the noun: `media` of a file for `read_media_file`."""
    last = noun.rpartition(" ")[2].lower()
    before = name_words[name_words.index(last) - 1] if last in name_words[1:] else ""
    return before if before and before not in VERBS and plural(before) != before and len(before) > 3 else ""


def _place(rest: str, param: Param, sign: str, verb: str, name_words: Sequence[str]) -> tuple[str, str] | None:
    """`rest` with the value of `param` in it and how it is shown, or `None` when nothing in it is the parameter."""
    for noun in _spoken(param):
        ending = r"(?:e?s)?" if param.many else ""
        forms = sorted({re.escape(noun), *([re.escape(plural(noun))] if param.many else [])}, key=len, reverse=True)
        adjective = rf"(?:(?!(?:{_NOT_ADJECTIVE})\b)[a-z-]+\s+)"
        determiner = (
            r"(?:\b(?:an?|the|this|that|each|one|some|multiple|several|specific|existing|new|these|one or more)\s+)"
        )
        pattern = re.compile(
            rf"{determiner}(?P<np>{adjective}{{0,2}}(?:{'|'.join(forms)}){ending})\b(?:\s+or\s+(?:an?\s+)?\w+(?=$|\s+at\b))?",
            re.I,
        )
        match = pattern.search(rest)
        if match is None and verb == "switch":
            match = re.match(rf"(?P<np>{re.escape(plural(noun))}){_ENDS}", rest)
        if match is None and param.kind in _DIRECT:
            match = re.match(rf"(?P<np>{'|'.join(forms)}){_ENDS}", rest)
        if match is None:
            continue
        if match.start() == 0 and verb in _CHANGING and param.kind != "id":
            # "Change the address of an order": the new address is said at the end, not in its place.
            return None
        if re.match(r"\w+ (?:with|by|at)\b", rest[match.end() :].strip()) and param.kind == "text":
            return None
        shown = _shown(param, match.group("np"), sign, _qualifier(match.group("np"), name_words))
        if (
            verb in ("create", "make", "add", "write")
            and match.start() == 0
            and param.kind in ("path", "word", "title")
        ):
            # "Create a new file" stays; its name follows.
            return None
        following = rest[match.end() :]
        if re.match(r"\s+[a-z]+", following) and not re.match(_ENDS, following):
            if param.kind == "person" or param.words[0] in ("user", "customer", "client", "employee", "member"):
                shown += "'s"
            else:
                following = re.sub(r"^\s+(?:numbers?|ids?|codes?|names?|values?)\b", "", following)
        if param.kind == "query":
            # What the query is looked for in is the tool's business.
            following = ""
        return rest[: match.start()] + shown + following, shown
    return None


def place_values(request: Request, params: Sequence[Param], name_words: Sequence[str] = ()) -> Slotted:
    """
    The request with as many required values in it as have a place there.

    Args:
        request ([`Request`]):
            Verb and object.
        params (`Sequence[Param]`):
            All parameters of the tool; their position decides their mark.
        name_words (`Sequence[str]`, *optional*):
            Words of the tool's name, which may say what kind of file and the like is meant.
    """
    signs = {param.name: mark(index) for index, param in enumerate(params)}
    rest, placed, entity = _backticked(request.rest, params, signs)
    required = [param for param in params if param.required]
    for param in required:
        if param.kind == "text" and param.name not in placed:
            # "with the given content": the text comes at the end, in quotes.
            rest = re.sub(
                rf"\s+(?:with|using|saying)\s+(?:(?:the|a|an|some|{_GENERIC})\s+)*{re.escape(param.label)}\b", "", rest
            )
    numbers = [param for param in required if param.kind == "number"]
    if len(numbers) == 2 and re.search(r"\btwo numbers\b", rest):
        rest = re.sub(r"\btwo numbers\b", f"{signs[numbers[0].name]} and {signs[numbers[1].name]}", rest)
        placed.update(param.name for param in numbers)
    for param in required:
        if param.name in placed or param.kind in ("text", "objects", "flag", "choice", "money", "reason"):
            continue
        found = _place(rest, param, signs[param.name], request.verb, tuple(name_words))
        if found is not None:
            rest, shown = found
            placed.add(param.name)
            entity = entity or (shown if param.kind in ("id", "path", "url", "person") else "")
    for param in required:
        if param.kind == "text" and len(required) == 1 and re.search(_ANYTHING, rest):
            rest = re.sub(_ANYTHING, f'"{signs[param.name]}"', rest)
            placed.add(param.name)
        elif param.kind == "text" and re.match(r"content\b", rest) and param.name not in placed:
            rest = re.sub(r"^content\b", f'"{signs[param.name]}"', rest)
            placed.add(param.name)
    if any(param.many and param.name not in placed for param in required):
        rest = re.sub(r"\b(?:multiple|several|specific) (?=\w+s\b)", "these ", rest)
    if any(param.kind == "objects" for param in required):
        rest = re.sub(r"^(?:multiple |several )?(?:new |specific )?(?=\w+s\b)", "these ", rest)
    rest = re.sub(r"\b(?:given|specified|provided)\s+", "", rest)
    if placed:
        rest = re.sub(r"\s+by (?:its|their|the) \w+$", "", rest)
    return Slotted(request.verb, personal(" ".join(rest.split())), frozenset(placed), entity.removesuffix("'s"))


def bare(request: Request) -> str:
    """
    The object without values, as one speaks of it in general.

    Examples:
    ```python
    >>> bare(Request("delete", "the email with the given `email_id` from the inbox"))
    'the email from my inbox'

    ```
    """
    rest = re.sub(
        r"\s+(?:with|using|to|from|by|for)\s+(?:the\s+|an?\s+)?(?:given\s+|specified\s+)?`\w+`", "", request.rest
    )
    rest = re.sub(r"`(\w+)`", lambda match: " ".join(words_of(match.group(1))), rest)
    rest = re.sub(r"\b(?:given|specified|provided|specific|particular|multiple|whole)\s+", "", rest)
    rest = re.sub(r"\b(an?)\s+(\w+)", lambda match: f"{article(match.group(2))} {match.group(2)}", rest)
    rest = re.sub(r"\s+by (?:its|their|the) \w+$", "", rest)
    rest = re.sub(r"\s+(?:that|which)\s+.*\bquery\b.*$", "", rest)
    rest = re.sub(r"\bthe user (?=(?!to|from|in|about|of|for|and|an?|as|is)[a-z]+)", "somebody's ", rest)
    return personal(" ".join(rest.split()))


def thing_of(rest: str) -> str:
    """
    What a request is about, without article: `details of a reservation` is about a `reservation`.

    Examples:
    ```python
    >>> thing_of("the details of a reservation"), thing_of("the working tree status")
    ('reservation', 'working tree status')

    ```
    """
    rest = re.sub(r"^(?:me to|for|about|on|in|to|at|between)\s+", "", rest)
    if re.match(r"(?:how|that|whether|something|me)\b", rest):
        return ""
    head = re.sub(
        r"^(?:(?:an?|the|all|these|my|your|any|some|up to \w+)\s+)*"
        r"(?:(?:complete|full|detailed|recursive|entire|line-based)\s+)*"
        r"(?:contents?|details?|list|listing|tree view|information|metadata|results?|copy|number|name)\s+"
        r"(?:of|about|for|to)\s+",
        "",
        rest,
    )
    head = re.sub(
        r"^(?:(?:an?|the|all|these|multiple|my|your|any|some|two|specific|single|new|existing|current|up to \w+|of)"
        r"\s+)+",
        "",
        head,
    )
    head = re.sub(r"^[\w-]+, (?=[\w-]+ed \w)", "", head)
    head = re.split(
        r"\s+(?:of|in|to|from|for|with|on|at|by|and|or|that|which|is|are|as|into|about|between|matching|back|can|after|along|using|not)\b|[,.;:(]",
        head,
    )[0]
    words = head.split()
    return " ".join(words[-3:]) if words else ""


def singular_thing(thing: str) -> str:
    """`thing` with its last word in the singular."""
    head, _, last = thing.rpartition(" ")
    return f"{head} {singular(last)}".strip()
