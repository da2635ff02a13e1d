"""The options of a multiple-choice question: their labels and, where known, their texts."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from whileai_hf.score.reading.texts import text_of
from whileai_hf.score.verify.denials import denied
from whileai_hf.score.verify.reply import squashed


class Options(NamedTuple):
    """Labels in order, and their texts in the form in which they are compared; no texts when they are unknown."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]

    def label(self, written: str) -> str | None:
        """The label that is written so, in either case."""
        if written in self.labels:
            return written
        for label in self.labels:
            if label.casefold() == written.casefold():
                return label
        return None

    def with_text(self, text: str) -> str | None:
        """The label of the option with that text."""
        if not self.texts:
            return None
        form = squashed(text)
        for label, known in zip(self.labels, self.texts, strict=False):
            if known == form and form:
                return label
        return None

    def gold(self, gold: Any) -> str | None:
        """The label a gold answer means: a label, a text, or a position counted from 0."""
        if isinstance(gold, int) and not isinstance(gold, bool):
            return self.label(str(gold)) or self._at(gold)
        if not isinstance(gold, str):
            return None
        bare = gold.strip().strip("()[].:*` ")
        return self.label(bare) or self.with_text(gold) or (self._at(int(bare)) if bare.isdecimal() else None)

    def _at(self, position: int) -> str | None:
        return self.labels[position] if 0 <= position < len(self.labels) else None

    def mentioned(self, text: str) -> list[str]:
        """The labels of the options whose text occurs in a text as whole words, each text within no longer one."""
        return [label for label, places in self._places(f" {squashed(text)} ") if places]

    def denied(self, text: str) -> set[str]:
        """The labels of the options that a text denies by their text."""
        form = f" {squashed(text)} "
        return {label for label, places in self._places(form) if any(denied(form, *place) for place in places)}

    def _places(self, form: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        left = form
        for label, known in sorted(zip(self.labels, self.texts, strict=False), key=lambda pair: -len(pair[1])):
            at = left.find(known) if known else -1
            places = []
            while at >= 0:
                end = at + len(known)
                if not (left[at - 1].isalnum() or left[end].isalnum()):
                    places.append((at, end))
                    left = left[:at] + "\0" * len(known) + left[end:]
                at = left.find(known, at + 1)
            yield label, places


# What a letter can be when nothing tells the options; more than ten are rarely offered.
LETTERS = Options(tuple(string.ascii_uppercase[:10]), ())


def read_options(given: Any) -> Options | None:
    """
    Options as data sets hold them.

    Args:
        given (`Sequence[str]` or `Mapping` or `Sequence[Mapping]`):
            Texts in order, label to text, `{"label": [...], "text": [...]}`, or `[{"label", "text"}, ...]`.

    Returns:
        [`Options`] or `None`: `None` when these are not two or more options.

    Examples:
    ```python
    >>> read_options(["Rome", "Oslo"]).labels, read_options({"label": ["1", "2"], "text": ["x", "y"]}).labels
    (('A', 'B'), ('1', '2'))

    ```
    """
    pairs = _pairs(given)
    if pairs is None or len(pairs) < 2 or len({label.casefold() for label, _ in pairs}) < len(pairs):
        return None
    return Options(tuple(label for label, _ in pairs), tuple(squashed(text) for _, text in pairs))


def _pairs(given: Any) -> list[tuple[str, str]] | None:
    if isinstance(given, Mapping):
        labels, texts = given.get("label"), given.get("text")
        if isinstance(labels, list | tuple) and isinstance(texts, list | tuple):
            return [(str(label).strip(), _text(text)) for label, text in zip(labels, texts, strict=False)]
        return [(str(label).strip(), _text(text)) for label, text in given.items()]
    if isinstance(given, str) or not isinstance(given, Sequence):
        return None
    if given and all(isinstance(item, Mapping) and "label" in item for item in given):
        return [(str(item["label"]).strip(), _text(item.get("text"))) for item in given]
    if len(given) > len(string.ascii_uppercase):
        return None
    return [(letter, _text(text)) for letter, text in zip(string.ascii_uppercase, given, strict=False)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else text_of(value) or ("" if value is None else str(value))
