"""A verifier that compares mathematics: sympy decides what the short cuts cannot."""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.algebra import same_algebra
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.denials import denied, may_deny
from whileai_hf.score.verify.mathworker import ask_worker
from whileai_hf.score.verify.numbers import Number, whole_number
from whileai_hf.score.verify.numeric import Numeric
from whileai_hf.score.verify.readings import denied_numbers
from whileai_hf.score.verify.stated import MOST_ANSWERS, closing, stated
from whileai_hf.score.verify.text import gold_texts


_EXTRA = "math-verify is not installed; MathEqual needs it: pip install 'whileai-hf[math]'"
# What is only typography around a formula.
_DRESS = re.compile(r"\s+|\\[,;:! ]|\\(?:left|right|displaystyle)(?![a-zA-Z])")
_WORDS = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\{([^{}]*)\}")
_WRAPPED = re.compile(r"(?:\$\$?(.*)\$\$?|\\\((.*)\\\)|\\\[(.*)\\\]|\\f?boxed\{([^{}]*)\})", re.DOTALL)
_FORMULA = re.compile(
    r"\$\$?([^$]{1,400})\$\$?|\\\((.{1,400}?)\\\)|\\\[(.{1,400}?)\\\]|\\f?boxed\{([^{}]{1,400})\}", re.DOTALL
)
# The last part of a reply without a marked answer that is given to sympy; a longer text holds no further answer.
_TAIL = 2_000


class MathEqual(Verifier):
    r"""
    1 when the reply's answer equals the gold answer as mathematics: `1/2` is `\frac{2}{4}`, `(x+1)^2` is `x^2+2x+1`.

    The answer is what the reply marks as such (`\boxed{...}`, `#### ...`, "The answer is ..."), else what math-verify
    extracts. Equal text, plain numbers (by the rules of [`Numeric`]) and plain algebra are decided at once, everything
    else by math-verify, in a process of its own, so that an expression that never simplifies, or takes all memory,
    costs its row and nothing more. A reply that denies the gold answer ("it is not $x^2$") scores 0. Needs
    `pip install 'whileai-hf[math]'`.

    Args:
        timeout (`float`, *optional*, defaults to 5.0):
            Seconds a row may take; one that takes longer is unjudged with status `timeout`.
        field (`str`, *optional*):
            Where the gold answer is; see [`Verifier`]. One that is no mathematics leaves the row unjudged, unless the
            reply has the same words.
        name (`str`, *optional*):
            Name in the rows.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: math-verify is not installed.

    Examples:
    ```python
    >>> MathEqual()({"final_text": r"So $x = \boxed{0.50}$.", "answer": "1/2"})["reward"]
    1.0

    ```
    """

    name = "math_equal"
    searches = True

    def __init__(self, *, timeout: float = 5.0, field: str | None = None, name: str | None = None) -> None:
        super().__init__(field=field, name=name)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
            raise ConfigurationError(f"MathEqual(timeout={timeout!r}) is not a number of seconds above 0")
        if importlib.util.find_spec("math_verify") is None:
            raise ConfigurationError(_EXTRA)
        self.timeout = float(timeout)
        self._numeric = Numeric()

    def check(self, candidate: str, gold: Any) -> Any:
        """The short cuts, then math-verify; `TimeoutError` when it takes too long."""
        golds = [text for text in gold_texts(gold) if text.strip()]
        if not golds:
            return {"reward": None, "reason": "the gold answer is blank"}
        answers = stated(candidate)
        if len(answers) > MOST_ANSWERS and len({_bare(answer) for answer in answers}) > MOST_ANSWERS:
            return {"reward": 0.0, "reason": "the reply marks several answers"}
        deny = may_deny(candidate)
        if answers:
            verdict = self._compare(answers[-1], candidate, golds, marked=True)
        else:
            tail = candidate[-_TAIL:]
            verdict = self._compare(candidate, _undenied(tail) if deny else tail, golds, marked=False)
        if verdict is True and deny and (wrong := self._denies(closing(candidate), golds)):
            return {"reward": 0.0, "reason": f"the reply denies {wrong:.60}"}
        return verdict

    def _compare(self, answer: str, candidate: str, golds: list[str], *, marked: bool) -> Any:
        """The verdict on one answer; `candidate` is where it is looked for when it is not marked."""
        if self._same(answer, golds):
            return True
        decided = self._as_numbers(answer, candidate, golds, marked=marked)
        if decided is None:
            decided = _as_algebra(answer, golds)
        if decided is not None:
            return decided
        said = ask_worker(tuple(golds), answer if marked else candidate, marked, self.timeout)
        if said is None:
            return {"reward": None, "reason": f"the gold answer {golds[0]!r:.60} is no mathematics"}
        return said if said else {"reward": 0.0, "reason": "not equal to the gold answer"}

    def _denies(self, text: str, golds: list[str]) -> str | None:
        """A formula that the text denies and that equals a gold answer."""
        for match in _FORMULA.finditer(text):
            inner = next(group for group in match.groups() if group is not None)
            if denied(text, *match.span()) and self._compare(inner, inner, golds, marked=True) is True:
                return inner
        numbers = [number for number in map(_gold_number, golds) if number is not None]
        for number in denied_numbers(text):
            if any(self._numeric.equal(number, wanted) for wanted in numbers):
                return str(number.value)
        return None

    def _same(self, answer: str, golds: list[str]) -> bool:
        form = _bare(answer)
        return bool(form) and any(form == _bare(text) for text in golds)

    def _as_numbers(self, answer: str, candidate: str, golds: list[str], *, marked: bool) -> Any:
        """The verdict when both sides are plain numbers; `None` when mathematics has to decide."""
        wanted = [_gold_number(text) for text in golds]
        if None in wanted:
            return None
        said = whole_number(_unwrapped(answer)) if len(answer) <= 200 else None
        if said is not None:
            equal = any(self._numeric.equal(said, number) for number in wanted if number is not None)
            return equal or {"reward": 0.0, "reason": f"the reply states {said.value:.6g}"}
        # Prose without a formula in it holds nothing but numbers.
        if marked or any(mark in candidate for mark in "\\$^{√π"):
            return None
        return self._numeric.check(candidate, golds)


def _as_algebra(answer: str, golds: list[str]) -> Any:
    form = _bare(answer) if len(answer) <= 400 else ""
    found = {same_algebra(form, _bare(text)) for text in golds} if form else {None}
    if True in found:
        return True
    return None if None in found else {"reward": 0.0, "reason": "not equal to the gold answer"}


def _undenied(text: str) -> str:
    """The text without the formulas it denies."""
    return _FORMULA.sub(lambda match: " " if denied(text, *match.span()) else match.group(), text)


def _gold_number(text: str) -> Number | None:
    return whole_number(_unwrapped(text))


def _unwrapped(text: str) -> str:
    match = _WRAPPED.fullmatch(text.strip())
    return next(group for group in match.groups() if group is not None) if match is not None else text


@lru_cache(maxsize=8192)
def _bare(text: str) -> str:
    inner = _WORDS.sub(r"\1", _unwrapped(text.strip().rstrip(".")))
    return _DRESS.sub("", inner).replace("dfrac", "frac").replace("tfrac", "frac")
