"""Failures: where rollouts go wrong, and what those that do have in common."""

from whileai_hf.measure.failures.diagnosis import Cluster, Diagnosis, diagnose


__all__ = ["Cluster", "Diagnosis", "diagnose"]
