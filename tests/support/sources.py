"""The package's own source files, read and parsed for tests that look at them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import whileai_hf


PACKAGE = Path(whileai_hf.__file__).parent


class Source(NamedTuple):
    """A module: where it is in the package, its text, and all its nodes, in no order worth relying on."""

    name: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]


def read_sources() -> tuple[Source, ...]:
    """All modules, by name."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        found.append(Source(path.relative_to(PACKAGE).as_posix(), text, tree, tuple(ast.walk(tree))))
    return tuple(found)
