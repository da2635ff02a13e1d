"""The values a request has no place for: `, from JFK`, `with the subject "..."`, or a sentence of their own."""

from __future__ import annotations

import re

from whileai_hf.scenarios.values import Param
from whileai_hf.scenarios.words import singular


_FROM = frozenset("from origin source start since src departure".split())
_TO = frozenset("to destination target end dest arrival recipient recipients until".split())
_NAMING = frozenset("title name filename label headline".split())
_FIRST_N = re.compile(r"\b(first|last|top) N (\w+)", re.IGNORECASE)
# Order in which attachments read well.
_RANK = {
    "person": 0,
    "email": 1,
    "id": 2,
    "place": 2,
    "path": 2,
    "url": 2,
    "query": 1,
    "title": 3,
    "when": 4,
    "money": 5,
}


def rank(param: Param) -> int:
    """Where among the attachments a parameter reads best; texts come last."""
    words = param.words
    if words and words[0] in _FROM:
        return 3
    if words and words[0] in _TO:
        return 4
    if param.kind in ("text", "objects"):
        return 9
    if param.kind == "id" and "payment" in words:
        return 7
    return _RANK.get(param.kind, 6)


def _preposition(param: Param, verb: str) -> str | None:
    words = param.words
    first = words[0] if words else ""
    label = param.label
    if param.kind in ("place", "when", "path", "url", "email", "person", "word", "list"):
        if first in _FROM and param.kind != "word":
            return "from"
        if (first in _TO or (first == "new" and param.kind == "when")) and param.kind != "word":
            return "to"
    if param.kind == "place" and ("address" in words or "street" in words):
        return "to"
    if param.kind == "place":
        return "in" if not re.search(r"airport|IATA", str(param.schema.get("description"))) else "for"
    if param.kind == "when":
        return "on" if words[-1] in ("date", "day") or "time" not in words else "at"
    if param.kind == "path":
        if words[-1] == "filename":
            return None
        return (
            "at" if verb in ("create", "make", "write", "save") and words[0] in ("path", "file", "filepath") else "in"
        )
    if param.kind == "email" and re.search(r"participant|attendee|guest", label):
        return "with"
    return None


def inline(param: Param, sign: str, verb: str, currency: str) -> str | None:
    """
    The value attached to the request, starting with a space or a comma; `None` when only a sentence can say it.

    Args:
        param ([`Param`]):
            The parameter.
        sign (`str`):
            Its mark.
        verb (`str`):
            The request's verb.
        currency (`str`):
            `"$"` and the like.
    """
    words, label = param.words, param.label
    preposition = _preposition(param, verb)
    if param.kind == "path" and {"repo", "repository"}.intersection(words):
        return f" in the repo at {sign}"
    if preposition:
        return f" {preposition} {sign}"
    if label == "target":
        return f" against {sign}"
    if param.kind == "money":
        return f" for {currency}{sign}"
    if param.kind == "reason":
        return f" because {sign}"
    if param.kind == "query" and words[-1] == "topic":
        return f' about "{sign}"'
    if param.kind == "query":
        return f' for "{sign}"' if verb in ("search", "look", "query") else f' matching "{sign}"'
    if words and words[-1] in _NAMING and param.kind in ("title", "path", "word"):
        return f' called "{sign}"'
    if param.kind == "title":
        return f' with the {label} "{sign}"'
    if param.kind == "text":
        if label in ("body", "message", "text") and verb in ("send", "post", "reply", "write", "echo back", "leave"):
            return f' saying "{sign}"'
        return f' with the {label} "{sign}"'
    if param.kind == "number":
        described = _FIRST_N.search(str(param.schema.get("description") or ""))
        if described:
            return f", just the {described.group(1).lower()} {sign} {described.group(2)}"
        if words and singular(words[-1]) != words[-1]:
            return f" with {sign} {label}"
        return f" with {_a(label)} of {sign}" if len(label) > 1 else f" with {label} {sign}"
    if param.kind == "id" and "payment" in words:
        return f", paid with {sign}"
    if param.kind == "id":
        return f" for {label.removesuffix(' ID')} {sign}"
    if param.kind == "email":
        return f" ({sign})"
    if param.kind == "choice":
        return f" for {sign}" if label in ("location", "city", "country", "region") else f" with {label} {sign}"
    if param.kind == "list":
        return (
            f": {sign}"
            if label in ("names", "ids", "paths", "items", "files") or verb in ("add", "delete")
            else f", {label}: {sign}"
        )
    if param.kind == "word" or param.kind == "person":
        return f" with {sign} as the {label}"
    return None


def _a(label: str) -> str:
    return f"{'an' if label[:1] in 'aeiou' else 'a'} {label}"


def sentences(param: Param, sign: str, currency: str) -> tuple[str, ...]:
    """The value in a sentence of its own, said in several ways."""
    label = param.label.removesuffix(" path") if param.kind == "path" else param.label
    if param.kind == "flag":
        return ()
    if param.kind == "number" and (described := _FIRST_N.search(str(param.schema.get("description") or ""))):
        return (f"Only the {described.group(1).lower()} {sign} {described.group(2)}, please.",)
    if param.kind == "money":
        return (
            f"The {label} is {currency}{sign}.",
            f"It's about {currency}{sign}.",
            f"{label.capitalize()}: {currency}{sign}.",
        )
    if param.kind == "query" and param.words[-1] == "topic":
        return (f'The {label} is "{sign}".', f'It should be about "{sign}".', f'Take "{sign}" as the {label}.')
    if param.kind == "query":
        return (f'I\'m looking for "{sign}".', f'"{sign}" is what I\'m after.', f'What I want is "{sign}".')
    if param.kind == "text" and label in ("body", "message", "text", "content"):
        return (f'It should say "{sign}".', f'Write "{sign}".', f'This is the text: "{sign}".')
    if label == "summary":
        return (f'In short: "{sign}".', f'You can sum it up as "{sign}".')
    if param.kind in ("text", "title"):
        return (f'The {label} is "{sign}".', f'For the {label}, use "{sign}".', f'{label.capitalize()}: "{sign}".')
    if param.kind == "reason":
        return (f"The {label} is that {sign}.", f"It's because {sign}.")
    if param.many:
        return (f"The {label}: {sign}.", f"{label[:1].upper()}{label[1:]}: {sign}.")
    verb = "are" if singular(param.words[-1]) != param.words[-1] else "is"
    return (f"The {label} {verb} {sign}.", f"{label[:1].upper()}{label[1:]}: {sign}.", f"Use {sign} as the {label}.")


def flag_sentences(param: Param) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences for a switch that is on, and for one that is off."""
    words = list(param.words)
    spoken = " ".join(word for word in words if word not in ("is", "use", "enable", "flag"))
    if words and words[0] in ("include", "show", "return", "with"):
        thing = " ".join(words[1:]) or "everything"
        return (f"Include the {thing} as well.", f"With the {thing}, please."), (
            f"Leave out the {thing}.",
            f"No {thing} needed.",
        )
    return (
        (f"In {spoken} mode, please.", f"Please use {spoken} mode."),
        (f"Not in {spoken} mode, please.", f"No {spoken} mode for this."),
    )
