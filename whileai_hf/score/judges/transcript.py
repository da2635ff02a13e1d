"""A row as a judge is shown it: the agent's instructions and tools, every turn in order, what changed in the world.

Nothing else of the row is shown: no reward, no gold answer, no fault plan, no label. Each part begins with a mark that
carries a code made from the whole text, so that no reply can contain it: a run can neither end the transcript nor
put words into somebody else's mouth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from whileai_hf.rows import dumps
from whileai_hf.rows.rng import digest
from whileai_hf.score.reading.texts import text_of


Row = Mapping[str, Any]

# The columns a transcript is made of.
TRANSCRIPT_COLUMNS = ("messages", "steps", "prompt", "completion", "final_text", "tools", "state_changes")
_CODE_DIGITS = 12
_SPEAKERS = {"system": "INSTRUCTIONS OF THE AGENT", "developer": "INSTRUCTIONS OF THE AGENT", "user": "USER"}
_AGENT = "AGENT"
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
    return Part(f"{_AGENT} CALLS {_title(function.get('name'))}", as_text({} if arguments is None else arguments))


def _from_messages(messages: Sequence[Any]) -> Iterator[Part]:
    names: dict[Any, str] = {}
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        role = message.get("role")
        text = _content(message.get("content"))
        if role == "assistant":
            if text:
                yield Part(_AGENT, text)
            for entry in message.get("tool_calls") or ():
                made = _call(entry)
                if isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
                    names[entry["id"]] = made.title.removeprefix(f"{_AGENT} CALLS ")
                yield made
        elif role in ("tool", "function"):
            call_id = message.get("tool_call_id")
            name = message.get("name") or (names.get(call_id) if isinstance(call_id, str) else None) or "a tool"
            yield Part(f"RESULT OF {_title(name)}", text)
        else:
            yield Part(_SPEAKERS.get(role, "OTHER") if isinstance(role, str) else "OTHER", text)


def _from_steps(steps: Sequence[Any]) -> Iterator[Part]:
    for step in steps:
        if not isinstance(step, Mapping):
            continue
        if "tool" in step:
            yield _call({"name": step["tool"], "arguments": step.get("arguments")})
            if "result" in step:
                yield Part(f"RESULT OF {_title(step['tool'])}", _content(step["result"]))
        for key, title in (("user", "USER"), ("text", _AGENT)):
            if step.get(key):
                yield Part(title, _content(step[key]))


def _turns(row: Row) -> list[Part]:
    messages = row.get("messages")
    if isinstance(messages, list | tuple) and messages:
        parts = list(_from_messages(messages))
    else:
        prompt, completion = row.get("prompt"), row.get("completion")
        parts = list(_from_messages(prompt)) if isinstance(prompt, list | tuple) else []
        if isinstance(prompt, str) and prompt:
            parts.append(Part("USER", as_text(prompt)))
        parts += _from_steps(row.get("steps") or ()) if isinstance(row.get("steps") or (), list | tuple) else ()
        if isinstance(completion, list | tuple):
            parts += _from_messages(completion)
        elif isinstance(completion, str) and completion:
            parts.append(Part(_AGENT, as_text(completion)))
    final = _content(row.get("final_text"))
    if final and final not in [part.text for part in parts if part.title == _AGENT]:
        parts.append(Part(_AGENT, final))
    return parts


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
