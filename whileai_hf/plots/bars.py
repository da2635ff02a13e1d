"""Named values side by side, with the floor below which they are noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whileai_hf.errors import ConfigurationError
from whileai_hf.plots.axes import Scale, frame_x
from whileai_hf.plots.canvas import ACCENT, GRID, INK, MUTED, WARN, Canvas, finite, shorten


_WIDTH = 640.0
_LABELS, _LEFT, _RIGHT, _TOP, _ROW = 220.0, 232.0, 580.0, 48.0, 22.0


def bars(
    values: Mapping[str, float],
    *,
    floor: float | None = None,
    flagged: Iterable[str] = (),
    title: str = "",
    axis: str = "",
) -> str:
    """
    Horizontal bars by name.

    Args:
        values (`Mapping[str, float]`):
            Name to value, in the order they are drawn; negative ones grow to the left.
        floor (`float`, *optional*):
            Size below which a value says nothing: those bars are grey, and a line marks it on either side.
        flagged (`Iterable[str]`, *optional*):
            Names drawn in the warning colour.
        title (`str`, *optional*):
            Headline.
        axis (`str`, *optional*):
            What the values are.

    Returns:
        `str`: An SVG image.

    Raises:
        [`ConfigurationError`]: No value, one that is not finite, or a floor below 0.

    Examples:
    ```python
    >>> svg = bars({"contains:done": 0.41, "words": 0.05}, floor=0.1, flagged=["contains:done"])
    >>> "0.41" in svg, "contains:done" in svg
    (True, True)

    ```
    """
    if not isinstance(values, Mapping) or not values or not all(isinstance(name, str) for name in values):
        raise ConfigurationError(f"there is no value to draw in {values!r:.60}; pass a dict of name to value")
    sizes = finite(values.values(), "value")
    if floor is not None and finite([floor], "floor")[0] < 0.0:
        raise ConfigurationError(f"floor={floor!r} is below 0; it is a size, and marks both sides of 0")
    ends = [*sizes, 0.0, *([floor] if floor is not None else []), *([-floor] if floor and min(sizes) < 0 else [])]
    low, high = min(ends), max(ends)
    bottom = _TOP + _ROW * len(sizes)
    canvas = Canvas(_WIDTH, bottom + 52, title)
    x = Scale(low, high if high > low else low + 1.0, _LEFT, _RIGHT)
    frame_x(canvas, x, _TOP, bottom, axis)
    warned = set(flagged)
    for index, (name, size) in enumerate(zip(values, sizes, strict=True)):
        top = _TOP + _ROW * index + 4
        colour = WARN if name in warned else ACCENT if floor is None or abs(size) > floor else GRID
        canvas.rect((min(x(0.0), x(size)), top), abs(x(size) - x(0.0)), _ROW - 8, colour)
        canvas.text((_LABELS, top + 11), shorten(name, _LABELS - 16), anchor="end", fill=INK)
        beside = max(x(0.0), x(size)) + 6
        canvas.text((beside, top + 11), f"{size:.2f}", size=11, fill=MUTED)
    for mark in () if floor is None else (floor, -floor) if min(sizes) < 0 else (floor,):
        canvas.line([(x(mark), _TOP), (x(mark), bottom)], MUTED, dash="3 3")
    return canvas.svg()
