"""The numbers a chat callable returns beside its message: tokens, log probabilities, whether the answer was cut.

They may stand on the message itself (`usage`, `logprob`, `n_tokens`, `token_logprobs`, `finish_reason`) or where chat
APIs put them in a whole completion. They belong on the row, never in the messages a model gets back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard


# Keys of a returned message that are numbers about it.
NUMBER_KEYS = frozenset({"usage", "logprob", "n_tokens", "token_logprobs", "finish_reason"})
# Names chat APIs give the two counts every backend has.
_COUNTS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
_TOKENS = ("input_tokens", "output_tokens")


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(slots=True)
class TurnNumbers:
    """What is known about one reply; `None` and `{}` where nothing is."""

    usage: dict[str, int] = field(default_factory=dict)
    logprob: float | None = None
    n_tokens: int | None = None
    token_logprobs: list[float] | None = None
    truncated: bool = False

    def on_step(self) -> dict[str, Any]:
        """What a step says about its turn."""
        found: dict[str, Any] = {name: self.usage[name] for name in _TOKENS if name in self.usage}
        for name, value in (
            ("logprob", self.logprob),
            ("n_tokens", self.n_tokens),
            ("token_logprobs", self.token_logprobs),
        ):
            if value is not None:
                found[name] = value
        if self.truncated:
            found["truncated"] = True
        return found


def _listed(choice: Any) -> list[float] | None:
    """The log probabilities in the shape of a chat completion's choice."""
    logprobs = choice.get("logprobs") if isinstance(choice, Mapping) else None
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list | tuple):
        return None
    values = [entry.get("logprob") if isinstance(entry, Mapping) else None for entry in content]
    numbers = [float(value) for value in values if _is_number(value)]
    return numbers if numbers and len(numbers) == len(values) else None


def read_numbers(answer: Any) -> TurnNumbers:
    """
    The numbers of one returned message or whole completion.

    Args:
        answer (`Any`):
            As the callable returned it. What is no number is left out.

    Returns:
        [`TurnNumbers`]: Usage under `input_tokens` and `output_tokens`, other counts under their own names.

    Examples:
    ```python
    >>> usage = {"prompt_tokens": 9, "completion_tokens": 2}
    >>> read_numbers({"content": "Hi", "usage": usage, "logprob": -0.5}).on_step()
    {'input_tokens': 9, 'output_tokens': 2, 'logprob': -0.5}

    ```
    """
    if not isinstance(answer, Mapping):
        return TurnNumbers()
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list | tuple) and choices else answer
    raw = answer.get("usage")
    usage = {
        _COUNTS.get(str(key), str(key)): count
        for key, count in (raw.items() if isinstance(raw, Mapping) else ())
        if isinstance(count, int) and not isinstance(count, bool)
    }
    tokens = answer.get("token_logprobs")
    each = [float(t) for t in tokens] if isinstance(tokens, list | tuple) and all(map(_is_number, tokens)) else None
    each = each if each is not None else _listed(choice)
    logprob, n_tokens = answer.get("logprob"), answer.get("n_tokens")
    if not _is_number(logprob):
        logprob = math.fsum(each) if each is not None else None
    if not isinstance(n_tokens, int) or isinstance(n_tokens, bool):
        n_tokens = len(each) if each is not None else None
    finish = choice.get("finish_reason") if isinstance(choice, Mapping) else None
    return TurnNumbers(
        usage=usage,
        logprob=None if logprob is None else float(logprob),
        n_tokens=n_tokens,
        token_logprobs=each,
        truncated=finish == "length" or answer.get("truncated") is True,
    )


class Totals:
    """The numbers of a conversation: sums over its turns, and only of what every turn had."""

    def __init__(self) -> None:
        self._turns: list[TurnNumbers] = []

    def add(self, numbers: TurnNumbers) -> None:
        """Counts one turn."""
        self._turns.append(numbers)

    def on_row(self) -> dict[str, Any]:
        """
        `usage`, `logprob`, `n_tokens`, `token_logprobs`, as far as they are known. A sum over some of the turns would
        look like the whole, so a log probability missing for one turn is missing for the row.
        """
        found: dict[str, Any] = {}
        usage: dict[str, int] = {}
        for turn in self._turns:
            for name, count in turn.usage.items():
                usage[name] = usage.get(name, 0) + count
        if usage:
            found["usage"] = usage
        logprobs = [turn.logprob for turn in self._turns if turn.logprob is not None]
        counts = [turn.n_tokens for turn in self._turns if turn.n_tokens is not None]
        tokens = [turn.token_logprobs for turn in self._turns if turn.token_logprobs is not None]
        n_turns = len(self._turns)
        if logprobs and len(logprobs) == n_turns:
            found["logprob"] = math.fsum(logprobs)
        if counts and len(counts) == n_turns:
            found["n_tokens"] = sum(counts)
        if tokens and len(tokens) == n_turns:
            found["token_logprobs"] = [value for turn in tokens for value in turn]
        return found
