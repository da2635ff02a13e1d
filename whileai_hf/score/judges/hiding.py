"""What a judge was shown of a row and must not pass on, whatever it is found in: a reason, a reply, an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from whileai_hf.errors import ModelError, ModelStopError
from whileai_hf.rows import dumps
from whileai_hf.score.judges.json_text import find_json
from whileai_hf.score.judges.masking import mask
from whileai_hf.score.judges.transcript import Row, as_text


# Keys of a rubric that say nothing about the task.
_NOT_TOLD = frozenset({"name", "id", "version", "weight", "points"})
_RUBRIC = "rubric"
_STATUS = re.compile(r"HTTP \d{3}")
# How the parts of what a judge is shown begin; an error that has one repeats the question.
_FENCE = re.compile(r"<<[0-9A-F]{12} ")


def leaves(value: Any) -> Iterator[str]:
    """Every value inside a value, as text; what is yes, no or nothing tells nothing."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif value is not None and not isinstance(value, bool) and (not isinstance(value, str) or value.strip()):
        yield as_text(value)


def _standards(rubric: Any) -> Iterator[str]:
    """The texts of a rubric; the names of its criteria are for everybody."""
    if isinstance(rubric, Mapping):
        for name, item in rubric.items():
            if name not in _NOT_TOLD:
                yield from _standards(item)
    elif isinstance(rubric, list | tuple):
        for item in rubric:
            yield from _standards(item)
    else:
        yield from leaves(rubric)


class Hidden:
    """
    What must not be passed on.

    Args:
        row (`Mapping`):
            The row; read are the values under `privileged`.
        shown (`str` or `Callable[[], str]`):
            What is on the row anyway.
    """

    def __init__(self, row: Row, shown: str | Callable[[], str]) -> None:
        privileged = row.get("privileged")
        told = privileged if isinstance(privileged, Mapping) else {}
        self.secrets = list(leaves({name: value for name, value in told.items() if name != _RUBRIC}))
        self.standards = list(_standards(told.get(_RUBRIC)))
        self._shown = shown

    def __bool__(self) -> bool:
        return bool(self.secrets or self.standards)

    def __call__(self, text: str) -> str:
        """A text without what must not be passed on."""
        if not self:
            return text
        shown = self._shown if isinstance(self._shown, str) else self._shown()
        return mask(text, self.secrets, shown, self.standards)

    def reply(self, text: str) -> str:
        """A reply without it; of a reply in JSON, every text in it is looked at as the reader would see it."""
        if not self:
            return text
        found, cut = find_json(text)
        if cut or len(found) != 1:
            return self(text)
        return dumps(self._each(found[0].value)).decode()

    def _each(self, value: Any) -> Any:
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {key: self._each(item) for key, item in value.items()}
        return [self._each(item) for item in value] if isinstance(value, list) else value

    def error(self, error: ModelError, model: str) -> ModelError:
        """An error of the model; servers repeat requests in theirs, and cut them anywhere."""
        said = str(error)
        if not self or (self(said) == said and _FENCE.search(said) is None):
            return error
        status = _STATUS.search(said)
        what = (
            f"the model {model} gave no answer{f' ({status[0]})' if status else ''}; the server's message repeats "
            "what only the judge may see and is left out"
        )
        return ModelStopError(what, error.reason) if isinstance(error, ModelStopError) else type(error)(what)
