"""Whether words are about a call: the stems of a claimed verb in its name, its arguments and what it answered."""

from __future__ import annotations

from functools import lru_cache

from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.scalars import name_words
from whileai_hf.score.reading.verbs import effects_of, stems_of


def has_stem(words: set[str] | tuple[str, ...], verb: str) -> bool:
    """Whether one of the words is a form of `verb` or of what comes down to it."""
    stems = stems_of(verb)
    return any(word.startswith(stems) for word in words)


def fits(call: Call, verb: str) -> bool:
    """
    Whether a claimed verb can be about a call.

    Examples:
    ```python
    >>> from whileai_hf.score.reading import calls_of
    >>> call = calls_of({"steps": [{"tool": "refund_order", "arguments": {"order_id": "A1"}, "result": None}]})[0]
    >>> fits(call, "refund"), fits(call, "credit"), fits(call, "cancel")
    (True, True, False)

    ```
    """
    return _names(call.tool, verb) or has_stem(call.words, verb)


def does(call: Call, verb: str) -> bool:
    """
    Whether a call may be the work that a verb claims, under whatever name for the same effect.

    Examples:
    ```python
    >>> from whileai_hf.score.reading import calls_of
    >>> call = calls_of({"steps": [{"tool": "move_files", "arguments": {}, "result": {"status": "ok"}}]})[0]
    >>> does(call, "rename"), fits(call, "rename")
    (True, False)

    ```
    """
    if fits(call, verb):
        return True
    effects = effects_of(verb)
    return any(word.startswith(effects) for word in name_words(call.tool))


@lru_cache(maxsize=8192)
def _names(tool: str, verb: str) -> bool:
    """Whether a tool is named for a claimed verb; most that do what is claimed are."""
    return has_stem(name_words(tool), verb)


def names_value(text: str, call: Call) -> bool:
    """Whether a text in lower case names one of the telling values of a call."""
    return any(
        str(value).casefold() in text for value in call.values if len(str(value)) > 1 and not isinstance(value, float)
    )


def names_only(text: str, call: Call, other: Call) -> bool:
    """Whether a text in lower case names a telling value of a call that another one does not have."""
    theirs = {str(value) for value in other.values}
    return any(
        str(value).casefold() in text
        for value in call.values
        if len(str(value)) > 1 and not isinstance(value, float) and str(value) not in theirs
    )
