"""How reliable the agent is: the chance that all, and that any, of j repeats pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.plots.axes import Scale, frame_y
from whileai_hf.plots.canvas import ACCENT, MUTED, WARN, Canvas, finite


_WIDTH, _HEIGHT = 560.0, 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 470.0, 44.0, 232.0


def reliability(curve: Mapping[int, Mapping[str, Any]], *, title: str = "Reliability over repeats") -> str:
    """
    Curves of pass^j (all of j repeats pass) and pass@j (at least one does).

    Args:
        curve (`Mapping[int, Mapping]`):
            For each number of repeats j `{"pass_at", "pass_pow"}`, as in `wai.pass_at(data).curve`.
        title (`str`, *optional*):
            Headline.

    Returns:
        `str`: An SVG image; j is spaced evenly, whatever its steps.

    Raises:
        [`ConfigurationError`]: The curve has no point, or one without finite numbers.

    Examples:
    ```python
    >>> svg = reliability({1: {"pass_at": 0.6, "pass_pow": 0.6}, 2: {"pass_at": 0.8, "pass_pow": 0.4}})
    >>> "pass^2 0.40" in svg, "pass@2 0.80" in svg
    (True, True)

    ```
    """
    if not curve:
        raise ConfigurationError(
            "the curve is empty: k-way numbers were not measured; every task needs repeats (see the report's notes)"
        )
    if not isinstance(curve, Mapping) or not all(isinstance(point, Mapping) for point in curve.values()):
        raise ConfigurationError(f"the curve is {curve!r:.60}; expected repeats to numbers, as in pass_at(data).curve")
    sizes = sorted(curve)
    canvas = Canvas(_WIDTH, _HEIGHT, title)
    y = Scale(0.0, 1.0, _BOTTOM, _TOP)
    step = (_RIGHT - _LEFT) / max(1, len(sizes) - 1)
    places = [_LEFT + index * step for index in range(len(sizes))]
    frame_y(canvas, y, _LEFT, _RIGHT)
    every = max(1, -(-len(sizes) // 12))  # at most a dozen numbers below the axis
    for index, (size, place) in enumerate(zip(sizes, places, strict=True)):
        if index % every == 0 or index == len(sizes) - 1:
            canvas.text((place, _BOTTOM + 16), str(size), anchor="middle", size=11, fill=MUTED)
    canvas.text(((_LEFT + _RIGHT) / 2, _BOTTOM + 36), "repeats j", anchor="middle", fill=MUTED)
    last = sizes[-1]
    for name, sign, colour in (("pass_at", "@", ACCENT), ("pass_pow", "^", WARN)):
        values = finite([curve[size].get(name) for size in sizes], name)
        points = [(place, y(value)) for place, value in zip(places, values, strict=True)]
        canvas.line(points, colour, 2)
        for point in points if len(points) <= 16 else (points[0], points[-1]):
            canvas.dot(point, fill=colour)
        canvas.text((places[-1] + 10, points[-1][1] + 4), f"pass{sign}{last} {values[-1]:.2f}", size=11, fill=colour)
    return canvas.svg()
