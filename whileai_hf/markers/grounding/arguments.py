"""Which arguments of a row's calls came from nowhere.

An argument is grounded when it occurs as a whole in the prompt, the system and user turns or an earlier tool result,
when the tool's schema lists it, or when it says nothing that could be wrong: a control of the tool, a text the agent
composes, a program. What is asked of the rest is strict: an id, an e-mail address, an amount, a date or a name that
nobody gave is invented, however plausible it looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from whileai_hf.markers.grounding.notions import CONTROLS, FREE, PROGRAMS, STOPWORDS, SYMBOLS, SYNONYMS
from whileai_hf.markers.grounding.schemas import AllowedValues
from whileai_hf.sandbox.naming import words_of
from whileai_hf.score.reading.calls import Call, calls_of
from whileai_hf.score.reading.texts import system_texts, text_of, user_texts
from whileai_hf.score.reading.values import Known, fold


# Words from which on a text is the agent's own composition, not a value.
_COMPOSED = 6
_DEEPEST = 40
_MOST_LEAVES = 5_000
_TOKEN = re.compile(r"[^\W_]+(?:[-_.@:+'/&#,][^\W_]+)*%?")
_PLAIN = frozenset(
    "true false yes no none null all any default auto asc desc ascending descending on off na n/a unknown other - * "
    "ok "
    "user assistant system me self current now today".split()
)
_ID_WORDS = frozenset(
    "id ids uuid guid number code ref reference email mail phone username handle account token sku iban passport "
    "serial pin ssn zip "
    "postcode plate vin isbn key url uri tracking confirmation pnr".split()
)
_PARTS = {"month": "month", "day": "day", "year": "year", "hour": "hour", "minute": "minute", "dayofmonth": "day"}
_SQL = re.compile(r"\s*(?:select|insert|update|delete|with|create|alter|drop)\b", re.IGNORECASE)
_FILES = frozenset({"path", "file_path", "filepath", "filename", "file_name", "target_file", "notebook_path"})
_SCALARS = frozenset({str, int, float, bool, type(None)})
_allowed_values = AllowedValues()

Ungrounded = dict[str, Any]


def _leaves(value: Any, path: str, key: str, depth: int = 0) -> Iterator[tuple[str, str, Any]]:
    """Path, name and value of every argument, at any depth."""
    if isinstance(value, Mapping):
        if depth < _DEEPEST:
            for name, item in value.items():
                yield from _leaves(item, f"{path}.{name}" if path else str(name), str(name), depth + 1)
    elif isinstance(value, list | tuple):
        if depth < _DEEPEST:
            for index, item in enumerate(value):
                yield from _leaves(item, f"{path}[{index}]", key, depth + 1)
    else:
        yield path, key, value


@lru_cache(maxsize=8192)
def _name(key: str) -> str:
    return "_".join(words_of(key))


@lru_cache(maxsize=8192)
def _is_id(key: str) -> bool:
    words = words_of(key)
    return bool(words) and (words[-1] in _ID_WORDS or (len(words) > 1 and words[-1] in ("no", "nr", "num")))


@lru_cache(maxsize=8192)
def _schema_path(path: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"\.|(?=\[)", re.sub(r"\[\d+\]", "[]", path)) if part)


def _word_known(word: str, known: Known) -> bool:
    if word in STOPWORDS or known.has(word) or known.has_word(word):
        return True
    if any(known.has(other) for other in SYNONYMS.get(word, ())):
        return True
    parts = re.split(r"[-/_&+]", word)
    if len(parts) > 1 and all(part.isalpha() for part in parts):
        return all(_word_known(part, known) for part in parts)
    return False


def _composed(value: str, free: bool, known: Known) -> bool:
    """Whether a text of several tokens may be the agent's own: every token with a digit, or every token, is known."""
    tokens = [token.strip("'") for token in _TOKEN.findall(fold(value))]
    words = len(value.split())
    loose = free or words >= _COMPOSED
    if not loose and len(tokens) < 2 and not value.strip().isalpha():
        return False
    facts: list[str] = []
    plain: list[str] = []
    for token in tokens:
        (facts if "@" in token or any(map(str.isdigit, token)) else plain).append(token)
    # The plain words first: looking for those costs least, and an invented text is mostly told by them.
    if not loose and not all(_word_known(token, known) for token in plain):
        return False
    for token in facts:
        if not (token in ("0", "1") or known.has(token) or _pieces_known(token, known)):
            return False
    return bool(tokens)


