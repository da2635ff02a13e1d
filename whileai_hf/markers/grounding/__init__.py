"""Argument grounding: does every argument of every tool call come from the conversation?

`arguments` decides, `schemas` knows what a tool's schema allows, `notions` what is said in one way and passed in
another; `marking` writes the marker and counts.
"""

from whileai_hf.markers.grounding.arguments import ungrounded_arguments
from whileai_hf.markers.grounding.marking import ArgumentGrounding, GroundingReport, grounding_report, mark_grounding


__all__ = ["ArgumentGrounding", "GroundingReport", "grounding_report", "mark_grounding", "ungrounded_arguments"]
