"""Markers: named behaviour measurements on rows, 1.0 the good outcome in every family.

[`Mark`] makes a map function of a family. What measures comes from the families: their functions read one row and
know nothing of Datasets.
"""

from whileai_hf.markers.marking import Mark


__all__ = ["Mark"]
