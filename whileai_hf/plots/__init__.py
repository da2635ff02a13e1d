"""Figures as SVG text: what reports, dataset cards and the trainer's monitor show.

Every function takes plain numbers and returns one self-contained `<svg>` string: no plotting library, no script, no
font to load, the same bytes for the same numbers. Write it to a file, put it into a card, or show it in a notebook
with `IPython.display.SVG`.
"""

from whileai_hf.plots.bars import bars
from whileai_hf.plots.forest import Effect, forest
from whileai_hf.plots.histogram import histogram
from whileai_hf.plots.reliability import reliability


__all__ = ["Effect", "bars", "forest", "histogram", "reliability"]
