"""One message of any stack in the one shape chat templates agree on.

Templates print what they are given: `None` as a word, a list as nothing, arguments that are JSON text inside quotes.
So content is always text, arguments are always dicts, and only keys that a template reads are kept. A message that
cannot be brought to that shape gives the [`Reason`] instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from whileai_hf.export.reasons import Reason
from whileai_hf.rows import canonical, dumps, loads, scrub
from whileai_hf.rows.canonical import canonical_float
from whileai_hf.rows.privileged import PRIVILEGED_KEYS, scrub_text


Message = dict[str, Any]
# Parameter names of each tool a row declares.
Declared = Mapping[str, Collection[str]]

_ROLES = {role: role for role in ("system", "user", "assistant", "tool")} | {"developer": "system", "function": "tool"}
# Besides role, content and calls: `tool_call_id` and `name` pair results with calls, the others hold reasoning, under
# the key each model family's template reads.
_KEPT_KEYS = frozenset({"reasoning_content", "thinking", "tool_call_id", "name"})

_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
_OTHER_BLOCKS = frozenset(
    "image image_url input_image audio input_audio video video_url file input_file document resource".split()
) | {"resource_link"}
# Keys of a message with calls and no more, and of a call as it is exported.
_WITH_CALLS = 3
_CALL_KEYS = ("id", "type", "function")
_FUNCTION_KEYS = ("name", "arguments")
# Some clients encode arguments twice; a third level has not been seen and would be a string a tool really wants.
_JSON_LEVELS = 2
# Integers from here on become text in a Dataset.
_BIG = 1 << 63
# The key under which a rollout keeps arguments that could not be read.
_MALFORMED = "malformed"


def text_of(content: Any, role: str) -> str | Reason:
    """
    The content of a message as text.

    Args:
        content (`Any`):
            Text, content blocks, or (in a tool message) any JSON value.
        role (`str`):
            Role of the message.

    Returns:
        `str` or [`Reason`]: Blocks of text are joined by line breaks.

    Examples:
    ```python
    >>> text_of([{"type": "text", "text": "tree"}, {"type": "text", "text": "console"}], "tool")
    'tree\\nconsole'

    ```
    """
    if isinstance(content, str):
        return scrub_text(content)
    if content is None:
        return ""
    if _is_block(content):
        content = [content]
    if isinstance(content, list | tuple) and content and all(_is_block(block) for block in content):
        texts = [block.get("text") for block in content if block["type"] in _TEXT_BLOCKS]
        if len(texts) < len(content) or not all(isinstance(text, str) for text in texts):
            return Reason.NOT_TEXT
        return scrub_text("\n".join(texts))
    return dumps(scrub(content)).decode() if role == "tool" else Reason.NOT_TEXT


def _is_block(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    kind = block.get("type")
    return isinstance(kind, str) and (kind in _TEXT_BLOCKS or kind in _OTHER_BLOCKS)


def read_arguments(written: Any) -> dict[str, Any] | None:
    """
    The arguments of a call as a dict, `None` when they are no JSON object.

    Examples:
    ```python
    >>> read_arguments('{"id": "a1"}'), read_arguments(None), read_arguments('{"q": 1}{"q": 2}')
    ({'id': 'a1'}, {}, None)

    ```
    """
    if isinstance(written, dict):
        return written
    for _ in range(_JSON_LEVELS):
        if not isinstance(written, str):
            break
        try:
            written = loads(written) if written.strip() else {}
        except ValueError:
            return None
    if written is None:
        return {}
    return written if isinstance(written, dict) else None


def _shown(value: Any) -> Any:
    """A nested value without what only a judge may see; a vector is data where a tool takes one."""
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items() if key not in PRIVILEGED_KEYS}
    return [_shown(item) for item in value] if isinstance(value, list | tuple) else value


def _exact(arguments: dict[str, Any]) -> bool:
    """Whether arguments stay what they are in a Dataset, and hide nothing. Most do; the others are looked at."""
    for value in arguments.values():
        kind = type(value)
        if kind is str:
            if not value.isascii() or "privileged" in value or "expected_calls" in value:
                return False
        elif kind is int:
            if not -_BIG <= value < _BIG:
                return False
        elif kind is not bool and not (kind is float and canonical_float(value) == value):
            return False
    return PRIVILEGED_KEYS.isdisjoint(arguments)


def _clean(arguments: dict[str, Any], known: Collection[str] | None) -> dict[str, Any]:
    """Arguments in canonical form, without what only a judge may see and what another tool's schema left behind."""
    # A parameter may bear such a name; what no tool declares is a note of ours that got there.
    kept = {key for key in arguments if key not in PRIVILEGED_KEYS or key in (known or ())}
    if known is not None:
        # `None` is the mark of a file that once was a struct column: every tool's parameters on every call.
        kept = {key for key in kept if arguments[key] is not None or key in known}
    return canonical({key: _shown(value) for key, value in arguments.items() if key in kept})  # type: ignore[no-any-return]


