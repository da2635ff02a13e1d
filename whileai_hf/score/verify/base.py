"""A verifier: a reward that is a program, not an opinion.

It compares what the agent finally said with a gold answer, or checks its form, and honours the judge contract, so it
goes wherever a judge goes. To write one, subclass [`Verifier`] and define `check`, or decorate a function with
[`verifier`]. A missing gold answer leaves a row unjudged; it never scores 0. A reply that is empty, or only the ask
again, scores 0 unless the gold answer itself is that.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.reading.texts import text_of
from whileai_hf.score.verify.gold import GOLD_COLUMNS, Gold, find_gold
from whileai_hf.score.verify.reply import ask_of, own_words, squashed


class Verifier(ABC):
    """
    Base class of verifiers.

    Args:
        field (`str`, *optional*):
            Where the gold answer is, as a dotted path into the row (`"task.answer"`). Without it: the row's
            `privileged.reference` (unless the template writer made the task: then it is a description), else its
            first filled column of `answer`, `target`, `reference`, `gold`, `label`, `solution`.
        name (`str`, *optional*):
            Name in `judge_name` and in the markers of a composition; the class's own by default.

    Examples:
    ```python
    >>> class Short(Verifier):
    ...     name, needs_gold = "short", False
    ...     def check(self, candidate, gold):
    ...         return len(candidate) < 20
    >>> Short()({"final_text": "It shipped."})["reward"]
    1.0

    ```
    """

    name: str = "verifier"
    needs_gold: bool = True
    """Whether a row without a gold answer is left unjudged."""
    concurrency: int = 1
    """Rows checked at the same time unless told otherwise: a program computes and never waits."""
    reads_only: bool = True
    """Whether it leaves the rows it is given as they are; otherwise each row is copied for it."""
    searches: bool = False
    """Whether the answer may stand anywhere in the reply; then copies of the ask in it are not searched."""
    echo: bool = False
    """Whether what the reply copies from the ask counts like the agent's own words."""
    reads: tuple[str, ...] = ()
    """Further columns that `look` reads."""

    def __init__(self, *, field: str | None = None, name: str | None = None) -> None:
        if field is not None and not (isinstance(field, str) and field.strip()):
            raise ConfigurationError(f"field={field!r} cannot name a column; pass a dotted path such as 'task.answer'")
        self.field = field
        if name is not None:
            self.name = name

    @abstractmethod
    def check(self, candidate: str, gold: Any) -> Any:
        """
        Compares a reply with the gold answer.

        Args:
            candidate (`str`):
                What the agent finally said; never blank when the verifier needs no gold.
            gold (`Any`):
                The gold answer; `None` when the verifier needs none.

        Returns:
            A number, a bool, or a mapping as in the judge contract.
        """

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict on a row, in the form of the judge contract."""
        said = row.get("final_text")
        if said is None and "final_text" not in row:
            return {"reward": None, "reason": "the row has no final_text to check"}
        gold = find_gold(row, self.field) if self.needs_gold else Gold(None)
        if gold.missing:
            return {"reward": None, "reason": gold.missing}
        candidate = said if type(said) is str else text_of(said)
        prompt = row.get("prompt")
        if prompt and not self.echo:
            own = own_words(candidate, prompt if type(prompt) is str else ask_of(prompt), cut=self.searches)
            if own is not None:
                candidate = own
            elif candidate.strip() and not _is_reference(gold.value, candidate):
                return {"reward": 0.0, "reason": "the reply only repeats the ask"}
        return self.look(candidate, gold.value, row)

    def look(self, candidate: str, gold: Any, row: Mapping[str, Any]) -> dict[str, Any]:
        """[`judge`] for a verifier that needs more of the row than reply and gold; `reads` names what it needs."""
        return self.judge(candidate, gold)

    def judge(self, candidate: str, gold: Any = None) -> dict[str, Any]:
        """
        The verdict on a reply, without a row around it.

        Args:
            candidate (`str`):
                The reply.
            gold (`Any`, *optional*):
                The gold answer.

        Returns:
            `dict`: `{"reward", ...}` as in the judge contract.
        """
        if self.needs_gold and gold is None:
            return {"reward": None, "reason": "no gold answer was given"}
        if not candidate.strip() and not (self.needs_gold and _is_blank(gold)):
            return {"reward": 0.0, "reason": "empty reply"}
        result = self.check(candidate, gold)
        if result is True or result is False:
            return {"reward": float(result)}
        return dict(result) if isinstance(result, Mapping) else {"reward": result}

    def provenance(self) -> dict[str, Any]:
        """What every verdict of this verifier has in common."""
        return {"verifier": type(self).__name__}

    def columns(self) -> Sequence[str] | None:
        """The row columns the verifier may read, so that nothing else is decoded; `None` for all."""
        if type(self).__call__ is not Verifier.__call__:  # a subclass that looks at the row itself
            return None
        read = ["final_text", *self.reads] if self.echo else ["final_text", "prompt", *self.reads]
        if not self.needs_gold:
            return read
        if self.field is not None:
            return [*read, self.field, self.field.partition(".")[0]]
        return [*read, "writer_model", "privileged", *GOLD_COLUMNS]

    def as_reward(self) -> Callable[..., Any]:
        """
        The verifier as a reward function of TRL's trainers; see
        [`~whileai_hf.score.verify.reward.as_reward`].

        Returns:
            `Callable`: `(prompts, completions, **columns) -> list[float | None]`.
        """
        from whileai_hf.score.verify.reward import as_reward  # it needs the judging that is built on verifiers

        return as_reward(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r})"


def _is_blank(gold: Any) -> bool:
    if isinstance(gold, list | tuple):
        return any(_is_blank(item) for item in gold)
    return isinstance(gold, str) and not gold.strip()


def _is_reference(gold: Any, candidate: str) -> bool:
    if isinstance(gold, list | tuple):
        return any(_is_reference(item, candidate) for item in gold)
    return gold is not None and squashed(str(gold)) == squashed(candidate)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class FunctionVerifier(Verifier):
    """
    A verifier made of a function; what [`verifier`] returns.

    Args:
        function (`Callable`):
            `(candidate) -> result` or `(candidate, gold) -> result`.
        field (`str`, *optional*):
            Where the gold answer is.
        name (`str`, *optional*, defaults to the function's name):
            Name in the rows.
    """

    def __init__(self, function: Callable[..., Any], *, field: str | None = None, name: str | None = None) -> None:
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise ConfigurationError(f"@verifier takes a plain function, got {function!r}; an async one is a judge")
        parameters = inspect.signature(function).parameters.values()
        required = [p for p in parameters if p.kind in _POSITIONAL and p.default is p.empty]
        if len(required) not in (1, 2):
            raise ConfigurationError(
                f"@verifier got {function!r} with {len(required)} required arguments; "
                "expected (candidate) or (candidate, gold)"
            )
        super().__init__(field=field, name=name or getattr(function, "__name__", type(function).__name__))
        self.function = function
        self.needs_gold = len(required) == 2

    def check(self, candidate: str, gold: Any) -> Any:
        """Calls the function."""
        return self.function(candidate, gold) if self.needs_gold else self.function(candidate)


@overload
def verifier(function: Callable[..., Any], /) -> FunctionVerifier: ...


@overload
def verifier(
    *, field: str | None = None, name: str | None = None
) -> Callable[[Callable[..., Any]], FunctionVerifier]: ...


def verifier(
    function: Callable[..., Any] | None = None, /, *, field: str | None = None, name: str | None = None
) -> FunctionVerifier | Callable[[Callable[..., Any]], FunctionVerifier]:
    """
    Makes a verifier of a function.

    Args:
        function (`Callable`):
            `(candidate) -> result`, or `(candidate, gold) -> result` when a gold answer is needed. The result is a
            number, a bool, or a mapping as in the judge contract.
        field (`str`, *optional*):
            Where the gold answer is, as a dotted path into the row.
        name (`str`, *optional*, defaults to the function's name):
            Name in the rows.

    Returns:
        [`Verifier`]: Callable with a row.

    Examples:
    ```python
    >>> @verifier
    ... def same_length(candidate, gold):
    ...     return len(candidate) == len(gold)
    >>> same_length({"final_text": "abc", "answer": "xyz"})["reward"]
    1.0

    ```
    """
    if function is not None:
        return FunctionVerifier(function, field=field, name=name)
    return lambda wrapped: FunctionVerifier(wrapped, field=field, name=name)
