"""How hard the tasks are for this agent: pass rates per task, and the band a group-relative update learns from."""

from __future__ import annotations

from collections.abc import Iterable

from whileai_hf.errors import ConfigurationError
from whileai_hf.plots.axes import Scale, frame_x, frame_y
from whileai_hf.plots.canvas import ACCENT, ACCENT_SOFT, MUTED, Canvas, finite


_WIDTH, _HEIGHT = 560.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 544.0, 56.0, 212.0


def histogram(
    rates: Iterable[float],
    *,
    band: tuple[float, float] | None = (0.2, 0.8),
    bins: int = 10,
    title: str = "Pass rate per task",
) -> str:
    """
    Histogram of pass rates.

    Args:
        rates (`Iterable[float]`):
            One pass rate in `[0, 1]` per task, as in `wai.pass_at(data).per_task.values()`.
        band (`tuple[float, float]`, *optional*, defaults to `(0.2, 0.8)`):
            Rates that training would keep, shaded; `None` for no band.
        bins (`int`, *optional*, defaults to `10`):
            Columns of equal width. A rate on an edge counts in the column above it; 1 in the last.
        title (`str`, *optional*):
            Headline.

    Returns:
        `str`: An SVG image.

    Raises:
        [`ConfigurationError`]: A rate outside `[0, 1]`, no bins, or a band that is none.

    Examples:
    ```python
    >>> histogram([0.0, 0.5, 0.5, 1.0]).count("<rect")
    5

    ```
    """
    shares = finite(rates, "rate")
    for index, share in enumerate(shares):
        if not 0.0 <= share <= 1.0:
            raise ConfigurationError(f"rate {index} is {share!r}; expected pass rates between 0 and 1")
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ConfigurationError(f"bins={bins!r} is no number of columns; pass 1 or more")
    if band is not None and not (len(finite(band, "band end")) == 2 and 0.0 <= band[0] < band[1] <= 1.0):
        raise ConfigurationError(f"band={band!r} is none; expected two rates with 0 <= low < high <= 1")
    counts = [0] * bins
    for share in shares:
        counts[min(bins - 1, int(share * bins + 1e-9))] += 1
    canvas = Canvas(_WIDTH, _HEIGHT, title)
    x = Scale(0.0, 1.0, _LEFT, _RIGHT)
    y = Scale(0.0, max(1, *counts) if counts else 1, _BOTTOM, _TOP)
    if band is not None:
        inside = sum(band[0] <= share <= band[1] for share in shares)
        canvas.rect((x(band[0]), _TOP), x(band[1]) - x(band[0]), _BOTTOM - _TOP, ACCENT_SOFT)
        note = f"{inside} of {len(shares)} tasks between {band[0]:g} and {band[1]:g}"
        canvas.text((x((band[0] + band[1]) / 2), _TOP - 8), note, anchor="middle", size=11, fill=MUTED)
    frame_y(canvas, y, _LEFT, _RIGHT, most=5)
    for index, count in enumerate(counts):
        if count:
            left, right = x(index / bins) + 1, x((index + 1) / bins) - 1
            canvas.rect((left, y(count)), right - left, _BOTTOM - y(count), ACCENT)
    frame_x(canvas, x, _BOTTOM, _BOTTOM, "pass rate")
    return canvas.svg()
