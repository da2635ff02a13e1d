"""Constitutions: a versioned document of traits, rows that say which version they are for, a judge of the traits."""

from whileai_hf.markers.constitution.judging import ConstitutionJudge, constitution_judge
from whileai_hf.markers.constitution.spec import Spec, Trait, load_spec, stamp_spec


__all__ = ["ConstitutionJudge", "Spec", "Trait", "constitution_judge", "load_spec", "stamp_spec"]
