"""The picture of a run under a monitor: proxy and gold, KL, length, and where an alarm was raised."""

from __future__ import annotations

from whileai_hf.errors import DataError
from whileai_hf.plots.axes import Scale, frame_x, frame_y
from whileai_hf.plots.canvas import ACCENT, INK, MUTED, WARN, Canvas
from whileai_hf.training.monitor.report import MonitorReport, Values


_WIDTH, _LEFT, _RIGHT, _NAMES = 720.0, 64.0, 560.0, 572.0
_TOP, _GAP, _TALL, _LOW = 52.0, 26.0, 190.0, 84.0
_MARGIN = 0.06


def monitor_figure(report: MonitorReport, *, title: str = "Proxy and gold on the holdout") -> str:
    """
    A run as a figure: proxy and gold over steps, below them KL and length where they were measured.

    Args:
        report ([`MonitorReport`]):
            What the monitor saw.
        title (`str`, *optional*):
            Headline.

    Returns:
        `str`: An SVG image.

    Raises:
        [`DataError`]: There is no evaluation to draw.

    Examples:
    ```python
    >>> from whileai_hf.training.monitor.curve import MonitorCurve
    >>> from whileai_hf.training.monitor.report import make_report
    >>> curve = MonitorCurve.of([{"step": 0, "proxy": 0.4, "gold": 0.5}, {"step": 9, "proxy": 0.9, "gold": 0.1}])
    >>> empty = {"stopped": None, "size": (1, 1, None), "seconds": [], "warnings": [], "notes": []}
    >>> svg = monitor_figure(make_report(curve, [], measured=True, **empty))
    >>> svg.count("<polyline") > 2, "gold" in svg
    (True, True)

    ```
    """
    panels: list[list[tuple[str, Values, str]]] = [[("proxy", report.proxy, WARN), ("gold", report.gold, ACCENT)]]
    panels += [[("KL per token", report.kl, INK)], [("characters", report.length, INK)]]
    drawn = [panel for panel in panels if any(value is not None for _, values, _ in panel for value in values)]
    if not drawn:
        raise DataError("the monitor has seen no evaluation, so there is nothing to draw")
    heights = [_TALL, *[_LOW] * (len(drawn) - 1)]
    bottom = _TOP + sum(heights) + _GAP * (len(drawn) - 1)
    canvas = Canvas(_WIDTH, bottom + 52, title)
    steps = report.steps
    x = Scale(min(steps), max(max(steps), min(steps) + 1), _LEFT, _RIGHT)
    top = _TOP
    for index, (panel, height) in enumerate(zip(drawn, heights, strict=True)):
        if index == len(drawn) - 1:
            frame_x(canvas, x, top, top + height, "step")
        _panel(canvas, x, panel, report, (top, top + height))
        top += height + _GAP
    for alarm in report.alarms:
        at = x(min(max(alarm.step, min(steps)), max(steps)))
        canvas.line([(at, _TOP), (at, bottom)], WARN, 1, "4 3")
        canvas.text((at, _TOP - 6), alarm.kind, anchor="middle", size=11, fill=WARN)
    return canvas.svg()


def _panel(
    canvas: Canvas, x: Scale, lines: list[tuple[str, Values, str]], report: MonitorReport, place: tuple[float, float]
) -> None:
    top, bottom = place
    seen = [value for _, values, _ in lines for value in values if value is not None]
    spread = (max(seen) - min(seen)) or max(abs(max(seen)), 1.0)
    y = Scale(min(seen) - _MARGIN * spread, max(seen) + _MARGIN * spread, bottom, top)
    frame_y(canvas, y, _LEFT, _RIGHT, 5 if bottom - top > _LOW else 3)
    canvas.line([(_LEFT, bottom), (_RIGHT, bottom)], MUTED)
    taken: list[float] = []
    for name, values, colour in lines:
        points = [(x(step), y(value)) for step, value in zip(report.steps, values, strict=True) if value is not None]
        if not points:
            continue
        canvas.line(points, colour, 2)
        for point in points:
            canvas.dot(point, 3, colour)
        at = points[-1][1] + 4
        while any(abs(at - other) < 14 for other in taken):
            at += 14
        taken.append(at)
        canvas.text((_NAMES, at), name, fill=colour)
