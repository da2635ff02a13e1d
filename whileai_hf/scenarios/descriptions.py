"""From a tool's description to what one asks of it: a verb and what follows, as in `look up` + `an order`.

Reads the first sentence. Markdown, prefixes ("Use this tool to", "DEPRECATED:"), third person and trailing asides go;
a description with no verb, or none at all, is answered from the tool's name. Where the parameters' values belong in
the sentence is decided in `slots.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from whileai_hf.scenarios.words import SPOKEN, VERBS, plain_verb, plural, words_of
from whileai_hf.spec import Tool


# Words that are nouns at least as often as verbs: taken for a verb only when an object follows.
_AMBIGUOUS = frozenset(
    "order book record report request schedule ship process email plan draft map model file label log link "
    "query view access offer issue charge quote note tag stream store sample stage test watch work message measure "
    "grant diff debug".split()
)
# What a thing has: behind an ambiguous word they make it a noun, as in "order status".
_ATTRIBUTES = frozenset("status details detail history info total count date id number items summary state of".split())
_DETERMINERS = frozenset(
    "a an the this that these those all any each every one some your its their multiple new".split()
)
# Verbs and the particle that belongs to them.
_PHRASAL = frozenset(
    "look up|set up|pull up|sign up|back up|clean up|bring up|check out|find out|work out|log out|echo back|send back|"
    "give back|roll back|turn off|turn on|turn down|switch off|switch on|shut down|sign out".split("|")
)
_PREFIXES = (
    re.compile(r"^.*?\btool description:\s*", re.IGNORECASE),
    re.compile(r"^[\W_]+"),
    re.compile(r"^\[[^\]]*\]\s*|^\([^)]*\)\s*"),
    re.compile(r"^[A-Z]{3,}(?: [A-Z]+)*:\s*"),
    re.compile(
        r"^(?:please )?(?:use|call|invoke|run) (?:this|the|it)\b(?: \w+)? "
        r"(?:to|for|when you (?:need|want) to|if you \w+ to)\s+",
        re.IGNORECASE,
    ),
    re.compile(r"^use (?:this )?(?:when|for|to)\s+", re.IGNORECASE),
    re.compile(r"^(?:this|the) (?:tool|function|api|endpoint|method|command|operation|action)\s+", re.IGNORECASE),
    re.compile(r"^(?:is|are|can be|may be) (?:used|called|useful|needed) (?:to|for|when)\s+", re.IGNORECASE),
    re.compile(
        r"^(?:an? |the )?(?:simple |helper )?(?:tool|function|api|utility|helper|endpoint|command) "
        r"(?:to|for|that|which)\s+",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:allows?|enables?|lets?|helps?) (?:you|(?:the )?(?:users?|model|agent|assistant|caller))(?: to)?\s+",
        re.IGNORECASE,
    ),
    re.compile(r"^(?:useful|used|helpful|good|great) (?:for|to|when)\s+", re.IGNORECASE),
    re.compile(r"^(?:will|can|to|simply|automatically|recursively|quickly|efficiently|safely)\s+", re.IGNORECASE),
    re.compile(r"^given (?:an?|the|some) [^,]+,\s*", re.IGNORECASE),
)  # fmt: skip
# An aside behind a comma; a comma inside an enumeration is none.
_ASIDE = re.compile(
    r",\s*(?:including|which|with|without|and|or|so|if|but|helpful|allowing|returning|as|where|then|using|based|not|"
    r"optionally|given|such|e\.g|i\.e|etc|even|only|preserving|ordered|sorted|grouped|in order)\b.*$",
    re.IGNORECASE,
)
_TAILS = (
    re.compile(r"\s*[(\[{<].*$"),
    re.compile(r"\s+(?:e\.g\.|i\.e\.|such as|for example|like e\.g).*$", re.IGNORECASE),
    re.compile(r"\s+(?:simultaneously|at once|in one go|if (?:it|they|any|one) .*|when .*|whether .*)$", re.I),
    re.compile(
        r"\s+with (?:the |its |their )?(?:given|specified|provided|following|updated)? ?"
        r"(?:details|parameters|arguments|fields|values|options)\b.*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"\s+as (?:an? |the )?(?:text|json|markdown|csv|xml|html|base64|string|list|dict|dictionary|file|object)\b.*$",
        re.IGNORECASE,
    ),
    re.compile(r"\s+(?:from|to|by|with|in) an? optional\b.*$", re.IGNORECASE),
    re.compile(r"\s+on or off$", re.IGNORECASE),
    re.compile(r"\s+to (?:the |its )?new\b.*$", re.IGNORECASE),
    re.compile(r"\s+for (?:client|debugging|llm|ai|agent|later|further)\b.*$", re.IGNORECASE),
    re.compile(r"[\s:;,.]+$"),
)  # fmt: skip
_BY = re.compile(
    r"(?<!used)(?<!allowed)(?<!given)\s+"
    r"(?:by (?:its |their |the |an? )?[\w ]+|based on|according to|via|through)(?:\s+.*)?$",
    re.IGNORECASE,
)
_SECOND_CLAUSE = re.compile(
    r"\s+(?:and|or)\s+(?:\w+ly\s+|also\s+|then\s+)?(\w+)\s+(?:an?|the|it|its|them|their|all|any|your)\b.*$"
)
_SECOND_VERB = re.compile(r"^(?:or|and|/)\s+(\w+)\s+", re.IGNORECASE)
_MINE = re.compile(
    r"\b(?:the|a|your)\s+(inbox|calendar|cart|basket|account|profile|wishlist|watchlist|mailbox|address book)\b"
)
_PERSON = "user|customer|caller|client|end user|current user"
_LONGEST = 16  # words of an object; longer ones are cut where a clause ends


@dataclass(frozen=True)
class Request:
    """What one asks a tool for: a plain verb (with its particle), and everything after it."""

    verb: str
    rest: str

    @property
    def text(self) -> str:
        """Both together."""
        return f"{self.verb} {self.rest}".strip()


def first_sentence(text: str) -> str:
    """The first sentence of a description, on one line, without Markdown."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text.strip())
    text = re.sub(r"\*\*|__", "", text)
    text = re.split(r"\n\s*\n", text)[0]
    text = _PREFIXES[0].sub("", " ".join(text.split()), count=1)
    return re.split(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)[.!]\s+(?=\S)", text)[0].rstrip(" .")


