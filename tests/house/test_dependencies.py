"""What the package imports is what it declares, and what an extra brings is imported only where it is used."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import whileai_hf


PACKAGE = Path(whileai_hf.__file__).parent


def _distribution(requirement):
    return re.match(r"[\w.-]+", requirement).group().lower().replace("_", "-")


@pytest.fixture(scope="module")
def project(repo):
    return tomllib.loads((repo / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _imports(tree, top_level_only):
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _foreign(top_level_only):
    known = packages_distributions()
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in _imports(ast.parse(path.read_text(encoding="utf-8")), top_level_only):
            if name not in sys.stdlib_module_names and name != "whileai_hf":
                distribution = known.get(name, [name])[0].lower().replace("_", "-")
                found.setdefault(distribution, str(path.relative_to(PACKAGE)))
    return found


def test_module_level_imports_are_core_dependencies(project):
    core = {_distribution(requirement) for requirement in project["dependencies"]}
    foreign = {name: where for name, where in _foreign(True).items() if name not in core}
    # A plugin is imported by the program it plugs into, and by nothing else.
    assert foreign == {"pytest": "testing/plugin.py"}
    assert project["entry-points"]["pytest11"] == {"whileai_hf": "whileai_hf.testing.plugin"}


def test_every_import_is_declared_somewhere(project):
    extras = [requirement for group in project["optional-dependencies"].values() for requirement in group]
    declared = {_distribution(requirement) for requirement in [*project["dependencies"], *extras]}
    # transformers and torch come with TRL.
    declared |= {"transformers"}
    assert not {name: where for name, where in _foreign(False).items() if name not in declared}


def test_core_dependencies_are_used(project):
    used = set(_foreign(False))
    assert not {_distribution(requirement) for requirement in project["dependencies"]} - used
