"""From a rollout row to the conversation a model is trained on.

Rows of a run carry their messages. Rows of other stacks may hold only an ask, steps and a last text, or messages that
stop before the answer: the conversation is then built from those. Rows of TRL hold it as `prompt` and `completion`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whileai_hf.actors.played import messages_from_steps
from whileai_hf.export.messages import (
    Declared,
    Message,
    answers_nothing,
    read_arguments,
    read_message,
    text_of,
)
from whileai_hf.export.plain import Read, read_all
from whileai_hf.export.reasons import Reason
from whileai_hf.rows.privileged import scrub_text
from whileai_hf.rows.view import Row


# Columns of a row that these functions read.
READ_COLUMNS = ("messages", "prompt", "completion", "final_text", "finish_reason", "rollout_status", "images", "image")


def first_user_text(messages: list[Message]) -> str:
    """What the user said first."""
    return next((message["content"] for message in messages if message["role"] == "user"), "")


def with_system(messages: list[Message], system_prompt: str | None) -> list[Message]:
    """The conversation under another system prompt; `None` leaves it, the empty string takes it away."""
    if system_prompt is None:
        return messages
    start = 0
    while start < len(messages) and messages[start]["role"] == "system":
        start += 1
    rest = messages[start:] if start else messages
    return [{"role": "system", "content": system_prompt}, *rest] if system_prompt else [*rest]


def has_images(row: Row) -> bool:
    """Whether a row holds images beside its messages; text in such a column is somebody's note."""
    for cell in (row.get("images"), row.get("image")):
        if isinstance(cell, list | tuple):
            if cell:
                return True
        elif not (cell is None or isinstance(cell, str | int | float)):
            return True
    return False


def is_completed(row: Row) -> bool:
    """Whether a row holds its conversation as `prompt` and `completion`, TRL's own shape."""
    return row.get("messages") is None and row.get("final_text") is None and row.get("completion") is not None


def read_list(value: Any, declared: Declared, role: str) -> list[Message] | Reason:
    """
    Messages in the shape that is exported; a text is one of them.

    Args:
        value (`list[dict]` or `str`, *optional*):
            What a cell holds.
        declared (`Mapping[str, Collection[str]]`):
            Parameter names by tool.
        role (`str`):
            Who says a text.

    Examples:
    ```python
    >>> read_list("hi", {}, "user"), read_list(None, {}, "user")
    ([{'role': 'user', 'content': 'hi'}], [])

    ```
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [{"role": role, "content": scrub_text(value)}] if value.strip() else []
    if not isinstance(value, list | tuple):
        return Reason.NO_CONVERSATION
    messages: list[Message] = []
    for item in value:
        message = read_message(item, declared)
        if isinstance(message, Reason):
            return message
        messages.append(message)
    return messages


def _given_messages(row: Row, declared: Declared) -> Read | Reason:
    """The row's messages; a row without them may have a conversational prompt, and what it was answered."""
    given, prompt = row.get("messages"), row.get("prompt")
    if given is None and is_completed(row):
        asked, answer = read_list(prompt, declared, "user"), read_list(row["completion"], declared, "assistant")
        if isinstance(asked, Reason):
            return asked
        return answer if isinstance(answer, Reason) else Read([*asked, *answer], False)
    if given is None:
        given = prompt if isinstance(prompt, list | tuple) else ()
    if type(given) is not list and not isinstance(given, list | tuple):
        return Reason.NO_CONVERSATION
    return read_all(given, declared)


def _read_steps(steps: Any) -> list[dict[str, Any]] | Reason:
    """Steps that `messages_from_steps` can take, or why they are none."""
    read: list[dict[str, Any]] = []
    for step in steps or []:
        if not isinstance(step, dict):
            return Reason.NO_CONVERSATION
        words = {key: step[key] for key in ("text", "user") if isinstance(step.get(key), str)}
        if step.get("tool") is None:
            if not words:
                return Reason.NO_CONVERSATION
            read.append(words)
            continue
        arguments = read_arguments(step.get("arguments"))
        if not isinstance(step["tool"], str) or not step["tool"] or arguments is None or step.get("malformed"):
            return Reason.MALFORMED_CALLS
        result = text_of(step.get("result"), "tool")
        if isinstance(result, Reason):
            return result
        read.append({**words, "tool": step["tool"], "arguments": arguments, "result": result})
    return read


def _ending(messages: list[Message], row: Row) -> list[Message]:
    """The conversation up to the agent's last word: a missing `final_text` is added, unanswered user turns go."""
    final_text = row.get("final_text")
    if isinstance(final_text, str) and final_text.strip() and messages[-1]["role"] != "assistant":
        said = any(m["role"] == "assistant" and m["content"] == final_text for m in messages)
        if not said:
            return [*messages, {"role": "assistant", "content": scrub_text(final_text)}]
    end = len(messages)
    while end and messages[end - 1]["role"] == "user":
        end -= 1
    return messages[:end]


