"""Symptoms seen in public issue trackers, each with the outcome it should have had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from whileai_hf.rows.rng import rng
from whileai_hf.sandbox import sample_arguments
from whileai_hf.spec import AgentSpec, parameter_schemas


CASES = Path(__file__).resolve().parents[2].parent / "shared/real/cases.jsonl"
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="the collected cases are not on this machine")


def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        entry for entry in map(json.loads, CASES.read_text().splitlines()) if entry["id"] == name
    )
    return found


def test_o038_names_are_not_merged() -> None:
    given, expected = case("O038")["input"], case("O038")["expected"]
    spec = AgentSpec.from_tools(given["tools"])
    assert len(spec.tools) == len(set(spec.names)) == expected["n_tools"]


def test_o039_a_recursive_schema_does_not_recurse() -> None:
    given = case("O039")["input"]["tool"]
    tool = AgentSpec.from_tools([given]).tools[0]
    assert tool.parameters == given["parameters"]
    assert list(parameter_schemas(tool)["node"]["properties"]) == ["v", "children"]


def test_o041_definitions_travel_and_arguments_can_be_built() -> None:
    given, expected = case("O041")["input"]["tool"], case("O041")["expected"]
    spec = AgentSpec.from_tools([given])
    assert spec.tools[0].parameters["$defs"] == given["parameters"]["$defs"]
    assert spec.openai_tools()[0]["function"]["parameters"] == given["parameters"]
    for seed in range(20):
        arguments = sample_arguments(spec.tools[0], rng(seed))
        jsonschema.validate(arguments, given["parameters"])
        assert arguments.keys() == expected["world_can_build_arguments"].keys()
        assert isinstance(arguments["request"]["sql"], str) and arguments["request"]["sql"]


def test_o042_a_dangling_reference_is_reported_by_name() -> None:
    given, expected = case("O042")["input"]["tool"], case("O042")["expected"]
    spec = AgentSpec.from_tools([given])
    assert len(spec.warnings) == 1 and expected["names"] in spec.warnings[0]
    assert parameter_schemas(spec.tools[0]) == {"target": {}}


def test_o040_an_empty_tool_list_adds_nothing_to_the_prompt() -> None:
    trl = pytest.importorskip("trl")
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    core = tokenizers.Tokenizer(tokenizers.models.BPE())
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|im_end|>")
    folder = Path(trl.__file__).parent / "chat_templates"
    tokenizer.chat_template = (folder / "qwen3_instruct_2507.jinja").read_text(encoding="utf-8")
    spec = AgentSpec.from_tools(case("O040")["input"]["tools"], "You help with orders.")
    messages = [{"role": "system", "content": spec.system_prompt}, {"role": "user", "content": "Where is A1?"}]

    def render(**tools: Any) -> str:
        return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **tools))

    assert render(tools=spec.openai_tools()) == render()
    one = AgentSpec.from_tools([{"name": "ping"}])
    assert render(tools=one.openai_tools()) != render()
