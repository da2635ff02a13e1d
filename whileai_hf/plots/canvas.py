"""Drawing primitives that write SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from numbers import Real
from typing import Any, Literal

from whileai_hf.errors import ConfigurationError


Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

# One accent, one warning colour and greys, readable for colour-blind readers and on white paper.
INK = "#1f2933"
MUTED = "#66727f"
GRID = "#e3e7eb"
ACCENT = "#2f6fb5"
ACCENT_SOFT = "#dbe8f6"
WARN = "#c2542d"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
# Width of an average glyph as a share of the font size: enough to tell what fits.
_GLYPH = 0.56
# XML has no way to write these, escaped or not.
_NOT_XML = {
    code: "\ufffd" for code in (*range(0x20), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF) if code not in (9, 10, 13)
}


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def clean(text: str) -> str:
    """Text that may stand in XML."""
    return escape(text.translate(_NOT_XML))


def shorten(text: str, width: float, size: float = 12.0) -> str:
    """Text that fits into a width, its end replaced by an ellipsis where it does not."""
    most = max(1, int(width / (size * _GLYPH)))
    return text if len(text) <= most else text[: most - 1].rstrip() + "\u2026"


def finite(values: Iterable[Any], what: str) -> list[float]:
    """The values as floats, or an error that names the first that cannot be drawn."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigurationError(f"{what}s are {values!r:.60}; expected numbers")
    found = []
    for index, value in enumerate(values):
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ConfigurationError(f"{what} {index} is {value!r:.60}; a figure needs finite numbers, leave it out")
        found.append(float(value))
    return found


class Canvas:
    """
    An SVG image under construction.

    Args:
        width (`float`):
            Width in pixels.
        height (`float`):
            Height in pixels.
        title (`str`):
            What the figure shows, in words: drawn at the top and read out by screen readers.
    """

    def __init__(self, width: float, height: float, title: str) -> None:
        self._size = (width, height)
        self._title = title
        self._parts: list[str] = []
        if title:
            self.text((16, 24), shorten(title, width - 32, 14), size=14, weight=600)

    def rect(self, corner: Point, width: float, height: float, fill: str = ACCENT) -> None:
        """A filled rectangle by its upper left corner."""
        x, y = (number(value) for value in corner)
        self._parts.append(f'<rect x="{x}" y="{y}" width="{number(width)}" height="{number(height)}" fill="{fill}"/>')

    def line(self, points: Iterable[Point], stroke: str = GRID, width: float = 1.0, dash: str = "") -> None:
        """A line through points."""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{number(width)}"{dashed}/>'
        )

    def dot(self, center: Point, radius: float = 3.5, fill: str = ACCENT) -> None:
        """A filled circle."""
        x, y = (number(value) for value in center)
        self._parts.append(f'<circle cx="{x}" cy="{y}" r="{number(radius)}" fill="{fill}"/>')

    def text(
        self, at: Point, text: str, *, anchor: Anchor = "start", size: float = 12, fill: str = INK, weight: int = 400
    ) -> None:
        """One line of text on its baseline."""
        x, y = (number(value) for value in at)
        bold = f' font-weight="{weight}"' if weight != 400 else ""
        self._parts.append(
            f'<text x="{x}" y="{y}" font-size="{number(size)}" text-anchor="{anchor}" fill="{fill}"{bold}>'
            f"{clean(text)}</text>"
        )

    def svg(self) -> str:
        """The image."""
        width, height = (number(value) for value in self._size)
        title = clean(self._title)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="{title}" font-family="{_FONT}">'
        )
        paper = f'<rect width="{width}" height="{height}" fill="#fff"/>'
        return "\n".join([head, f"<title>{title}</title>", paper, *self._parts, "</svg>", ""])
