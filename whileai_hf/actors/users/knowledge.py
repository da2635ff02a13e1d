"""What the person of a task knows, what nobody may say, and what the ask was about.

A person knows the values their ask is about (the arguments of the calls it takes), the references of their own case,
and whatever the task lists under `privileged["known"]`. They do not know the state of the records, the planned fault
or the answer key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.actors.users.facts import facts_in
from whileai_hf.actors.users.phrases import phrase, plain


# Last words of a parameter's name that say what kind of value it is, not what it is about.
REFERENCE_WORDS = ("id", "number", "no", "reference", "ref", "code", "key", "uuid", "name", "num", "identifier")
# The word before a reference in a sentence says what it refers to: "order ORD-7712".
_INTRODUCED = re.compile(r"\b([A-Za-z]{3,})\s+(?=(?:(?:number|no\.?|id|reference|code)\s+)?#?(\S*\d\S*))")
# Characters of a value one can be asked for; what is longer under `known` is a description.
_LONGEST_VALUE = 80


@dataclass(frozen=True, slots=True)
class Known:
    """
    One value the person knows.

    Args:
        label (`str`):
            What it is, in words: `"order id"`.
        value (`str`):
            The value as a person says it.
        said (`bool`):
            Whether it stands in the ask.
    """

    label: str
    value: str
    said: bool

    def subject(self) -> list[str]:
        """The words of the label that say what the value is about; its own words where there are no others."""
        words = self.label.split()
        about = [word for word in words if word not in REFERENCE_WORDS]
        return about or words

    @property
    def is_reference(self) -> bool:
        """Whether it identifies something."""
        return self.label.split()[-1] in REFERENCE_WORDS or bool(facts_in(self.value))


@dataclass(frozen=True, slots=True)
class Knowledge:
    """
    A task as the person in it sees it.

    Args:
        ask (`str`):
            Their first message.
        values (`list[Known]`):
            What they can tell when asked.
        told (`list[str]`):
            Texts whose facts they may use: the ask, the values, scripted turns, what `known` says.
        secrets (`list[str]`):
            Sentences nobody but a judge may see.
        actions (`list[str]`):
            Words for what the ask wants done: `["refund"]`.
        complete (`bool`):
            Whether the task says what the person knows; otherwise nothing they say can be called invented.
    """

    ask: str = ""
    values: list[Known] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    complete: bool = False


def spoken_value(value: Any) -> str:
    """
    A value as a person says it.

    Examples:
    ```python
    >>> spoken_value(["a", 2]), spoken_value({"city": "Oslo", "days": 2.0}), spoken_value(True)
    ('a, 2', 'city Oslo, days 2', 'yes')

    ```
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Mapping):
        return ", ".join(f"{label_of(str(key))} {spoken_value(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(spoken_value(item) for item in value)
    return "" if value is None else str(value)


def label_of(name: str) -> str:
    """A parameter's name in words: `orderId` and `order_id` are `order id`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").strip().casefold()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _of_calls(calls: Any, ask: str) -> Iterator[Known]:
    for call in calls if isinstance(calls, list | tuple) else ():
        arguments = call.get("arguments") if isinstance(call, Mapping) else None
        for name, value in (arguments or {}).items() if isinstance(arguments, Mapping) else ():
            spoken = spoken_value(value)
            if spoken:
                yield Known(label_of(str(name)), spoken, spoken.casefold() in ask.casefold())


def _introduced(text: str, said: bool) -> Iterator[Known]:
    """References in a sentence, named by the word before each."""
    for match in _INTRODUCED.finditer(text):
        value = match.group(2).strip(".,;:!?\"')(")
        if facts_in(value) and not facts_in(match.group(1)):
            yield Known(f"{match.group(1).casefold()} number", value, said)


def knowledge_of(task: Mapping[str, Any] | None, ask: str = "") -> Knowledge:
    """
    What the person of a task knows.

    Args:
        task (`Mapping`, *optional*):
            A task row. `expected_calls`, `privileged` and `script` are read when present;
            `privileged["known"]` may list further facts of the person, by name or as sentences.
        ask (`str`, *optional*, defaults to `""`):
            The first message, when the task does not hold it.

    Returns:
        [`Knowledge`]: With `complete` `False` when the task says nothing about what the person knows.

    Examples:
    ```python
    >>> call = {"tool": "refund", "arguments": {"order_id": "A-77"}}
    >>> task = {"prompt": "Refund my order.", "expected_calls": [call]}
    >>> knowledge_of(task).values
    [Known(label='order id', value='A-77', said=False)]

    ```
    """
    task = task or {}
    prompt = task.get("prompt")
    ask = prompt if isinstance(prompt, str) and prompt else ask
    calls, privileged = task.get("expected_calls"), task.get("privileged")
    known = privileged.get("known") if isinstance(privileged, Mapping) else None
    hidden = privileged.get("hidden_state") if isinstance(privileged, Mapping) else None
    values = [*_of_calls(calls, ask)]
    if isinstance(known, Mapping):
        values += [
            Known(label_of(str(name)), spoken_value(value), spoken_value(value).casefold() in ask.casefold())
            for name, value in known.items()
            if 0 < len(spoken_value(value)) <= _LONGEST_VALUE
        ]
    values += _introduced(ask, said=True)
    # The record of one's own case has a number one can look up, unless the ask says otherwise.
    if isinstance(hidden, str) and not phrase("disclaims").search(plain(ask)):
        values += _introduced(hidden, said=False)
    script = [turn["user"] for turn in task.get("script") or () if isinstance(turn, Mapping) and "user" in turn]
    unique = {known.value.casefold(): known for known in reversed(values)}
    tools = [str(call.get("tool") or "") for call in calls or () if isinstance(call, Mapping)]
    return Knowledge(
        ask=ask,
        values=[known for known in values if unique[known.value.casefold()] is known],
        told=[ask, *(f"{item.label} {item.value}" for item in values), *_strings(known), *_strings(script)]
        + ([" ".join(facts_in(hidden))] if isinstance(hidden, str) else []),
        secrets=_secrets(privileged),
        actions=[label_of(tool).split()[0] for tool in tools if label_of(tool)],
        complete=calls is not None or known is not None,
    )


def _secrets(privileged: Any) -> list[str]:
    if isinstance(privileged, Mapping):
        return [text for key, item in privileged.items() if key != "known" for text in _strings(item)]
    return list(_strings(privileged))