def read_conversation(
    row: Row, declared: Declared, steps: Callable[[], Any], masked: bool = False
) -> list[Message] | Reason:
    """
    The whole conversation of a row.

    Args:
        row (`dict`):
            A rollout row; see `READ_COLUMNS`.
        declared (`Mapping[str, Collection[str]]`):
            Parameter names by tool.
        steps (`Callable`):
            Gives the row's steps. Called only for a row whose messages lack the agent: rows of a run hold the same
            content twice, and decoding both would double the cost.
        masked (`bool`, *optional*, defaults to `False`):
            The row is a training row with a loss mask, which may end with any turn of the agent, a call too.

    Returns:
        `list[dict]` or [`Reason`]: Messages that end with an answer of the agent, or why the row is not trained on.

    Examples:
    ```python
    >>> row = {"prompt": "Where is A1?", "final_text": "On its way."}
    >>> [message["role"] for message in read_conversation(row, {}, lambda: [])]
    ['user', 'assistant']

    ```
    """
    if row.get("rollout_status") not in (None, "ok"):
        return Reason.FAILED
    if row.get("finish_reason") == "length":
        return Reason.CUT_OFF
    if ("images" in row or "image" in row) and has_images(row):
        return Reason.NOT_TEXT
    read = _given_messages(row, declared)
    if not isinstance(read, Read):
        return read
    messages, answered = read
    if not messages or messages[-1]["role"] != "assistant":
        if not any(message["role"] == "assistant" for message in messages):
            rest = _rebuilt(row, steps(), bool(messages))
            if isinstance(rest, Reason):
                return rest
            messages = [*messages, *rest]
        messages, answered = _ending(messages, row), False
    if not answered and answers_nothing(messages):
        return Reason.ORPHAN_RESULT
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant":
        return Reason.NO_FINAL_ANSWER
    if not (masked if last.get("tool_calls") else last["content"].strip()):
        return Reason.NO_FINAL_ANSWER
    return messages


def _rebuilt(row: Row, steps: Any, opened: bool) -> list[Message] | Reason:
    """Messages from the ask, the steps and the last text; without the ask when the conversation is `opened`."""
    prompt = row.get("prompt")
    if not opened and (not isinstance(prompt, str) or not prompt):
        return Reason.NO_CONVERSATION
    read = _read_steps(steps)
    if isinstance(read, Reason):
        return read
    final_text = row.get("final_text")
    messages = messages_from_steps(scrub_text(prompt or ""), read, final_text if isinstance(final_text, str) else "")
    return messages[1:] if opened else messages


def read_opening(row: Row) -> list[Message] | Reason:
    """
    What stands before the agent's first turn: the system prompt and the ask.

    Args:
        row (`dict`):
            A rollout row, whatever became of the rollout.

    Returns:
        `list[dict]` or [`Reason`]: Messages that hold at least one user turn, or why there are none.

    Examples:
    ```python
    >>> read_opening({"prompt": "Where is A1?"})
    [{'role': 'user', 'content': 'Where is A1?'}]

    ```
    """
    if has_images(row):
        return Reason.NOT_TEXT
    prompt, opening = row.get("prompt"), _opening(row)
    if answers_nothing(opening):
        return Reason.ORPHAN_RESULT
    if any(message["role"] == "user" for message in opening):
        return opening
    if not isinstance(prompt, str) or not prompt:
        return Reason.NO_CONVERSATION
    return [*opening, {"role": "user", "content": scrub_text(prompt)}]


def _opening(row: Row) -> list[Message]:
    """The messages before the agent's first answer; all of a prompt that is a list of messages to be answered."""
    given, prompt = row.get("messages"), row.get("prompt")
    if given is None and isinstance(prompt, list | tuple):
        whole = read_list(prompt, {}, "user")
        if not isinstance(whole, Reason) and whole and whole[-1]["role"] != "assistant":
            return whole
        given = prompt
    opening: list[Message] = []
    greeting, asked = None, False
    for item in given if isinstance(given, list | tuple) else ():
        message = read_message(item, {})
        if isinstance(message, Reason) or message["role"] == "tool" or (asked and message["role"] == "assistant"):
            break
        if message["role"] == "assistant" and greeting is None:
            greeting = len(opening)
        asked = asked or message["role"] == "user"
        opening.append(message)
    if greeting is None:
        return opening
    # An agent that speaks first greets; where the ask is another than the one that follows, it answers that.
    greets = asked and (not isinstance(prompt, str) or prompt == first_user_text(opening))
    return opening if greets else opening[:greeting]
