"""Where numbers fall on paper: linear scales, round ticks, and the frame around a plot."""

from __future__ import annotations

import dataclasses
import math

from whileai_hf.plots.canvas import GRID, MUTED, Canvas


@dataclasses.dataclass(frozen=True)
class Scale:
    """
    A linear map from numbers to pixels.

    Args:
        low (`float`):
            Number at `start`.
        high (`float`):
            Number at `end`, different from `low`.
        start (`float`):
            Pixel of `low`.
        end (`float`):
            Pixel of `high`.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """
    Multiples of 1, 2 or 5 times a power of ten between two numbers, at most `most` of them.

    Examples:
    ```python
    >>> round_ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> round_ticks(-0.13, 0.08, most=5)
    [-0.1, -0.05, 0.0, 0.05]

    ```
    """
    if not (high - low) / most > 0.0:  # equal, or too close for a step between them
        return [low]
    power = math.floor(math.log10((high - low) / most)) if math.isfinite(high - low) else 0
    for exponent in (power, power + 1, power + 2):
        for unit in (1, 2, 5):
            step = unit * 10.0**exponent
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first + 1 <= most:
                return [round(index * step, max(0, -exponent)) + 0.0 for index in range(first, last + 1)]
    return [low, high]


def label(value: float) -> str:
    """A tick's text: as many digits as it has, and no more than four."""
    return f"{value:.4g}"


def frame_x(canvas: Canvas, scale: Scale, top: float, bottom: float, name: str) -> None:
    """Vertical grid lines with their numbers below, and the name of the axis."""
    for tick in round_ticks(scale.low, scale.high):
        canvas.line([(scale(tick), top), (scale(tick), bottom)], GRID)
        canvas.text((scale(tick), bottom + 16), label(tick), anchor="middle", size=11, fill=MUTED)
    canvas.text(((scale.start + scale.end) / 2, bottom + 34), name, anchor="middle", fill=MUTED)


def frame_y(canvas: Canvas, scale: Scale, left: float, right: float, most: int = 6) -> None:
    """Horizontal grid lines with their numbers to the left."""
    for tick in round_ticks(scale.low, scale.high, most):
        canvas.line([(left, scale(tick)), (right, scale(tick))], GRID)
        canvas.text((left - 8, scale(tick) + 4), label(tick), anchor="end", size=11, fill=MUTED)
