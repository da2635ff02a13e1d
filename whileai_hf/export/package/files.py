"""The files of an exported environment: what is in them, and putting them where they belong, all or none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import orjson

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.package.naming import SPEC_FILE, PackageName
from whileai_hf.export.package.requirements import dependencies
from whileai_hf.rows import canonical, dumps
from whileai_hf.rows.view import Row
from whileai_hf.spec import AgentSpec


SCHEMA = "whileai-hf/environment-1"
SPLITS = ("train", "holdout")
DATA = "data"
_HERE = files("whileai_hf.export.package")


@dataclass(frozen=True)
class Contents:
    """
    Everything that is written.

    Args:
        name ([`PackageName`]):
            The names.
        agent ([`AgentSpec`]):
            System prompt and tools.
        settings (`dict`):
            Further entries of `spec.json`: `max_turns`, `reward`, `world`, `user_model`, `avg_turns`.
        lines (`dict[str, list[dict]]`):
            Tasks by split.
        gate (`Sequence[str]`):
            Sentences about what was left out.
        included (`Mapping[Path, str]`):
            Files of the caller's, and the modules they become.
        requires (`Sequence[str]`):
            What those need beside the library.
    """

    name: PackageName
    agent: AgentSpec
    settings: Mapping[str, Any]
    lines: Mapping[str, list[Row]]
    gate: Sequence[str]
    included: Mapping[Path, str]
    requires: Sequence[str] = ()

    def spec(self) -> Row:
        """What stands in `spec.json`."""
        made: Row = canonical(
            {
                "schema": SCHEMA,
                "name": self.name.distribution,
                "system_prompt": self.agent.system_prompt,
                "tools": self.agent.openai_tools(),
                **self.settings,
            }
        )
        return made


def check_folder(folder: Path, overwrite: bool) -> None:
    """
    Whether an environment may be written there.

    Raises:
        [`ConfigurationError`]: Something is there already, and is not to be replaced.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file; pass the folder the environment is to be written to")
    if not any(folder.iterdir()):
        return
    ours = any((path / SPEC_FILE).is_file() for path in folder.iterdir() if path.is_dir())
    if not overwrite:
        hint = "pass overwrite=True to replace it" if ours else "pass an empty or a new folder"
        raise ConfigurationError(f"{folder} is not empty; {hint}")
    if not ours:
        raise ConfigurationError(
            f"{folder} holds something that is no exported environment, which overwrite=True would delete; pass an "
            "empty or a new folder"
        )


def write(folder: Path, contents: Contents) -> None:
    """
    Writes an environment.

    What was there is replaced at the very end, so that a failure leaves it as it is.

    Args:
        folder (`Path`):
            See [`check_folder`].
        contents ([`Contents`]):
            What to write.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as made:
        new = Path(made) / "new"
        _fill(new, folder, contents)
        if folder.exists():
            folder.replace(Path(made) / "old")
        new.replace(folder)


def _fill(root: Path, folder: Path, contents: Contents) -> None:
    module = root / contents.name.module
    (module / DATA).mkdir(parents=True)
    texts = _texts(folder, contents)
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
    pretty = orjson.dumps(contents.spec(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    (module / SPEC_FILE).write_bytes(pretty)
    for split in SPLITS:
        lines = b"".join(dumps(line) + b"\n" for line in contents.lines[split])
        (module / DATA / f"{split}.jsonl").write_bytes(lines)
    for path, becomes in contents.included.items():
        shutil.copyfile(path, module / f"{becomes.rpartition('.')[2]}.py")


def _texts(folder: Path, contents: Contents) -> dict[str, str]:
    name, settings = contents.name, contents.settings
    world = settings["world"]
    words = {
        "name": name.distribution,
        "module": name.module,
        "description": f"{name.distribution}: an environment of a tool-using agent",
        # A string of JSON without a character beyond ASCII is a string of TOML.
        "dependencies": ", ".join(orjson.dumps(each).decode() for each in dependencies(contents.requires)),
        "folder": folder.as_posix() if not folder.is_absolute() else folder.name,
        "n_train": len(contents.lines["train"]),
        "n_holdout": len(contents.lines["holdout"]),
        "some": min(20, max(1, len(contents.lines["holdout"]))),
        "tools": ", ".join(f"`{tool}`" for tool in contents.agent.names) or "none",
        "max_turns": settings["max_turns"],
        "reward": settings["reward"],
        "world": "simulated from the tools' schemas, with planned faults" if world is None else f"`{world}`",
        "gate": "\n".join(f"- {sentence}" for sentence in contents.gate),
    }
    made = {"README.md": "readme.txt", "pyproject.toml": "pyproject.txt", f"{name.module}/__init__.py": "module.txt"}
    return {
        path: Template(_HERE.joinpath(file).read_text(encoding="utf-8")).substitute(words)
        for path, file in made.items()
    }
