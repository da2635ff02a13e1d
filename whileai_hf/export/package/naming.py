"""What an exported environment is called: `my-agent` on the package index, `my_agent` when imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import keyword
import re
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path

from whileai_hf.errors import ConfigurationError


SPEC_FILE = "spec.json"
_OTHER = re.compile(r"[^a-z0-9]+")
# Ids that verifiers resolves to environments of its own before it looks for an installed package.
_BUILT_IN = frozenset({"harbor", "nemo_gym", "openenv", "textarena"})


@dataclass(frozen=True)
class PackageName:
    """
    The two names of a package.

    Args:
        distribution (`str`):
            With dashes: what pip installs, and an id of the environment.
        module (`str`):
            With underscores: what Python imports.
    """

    distribution: str
    module: str

    @property
    def title(self) -> str:
        """As classes are called."""
        return "".join(part.capitalize() for part in self.module.split("_"))


def package_name(folder: Path, name: str | None) -> PackageName:
    """
    The names of the package in a folder.

    Args:
        folder (`Path`):
            Where it is written.
        name (`str`, *optional*):
            Another name than the folder's.

    Returns:
        [`PackageName`]: Lower case, since verifiers looks for ids in lower case.

    Raises:
        [`ConfigurationError`]: No module can have that name, or another package has it.

    Examples:
    ```python
    >>> package_name(Path("environments/My agent 2"), None)
    PackageName(distribution='my-agent-2', module='my_agent_2')

    ```
    """
    given = folder.name if name is None else name
    if not isinstance(given, str) or not given.strip():
        raise ConfigurationError(f"name={name!r} is no name for a package; pass something like 'my-agent'")
    distribution = _OTHER.sub("-", given.lower()).strip("-")
    module = distribution.replace("-", "_")
    if not module.isidentifier() or keyword.iskeyword(module):
        raise ConfigurationError(
            f"{given!r} gives the module name {module!r}, which Python cannot import; pass name='my-agent'"
        )
    if module in _BUILT_IN:
        raise ConfigurationError(f"{module!r} is an environment of verifiers itself; pass another name=")
    if module in sys.stdlib_module_names:
        raise ConfigurationError(f"{module!r} is a module of Python's standard library; pass another name=")
    found = PackageName(distribution, module)
    _check_free(found, folder)
    return found


def _check_free(name: PackageName, folder: Path) -> None:
    spec = _find(name.module)
    if spec is not None and spec.origin is not None:
        if _is_environment(Path(spec.origin).parent, name.distribution):
            return  # an earlier export of this environment, installed
        raise ConfigurationError(
            f"a package called {name.module!r} is installed already ({spec.origin}), and one of the two would hide "
            f"the other; pass name='{name.distribution}-env' or the like"
        )
    try:
        version = importlib.metadata.version(name.distribution)
    except importlib.metadata.PackageNotFoundError:
        return
    if spec is None:
        raise ConfigurationError(
            f"a distribution called {name.distribution!r} ({version}) is installed already, and installing {folder} "
            "would replace it; pass another name="
        )


def _find(module: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(module)
    except ValueError:  # something in sys.modules that was not imported from a file
        return None


def _is_environment(module: Path, distribution: str) -> bool:
    try:
        spec = json.loads((module / SPEC_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(spec, dict) and spec.get("name") == distribution
