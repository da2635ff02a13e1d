"""An exported environment, opened: from its folder, from the Hub, or as it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.export.package.files import DATA, SCHEMA, SPLITS
from whileai_hf.export.package.naming import SPEC_FILE
from whileai_hf.export.package.references import load_reference
from whileai_hf.rows import loads
from whileai_hf.rows.view import Row
from whileai_hf.spec import AgentSpec


@dataclass(frozen=True)
class EnvironmentPackage:
    """
    An exported environment. Open one with [`load_package`].

    Args:
        folder (`Path`):
            The module's folder, which has `spec.json` and `data`.
        spec (`dict`):
            What `spec.json` says.
    """

    folder: Path
    spec: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"EnvironmentPackage({self.name!r}, {self.folder})"

    @property
    def name(self) -> str:
        """Name of the distribution."""
        return str(self.spec["name"])

    @property
    def module(self) -> str:
        """What it is imported as."""
        return self.folder.name

    @property
    def max_turns(self) -> int:
        """Turns of the policy in one rollout."""
        return int(self.spec["max_turns"])

    @cached_property
    def agent(self) -> AgentSpec:
        """System prompt and tools."""
        made = AgentSpec.from_tools(self.spec["tools"], self.spec["system_prompt"], name=self.name)
        noted = self.spec.get("annotations") or {}
        tools = tuple(replace(tool, annotations=noted.get(tool.name) or {}) for tool in made.tools)
        return replace(made, tools=tools)

    def lines(self, split: str) -> list[Row]:
        """
        The tasks of a split, as lines: `task_id`, `scenario_id`, `prompt` and `info`.

        Raises:
            [`ConfigurationError`]: There is no such split.
        """
        if split not in SPLITS:
            raise ConfigurationError(f"split={split!r} is not one of {', '.join(SPLITS)}")
        path = self.folder / DATA / f"{split}.jsonl"
        try:
            return [loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        except (OSError, ValueError) as error:
            raise DataError(f"the tasks in {path} cannot be read: {error}") from error

    def reward(self) -> Any:
        """The reward, imported."""
        self.imported()
        return load_reference(str(self.spec["reward"]), "reward")

    def world(self) -> Any:
        """The world, imported; `None` for the simulated one."""
        self.imported()
        return None if self.spec.get("world") is None else load_reference(str(self.spec["world"]), "world")

    def imported(self) -> ModuleType:
        """
        The package's module. It need not be installed: it is imported from where it is.

        Raises:
            [`ConfigurationError`]: Another package of that name was imported before.
        """
        init = self.folder / "__init__.py"
        known = sys.modules.get(self.module)
        if known is not None:
            if _same(Path(str(vars(known).get("__file__"))).parent, self.folder):
                return known
            raise ConfigurationError(
                f"the environment in {self.folder} is called {self.module!r}, and another module of that name was "
                f"imported from {vars(known).get('__file__')}; export it under another name="
            )
        spec = importlib.util.spec_from_file_location(self.module, init, submodule_search_locations=[str(self.folder)])
        if spec is None or spec.loader is None or not init.is_file():
            raise DataError(f"{self.folder} has no __init__.py, so it is no exported environment")
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.module] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[self.module]
            raise
        return module


def _same(folder: Path, other: Path) -> bool:
    """Whether two folders hold one environment, such as its checkout and its installed copy."""
    if folder.resolve() == other.resolve():
        return True
    names = [SPEC_FILE, "__init__.py", *(f"{DATA}/{split}.jsonl" for split in SPLITS)]
    return all(
        (folder / name).is_file() and (folder / name).read_bytes() == (other / name).read_bytes() for name in names
    )


def is_package(source: Any) -> bool:
    """
    Whether a path is the folder of an exported environment.

    Examples:
    ```python
    >>> is_package("no/such/folder")
    False

    ```
    """
    return isinstance(source, str | os.PathLike) and _module_folder(Path(source).expanduser()) is not None


def load_package(source: str | os.PathLike[str]) -> EnvironmentPackage:
    """
    Opens an exported environment.

    Args:
        source (`str` or `Path`):
            Its folder, the folder of its module, the name of an installed one, or a Hub repo id (`owner/name`, a
            dataset repo that holds the folder).

    Returns:
        [`EnvironmentPackage`]: Nothing of it has been run yet.

    Raises:
        [`SourceNotFoundError`]: There is none.
        [`DataError`]: What is there cannot be read.
    """
    path = Path(source).expanduser()
    folder = _module_folder(path)
    if folder is None and not path.exists():
        folder = _installed(str(source)) or _on_hub(str(source))
    if folder is None:
        raise SourceNotFoundError(
            f"{source} is no exported environment: no folder there has a spec.json of ours, and no package or Hub "
            "repo of that name has; export one with export_environment(data, folder)"
        )
    try:
        spec = json.loads((folder / SPEC_FILE).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{folder / SPEC_FILE} is no JSON ({error})") from error
    missing = [name for name in ("name", "system_prompt", "tools", "max_turns", "reward") if name not in spec]
    if missing:
        raise DataError(f"{folder / SPEC_FILE} lacks {', '.join(missing)}")
    return EnvironmentPackage(folder.resolve(), spec)


def _module_folder(path: Path) -> Path | None:
    if not path.is_dir():
        return None
    for folder in (path, *sorted(child for child in path.iterdir() if child.is_dir())):
        file = folder / SPEC_FILE
        if file.is_file() and SCHEMA.encode() in file.read_bytes():
            return folder
    return None


def _installed(name: str) -> Path | None:
    module = name.replace("-", "_").lower()
    if not module.isidentifier():
        return None
    try:
        spec = importlib.util.find_spec(module)
    except ValueError:
        return None
    return None if spec is None or spec.origin is None else _module_folder(Path(spec.origin).parent)


def _on_hub(repo: str) -> Path | None:
    if repo.count("/") != 1:
        return None
    try:
        return _module_folder(Path(snapshot_download(repo, repo_type="dataset")))
    except (RepositoryNotFoundError, HFValidationError, LocalEntryNotFoundError):
        return None
    except (HfHubHTTPError, ConnectionError) as error:
        raise SourceNotFoundError(f"the Hub repo {repo!r} cannot be reached: {error}") from error
