"""What changed, and how surely: one line per metric with its difference and interval."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from whileai_hf.errors import ConfigurationError
from whileai_hf.plots.axes import Scale, frame_x
from whileai_hf.plots.canvas import ACCENT, INK, MUTED, WARN, Canvas, finite, shorten


_WIDTH = 720.0
_LABELS, _LEFT, _RIGHT, _TOP, _ROW = 190.0, 206.0, 500.0, 48.0, 24.0


class Effect(NamedTuple):
    """
    One line of a forest plot.

    Args:
        name (`str`):
            Metric or group.
        delta (`float`):
            After minus before.
        interval (`tuple[float, float]`, *optional*):
            Its interval; `None` where there is none.
        verdict (`str`, *optional*, defaults to `""`):
            A word to print beside it.
    """

    name: str
    delta: float
    interval: tuple[float, float] | None
    verdict: str = ""


def forest(effects: Iterable[Effect], *, title: str = "After minus before", axis: str = "difference") -> str:
    """
    Forest plot of differences with their intervals.

    An interval that leaves out zero is drawn in colour: blue above, red below. Grey covers zero.

    Args:
        effects (`Iterable[Effect]`):
            Lines in the order they are drawn.
        title (`str`, *optional*):
            Headline.
        axis (`str`, *optional*):
            Unit of the differences.

    Returns:
        `str`: An SVG image.

    Raises:
        [`ConfigurationError`]: No effect, an end that is not finite, or an interval whose ends are no two numbers with
            the lower one first.

    Examples:
    ```python
    >>> svg = forest([Effect("pass_at_1", 0.05, (0.01, 0.09), "moved"), Effect("no_apology", -0.01, None)])
    >>> "moved" in svg, svg.count("<circle")
    (True, 2)

    ```
    """
    lines = [_checked(Effect(*effect)) for effect in effects]
    if not lines:
        raise ConfigurationError("there is no effect to draw; pass at least one Effect(name, delta, interval)")
    ends = finite([end for line in lines for end in (line.delta, *(line.interval or ()))] + [0.0], "end")
    margin = (max(ends) - min(ends) or 1.0) * 0.06
    bottom = _TOP + _ROW * len(lines)
    canvas = Canvas(_WIDTH, bottom + 52, title)
    x = Scale(min(ends) - margin, max(ends) + margin, _LEFT, _RIGHT)
    frame_x(canvas, x, _TOP, bottom, axis)
    canvas.line([(x(0.0), _TOP), (x(0.0), bottom)], MUTED)
    for index, line in enumerate(lines):
        middle = _TOP + _ROW * (index + 0.5)
        colour = MUTED
        if line.interval is not None and (line.interval[0] > 0 or line.interval[1] < 0):
            colour = ACCENT if line.interval[0] > 0 else WARN
        canvas.text((_LABELS, middle + 4), shorten(line.name, _LABELS - 16), anchor="end", fill=INK)
        if line.interval is not None:
            canvas.line([(x(line.interval[0]), middle), (x(line.interval[1]), middle)], colour, 2)
        canvas.dot((x(line.delta), middle), 4, colour)
        said = f"{line.delta:+.3f} {line.verdict}".rstrip()
        canvas.text((_RIGHT + 12, middle + 4), shorten(said, _WIDTH - _RIGHT - 16, 11), size=11, fill=colour)
    return canvas.svg()


def _checked(effect: Effect) -> Effect:
    if effect.interval is None:
        return effect
    ends = finite(effect.interval, f"{effect.name} interval end")
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ConfigurationError(
            f"the interval of {effect.name!r:.60} is {effect.interval!r:.60}; expected two ends, the lower one first"
        )
    return effect
