"""A verifier that compares numbers, however they are written."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Literal

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.denials import may_deny
from whileai_hf.score.verify.numbers import ARITHMETIC, Number
from whileai_hf.score.verify.readings import denied_numbers, gold_number, stated_number


# Two values of which one is no integer are equal up to this relative difference: what binary floats leave over.
_FLOAT_NOISE = Decimal("5e-15")
_HUNDRED = Decimal(100)
# Relative difference that no rounding of floats makes.
_CLEARLY = 1e-9


class Numeric(Verifier):
    r"""
    1 when the reply states the gold number.

    What counts as stated, in this order: what the reply marks as its answer (`\boxed{42}`, `#### 42`, "The answer is
    42"); without a mark its only number; of several the last one, as in the common reading of chains of thought. A
    reply that ends in a list of different numbers ("41, 42 or 43", "40-42") states none and scores 0. Numbers that
    the reply denies ("not 75 but 80") are not stated; one that it states and denies scores 0. Of "5 of the original
    12" the answer is 5. Where there are no digits, numbers in English words are read ("forty-two"). A gold answer that
    is a formula (`x^2 + 1`, `3\sqrt{2}`) is no number and leaves the row unjudged; `MathEqual` reads it.

    Args:
        abs_tol (`float`, *optional*, defaults to 0):
            Difference that is still right.
        rel_tol (`float`, *optional*, defaults to 0):
            The same as a share of the gold number. With neither, integers must be equal and other numbers equal up
            to rounding of floats (5e-15).
        percent (`"either"`, `"fraction"` or `"number"`, *optional*, defaults to `"either"`):
            What `80%` equals: 0.8 (`"fraction"`), 80 (`"number"`), or both (`"either"`; there `0.8%` is no 0.8: the
            plain number has to be above 1).
        units (`bool`, *optional*, defaults to `True`):
            Compare units where both sides have one that is known: `5 km` is `5000 m` and no `5 miles`. Other words
            behind a number never count.
        decimal (`"."` or `","`, *optional*, defaults to `"."`):
            The decimal mark where both readings are possible (`1,234`). Elsewhere the digits tell: `1.234,5`.
        field (`str`, *optional*):
            Where the gold answer is; see [`Verifier`].
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> Numeric()({"final_text": "That makes $1,234.50 in total.", "answer": 1234.5})["reward"]
    1.0
    >>> Numeric()({"final_text": "0.8", "answer": 0.08})["reward"]
    0.0

    ```
    """

    name = "numeric"
    searches = True

    def __init__(
        self,
        *,
        abs_tol: float = 0.0,
        rel_tol: float = 0.0,
        percent: Literal["either", "fraction", "number"] = "either",
        units: bool = True,
        decimal: Literal[".", ","] = ".",
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        if percent not in ("either", "fraction", "number"):
            raise ConfigurationError(f"Numeric(percent={percent!r}) is unknown; use 'either', 'fraction' or 'number'")
        if decimal not in (".", ","):
            raise ConfigurationError(f"Numeric(decimal={decimal!r}) is no decimal mark; use '.' or ','")
        self.abs_tol, self.rel_tol = _tolerance("abs_tol", abs_tol), _tolerance("rel_tol", rel_tol)
        self.percent, self.units, self.decimal = percent, units, decimal

    def check(self, candidate: str, gold: Any) -> Any:
        """Reads both sides and compares."""
        if isinstance(gold, list | tuple):
            golds = [gold_number(item, self.decimal) for item in gold]
        else:
            golds = [gold_number(gold, self.decimal)]
        wanted = [item for item in golds if not isinstance(item, str)]
        if not wanted:
            return {"reward": None, "reason": f"the gold answer {gold!r:.60} is no number"}
        said = stated_number(candidate, self.decimal)
        if isinstance(said, str):
            return {"reward": 0.0, "reason": said}
        for item in wanted:
            if self.equal(said, item):
                break
        else:
            return {"reward": 0.0, "reason": f"the reply states {_shown(said)}"}
        if may_deny(candidate):
            for number in denied_numbers(candidate, self.decimal):
                if any(self.equal(number, item) for item in wanted):
                    return {"reward": 0.0, "reason": f"the reply denies {_shown(number)}"}
        return True

    def equal(self, said: Number, wanted: Number) -> bool:
        """Whether two readings are one number."""
        a, b = said.value, wanted.value
        if self.units and said.unit is not None and wanted.unit is not None:
            if said.unit.kind != wanted.unit.kind:
                return False
            a, b = ARITHMETIC.multiply(a, said.unit.factor), ARITHMETIC.multiply(b, wanted.unit.factor)
        if said.percent == wanted.percent or self.percent == "number":
            return self._close(a, b)
        plain = b if said.percent else a
        as_number = self.percent == "either" and abs(plain) > 1 and self._close(a, b)
        a, b = (ARITHMETIC.divide(a, _HUNDRED), b) if said.percent else (a, ARITHMETIC.divide(b, _HUNDRED))
        return as_number or self._close(a, b)

    def _close(self, a: Decimal, b: Decimal) -> bool:
        if a == b:
            return True
        if not (self.abs_tol or self.rel_tol):
            one, other = float(a), float(b)  # what they tell apart is different; of infinities they say nothing
            if abs(one - other) > _CLEARLY * max(abs(one), abs(other)):
                return False
        difference = abs(ARITHMETIC.subtract(a, b))
        if self.abs_tol or self.rel_tol:
            return difference <= max(self.abs_tol, ARITHMETIC.multiply(self.rel_tol, abs(b)))
        if _whole(a) and _whole(b):
            return False
        return difference <= ARITHMETIC.multiply(_FLOAT_NOISE, max(abs(a), abs(b)))


def _tolerance(name: str, given: Any) -> Decimal:
    number = isinstance(given, int | float | Decimal) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or given < 0:
        raise ConfigurationError(f"Numeric({name}={given!r}) is no tolerance; pass a finite number, 0 or more")
    return Decimal(str(given))


def _whole(value: Decimal) -> bool:
    # A power of ten beyond the digits is an integer without counting its zeros out.
    return value.adjusted() > 60 or value == value.to_integral_value()


def _shown(number: Number) -> str:
    return str(number.value)[:24] + ("%" if number.percent else "")
