"""What an agent did, in twelve characters: rollouts with one signature did the same thing with other values.

Read from the calls (which tool, where each argument came from, how the call ended) and from the reply (whether it
turns the person down, about how long it is). Wording and values leave no trace in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from whileai_hf.rows.rng import digest


# Words in one step of length, and the step from which a reply is simply long.
_WORDS_PER_STEP, _MOST_STEPS = 12, 12
# Characters of a reply that are searched for a refusal; it comes early.
_READ = 600
_REFUSALS = (
    "can't ",
    "cannot ",
    "can not ",
    "won't ",
    "unable to",
    "not able to",
    "not allowed",
    "not permitted",
    "must decline",
    "have to decline",
    "i decline",
    "not something i",
    "outside what i",
    "beyond what i",
    "against our policy",
    "against policy",
)
# Characters of the results in which an argument is looked for.
_MOST_RESULT = 20_000


def _plain(text: str) -> str:
    # "1,200" and "1200" are one amount.
    return text.casefold().replace(",", "")


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return value.casefold()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).casefold()


def _stands_in(value: str, text: str) -> bool:
    """Whether `value` stands in `text` and is not merely the inside of a longer word or number."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not (
            (at > 0 and text[at - 1].isalnum() and value[:1].isalnum())
            or (end < len(text) and text[end].isalnum() and value[-1:].isalnum())
        ):
            return True
        at = text.find(value, at + 1)
    return False


def _leaves(value: Any) -> list[Any]:
    """The scalars in a value that say something: no switches, nothing empty."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    return [] if value is None or value == "" or isinstance(value, bool) else [value]


def _written(result: Any) -> str:
    try:
        return orjson.dumps(result, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:  # half a surrogate pair, an integer beyond 64 bits
        return str(result)


class _Heard:
    """What the agent could know so far: what the person said, and what its calls brought back."""

    def __init__(self, said: str) -> None:
        self.said = _plain(said)
        self._results: list[Any] = []
        self._brought = ""

    def listen(self, result: Any) -> None:
        """Takes note of a result; it is read when an argument needs it."""
        self._results.append(result)

    def add(self, text: str) -> None:
        """The person speaks again."""
        self.said += "\n" + _plain(text)

    def origin(self, value: Any) -> str:
        """`user`, `derived`, `invented` or `absent`; of several parts the least grounded one; `set` for a switch."""
        if type(value) is str and value:
            leaves = [value]
        elif isinstance(value, bool):
            return "set"
        else:
            leaves = _leaves(value)
            if not leaves:
                return "absent"
        spelled = [_spelled(leaf) for leaf in leaves]
        missing = [text for text in spelled if not _stands_in(text.replace(",", ""), self.said)]
        if not missing:
            return "user"
        if self._results:
            new = "\n".join(map(_written, self._results))
            self._brought = f"{self._brought}\n{new.casefold()}"[-_MOST_RESULT:]
            self._results.clear()
        return "derived" if all(_stands_in(text, self._brought) for text in missing) else "invented"


def _status(result: Any) -> str:
    if isinstance(result, dict):
        status = result.get("status")
        return status if isinstance(status, str) else "error" if result.get("error") else "ok"
    return "nothing" if result is None else "ok"


def _refused(reply: str) -> bool:
    start = reply[:_READ].casefold().replace("\u2019", "'")
    return any(words in start for words in _REFUSALS)


def behavior_signature(steps: Sequence[Mapping[str, Any]], final_text: str, prompt: str) -> str:
    """
    Signature of what an agent did.

    Args:
        steps (`Sequence[dict]`):
            The steps of the rollout: `{"tool", "arguments", "result"}`, `{"text"}` or `{"user"}`.
        final_text (`str`):
            The reply.
        prompt (`str`):
            The ask.

    Returns:
        `str`: 12 hexadecimal characters.

    Examples:
    ```python
    >>> def looked_up(order):
    ...     return [{"tool": "get_order", "arguments": {"order_id": order}, "result": {"status": "ok"}}]
    >>> asked = behavior_signature(looked_up("4412"), "It has shipped.", "Where is order 4412?")
    >>> asked == behavior_signature(looked_up("99"), "It is late.", "What about order 99?")
    True
    >>> asked == behavior_signature(looked_up("77"), "It has shipped.", "Where is order 4412?")
    False

    ```
    """
    heard = _Heard(prompt)
    did: list[str] = []
    for step in steps:
        name = step.get("tool")
        if name is None:
            if isinstance(step.get("user"), str):
                heard.add(step["user"])
            continue
        arguments, result = step.get("arguments"), step.get("result")
        if isinstance(arguments, dict):
            origins = ",".join(sorted([heard.origin(value) for value in arguments.values()]))
        else:
            origins = "unreadable" if arguments else ""
        did.append(f"{name}({origins}):{_status(result)}")
        heard.listen(result)
    length = min(final_text.count(" ") // _WORDS_PER_STEP, _MOST_STEPS)
    return digest("behavior", "\n".join(did), _refused(final_text), length, length=12)
