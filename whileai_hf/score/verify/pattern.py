"""A verifier that matches a pattern, within a bounded time.

The standard library's `re` cannot be interrupted, and one reply that makes a pattern backtrack would stop a run for
good; the `regex` package takes a timeout.
"""

from __future__ import annotations

from typing import Any

import regex

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.text import gold_texts, normalise


class Regex(Verifier):
    """
    1 when the reply matches a pattern, or when the part the pattern captures equals the gold answer.

    Args:
        pattern (`str`):
            A pattern of the `regex` package (a superset of `re`).
        group (`int` or `str`, *optional*):
            A capturing group; its text in the last match is then compared with the gold answer.
        full (`bool`, *optional*, defaults to `False`):
            Whether the whole reply must match, not just a part of it.
        case (`bool`, *optional*, defaults to `False`):
            Whether upper and lower case differ.
        timeout (`float`, *optional*, defaults to 1.0):
            Seconds a match may take; a row that takes longer is unjudged with status `timeout`.
        field (`str`, *optional*):
            Where the gold answer is; see [`Verifier`].
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> Regex(r"order \\d{4}")({"final_text": "Order 4412 shipped."})["reward"]
    1.0
    >>> Regex(r"#### (\\d+)", group=1)({"final_text": "so #### 42", "answer": "42"})["reward"]
    1.0

    ```
    """

    name = "regex"

    def __init__(
        self,
        pattern: str,
        *,
        group: int | str | None = None,
        full: bool = False,
        case: bool = False,
        timeout: float = 1.0,
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise ConfigurationError(f"Regex(timeout={timeout!r}) is not a number of seconds above 0")
        try:
            self.pattern = regex.compile(pattern, 0 if case else regex.IGNORECASE)
        except (regex.error, TypeError) as error:
            raise ConfigurationError(f"Regex(pattern={pattern!r}) does not compile: {error}") from error
        groups = {*range(self.pattern.groups + 1), *self.pattern.groupindex}
        if group is not None and group not in groups:
            raise ConfigurationError(f"Regex(group={group!r}) is no group of the pattern {pattern!r}")
        self.group, self.full, self.case, self.timeout = group, full, case, float(timeout)
        self.needs_gold = group is not None
        self.searches = not full

    def check(self, candidate: str, gold: Any) -> Any:
        """Searches within the time; `TimeoutError` when it runs out."""
        try:
            return self._matches(candidate, gold)
        except TimeoutError as error:
            raise TimeoutError(f"the pattern took longer than {self.timeout:g} s on this reply") from error

    def _matches(self, candidate: str, gold: Any) -> Any:
        if self.group is None:
            find = self.pattern.fullmatch if self.full else self.pattern.search
            return find(candidate, timeout=self.timeout) is not None
        captured: str | None = None
        if self.full:
            whole = self.pattern.fullmatch(candidate, timeout=self.timeout)
            captured = None if whole is None else whole.group(self.group)
        else:
            for match in self.pattern.finditer(candidate, timeout=self.timeout):
                captured = match.group(self.group)
        if captured is None:
            return {"reward": 0.0, "reason": "the pattern does not occur"}
        return _form(captured, self.case) in [_form(text, self.case) for text in gold_texts(gold)]


def _form(text: str, case: bool) -> str:
    return normalise(text, case=case, whitespace=False, punctuation=True)