def _read_call(call: Any, declared: Declared) -> dict[str, Any] | None:
    """A call in OpenAI shape; the flat `{"name", "arguments"}` is read as well."""
    inner = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(inner, dict):
        return None
    name, given = inner.get("name"), inner.get("arguments")
    arguments = given if type(given) is dict else read_arguments(given)
    if not isinstance(name, str) or not name or arguments is None:
        return None
    if not _exact(arguments):
        arguments = _clean(arguments, declared.get(name))
    if _MALFORMED in arguments and len(arguments) == 1 and _MALFORMED not in declared.get(name, ()):
        return None
    if len(call) == len(_CALL_KEYS) and arguments is given and _is_exported(call):
        return call  # type: ignore[no-any-return]
    function = {"name": name, "arguments": arguments}
    named = call.get("id")
    if isinstance(named, str):
        return {"id": named, "type": "function", "function": function}
    return {"type": "function", "function": function}


def _is_exported(call: dict[str, Any]) -> bool:
    """Whether a call that is read has the exported keys, in their order, and nothing else."""
    if tuple(call) != _CALL_KEYS or tuple(call["function"]) != _FUNCTION_KEYS:
        return False
    return bool(call["type"] == "function") and type(call["id"]) is str


def read_calls(calls: Iterable[Any], declared: Declared) -> list[dict[str, Any]] | None:
    """Calls as they are exported, those that are so already as they are; `None` when one of them is malformed."""
    read = []
    for call in calls:
        made = _read_call(call, declared)
        if made is None:
            return None
        read.append(made)
    return read


def read_message(message: Any, declared: Declared) -> Message | Reason:
    """
    One message in the shape that is exported.

    Args:
        message (`dict`):
            A chat message as any stack stores it.
        declared (`Mapping[str, Collection[str]]`):
            Parameter names by tool, to tell a `null` argument from a key another tool's schema left behind.

    Returns:
        `dict` or [`Reason`]: A new dict without `None`, or why there is none.

    Examples:
    ```python
    >>> read_message({"role": "user", "content": "hi", "name": None}, {})
    {'role': 'user', 'content': 'hi'}

    ```
    """
    if not isinstance(message, dict):
        return Reason.NO_CONVERSATION
    written, content = message.get("role"), message.get("content")
    role = _ROLES.get(written) if isinstance(written, str) else None
    if role is None:
        return Reason.NO_CONVERSATION
    text = content if content == "" else text_of(content, role)
    if isinstance(text, Reason):
        return text
    made: Message = {"role": role, "content": text}
    calls = message.get("tool_calls")
    if not calls or len(message) > _WITH_CALLS:
        for key, value in message.items():
            if key in _KEPT_KEYS and isinstance(value, str) and value:
                made[key] = scrub_text(value)
    if not calls and message.get("function_call"):
        calls = [{"function": message["function_call"]}]  # before there were ids and several calls in a turn
    if calls and role == "assistant":
        if type(calls) is not list and not isinstance(calls, list | tuple):
            return Reason.MALFORMED_CALLS
        read = read_calls(calls, declared)
        if read is None:
            return Reason.MALFORMED_CALLS
        made["tool_calls"] = read
    return made


def answers_nothing(messages: Sequence[Message]) -> bool:
    """
    Whether a tool result is there that no call of the conversation asked for.

    Calls are known by their ids; where those are missing, by their number before the results. A conversation without
    any call is one of an agent that calls in its text: there a result follows what the agent said.

    Examples:
    ```python
    >>> call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1"}]}
    >>> [answers_nothing([call, {"role": "tool", "tool_call_id": name}]) for name in ("c1", "c2")]
    [False, True]

    ```
    """
    ids: set[str] = set()
    waiting, unnamed, called, loose, spoken = 0, False, False, False, False
    for message in messages:
        if message["role"] == "tool":
            waiting -= 1
            if not (spoken or called):
                return True
            answered = message.get("tool_call_id")
            if not called or (answered and answered not in ids and not (unnamed and waiting >= 0)):
                loose = True
        elif "tool_calls" in message:
            named = [call["id"] for call in message["tool_calls"] if call.get("id")]
            ids.update(named)
            waiting, called = len(message["tool_calls"]), True
            unnamed = len(named) < waiting
        else:
            spoken = message["role"] == "assistant"
    return loose and called
