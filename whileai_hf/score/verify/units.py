"""Units that can stand behind a number. Only those in the table are understood; any other word there is ignored.

`5 km` and `5000 m` are one length, `5 km` and `5 miles` are not, and `5 apples` is 5. Currencies are compared, never
converted.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: what it measures, and how many of the base unit it is."""

    kind: str
    factor: Decimal


_TABLE = {
    "length": "mm .001 millimeter millimeters millimetre millimetres; cm .01 centimeter centimeters centimetre "
    "centimetres; m 1 meter meters metre metres; km 1000 kilometer kilometers kilometre kilometres; "
    "in .0254 inch inches; ft .3048 foot feet; yd .9144 yard yards; mi 1609.344 mile miles",
    "mass": "mg .001 milligram milligrams; g 1 gram grams; kg 1000 kilogram kilograms kilo kilos; lb 453.59237 lbs; "
    "oz 28.349523125 ounce ounces",
    "time": "ms .001 millisecond milliseconds; s 1 sec secs second seconds; min 60 mins minute minutes; "
    "h 3600 hr hrs hour hours; d 86400 day days; wk 604800 week weeks",
    "volume": "ml .001 milliliter milliliters millilitre millilitres; l 1 liter liters litre litres",
    "celsius": "°c 1 celsius",
    "fahrenheit": "°f 1 fahrenheit",
    "usd": "$ 1 us$ usd dollar dollars; cent .01 cents ¢",
    "eur": "€ 1 eur euro euros",
    "gbp": "£ 1 gbp",
    "jpy": "¥ 1 jpy yen",
    "inr": "₹ 1 inr rupee rupees",
}
_UNITS = {
    name: Unit(kind, Decimal(factor))
    for kind, line in _TABLE.items()
    for first, factor, *others in (group.split() for group in line.split(";"))
    for name in (first, *others)
}
# Words that multiply the number in front of them.
SCALES = {
    "hundred": Decimal(100),
    "thousand": Decimal(1_000),
    "million": Decimal(10**6),
    "billion": Decimal(10**9),
    "trillion": Decimal(10**12),
}
CURRENCY_SIGNS = "$€£¥₹"


def unit(name: str) -> Unit | None:
    """
    The unit of that name or sign, `None` for a word that is none.

    Examples:
    ```python
    >>> unit("km").factor, unit("apples")
    (Decimal('1000'), None)

    ```
    """
    return _UNITS.get(name.casefold())
