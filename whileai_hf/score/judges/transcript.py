"""A row as a judge is shown it: the agent's instructions and tools, every turn in order, what changed in the world.

Nothing else of the row is shown: no reward, no gold answer, no fault plan, no label. Each part begins with a mark that
carries a code made from the whole text, so that no reply can contain it: a run can neither end the transcript nor
put words into somebody else's mouth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from whileai_hf.rows import dumps, loads
from whileai_hf.rows.rng import digest
from whileai_hf.score.reading.texts import text_of


Row = Mapping[str, Any]

# The columns a transcript is made of.
TRANSCRIPT_COLUMNS = ("messages", "steps", "prompt", "completion", "final_text", "tools", "state_changes")
_CODE_DIGITS = 12
_SPEAKERS = {"system": "INSTRUCTIONS OF THE AGENT", "developer": "INSTRUCTIONS OF THE AGENT", "user": "USER"}
_AGENT = "AGENT"
_CALLS = f"{_AGENT} CALLS "
_RESULT = "RESULT OF "
_UNSEEN = frozenset({"text", "output_text", "input_text"})


class Part(NamedTuple):
    """One part of a transcript."""

    title: str
    text: str


def as_text(value: Any) -> str:
    """A value as text: JSON for what is no string; lone surrogates and NUL bytes, which no API takes, replaced."""
    text: str = value if isinstance(value, str) else dumps(value).decode()
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _content(content: Any) -> str:
    """The text of a message; a block that cannot be shown as text is named."""
    if content is None or isinstance(content, str):
        return as_text(content or "")
    if not isinstance(content, list | tuple):
        return as_text(content)
    parts = [as_text(text_of(block)) if _is_text(block) else f"[{_kind(block)}, not shown]" for block in content]
    return "\n".join(part for part in parts if part)


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, Mapping) and block.get("type", "text") in _UNSEEN)


def _kind(block: Any) -> str:
    return as_text(str(block.get("type"))) if isinstance(block, Mapping) else "content"


def _title(text: Any) -> str:
    """A name inside a mark: one line, however it was written."""
    return " ".join(as_text(text if isinstance(text, str) else str(text)).split())[:200]


def _call(entry: Any) -> Part:
    function = entry.get("function", entry) if isinstance(entry, Mapping) else {}
    if not isinstance(function, Mapping):
        function = {}
    arguments = function.get("arguments")
    return Part(f"{_CALLS}{_title(function.get('name'))}", as_text({} if arguments is None else arguments))


def _is_kind(block: Any, kind: str) -> bool:
    return isinstance(block, Mapping) and isinstance(block.get("type"), str) and block["type"].endswith(kind)


def _from_messages(messages: Sequence[Any]) -> Iterator[Part]:
    names: dict[str, str] = {}
    for message in messages:
        if isinstance(message, Mapping):
            yield from _message(message, names)


def _message(message: Mapping[str, Any], names: dict[str, str]) -> Iterator[Part]:
    """The parts of one message; `names` are the tools by the ids of their calls so far."""
    role, content = message.get("role"), message.get("content")
    if role in ("tool", "function"):
        name = message.get("name") or _called(message.get("tool_call_id"), names)
        yield Part(f"{_RESULT}{_title(name)}", _content(content))
        return
    title = _AGENT if role == "assistant" else _SPEAKERS.get(role, "OTHER") if isinstance(role, str) else "OTHER"
    calls: list[Any] = list(_entries(message.get("tool_calls")))
    if isinstance(message.get("function_call"), Mapping):
        calls.append(message["function_call"])
    blocks = content if isinstance(content, list | tuple) else ()
    if any(_is_kind(block, "tool_use") or _is_kind(block, "tool_result") for block in blocks):
        yield from _blocks(blocks, title, names)
    else:
        text = _content(content) or _content(message.get("refusal"))
        if text or (title != _AGENT and not calls):
            yield Part(title, text)
    for entry in calls:
        made = _call(entry)
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
            names[entry["id"]] = made.title.removeprefix(_CALLS)
        yield made


def _entries(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,) if isinstance(value, Mapping) else ()


def _called(call_id: Any, names: Mapping[str, str]) -> str:
    return (names.get(call_id) if isinstance(call_id, str) else None) or "a tool"


def _blocks(blocks: Sequence[Any], title: str, names: dict[str, str]) -> Iterator[Part]:
    """A message of blocks some of which are calls or results, in their order."""
    said: list[Any] = []
    for block in (*blocks, None):
        is_call, is_result = _is_kind(block, "tool_use"), _is_kind(block, "tool_result")
        if block is not None and not (is_call or is_result):
            said.append(block)
            continue
        text = _content(said)
        said = []
        if text:
            yield Part(title, text)
        if is_call:
            made = _call({"name": block.get("name"), "arguments": block.get("input")})
            if isinstance(block.get("id"), str):
                names[block["id"]] = made.title.removeprefix(_CALLS)
            yield made
        elif is_result:
            name = block.get("name") or _called(block.get("tool_use_id"), names)
            yield Part(f"{_RESULT}{_title(name)}", _content(block.get("content")))


def _from_steps(steps: Sequence[Any]) -> Iterator[Part]:
    for step in steps:
        if not isinstance(step, Mapping):
            continue
        if "tool" in step:
            yield _call({"name": step["tool"], "arguments": step.get("arguments")})
            if "result" in step:
                yield Part(f"{_RESULT}{_title(step['tool'])}", _content(step["result"]))
        for key, title in (("user", "USER"), ("text", _AGENT)):
            if step.get(key):
                yield Part(title, _content(step[key]))


def _turns(row: Row) -> list[Part]:
    parts = list(_from_messages(_entries(row.get("messages"))))
    prompt, completion, steps = row.get("prompt"), row.get("completion"), row.get("steps")
    asked = list(_from_messages(prompt)) if isinstance(prompt, list | tuple) else []
    if isinstance(prompt, str) and prompt:
        asked.append(Part("USER", as_text(prompt)))
    if not any(part.title == "USER" for part in parts):
        parts = [*(part for part in asked if part not in parts), *parts]
    acted = list(_from_steps(steps)) if isinstance(steps, list | tuple) else []
    if acted:
        parts = _with_steps(parts, acted)
    if isinstance(completion, list | tuple):
        parts += _unseen(parts, list(_from_messages(completion)))
    final = _content(row.get("final_text"))
    for text in (as_text(completion) if isinstance(completion, str) else "", final):
        if text and text not in [part.text for part in parts if part.title == _AGENT]:
            parts.append(Part(_AGENT, text))
    return parts


def _unseen(parts: Sequence[Part], more: Sequence[Part]) -> list[Part]:
    """What there is more of; a part that is said twice has to be there twice."""
    seen = Counter(map(_compared, parts))
    found = []
    for part in more:
        key = _compared(part)
        seen[key] -= 1
        if seen[key] < 0:
            found.append(part)
    return found


def _compared(part: Part) -> tuple[str, str]:
    """A part in the form two columns share: arguments written with other spaces are the same."""
    text = part.text.strip()
    if part.title.startswith((_CALLS, _RESULT)) and text[:1] in "{[":
        try:
            text = dumps(loads(text)).decode()
        except ValueError:  # no JSON after all
            return part.title, text
    return part.title, text


def _with_steps(parts: list[Part], acted: list[Part]) -> list[Part]:
    """Messages with what only the steps tell: calls and results that the messages leave out, before the last reply."""
    if not parts:
        return acted
    told = any(part.title.startswith(_RESULT) for part in parts)
    if not told and any(part.title.startswith(_RESULT) for part in acted):
        # The messages tell no result, so the steps tell calls and results together.
        parts = [part for part in parts if not part.title.startswith(_CALLS)]
    calls = Counter(part.title for part in parts if part.title.startswith((_CALLS, _RESULT)))
    missing = []
    for part in _unseen(parts, acted):
        # As many calls and results of the tool as there are steps of it: they are the same, written otherwise.
        if calls[part.title] >= sum(other.title == part.title for other in acted):
            continue
        missing.append(part)
    spoken = [at for at, part in enumerate(parts) if part.title == _AGENT]
    at = spoken[-1] if missing and spoken and spoken[-1] == len(parts) - 1 else len(parts)
    return [*parts[:at], *missing, *parts[at:]]


def _tools(tools: Any) -> str:
    lines = []
    for tool in tools if isinstance(tools, list | tuple) else ():
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping) and function.get("name"):
            described = function.get("description")
            lines.append(f"- {_title(function['name'])}{f': {_content(described)}' if described else ''}")
    return "\n".join(lines)


def parts_of(row: Row) -> list[Part]:
    """
    What a judge is shown of a row.

    Args:
        row (`Mapping`):
            A rollout with `messages`, or `prompt` and `steps`, or just `prompt` and `final_text`.

    Returns:
        `list[Part]`: Empty when the row has nothing to judge.

    Examples:
    ```python
    >>> [part.title for part in parts_of({"prompt": "Where is A1?", "final_text": "It shipped.", "reward": 1})]
    ['USER', 'AGENT']

    ```
    """
    parts = _turns(row)
    if not parts:
        return []
    tools = _tools(row.get("tools"))
    if tools:
        parts.insert(0, Part("TOOLS OF THE AGENT", tools))
    changes = row.get("state_changes")
    if isinstance(changes, list | tuple):
        shown = "\n".join(as_text(change) for change in changes) or "Nothing changed."
        parts.append(Part("WHAT THE RUN CHANGED IN THE WORLD, ALL IN ALL", shown))
    return parts


def code_for(*texts: str) -> str:
    """
    A code that occurs in none of the texts, the same for the same texts.

    Examples:
    ```python
    >>> code_for("a") == code_for("a"), code_for("a") == code_for("b")
    (True, False)

    ```
    """
    joined = "\n".join(texts)
    attempt = 0
    while (code := digest(joined, attempt, length=_CODE_DIGITS).upper()) in joined:
        attempt += 1
    return code


def fenced(parts: Sequence[Part], code: str, title: str = "TRANSCRIPT") -> str:
    """The parts between marks that carry the code."""
    lines = [f"<<{code} BEGIN {title}>>"]
    for number, part in enumerate(parts, 1):
        lines += (f"<<{code} {number}. {part.title}>>", part.text)
    lines.append(f"<<{code} END {title}>>")
    return "\n".join(lines)