def _pieces_known(token: str, known: Known) -> bool:
    """`3-pack`, `10:30-11:00`, `2x`: the parts, when none of them is part of an id."""
    pieces = re.split(r"[-/:,x]|(?<=\d)(?=[a-z]+$)", token)
    return len(pieces) > 1 and all(
        piece in ("", "0", "1") or (piece.isalpha() and (len(piece) < 3 or _word_known(piece,
            known))) or (piece.isdigit() and known.has(piece))
        for piece in pieces
    )  # fmt: skip


def _synonym_known(value: str, known: Known) -> bool:
    if any(known.has(other) for other in SYNONYMS.get(value, ())):
        return True
    symbol = SYMBOLS.get(value)
    return symbol is not None and known.holds(symbol)


def _text_known(value: str, key: str, known: Known) -> bool:
    """Whether a text that does not occur literally is known in another form."""
    folded = fold(value).strip()
    if folded in _PLAIN or _synonym_known(folded, known):
        return True
    name = _name(key)
    # A plan is a thought of the agent, unless it is the name of one.
    if name in CONTROLS and (name != "plan" or " " in folded):
        return True
    free = name in FREE or name.rsplit("_", 1)[-1] in (
        "reason",
        "note",
        "notes",
        "message",
        "comment",
        "description",
        "summary",
        "instructions",
    )
    if key in _FILES and "/" in folded and all(known.has(part) for part in folded.split("/") if part):
        return True
    if _is_id(key) and not free and " " not in folded:
        return _id_known(folded, known)
    if _SQL.match(value):
        return _composed(re.sub(r"(?i)\b(?:limit|offset|top|fetch first|interval)\s+'?\d+", " ", value), True, known)
    return _composed(value, free, known)


_LETTERED = re.compile(r"#?([a-z]{1,6})[-_#]?(\d{3,})")


def _id_known(value: str, known: Known) -> bool:
    """An id said without its letters: `ORD-4412` for "order 4412"."""
    match = _LETTERED.fullmatch(value)
    return match is not None and known.names(match.group(1), match.group(2))


def _number_known(value: float, key: str, known: Known) -> bool:
    name = _name(key)
    if name in CONTROLS:
        return True
    if ("cents" in name or "minor" in name or "pence" in name) and known.has(round(value / 100, 2)):
        return True
    part = _PARTS.get(name.replace("_", ""))
    return part is not None and float(value).is_integer() and known.has_part(part, int(value))


class Grounding:
    """
    The check of rows' arguments, with what the caller leaves out of it.

    Args:
        ignore_keys (`Sequence[str]`, *optional*):
            Arguments that are not checked, by name or by path (`items[0].sku`, `items[].sku`).
        allow (`Sequence`, *optional*):
            Values that are always grounded.
    """

    def __init__(self, ignore_keys: Sequence[str] = (), allow: Sequence[Any] = ()) -> None:
        self.ignore_keys = frozenset((ignore_keys,) if isinstance(ignore_keys, str) else ignore_keys)
        self.allow = frozenset(fold(value).strip() if isinstance(value, str) else value for value in allow)

    def _ignored(self, path: str, key: str) -> bool:
        ignored = self.ignore_keys
        return bool(ignored) and (key in ignored or path in ignored or re.sub(r"\[\d+\]", "[]", path) in ignored)

    def _grounded(self, call: Call, path: str, key: str, value: Any, row: Mapping[str, Any], known: Known) -> bool:
        if type(value) is str:
            plain: Any = fold(value).strip()
        elif value is None or type(value) is bool or value in (0, 1):
            return True
        elif isinstance(value, int | float):
            if known.has(value):
                return True
            plain = value
        else:
            return True
        if plain in self.allow or self._ignored(path, key) or _is_program(call, key, value):
            return True
        tools = row.get("tools")
        if tools:
            allowed = _allowed_values.of(tools).get(call.tool)
            if allowed is not None and plain in allowed.get(_schema_path(path), ()):
                return True
        if type(value) is str:
            return _text_known(value, key, known)
        return _number_known(value, key, known)

    def ungrounded(self, row: Mapping[str, Any], calls: Sequence[Call]) -> list[Ungrounded]:
        """The arguments of a row's calls that came from nowhere."""
        known = known_at_start(row)
        found: list[Ungrounded] = []
        waiting: list[Any] = []
        place = -1
        for call in calls:
            # Calls made at once see none of each other's results.
            if call.index != place:
                for result in waiting:
                    known.add(result)
                waiting, place = [], call.index
            for path, key, value in () if call.kind == "command" else _arguments_of(call.arguments):
                if type(value) is str and known.has(value):  # nearly always
                    continue
                if not self._grounded(call, path, key, value, row, known):
                    found.append({"tool": call.tool, "key": path, "value": value, "step": call.index})
            waiting.append(call.result)
        return found


