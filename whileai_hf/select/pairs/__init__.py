"""Preference pairs out of graded rollouts of one prompt, for DPO and reward models."""

from whileai_hf.select.pairs.building import build_preference_pairs
from whileai_hf.select.pairs.config import PairConfig
from whileai_hf.select.pairs.report import PairReport


__all__ = ["PairConfig", "PairReport", "build_preference_pairs"]
