"""Specs on disk: folders, files, and where a mistake stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whileai_hf.errors import SourceNotFoundError, SpecError
from whileai_hf.spec import AgentSpec


TOOL = {"name": "get_order", "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}
POLICY = "Never guess a status."


def write(folder: Path, **files: Any) -> Path:
    for name, content in files.items():
        stem, _, suffix = name.rpartition("_")
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_with_tools_policy_rubric_and_seeds(tmp_path: Path) -> None:
    folder = write(
        tmp_path, tools_json=[TOOL], policy_md=POLICY, rubric_md="Be right.", seeds_txt="Where is A1?\n\nHi.\n"
    )
    spec = AgentSpec.load(folder)
    assert (spec.names, spec.system_prompt, spec.rubric, spec.seeds, spec.name) == (
        ("get_order",),
        POLICY,
        "Be right.",
        ("Where is A1?", "Hi."),
        tmp_path.name,
    )


@pytest.mark.parametrize(
    "seeds",
    [
        {"seeds_json": ["Where is A1?", {"prompt": "Hi."}]},
        {"seeds_jsonl": '{"prompt": "Where is A1?"}\n\n"Hi."\n'},
        {"seeds_txt": "Where is A1?\nHi."},
    ],
)
def test_seeds_in_every_file(tmp_path: Path, seeds: dict[str, Any]) -> None:
    folder = write(tmp_path, spec_json={"tools": [TOOL], "system_prompt": POLICY, "name": "shop"}, **seeds)
    spec = AgentSpec.load(str(folder))
    assert (spec.seeds, spec.name, spec.system_prompt) == (("Where is A1?", "Hi."), "shop", POLICY)


def test_a_file_with_a_byte_order_mark_and_foreign_keys(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"
    path.write_text("\ufeff" + json.dumps({"tools": [TOOL], "policy": POLICY, "tasks": [1], "source": {}}), "utf-8")
    assert AgentSpec.load(path).name == "shop"
    path.write_text(json.dumps([TOOL]))
    assert AgentSpec.load(path).names == ("get_order",)


def test_yaml(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text("policy: Never guess a status.\ntools:\n  - name: ping\nseeds:\n  - Where is A1?\n")
    spec = AgentSpec.load(path)
    assert (spec.names, spec.seeds, spec.clauses) == (("ping",), ("Where is A1?",), (POLICY,))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "spec.json",
            '{\n "tools": [\n  {"name": "a",}\n ]\n}',
            r"spec\.json:3:16: broken JSON, .*fix the file there",
        ),
        ("spec.json", "{'tools': []}", r"spec\.json:1:2: broken JSON"),
        ("spec.json", "", r"spec\.json is empty"),
        ("spec.json", '"tools"', r"spec\.json holds 'tools'"),
        ("spec.json", '{"tools": [{}]}', r"spec\.json: tools\[0\] has no name"),
        ("spec.json", '{"rubric": "x"}', r"spec\.json: no tools and no prompt"),
        ("spec.json", '{"policy": ["x"]}', r"spec\.json: policy is \['x'\]; make it a string"),
        ("spec.json", '{"policy": "a b c d e", "system_prompt": "other"}', r"both `policy` and `system_prompt`"),
        ("spec.json", '{"policy": "a b c d e", "seeds": [3]}', r"seeds\[0\] is 3"),
        ("spec.yaml", "tools: [\n  a: {", r"spec\.yaml:\d+:\d+: broken YAML"),
        ("spec.toml", "x", r"cannot read a spec from a \.toml file"),
    ],
)
def test_a_broken_file_is_named_with_its_place(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SpecError, match=sentence):
        AgentSpec.load(tmp_path / name)


def test_a_broken_line_of_seeds_is_named(tmp_path: Path) -> None:
    write(tmp_path, tools_json=[TOOL], seeds_jsonl='"fine"\n\n{"prompt": }\n')
    with pytest.raises(SpecError, match=r"seeds\.jsonl:3:12: broken JSON"):
        AgentSpec.load(tmp_path)


def test_other_bad_sources(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="no spec at"):
        AgentSpec.load(tmp_path / "nothing")
    with pytest.raises(SpecError, match="holds no spec"):
        AgentSpec.load(tmp_path)
    (tmp_path / "spec.json").write_bytes(b'{"policy": "\xff"}')
    with pytest.raises(SpecError, match=r"byte 12 is not UTF-8"):
        AgentSpec.load(tmp_path)
    write(tmp_path, spec_json={"policy": "One rule only."}, policy_md="Another rule here.")
    with pytest.raises(SpecError, match=r"gives policy twice, in policy\.md and in spec\.json"):
        AgentSpec.load(tmp_path)


def test_mcp_hints_are_merged_by_name(tmp_path: Path) -> None:
    listing = [{"name": "get_order", "inputSchema": {}, "annotations": {"readOnlyHint": True}}, {"name": "gone"}]
    write(tmp_path, spec_json={"tools": [TOOL], "tools_mcp_raw": listing})
    spec = AgentSpec.load(tmp_path)
    assert spec.names == ("get_order",) and spec.tools[0].annotations == {"readOnlyHint": True}