def _unprefixed(sentence: str) -> str:
    for _ in range(3):
        before = sentence
        for prefix in _PREFIXES:
            sentence = prefix.sub("", sentence, count=1)
        if sentence == before:
            break
    return sentence


def _verb_first(sentence: str, name_words: tuple[str, ...]) -> Request | None:
    tokens = sentence.split()
    if not tokens:
        return None
    first = re.sub(r"\W", "", tokens[0]).lower()
    verb = plain_verb(first)
    if verb is None:
        return None
    following = re.sub(r"\W", "", tokens[1]).lower() if len(tokens) > 1 else ""
    acted = verb in name_words and following not in _ATTRIBUTES
    if first in _AMBIGUOUS and not acted and following not in _DETERMINERS and following not in ("for", "up"):
        return None
    used = 1
    if f"{verb} {following}" in _PHRASAL and len(tokens) > 2:
        verb, used = f"{verb} {following}", 2
    return Request(verb, " ".join(tokens[used:]))


def trimmed(rest: str, *, lightly: bool = False) -> str:
    """
    What follows the verb, without asides and second clauses.

    Args:
        rest (`str`):
            Everything after the verb.
        lightly (`bool`, *optional*, defaults to `False`):
            Keep "by ..." and what stands behind a comma: for tools that would otherwise read the same.

    Examples:
    ```python
    >>> trimmed("an order by id"), trimmed("a directory or ensure a directory exists")
    ('an order', 'a directory')

    ```
    """
    second = _SECOND_VERB.match(rest)
    if second and plain_verb(second.group(1)):
        rest = rest[second.end() :]
    clause = _SECOND_CLAUSE.search(rest)
    if clause and plain_verb(clause.group(1)):
        rest = rest[: clause.start()]
    if not lightly:
        rest = _BY.sub("", _ASIDE.sub("", rest))
    rest = re.sub(r"\s+that \w+s,.*$", "", rest)
    for tail in _TAILS:
        rest = tail.sub("", rest)
    words = rest.split()
    if len(words) > _LONGEST:
        ends = [
            index
            for index, word in enumerate(words[:_LONGEST])
            if index > 4 and word in ("that", "which", "in", "to", "for", "with", "and")
        ]
        rest = " ".join(words[: ends[-1] if ends else _LONGEST])
    return rest


