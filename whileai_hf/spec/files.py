"""Reading a spec from disk: JSON or YAML, with the place of a mistake in the message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whileai_hf.errors import SourceNotFoundError, SpecError


_JSON = (".json",)
_YAML = (".yaml", ".yml")
# Keys under which an example ask may stand when seeds are objects instead of strings.
_ASK_KEYS = ("prompt", "ask", "text", "instruction")


def read_text(path: Path) -> str:
    """The text of `path` without a byte-order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8.") from error


def _parse_json(text: str, where: Path, first_line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = error.lineno + first_line - 1
        raise SpecError(
            f"{where}:{line}:{error.colno}: broken JSON, {error.msg[:1].lower()}{error.msg[1:]}; "
            "fix the file there (JSON takes double quotes, and no comma before a closing bracket)."
        ) from error


def _parse_yaml(text: str, where: Path) -> Any:
    import yaml  # comes with huggingface_hub; imported late because most specs are JSON

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{where}:{mark.line + 1}:{mark.column + 1}" if mark else str(where)
        raise SpecError(f"{place}: broken YAML, {error.problem}; fix the file there.") from error
    except yaml.YAMLError as error:
        raise SpecError(f"{where}: broken YAML, {error}; fix the file there.") from error


def read_data(path: Path) -> Any:
    """What a JSON or YAML file holds."""
    text = read_text(path)
    if not text.strip():
        raise SpecError(f"{path} is empty; expected a spec with `tools` and `policy`.")
    if path.suffix.lower() in _JSON:
        return _parse_json(text, path)
    if path.suffix.lower() in _YAML:
        return _parse_yaml(text, path)
    raise SpecError(
        f"{path}: cannot read a spec from a {path.suffix or 'suffixless'} file; use .json, .yaml or a folder."
    )


def asks(value: Any, where: str) -> tuple[str, ...]:
    """Example asks: strings, or objects with the ask under `prompt`."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise SpecError(f"{where} is {value!r:.60}; expected a list of example asks.")
    found: list[str] = []
    for index, entry in enumerate(value):
        text = next((entry[key] for key in _ASK_KEYS if key in entry), None) if isinstance(entry, dict) else entry
        if not isinstance(text, str) or not text.strip():
            raise SpecError(f"{where}[{index}] is {entry!r:.60}; expected a string or an object with a `prompt`.")
        found.append(text)
    return tuple(found)


def _seeds(folder: Path) -> tuple[str, ...]:
    for name in ("seeds.json", "seeds.yaml", "seeds.yml"):
        if (folder / name).is_file():
            return asks(read_data(folder / name), name)
    if (folder / "seeds.jsonl").is_file():
        path = folder / "seeds.jsonl"
        lines = enumerate(read_text(path).split("\n"), start=1)
        return asks([_parse_json(line, path, number) for number, line in lines if line.strip()], path.name)
    if (folder / "seeds.txt").is_file():
        return tuple(line.strip() for line in read_text(folder / "seeds.txt").splitlines() if line.strip())
    return ()


def _first(folder: Path, stem: str, suffixes: tuple[str, ...]) -> Path | None:
    return next((folder / f"{stem}{suffix}" for suffix in suffixes if (folder / f"{stem}{suffix}").is_file()), None)


def _folder(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    spec, tools = _first(folder, "spec", _JSON + _YAML), _first(folder, "tools", _JSON + _YAML)
    policy, rubric = _first(folder, "policy", (".md", ".txt")), _first(folder, "rubric", (".md", ".txt"))
    if spec is None and tools is None and policy is None:
        raise SpecError(
            f"{folder} holds no spec.json, tools.json or policy.md; a spec folder has at least one of them."
        )
    if spec is not None:
        found = spec_keys(read_data(spec), spec)
    for key, path in (("tools", tools), ("policy", policy), ("rubric", rubric)):
        if path is None:
            continue
        value = read_data(path) if key == "tools" else read_text(path)
        if found.get(key) not in (None, value):
            raise SpecError(
                f"{folder} gives {key} twice, in {path.name} and in {spec and spec.name}; drop one of them."
            )
        found[key] = value
    seeds = _seeds(folder)
    return {**found, **({"seeds": seeds} if seeds else {})}


def spec_keys(data: Any, path: Path) -> dict[str, Any]:
    """The keys of a spec, with the two spellings of the prompt brought to `policy`."""
    if isinstance(data, list):
        return {"tools": data}
    if not isinstance(data, dict):
        raise SpecError(f"{path} holds {data!r:.60}; expected an object with `tools` and `policy`.")
    prompts = {data[key] for key in ("policy", "system_prompt") if isinstance(data.get(key), str)}
    for key in ("policy", "system_prompt", "rubric", "name"):
        if data.get(key) is not None and not isinstance(data[key], str):
            raise SpecError(f"{path}: {key} is {data[key]!r:.60}; make it a string.")
    if len(prompts) > 1:
        raise SpecError(f"{path} has both `policy` and `system_prompt`, with different text; keep one of them.")
    # Any other key (tasks, source, notes) belongs to the file's owner.
    known = {key: data[key] for key in ("tools", "rubric", "seeds", "name", "tools_mcp_raw") if key in data}
    return {**known, **({"policy": prompts.pop()} if prompts else {})}


def read_spec(path: Path) -> dict[str, Any]:
    """
    The parts of a spec folder or file.

    Args:
        path (`Path`):
            A folder, or a JSON or YAML file.

    Returns:
        `dict`: Any of `tools`, `policy`, `rubric`, `seeds`, `name`, `tools_mcp_raw`.

    Raises:
        SourceNotFoundError: When there is nothing at `path`.
        SpecError: When a file is broken; the message has file, line and column.
    """
    if not path.exists():
        raise SourceNotFoundError(
            f"no spec at {path}; pass a folder with spec.json or tools.json, or a .json/.yaml file."
        )
    return _folder(path) if path.is_dir() else spec_keys(read_data(path), path)
