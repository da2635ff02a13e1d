"""Splitting a system prompt into the rules a reader would list.

Headings, role preamble and context lines ("The current time is ...") are not rules. A list item, a paragraph's
sentence and a part between semicolons each are one, unless it only makes sense with the sentence before it. The text
of a clause names a cell of the grid, so the same policy must always split the same way: no model, no randomness.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


# Characters; shorter is a label or a stray mark, not a rule.
MIN_CLAUSE = 8
# Characters; up to here a sentence that leans on the one before ("This ...") is kept together with it.
LONG_CLAUSE = 200
# Characters; a rule longer than this is cut, because it is shown as one axis value of a situation.
MAX_CLAUSE = 360
# Clauses; one axis with more values than this makes the pairwise array (rules x states x conditions) outgrow a
# budget of a few hundred rows, and no prompt we have seen states more rules that an agent can act on.
MAX_CLAUSES = 24

_HEADING = re.compile(r"^(#{1,6}\s|={3,}$|-{3,}$|\*{3,}$|_{3,}$)")
_TAG = re.compile(r"^</?[A-Za-z][\w-]*(\s[^<>]*)?/?>$")
_BULLET = re.compile(r"^(?:[-*+•‣◦\u2013\u2014]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]{1,4}[.)])\s+(?=\S)")
_INLINE_ITEM = re.compile(r"\s(?=\((?:\d{1,2}|[a-z])\)\s)")
_ITEM_MARK = re.compile(r"^\((?:\d{1,2}|[a-z])\)\s+")
_LABEL = re.compile(r"^(?:rule|note|important|warning|caution|reminder)s?\s*(?:\d+\s*)?[:.]\s+", re.IGNORECASE)

# Who the agent is and what surrounds it: true, but nothing that an agent could break.
_PREAMBLE = re.compile(
    r"^(you are (an?|the|one of)\b|you're (an?|the)\b|you are \w+, (an?|the)\b|your (role|name|job|task) is\b|"
    r"act as\b|as an? [^,.]{3,60}, you (can|will|help)\b|welcome\b|hello\b|hi\b)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"^(the (current|present) (time|date|year|day)\b|today is\b|the (user|customer)'?s name is\b|audience:|"
    r"(these|the following) instructions (are|were)\b|follow them\b|current (time|date)\b|date:|knowledge cutoff)",
    re.IGNORECASE,
)
# Words that make a sentence something an agent can keep or break.
_DIRECTIVE = re.compile(
    r"\b(must|should|shall|never|always|cannot|can't|can not|may not|do not|don't|does not|only|refuse|deny|"
    r"require[sd]?|need[s]? to|needs|ask|verify|confirm|ensure|make sure|not allowed|avoid|at most|at least|"
    r"before|after|unless|until|without|if|when|can be|can only|prefer|use|check|transfer|escalate|have to)\b",
    re.IGNORECASE,
)
_BINDING = re.compile(
    r"\b(must|never|always|cannot|can't|may not|do not|don't|only|refuse|deny|should|not allowed|before any|unless|"
    r"at most|at least|no more than|needs? to|ha(ve|s) to|not refundable)\b",
    re.IGNORECASE,
)
# An intro that announces a list and says nothing itself.
_EMPTY_INTRO = re.compile(
    r"\b(instructions?|guidelines?|rules?|policy|policies|principles|steps|notes|following)\b[^.]{0,25}:?$",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(if|when|unless|in case|before|after|for (any|all|each|every)|only)\b|"
    r"\b(must|never|cannot|can only|do not|don't|should|may|always|only|refuse|deny)\b",
    re.IGNORECASE,
)
# Sentences that lean on the one before.
_LEANING = re.compile(
    r"^(otherwise|instead|however|this|that|these|those|it|they|in that case|in this case|then|also|but|and|or|so|"
    r"for example|e\.g\.|other)\b",
    re.IGNORECASE,
)
# ... and reverse it, so that they are wrong, not just vague, on their own.
_REVERSING = re.compile(r"^(otherwise|instead|however|in (that|this) case)\b", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|no|mr|mrs|ms|dr|st|approx|incl|max|min|[A-Z])\.$", re.IGNORECASE)
_CARRIES_ON = re.compile(r"(,|\b(of|the|an?|and|or|to|in|for|with|by|as|on|from|that|which|if|when|is|are|be))$")
# Semicolon and full stop, exclamation and question mark, also in their full-width forms.
_SEMICOLONS = ";\uff1b"
_ENDS = f".!?\u3002\uff01\uff1f{_SEMICOLONS}"
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
# Columns; a line at least this long was wrapped by an editor, so the next one continues it.
_WRAPPED_AT = 72


@dataclass
class _Item:
    """A list item or paragraph: its text, how deep it stands, and the items below it."""

    text: str
    depth: int = -1
    children: list[_Item] = field(default_factory=list)


def _plain(text: str) -> str:
    """`text` without markdown marks."""
    text = re.sub(r"!?\[([^\]]+)\]\((?:[^()]|\([^()]*\))*\)", r"\1", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", r"\1", text)
    text = re.sub(r"(?<!\w)_(?=\S)([^_]+?)(?<=\S)_(?!\w)", r"\1", text)
    text = text.replace("`", "").replace("\\", " ")
    return " ".join(text.split())


def _continues(previous: str, line: str) -> bool:
    """Whether `line` goes on with the sentence of `previous` rather than opening a rule of its own."""
    if previous.endswith(":") or line.startswith("|"):
        return False
    if not line[:1].isupper() and line[:1] not in "\"'“":
        return True
    return bool(_CARRIES_ON.search(previous)) or len(previous) >= _WRAPPED_AT


def _items(policy: str) -> list[_Item]:
    """The list items and paragraphs of `policy`, nested as its indentation says."""
    roots: list[_Item] = []
    trail: list[_Item] = []
    last: _Item | None = None
    fenced = False
    for line in policy.replace("\\\n", " ").replace("\t", "    ").splitlines():
        stripped = re.sub(r"^(>\s*)+", "", line.strip())
        if stripped.startswith(("```", "~~~")):
            fenced, last = not fenced, None
            continue
        if fenced or not stripped or _HEADING.match(stripped) or _TAG.match(stripped):
            last = None
            if stripped and not fenced:
                trail = []
            continue
        depth = len(line) - len(line.lstrip())
        bullet = _BULLET.match(stripped)
        if not bullet and last is not None and _continues(last.text, stripped):
            last.text += " " + stripped
            continue
        if stripped.startswith("|"):
            cells = [cell.strip() for cell in stripped.strip("|").split("|")]
            stripped = ": ".join(cell for cell in cells if cell and not re.fullmatch(r":?-+:?", cell))
        item = _Item(stripped[bullet.end() :] if bullet else stripped, depth if bullet else -1)
        if not item.text:
            continue
        while trail and trail[-1].depth >= item.depth:
            trail.pop()
        # A paragraph that ends in a colon introduces the list below it.
        parent = trail[-1] if trail and bullet and trail[-1].text.endswith(":") else None
        (parent.children if parent else roots).append(item)
        trail.append(item)
        last = item
    return roots


def _split(text: str) -> list[str]:
    """Sentences and semicolon parts of `text`; nothing inside quotes or parentheses is split."""
    parts: list[str] = []
    start = depth = 0
    quoted = False
    for index, mark in enumerate(text):
        if mark in '“”"':
            quoted = mark == "“" or (mark == '"' and not quoted)
        elif mark in "([":
            depth += 1
        elif mark in ")]":
            depth = max(0, depth - 1)
        if quoted or depth or mark not in _ENDS:
            continue
        # Chinese and Japanese put no space after a full stop.
        if mark in ".!?;" and not text[index + 1 : index + 2].isspace():
            continue
        following = text[index + 1 :].lstrip()
        if mark == "." and (following[:1].islower() or _ABBREVIATION.search(text[start : index + 1])):
            continue
        parts.append(text[start : index + 1].strip().rstrip(_SEMICOLONS))
        start = index + 1
    return [part for part in [*parts, text[start:].strip().rstrip(_SEMICOLONS)] if part]


def _sentences(text: str) -> list[str]:
    joined: list[str] = []
    for numbered in _INLINE_ITEM.split(text):
        for part in _split(_ITEM_MARK.sub("", numbered)):
            # Whoever the sentence before is about, "Otherwise" and "this" mean nothing without it.
            leans = joined and _LEANING.match(part) and not _PREAMBLE.match(joined[-1])
            limit = MAX_CLAUSE if _REVERSING.match(part) else LONG_CLAUSE
            if leans and len(joined[-1]) + len(part) < limit:
                joined[-1] = (
                    f"{joined[-1].rstrip('.')}. {part}" if joined[-1][-1:].isalnum() else f"{joined[-1]} {part}"
                )
            else:
                joined.append(part)
    return joined


def _texts(item: _Item) -> list[str]:
    """The rules of an item and those below it."""
    text = _plain(item.text)
    if not item.children:
        return _sentences(text)
    before, intro = _split(text)[:-1], _split(text)[-1].rstrip(": ")
    below = [part for child in item.children for part in _texts(child)]
    if re.search(r"\b(all|both|each) of\b", intro, re.IGNORECASE):
        whole = f"{intro}: {'; '.join(part.rstrip('.;,') for part in below)}"
        if len(whole) <= MAX_CLAUSE:
            return [*before, whole]
    carries = _CONDITION.search(intro) and not re.match(r"(please )?(follow|obey|adhere)", intro, re.IGNORECASE)
    announces = _EMPTY_INTRO.search(intro) and not re.match(
        r"(if|when|unless|never|do not|don't|you can)\b", intro, re.I
    )
    if not carries or announces:
        return [*before, *below]
    # "If any of the following holds, refuse: ..." is a rule only together with what follows.
    return [*before, *(f"{intro}: {part}" if len(intro) + len(part) <= MAX_CLAUSE else part for part in below)]


def _cut(text: str) -> str:
    """`text` within the limit, ended at a comma or a word."""
    if len(text) <= MAX_CLAUSE:
        return text
    head = text[:MAX_CLAUSE]
    comma = max(head.rfind(", "), head.rfind(" - "))
    return head[: comma if comma > MAX_CLAUSE // 2 else head.rfind(" ")].rstrip(" ,;:-")


def _is_rule(text: str) -> bool:
    # One word is a label, except where words are not set apart by spaces.
    if (
        len(text) < MIN_CLAUSE
        or text.endswith(":")
        or not (re.search(r"[^\W\d_].*\s", text) or _UNSPACED.search(text))
    ):
        return False
    if _CONTEXT.match(text):
        return False
    return not (_PREAMBLE.match(text) and not _BINDING.search(text))


def split_policy(policy: str, limit: int | None = MAX_CLAUSES) -> tuple[str, ...]:
    """
    The rules of a system prompt, in their order.

    Args:
        policy (`str`):
            Plain text or markdown.
        limit (`int`, *optional*, defaults to `24`):
            At most this many; when there are more, sentences that bind the agent ("must", "never", "only", ...) are
            kept before those that describe, and every list item before the second sentence of any. `None` keeps all.

    Returns:
        `tuple[str, ...]`: Clauses of 8 to about 200 characters, without markdown marks or duplicates.

    Examples:
    ```python
    >>> from whileai_hf.spec import split_policy
    >>> split_policy("You are a shop agent.\\n1. Verify the order before any refund.\\n2. Do not guess; ask.")
    ('Verify the order before any refund.', 'Do not guess')

    ```
    """
    clauses: dict[str, tuple[str, int]] = {}
    for item in _items(policy):
        for position, text in enumerate(_texts(item)):
            text = _cut(_LABEL.sub("", text).strip())
            key = re.sub(r"\W+", " ", text).casefold().strip()
            if _is_rule(text) and key not in clauses:
                clauses[key] = (text, position)
    found = list(clauses.values())
    if limit is None or len(found) <= limit:
        return tuple(text for text, _ in found)

    def rank(index: int) -> tuple[int, int, int]:
        text, position = found[index]
        weight = 0 if _BINDING.search(text) else 1 if _DIRECTIVE.search(text) else 2
        return weight, position, index

    kept = sorted(sorted(range(len(found)), key=rank)[:limit])
    return tuple(found[index][0] for index in kept)
