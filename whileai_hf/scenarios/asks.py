"""Everything one can say to get a tool called, worked out once per tool.

[`ToolPhrases`] holds requests (`look up order #`), things to be shown (`the status of order #`), the bare subject
(`order`, `looking up an order`) and how to draw a call. The writer only picks and joins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from whileai_hf.rows.rng import Draws
from whileai_hf.sandbox import tool_effect
from whileai_hf.scenarios import tails
from whileai_hf.scenarios.bonds import Bond, bonds_of
from whileai_hf.scenarios.descriptions import Request, facets, from_name, read_request
from whileai_hf.scenarios.slots import Slotted, bare, mark, place_values, singular_thing, thing_of
from whileai_hf.scenarios.subjects import subjects_of
from whileai_hf.scenarios.values import Param, read_params, spell
from whileai_hf.scenarios.words import gerund, plural, words_of
from whileai_hf.spec import AgentSpec, Tool


# Verbs one can say instead, with the same words after them.
_INSTEAD = {
    "get": ("get", "fetch", "pull up"),
    "return": ("get", "give me", "fetch"),
    "retrieve": ("get", "retrieve", "pull up"),
    "show": ("show me", "pull up", "bring up"),
    "display": ("show me", "pull up"),
    "view": ("show me", "open"),
    "demonstrate": ("show me", "demonstrate"),
    "look up": ("look up", "pull up", "check", "find"),
    "read": ("read", "go through", "look at"),
    "list": ("list", "show me", "give me"),
    "search": ("search", "look through", "go through"),
    "search for": ("search for", "look for", "find"),
    "find": ("find", "look for", "search for"),
    "create": ("create", "set up", "make"),
    "delete": ("delete", "remove", "get rid of"),
    "update": ("update", "change"),
    "change": ("change", "update"),
    "cancel": ("cancel", "call off"),
    "calculate": ("calculate", "work out", "compute"),
    "book": ("book", "make"),
    "toggle": ("toggle", "flip", "switch"),
    "record": ("record", "save"),
    "compress": ("compress", "shrink"),
    "switch": ("switch to", "change to"),
    "post": ("post", "publish"),
    "check": ("check", "look at"),
}
# Verbs after which the object can simply be shown.
_SHOWING = frozenset("get return retrieve show display view list read fetch check demonstrate".split())
# Attachments kept inside the request; the rest become sentences.
_MOST_INLINE = 3
# From this many loose values on they are listed.
_LISTED_FROM = 4
_OPTIONAL = 0.22
# Words from which naming the object in full is a mouthful.
_LONGEST_OBJECT = 6
_NEEDS_THE = r"(?:current|latest|complete|full|total|exact|entire|newest|content|contents|changes|differences)\b"


@dataclass(frozen=True)
class Wording:
    """One way to ask with every required value: the request, and sentences that follow it."""

    text: str
    after: tuple[tuple[str, ...], ...] = ()
    listed: str = ""


@dataclass(frozen=True)
class Call:
    """A drawn call: its arguments, and what stands for each mark."""

    arguments: dict[str, Any]
    spelled: dict[str, str]
    optional: tuple[int, ...]

    def fill(self, text: str) -> str:
        """`text` with the values in the place of their marks."""
        # Few marks in a short text: replacing one by one beats `str.translate` by an order of magnitude.
        for sign, value in self.spelled.items():
            text = text.replace(sign, value)
        return text


@dataclass(frozen=True)
class ToolPhrases:
    """
    What can be said about one tool.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool.
        params (`tuple[Param, ...]`):
            Its parameters; a parameter's mark is that of its position.
        requests (`tuple[Wording, ...]`):
            Imperative requests.
        shows (`tuple[Wording, ...]`):
            Things to be shown, for tools that read; may be empty.
        compact (`tuple[Wording, ...]`):
            Requests that say everything at once, for asks with more than one call.
        record (`str`):
            The record the call is about, with its mark; empty when the request names none.
        thing (`str`):
            What the tool is about, without article.
        subjects (`tuple[tuple[str, str], ...]`):
            What the tool deals with, `thing` first, and several of each.
        doing (`tuple[str, ...]`):
            The -ing form of the whole, without values.
        facets (`tuple[str, ...]`):
            What comes back.
        effect (`str`):
            What a call does.
        currency (`str`):
            Sign written before amounts.
    """

    tool: Tool
    params: tuple[Param, ...]
    requests: tuple[Wording, ...]
    shows: tuple[Wording, ...]
    compact: tuple[Wording, ...]
    record: str
    thing: str
    subjects: tuple[tuple[str, str], ...]
    doing: tuple[str, ...]
    facets: tuple[str, ...]
    effect: str
    currency: str

    def draw(self, draws: Draws, shared: dict[str, Any] | None = None) -> Call:
        """
        A call and how its values are written.

        Args:
            draws ([`~whileai_hf.rows.rng.Draws`]):
                Where the values come from.
            shared (`dict`, *optional*):
                Values of another call in the same ask: parameters of the same name take them over.
        """
        arguments: dict[str, Any] = {}
        chosen: list[int] = []
        for index, param in enumerate(self.params):
            if not param.required:
                if chosen or param.kind == "objects" or not draws.chance(self._chance):
                    continue
                chosen.append(index)
            if shared and param.name in shared:
                arguments[param.name] = shared[param.name]
            else:
                arguments[param.name] = param.sample(draws)
        for bond in self._bonds:
            bond(arguments, draws)
        spelled = {
            sign: value if type(value) is str else spell(value)
            for param, sign in self._signs
            if (value := arguments.get(param.name)) is not None
        }
        return Call(arguments, spelled, tuple(chosen))

    @cached_property
    def _signs(self) -> tuple[tuple[Param, str], ...]:
        return tuple((param, mark(index)) for index, param in enumerate(self.params))

    @cached_property
    def flags(self) -> tuple[int, ...]:
        """Positions of the switches every call sets; only a sentence of their own can say them."""
        return tuple(i for i, param in enumerate(self.params) if param.required and param.kind == "flag")

    @cached_property
    def _chance(self) -> float:
        return _OPTIONAL if any(param.required for param in self.params) else 2 * _OPTIONAL

    @cached_property
    def _bonds(self) -> tuple[Bond, ...]:
        return bonds_of(self.params)

    def optional_sentence(self, index: int, call: Call, draws: Draws) -> str:
        """A sentence that says the value of an optional parameter."""
        param = self.params[index]
        if param.kind == "flag":
            on, off = tails.flag_sentences(param)
            return draws.pick(on if call.arguments[param.name] else off)
        return draws.pick(tails.sentences(param, mark(index), self.currency))


def _wordings(slotted: Slotted, params: Sequence[Param], currency: str) -> list[Wording]:
    """The object with its attachments: all inline, and with the last one in a sentence of its own."""
    signs = {param.name: mark(index) for index, param in enumerate(params)}
    loose = sorted((p for p in params if p.required and p.name not in slotted.placed), key=tails.rank)
    rest = slotted.rest
    verb = "search for" if rest.startswith("for ") else slotted.verb
    pairs = [(param, tails.inline(param, signs[param.name], verb, currency)) for param in loose]
    if rest.startswith("these "):
        pairs = [(param, f": {signs[param.name]}" if param.many else tail) for param, tail in pairs]
    directed = sum(tail is not None and tail.startswith((" from ", " to ")) for _, tail in pairs)
    if directed >= 2:
        # "Flights between two cities on a date" is "flights from X to Y on a date".
        ways = [tail for _, tail in pairs if tail is not None and tail.startswith((" from ", " to "))]
        between = re.search(r"\s+between\b.*?(?= on | in | at |$)", rest)
        if between:
            rest = rest[: between.start()] + "".join(ways) + rest[between.end() :]
            pairs = [(param, "" if tail in ways else tail) for param, tail in pairs]
        if slotted.verb in ("move", "copy", "rename") and not slotted.placed and len(loose) == 2:
            # "Move files from X to Y" where X is the file: "move X to Y".
            pairs[0] = (pairs[0][0], " " + signs[pairs[0][0].name])
            rest = ""
    inline = [(param, tail) for param, tail in pairs if tail is not None][:_MOST_INLINE]
    for index in range(1, len(inline)):
        # "with 3 bags with 2 suitcases" is "with 3 bags and 2 suitcases".
        param, tail = inline[index]
        if tail.startswith(" with ") and (inline[index - 1][1] or "").startswith((" with ", " and ")):
            inline[index] = (param, " and " + tail.removeprefix(" with "))
    kept = [param for param, _ in inline]
    left = [param for param in loose if param not in kept]
    if len(left) >= _LISTED_FROM:
        kept, inline, left = [], [], loose
        listed = "".join(f"\n- {param.label}: {signs[param.name]}" for param in left)
        return [Wording(rest, listed=listed)]
    full = Wording(
        rest + "".join(tail for _, tail in inline if tail),
        tuple(tails.sentences(p, signs[p.name], currency) for p in left),
    )
    if not inline or inline[-1][1] in ("", None):
        return [full]
    *others, (last, _) = inline
    split = Wording(
        rest + "".join(tail for _, tail in others if tail),
        tuple(tails.sentences(p, signs[p.name], currency) for p in (last, *left)),
    )
    return [full, full, split] if split.text else [full]


def _requests_of(
    tool: Tool, request: Request, params: tuple[Param, ...], currency: str
) -> tuple[Slotted, list[Wording], list[Wording]]:
    slotted = place_values(request, params, words_of(tool.name))
    wordings = _wordings(slotted, params, currency)
    head = slotted.verb
    if head == "search" and slotted.rest.startswith("for "):
        head, cut = "search for", len("for ")
    else:
        cut = 0
    said = _INSTEAD.get(head, (head,))
    if head == "book" and not slotted.rest.startswith(("a reservation", "an appointment", "a booking")):
        said = ("book",)
    if head == "search" and not slotted.rest.startswith(("the ", "my ", "through ")):
        said = ("search for", "look for", "search")
    requests = [
        Wording(f"{verb} {wording.text[cut:].strip()}".strip(), wording.after, wording.listed)
        for wording in wordings
        for verb in said
        if not (verb.endswith(" up") and wording.text[cut:].startswith("up "))
    ]
    requests = [Wording(_with_article(w.text), w.after, w.listed) for w in requests]
    shows = []
    if head in _SHOWING and not slotted.rest.startswith(("how ", "that ", "whether ", "back ")):
        shows = [
            Wording(("the " if re.match(_NEEDS_THE, w.text) else "") + w.text, w.after, w.listed)
            for w in wordings
            if w.text
        ]
    return slotted, requests, shows


def _with_article(text: str) -> str:
    return re.sub(
        rf"^(get|fetch|pull up|give me|show me|retrieve|read|open|check|bring up) (?={_NEEDS_THE})", r"\1 the ", text
    )


def phrases_of(tool: Tool, request: Request, currency: str = "$") -> ToolPhrases:
    """
    The phrases of one tool.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool.
        request ([`Request`]):
            What one asks it for.
        currency (`str`, *optional*, defaults to `"$"`):
            Sign written before amounts.
    """
    params = read_params(tool)
    slotted, requests, shows = _requests_of(tool, request, params, currency)
    general = bare(request)
    thing = thing_of(general) or _name_thing(tool, params)
    thing = singular_thing(thing)
    verb, _, particle = request.verb.partition(" ")
    verb = {"return": "get", "retrieve": "get", "display": "show", "demonstrate": "show"}.get(verb, verb)
    subjects = [_counted(subject, general, slotted.entity) for subject in subjects_of(request, thing)]
    doing = _doing(verb, particle, general, subjects[0])
    return ToolPhrases(
        tool=tool,
        params=params,
        requests=tuple(requests),
        shows=tuple(shows),
        record=slotted.entity,
        thing=thing,
        subjects=tuple(subjects),
        compact=tuple(w for w in requests if not w.after) or tuple(requests),
        doing=tuple(doing),
        facets=facets(tool),
        effect=tool_effect(tool),
        currency=currency,
    )


def _counted(subject: str, general: str, entity: str) -> tuple[str, str]:
    """A subject and several of it; what the description calls `the catalog` there is only one of."""
    only = f"the {subject}" in general or f"my {subject}" in general
    return subject, plural(subject) if not only or (entity and subject in entity) else subject


def _doing(verb: str, particle: str, general: str, thing: tuple[str, str]) -> list[str]:
    """Speaking of the whole: in full unless that is a mouthful, and in short."""
    said = " ".join(part for part in (gerund(verb), particle) if part)
    short = f"the {thing[0]}" if thing[0] == thing[1] else thing[1]
    objects = [general] if len(general.split()) <= _LONGEST_OBJECT else []
    if not general.startswith(("me ", "about ", "how ", "for ", "that ")):
        objects.append(short)
    verbs = [said, "checking"] if verb in ("get", "show") else [said]
    return [f"{one} {what}" for one in verbs for what in dict.fromkeys(objects or [general])]


def _name_thing(tool: Tool, params: Sequence[Param]) -> str:
    """What a tool is about when its description does not say."""
    words = [word for word in words_of(tool.name)[1:] if word not in ("to", "for", "by", "with", "in")]
    if words:
        return singular_thing(" ".join(words[-2:]))
    return next((param.label for param in params if param.required), " ".join(words_of(tool.name)) or "request")


def _distinct_requests(tools: Sequence[Tool]) -> list[Request]:
    """One request per tool, no two alike: what trimming made equal is trimmed less, then taken from the name."""
    requests = [read_request(tool) for tool in tools]
    for named in (False, True):
        counts = Counter(request.text.lower() for request in requests)
        for index, tool in enumerate(tools):
            if counts[requests[index].text.lower()] > 1:
                requests[index] = from_name(tool.name) if named else read_request(tool, lightly=True)
    return requests


def _currency(spec: AgentSpec) -> str:
    text = spec.system_prompt + " ".join(tool.description for tool in spec.tools)
    return next((sign for sign in ("€", "£", "¥") if sign in text), "$")


def read_phrases(spec: AgentSpec) -> dict[str, ToolPhrases]:
    """The phrases of every tool of `spec`, by tool name."""
    currency = _currency(spec)
    requests = _distinct_requests(spec.tools)
    return {tool.name: phrases_of(tool, request, currency) for tool, request in zip(spec.tools, requests, strict=True)}
