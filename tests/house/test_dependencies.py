"""What the package imports is what it declares, and what an extra brings is imported only where it is used."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from guests import COMPANIONS, GUESTS, may_import, module_of


def _distribution(requirement):
    return re.match(r"[\w.-]+", requirement).group().lower().replace("_", "-")


@pytest.fixture(scope="module")
def project(repo):
    return tomllib.loads((repo / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _imports(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _foreign(sources, top_level_only):
    """`{distribution: {path, ...}}` of every import that is neither ours nor Python's."""
    known = packages_distributions()
    found = {}
    for source in sources:
        for name in _imports(source.tree.body if top_level_only else source.nodes):
            if name not in sys.stdlib_module_names and name != "whileai_hf":
                distribution = known.get(name, [name])[0].lower().replace("_", "-")
                found.setdefault(distribution, set()).add(source.name)
    return found


def test_module_level_imports_are_core_dependencies(project, sources):
    core = {_distribution(requirement) for requirement in project["dependencies"]}
    foreign = [(path, name) for name, paths in _foreign(sources, True).items() if name not in core for path in paths]
    assert not [(path, name) for path, name in foreign if not may_import(path, name)]
    assert project["entry-points"]["pytest11"] == {"whileai_hf": "whileai_hf.testing.plugin"}


def test_guests_are_imported_by_their_hosts_only(sources):
    guests = {module_of(path): host for host, paths in GUESTS.items() for path in paths}
    for source in sources:
        own = module_of(source.name)
        named = {node.module for node in source.tree.body if isinstance(node, ast.ImportFrom)}
        for guest in named & guests.keys():
            assert guests.get(own) == guests[guest], f"{own} imports {guest} at the top"


def test_every_import_is_declared_somewhere(project, sources):
    extras = [requirement for group in project["optional-dependencies"].values() for requirement in group]
    declared = {_distribution(requirement) for requirement in [*project["dependencies"], *extras]}
    # What comes with TRL, and with others.
    declared |= {"transformers", "accelerate"}.union(*COMPANIONS.values())
    assert not {name: where for name, where in _foreign(sources, False).items() if name not in declared}


def test_core_dependencies_are_used(project, sources):
    used = set(_foreign(sources, False))
    assert not {_distribution(requirement) for requirement in project["dependencies"]} - used
