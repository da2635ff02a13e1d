"""The agent as callers give it, under the name other rooms import it by; see [`~whileai_hf.spec.as_spec`]."""

from whileai_hf.spec.agent import as_spec


__all__ = ["as_spec"]
