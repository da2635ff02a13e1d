"""What a reward's own program mentions: words a reply might be paid for, and tags it might be looked for in.

A policy finds the words a reward pays for by trying; reading them off the constants of the function finds them at
once. Nothing is run for it, and a word that pays nothing costs one reply.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whileai_hf.score.verify.base import Verifier


# Words about messages and rows, which every reward mentions.
_PLUMBING = frozenset(
    "role content assistant user system tool prompt prompts completion completions text type function name arguments "
    "reward rewards answer solution final_text steps messages nan inf none utf-8".split()
)
_PLAIN_WORDS = re.compile(r"[^\W\d_](?:[\w ,.!'-]{0,38}[\w.!])?")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]{0,30})>")
ANSWER_TAGS = frozenset("answer final final_answer result response solution output".split())
"""Tags that hold the answer; every other tag holds the working."""
# What turns a judge of this library into a reward mentions tags that no reply is looked for in.
_OURS = "whileai_hf."
# Words and helper functions that are followed at most.
_MOST_WORDS, _DEEPEST = 40, 3


@dataclass(frozen=True)
class Hints:
    """
    What the rewards under test mention.

    Args:
        words (`tuple[str]`):
            Plain words and short phrases.
        tags (`tuple[str]`):
            Names of tags such as `think`, in the order a reply needs them.
    """

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def hints_of(functions: Iterable[Callable[..., Any]]) -> Hints:
    """
    The words and tags in the constants of some functions and of the helpers they call in their own module.

    Examples:
    ```python
    >>> hints_of([lambda completions: [float("however" in text) for text in completions]]).words
    ('however',)
    >>> hints_of([lambda completions: "<answer>" in completions, lambda completions: "<think>" in completions]).tags
    ('think', 'answer')

    ```
    """
    texts = list(dict.fromkeys(text for function in functions for text in texts_of(function)))
    words = [
        text for text in texts if _PLAIN_WORDS.fullmatch(text) and text.casefold() not in _PLUMBING and len(text) > 1
    ]
    return Hints(tuple(words)[:_MOST_WORDS], _ordered_tags(texts))


def _ordered_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """
    The tags some texts mention. A pattern with several of them says in which order they come; of others it is only
    known that an answer comes after the working.
    """
    groups = [list(dict.fromkeys(tag for closing, tag in _TAG.findall(text) if not closing)) for text in texts]
    found: list[str] = max((group for group in groups if len(group) > 1), key=lambda group: len(group), default=[])
    rest = dict.fromkeys(tag for group in groups for tag in group if tag not in found)
    answers = [tag for tag in rest if tag.lower() in ANSWER_TAGS]
    first = next((place for place, tag in enumerate(found) if tag.lower() in ANSWER_TAGS), len(found))
    workings = [tag for tag in rest if tag not in answers]
    return (*found[:first], *workings, *found[first:], *answers)


def texts_of(function: Any) -> Iterator[str]:
    """The texts in the constants of a function, of what it is bound to, and of the helpers it calls."""
    while isinstance(function, functools.partial):
        yield from _strings([function.args, function.keywords])
        function = function.func
    function = inspect.unwrap(function)
    if isinstance(function, types.MethodType):
        function = function.__func__
    if isinstance(function, types.FunctionType):
        yield from _function_texts(function, _DEEPEST, set())
        return
    own = {name: value for name, value in _attributes(function).items() if name not in ("name", "field")}
    yield from _strings(list(own.values()))
    for value in own.values():
        if isinstance(value, types.FunctionType) and not value.__module__.startswith(_OURS):
            yield from _function_texts(value, _DEEPEST, set())
    if not isinstance(function, Verifier):  # ours mention nothing but the reasons they give
        call = type(function).__call__
        if isinstance(call, types.FunctionType):
            yield from _function_texts(call, _DEEPEST, set())


def _attributes(function: Any) -> dict[str, Any]:
    try:
        return dict(vars(function))
    except TypeError:  # a built-in, or a class with slots
        return {}


def _function_texts(function: types.FunctionType, depth: int, seen: set[int]) -> Iterator[str]:
    if id(function) in seen or depth == 0:
        return
    seen.add(id(function))
    yield from _constants(function.__code__, skip=function.__doc__)
    yield from _strings([function.__defaults__, function.__kwdefaults__])
    cells = [cell.cell_contents for cell in function.__closure__ or () if not _empty(cell)]
    names = [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]
    for value in (*cells, *names):
        if isinstance(value, types.FunctionType):
            if value.__module__ == function.__module__:
                yield from _function_texts(value, depth - 1, seen)
        else:
            yield from _strings(value)


def _empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _names(code: types.CodeType) -> list[str]:
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _names(constant)]
    return [*code.co_names, *inner]


def _constants(code: types.CodeType, skip: str | None) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _constants(constant, None)
        elif constant != skip or not isinstance(constant, str):
            yield from _strings(constant)


def _strings(value: Any, depth: int = 2) -> Iterator[str]:
    """Texts in plain containers and patterns."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value.pattern
    elif depth and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings([key, item], depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in sorted(value, key=str) if isinstance(value, set | frozenset) else value:
            yield from _strings(item, depth - 1)
