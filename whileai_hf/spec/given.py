"""The agent as callers give it: a spec, a path to one, or tools and a prompt as separate arguments."""

from __future__ import annotations

import os
from typing import Any

from whileai_hf.errors import SpecError
from whileai_hf.spec.agent import AgentSpec


def as_spec(spec: Any = None, *, tools: Any = None, system_prompt: str = "") -> AgentSpec:
    """
    The spec behind the arguments of a public function.

    Args:
        spec ([`AgentSpec`] or path, *optional*):
            A spec, or the folder or file that holds one.
        tools (`list`, *optional*):
            Tools in any shape [`AgentSpec.from_tools`] reads; instead of `spec`, or in place of the spec's tools.
        system_prompt (`str`, *optional*, defaults to `""`):
            The prompt; instead of `spec`, or in place of the spec's prompt.

    Raises:
        SpecError: Nothing that describes an agent was given.
    """
    if spec is None:
        return AgentSpec.from_tools(tools, system_prompt)
    if isinstance(spec, str | os.PathLike):
        spec = AgentSpec.load(os.fspath(spec))
    if not isinstance(spec, AgentSpec):
        raise SpecError(f"spec is a {type(spec).__name__}; pass an AgentSpec, a folder or a file")
    if tools is None and not system_prompt:
        return spec
    return AgentSpec.from_tools(
        list(spec.tools) if tools is None else tools,
        system_prompt or spec.system_prompt,
        rubric=spec.rubric,
        seeds=list(spec.seeds),
        name=spec.name,
    )
