"""A model that says what it was told to: for examples, tests and demos that need no weights and no network.

It is a chat callable without memory: which reply is due follows from the conversation it is shown, so the same script
gives the same rollouts at any concurrency and in any order.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from whileai_hf.actors.naming import agent_id
from whileai_hf.errors import AgentError, ConfigurationError
from whileai_hf.rows.canonical import dumps
from whileai_hf.rows.rng import digest


_OUTPUT = 'a string (the final reply) or {"tool_calls": [{"name", "arguments"}], "content": str}'


class _Tape:
    """What a generator has yielded so far, read by position from any thread."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source
        self._seen: list[Any] = []
        self._lock = threading.Lock()

    def at(self, position: int) -> Any:
        with self._lock:
            while len(self._seen) <= position:
                # StopIteration must not leave a function that asyncio may be running.
                item = next(self._source, self)
                if item is self:
                    raise IndexError(position)
                self._seen.append(item)
            return self._seen[position]


class ScriptedModel:
    """
    A chat model that follows a script.

    Args:
        replies (`list`, `Callable` or `Iterator`):
            The outputs in order, a function `(messages, tools) -> output`, or a generator of outputs. An output is a
            string (the final reply) or `{"tool_calls": [{"name", "arguments"}, ...], "content": str}`; other keys,
            such as `reasoning_content`, are passed on. In a list or generator, the n-th output answers every
            conversation in which the assistant has spoken n times.

    Raises:
        ConfigurationError: When `replies` is none of these.

    Examples:
    ```python
    >>> from whileai_hf.actors import ScriptedModel
    >>> model = ScriptedModel([{"tool_calls": [{"name": "get_order", "arguments": {"id": "A1"}}]}, "It shipped."])
    >>> model([{"role": "user", "content": "Where is A1?"}], [])["tool_calls"][0]["function"]["name"]
    'get_order'

    ```
    """

    def __init__(self, replies: Sequence[Any] | Callable[..., Any] | Iterator[Any]) -> None:
        self._function: Callable[..., Any] | None = None
        self._tape: _Tape | None = None
        self._list: list[Any] = []
        if isinstance(replies, Iterator):
            self._tape = _Tape(replies)
        elif inspect.isgeneratorfunction(replies):
            self._tape = _Tape(replies())
        elif callable(replies):
            self._function = replies
        elif isinstance(replies, Sequence) and not isinstance(replies, (str, bytes)):
            self._list = list(replies)
            for index, output in enumerate(self._list):
                _check(output, f"replies[{index}]", ConfigurationError)
        else:
            raise ConfigurationError(f"replies is {replies!r:.60}; pass a list, a function or a generator of outputs.")

    @property
    def agent_id(self) -> str:
        """The class and, for a list or a function, what it says."""
        script = agent_id(self._function) if self._function else dumps(self._list).decode() if self._list else ""
        return f"whileai_hf.actors:ScriptedModel#{digest(script, length=8)}"

    def _output(self, position: int, messages: Sequence[Mapping[str, Any]], tools: Any) -> Any:
        if self._function is not None:
            return self._function(messages, tools)
        try:
            return self._tape.at(position) if self._tape is not None else self._list[position]
        except IndexError:
            raise AgentError(
                f"the script has no reply for turn {position + 1}; add one, or end with a string before it."
            ) from None

    def __call__(self, messages: Sequence[Mapping[str, Any]], tools: Any = None) -> dict[str, Any]:
        """
        The next assistant message.

        Args:
            messages (`list[dict]`):
                The conversation so far.
            tools (`list[dict]`, *optional*):
                Passed to a script that is a function.

        Returns:
            `dict`: An assistant message in OpenAI shape.

        Raises:
            AgentError: When the script has no reply for this turn.
        """
        position = sum(message.get("role") == "assistant" for message in messages)
        output = self._output(position, messages, tools)
        _check(output, f"the script's output for turn {position + 1}", AgentError)
        if isinstance(output, str):
            return {"role": "assistant", "content": output}
        made = sum(len(message.get("tool_calls") or ()) for message in messages)
        reply = {"role": "assistant", "content": "", **output}
        reply["tool_calls"] = [_call(call, made + index) for index, call in enumerate(output.get("tool_calls") or ())]
        if not reply["tool_calls"]:
            del reply["tool_calls"]
        return reply


def _check(output: Any, where: str, error: type[Exception]) -> None:
    if isinstance(output, str) or (isinstance(output, Mapping) and output.keys() & {"tool_calls", "content"}):
        return
    raise error(f"{where} is {output!r:.60}; expected {_OUTPUT}.")


def _call(call: Mapping[str, Any], number: int) -> dict[str, Any]:
    inner = call.get("function", call)
    function = {"name": inner.get("name"), "arguments": inner.get("arguments", {})}
    return {"id": call.get("id") or f"call_{number}", "type": "function", "function": function}