def _arguments_of(arguments: Mapping[str, Any]) -> Iterable[tuple[str, str, Any]]:
    """Path, name and value of the arguments of a call, those inside others included."""
    if _SCALARS.issuperset(map(type, arguments.values())):
        return [(name, name, value) for name, value in arguments.items()]
    return islice(_leaves(arguments, "", ""), _MOST_LEAVES)


def _is_program(call: Call, key: str, value: Any) -> bool:
    """Whether an argument is code, the content of a file, or the name of a file that is being made."""
    if not isinstance(value, str):
        return False
    files = not _FILES.isdisjoint(call.arguments)
    if key in PROGRAMS and (files or "\n" in value or len(value) > 200):
        return True
    return key in _FILES and call.kind == "write" and not PROGRAMS.isdisjoint(call.arguments)


# Roles of messages that tell the agent something before it acts.
_NOT_ITS_OWN = ("user", "system", "developer")


def known_at_start(row: Mapping[str, Any]) -> Known:
    """What is known before the first call: the prompt, the user's turns and the system's."""
    known = Known()
    prompt = row.get("prompt")
    messages = row.get("messages")
    if not messages and not row.get("steps"):
        known.add(text_of(prompt))
        return known
    if type(messages) is list and type(prompt) is str:
        known.add(prompt)
        for message in messages:
            if type(message) is dict and message.get("role") in _NOT_ITS_OWN:
                content = message.get("content")
                text = content if type(content) is str else text_of(content)
                if text != prompt:
                    known.add(text)
        if messages:
            return known
    for text in user_texts(row):
        known.add(text)
    if messages:
        for text in system_texts(row):
            known.add(text)
    elif isinstance(row.get("system_prompt"), str):
        known.add(row["system_prompt"])
    return known


def ungrounded_arguments(
    row: Mapping[str, Any], *, ignore_keys: Sequence[str] = (), allow: Sequence[Any] = ()
) -> list[Ungrounded]:
    """
    The arguments of a row's tool calls that occur nowhere before the call.

    Args:
        row (`dict`):
            A rollout: `prompt`, `steps` or `messages`, optionally `tools`, whose enum values and defaults are known.
        ignore_keys (`Sequence[str]`, *optional*):
            Arguments that are not checked, by name or path.
        allow (`Sequence`, *optional*):
            Values that are always grounded.

    Returns:
        `list[dict]`: `{"tool", "key", "value", "step"}`, the key with its path (`items[0].sku`).

    Examples:
    ```python
    >>> from whileai_hf.markers.grounding import ungrounded_arguments
    >>> steps = [{"tool": "refund", "arguments": {"order_id": "ORD-12", "amount": 999}, "result": {"status": "ok"}}]
    >>> [found["value"] for found in ungrounded_arguments({"prompt": "Refund ORD-1234.", "steps": steps})]
    ['ORD-12', 999]

    ```
    """
    return Grounding(ignore_keys, allow).ungrounded(row, calls_of(row))
