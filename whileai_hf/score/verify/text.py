"""Verifiers that compare text: the whole reply, or what it has to mention."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.alternatives import one_of_several, only_a_list
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.denials import denied, may_deny
from whileai_hf.score.verify.stated import closing


# Places of one gold answer in a reply that are looked at; a reply that repeats it more often says nothing new.
_MOST_PLACES = 20
# Without one of these a text has no alternatives in it. (White space is single here.)
_LISTS = (", ", "; ", "/", "|", " or ", " oder ", " ou ", " или ")
_SEPARATED = re.compile(r"[,;/|]|\s(?:or|oder|ou|или)\s")


def normalise(text: str, *, case: bool, whitespace: bool, punctuation: bool) -> str:
    """
    The form in which two texts are compared.

    Args:
        text (`str`):
            The text.
        case (`bool`):
            Whether upper and lower case differ.
        whitespace (`bool`):
            Whether runs of white space differ from one space.
        punctuation (`bool`):
            Whether punctuation counts; symbols such as `$` and `%` always do.

    Returns:
        `str`: Unicode-composed text (NFC), so that two spellings of one accent are equal.
    """
    text = unicodedata.normalize("NFC", text)
    if not case:
        text = unicodedata.normalize("NFC", text.casefold())
    if not punctuation:
        kept = "".join(char for char in text if not unicodedata.category(char).startswith("P"))
        text = kept if kept.strip() else text  # a text of nothing but punctuation is compared as it is
    if not whitespace:
        text = " ".join(text.split())
    return text


def gold_texts(gold: Any) -> list[str]:
    """Gold answers as text; a list holds alternatives."""
    if isinstance(gold, list | tuple):
        return [text for item in gold for text in gold_texts(item)]
    return [gold if isinstance(gold, str) else str(gold)]


class ExactMatch(Verifier):
    """
    1 when the reply equals the gold answer, or one of them when the gold is a list.

    Args:
        strip (`bool`, *optional*, defaults to `True`):
            Ignore white space at both ends.
        case (`bool`, *optional*, defaults to `False`):
            Whether upper and lower case differ.
        whitespace (`bool`, *optional*, defaults to `False`):
            Whether runs of white space differ from one space.
        punctuation (`bool`, *optional*, defaults to `True`):
            Whether punctuation counts.
        field (`str`, *optional*):
            Where the gold answer is; see [`Verifier`].
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> ExactMatch()({"final_text": " Paris\\n", "answer": "paris"})["reward"]
    1.0
    >>> ExactMatch()({"final_text": "Paris"})["reward"] is None
    True

    ```
    """

    name = "exact_match"

    def __init__(
        self,
        *,
        strip: bool = True,
        case: bool = False,
        whitespace: bool = False,
        punctuation: bool = True,
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        self.strip, self.case, self.whitespace, self.punctuation = strip, case, whitespace, punctuation

    def _form(self, text: str) -> str:
        form = normalise(text, case=self.case, whitespace=True, punctuation=self.punctuation)
        if self.whitespace:
            return form.strip() if self.strip else form
        inner = " ".join(form.split())
        if self.strip:
            return inner
        # Only runs inside count as one space; the ends stay as written.
        return form[: len(form) - len(form.lstrip())] + inner + form[len(form.rstrip()) :] if inner else form

    def check(self, candidate: str, gold: Any) -> bool:
        """Compares the normalised texts."""
        reply = self._form(candidate)
        return any(reply == self._form(text) for text in gold_texts(gold))


class Includes(Verifier):
    """
    1 when the reply mentions what it has to.

    A gold answer that the reply denies ("not Paris", "Paris is wrong") is not mentioned, and one that it offers among
    three or more alternatives ("41, 42 or 43"; nothing but a list of numbers, or of five items) is not given: both
    score 0 with a reason. Two alternatives, and texts of `all` and `any`, are taken as they stand; where the wrong
    answers are known, `none=` says them.

    Args:
        all (`Sequence[str]`, *optional*):
            Texts that must all occur.
        any (`Sequence[str]`, *optional*):
            Texts of which at least one must occur. With neither, the gold answer must occur (one of them, when the
            gold is a list).
        case (`bool`, *optional*, defaults to `False`):
            Whether upper and lower case differ. White space is always compared run by run.
        words (`bool`, *optional*, defaults to `True`):
            Match whole words only, so that `12` is not found in `1234`.
        none (`Sequence[str]`, *optional*):
            Texts that must not occur, such as the other options: a reply that lists them all mentions the right one.
        echo (`bool`, *optional*, defaults to `False`):
            Whether words count that the reply copies from the row's `prompt` as a whole. By default such a copy is
            cut out first, because an ask often names the answer among others.
        field (`str`, *optional*):
            Where the gold answer is; see [`Verifier`].
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> Includes(all=["refund", "4412"])({"final_text": "The refund for order 4412 is on its way."})["reward"]
    1.0
    >>> Includes()({"final_text": "Order 1234.", "answer": "12"})["reward"]
    0.0

    ```
    """

    name = "includes"
    searches = True

    def __init__(
        self,
        *,
        all: Sequence[str] = (),
        any: Sequence[str] = (),
        none: Sequence[str] = (),
        echo: bool = False,
        case: bool = False,
        words: bool = True,
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        self.case, self.words, self.echo = case, words, echo
        self.all, self.any, self.none = (self._needles(*pair) for pair in (("all", all), ("any", any), ("none", none)))
        self.needs_gold = not self.all and not self.any

    def _needles(self, argument: str, given: Sequence[str]) -> tuple[str, ...]:
        texts = (given,) if isinstance(given, str) else tuple(given)
        for text in texts:
            if not isinstance(text, str) or not text.strip():
                raise ConfigurationError(f"Includes({argument}=...) holds {text!r}; expected texts that are not blank")
        return texts

    def _form(self, text: str) -> str:
        return normalise(text, case=self.case, whitespace=False, punctuation=True)

    def _places(self, needle: str, text: str) -> Iterator[tuple[int, int]]:
        needle = self._form(needle)
        start = text.find(needle)
        while start >= 0:
            end = start + len(needle)
            if not self.words or not (_joined(text, start) or _joined(text, end)):
                yield start, end
            start = text.find(needle, start + 1)

    def _occurs(self, needle: str, text: str) -> bool:
        return next(self._places(needle, text), None) is not None

    def check(self, candidate: str, gold: Any) -> Any:
        """Looks for each text."""
        text = self._form(candidate)
        wrong = [needle for needle in self.none if self._occurs(needle, text)]
        if wrong:
            return {"reward": 0.0, "reason": f"mentions {', '.join(wrong)}"}
        if not self.needs_gold:
            missing = [needle for needle in self.all if not self._occurs(needle, text)]
            found = not self.any or bool([needle for needle in self.any if self._occurs(needle, text)])
            reason = f"missing: {', '.join(missing)}" if missing else None if found else "none of the texts occurs"
            return {"reward": float(not missing and found), "reason": reason}
        golds = [needle for needle in gold_texts(gold) if needle.strip()]
        if not golds:
            return float(not candidate.strip())
        given = [needle for needle in golds if self._occurs(needle, text)]
        if not given:
            return False
        why = [self._taken_back(needle, candidate, text) for needle in given]
        return True if None in why else {"reward": 0.0, "reason": why[0]}

    def _taken_back(self, needle: str, candidate: str, text: str) -> str | None:
        """Why a gold answer that occurs is not given: denied, or one alternative of many."""
        places = list(itertools.islice(self._places(needle, text), _MOST_PLACES))
        if may_deny(text):
            since = len(text) - len(self._form(closing(candidate)))
            wrong = [place for place in places if denied(text, *place)]
            if len(wrong) == len(places) or any(start >= since for start, _ in wrong):
                return f"the reply denies {needle:.60}"
        if len(text) > len(needle) + 4 and ("\n" in candidate or any(mark in text for mark in _LISTS)):
            lowered = text.lower() if self.case else text
            if not _SEPARATED.search(needle) and (
                all(one_of_several(lowered, *place) for place in places) or only_a_list(candidate)
            ):
                return f"the reply names {needle:.60} as one of several alternatives"
        return None


def _joined(text: str, position: int) -> bool:
    """Whether the characters on both sides of a position belong to one word."""
    return 0 < position < len(text) and text[position - 1].isalnum() and text[position].isalnum()
