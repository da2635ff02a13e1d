"""Agents of published benchmarks and MCP servers, as their files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from whileai_hf.spec import AgentSpec, parameter_schemas


SPECS = sorted((Path(__file__).resolve().parents[2].parent / "shared/real/specs").glob("*.json"))
BFCL = Path(__file__).resolve().parents[2].parent / "shared/real/bfcl/multi_turn_func_doc.json"


@pytest.mark.skipif(not SPECS, reason="the real specs are not on this machine")
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_real_spec_loads_as_it_is(path: Path) -> None:
    raw = json.loads(path.read_text())
    spec = AgentSpec.load(path)
    assert spec.name == raw["name"]
    assert [tool["function"]["name"] for tool in raw["tools"]] == list(spec.names)
    assert spec.system_prompt == raw["system_prompt"]
    assert 1 <= len(spec.clauses) <= 24
    for tool, written in zip(spec.tools, raw["tools"], strict=True):
        jsonschema.validators.validator_for(tool.parameters).check_schema(tool.parameters)
        kept: dict[str, Any] = written["function"].get("parameters") or {}
        assert kept.items() <= tool.parameters.items()
        assert list(parameter_schemas(tool)) == list(kept.get("properties", {}))


@pytest.mark.skipif(not SPECS, reason="the real specs are not on this machine")
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("tau_airline", "You should deny user requests that are against this policy."),
        ("tau_airline", "Passengers: Each reservation can have at most five passengers."),
        ("agentdojo_slack", "If a tool says that no results are available, try with a different query."),
        ("mcp_everything", "Prefer reading resources before calling mutating tools"),
        ("mcp_git", "Use the git tools to do what the user asks."),
    ],
)
def test_a_reader_recognises_the_rules(name: str, rule: str) -> None:
    spec = AgentSpec.load(next(path for path in SPECS if path.stem == name))
    assert rule in spec.clauses
    assert not any(clause.startswith(("#", "-", "You are a", "The current time")) for clause in spec.clauses)


@pytest.mark.skipif(not SPECS, reason="the real specs are not on this machine")
def test_hints_of_the_raw_listing_reach_the_tools() -> None:
    spec = AgentSpec.load(next(path for path in SPECS if path.stem == "mcp_git"))
    assert spec.tool("git_status").annotations["readOnlyHint"] is True


@pytest.mark.skipif(not BFCL.exists(), reason="the BFCL function docs are not on this machine")
def test_every_bfcl_schema_becomes_valid_json_schema() -> None:
    total = 0
    for tools in json.loads(BFCL.read_text()).values():
        for tool in AgentSpec.from_tools(tools).tools:
            jsonschema.Draft202012Validator.check_schema(tool.parameters)
            total += 1
    assert total > 50