def personal(text: str) -> str:
    """The asker is the user the description speaks of: `the user's inbox` is `my inbox`."""
    text = re.sub(rf"\b(?:the|a|this)\s+(?:{_PERSON})'s\b", "my", text)
    text = re.sub(
        rf"\b(?:the|this)\s+(?:{_PERSON})(?=$|[.,]|\s+(?:to|from|in|about|of|for|and|a|an|as|is)\b)", "me", text
    )
    return _MINE.sub(r"my \1", text)


def from_name(name: str) -> Request:
    """
    A request made of a tool's name.

    Examples:
    ```python
    >>> from_name("get_weather").text, from_name("git_log").text
    ('get the weather', 'check the git log')

    ```
    """
    words = [SPOKEN.get(word, word) for word in words_of(name)] or [name]
    for position, word in enumerate(words[:2]):
        if word in VERBS and (position == 0 or words[0] not in VERBS) and words[position + 1 :]:
            if word in _AMBIGUOUS and words[position + 1] in _ATTRIBUTES:
                # `order_status` asks for a status, it orders nothing.
                break
            noun = " ".join(words[position + 1 :])
            if word in ("search", "find", "list"):
                return Request(word, plural(noun))
            bare = noun.split()[0] in ("all", "my", "to", "for", "in", "by", "with", "long") or noun.endswith("s")
            return Request(word, noun if bare else f"the {noun}")
    return Request("check", "the " + " ".join(words))


def read_request(tool: Tool, *, lightly: bool = False) -> Request:
    """
    What one asks of `tool`.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool.
        lightly (`bool`, *optional*, defaults to `False`):
            Trim less, so that two tools that differ only in an aside stay apart.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> read_request(Tool("status", "Shows the working tree status")).text
    'show the working tree status'
    >>> read_request(Tool("fetch", "Use this tool to fetch a URL and optionally extract its text.")).text
    'fetch a URL'

    ```
    """
    sentence = _unprefixed(first_sentence(tool.description))
    if sentence and sum(char.isascii() for char in sentence) < 0.8 * len(sentence):
        return from_name(tool.name)
    found = _verb_first(sentence, words_of(tool.name))
    if found is None:
        return from_name(tool.name)
    rest = trimmed(found.rest, lightly=lightly)
    if not rest and found.rest:
        return from_name(tool.name)
    return Request(found.verb, rest)


def facets(tool: Tool) -> tuple[str, ...]:
    """
    What the description says comes back.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> facets(Tool("get", "Look up an order by id. Returns status, total and date."))
    ('status', 'total', 'date')

    ```
    """
    later = " ".join(tool.description.split()).removeprefix(first_sentence(tool.description))
    match = re.search(
        r"(?:Returns?|Each \w+ has|containing|contains) (?:an? |the |its )?"
        r"((?:[\w' ]+, )+(?:and |or )?[\w' ]+|[\w']+ and [\w']+)",
        later,
    )
    if not match:
        return ()
    parts = re.split(r",\s*(?:and\s+)?|\s+and\s+", match.group(1))
    cleaned = [re.sub(r"^(?:an?|the|and|or|its)\s+", "", part.strip()) for part in parts]
    return tuple(part.lower() for part in cleaned if part and len(part.split()) <= 3 and not part.endswith("ing"))[:4]
