"""A room imports only from rooms built before it, and no room bears the name of a public function."""

import ast
import importlib
from collections.abc import Iterator

import pytest
from sources import PACKAGE, Source

import whileai_hf


ORDER = [
    "errors",
    "knobs",
    "stats",
    "plots",
    "store",
    "rows",
    "spec",
    "sandbox",
    "actors",
    "scenarios",
    "traces",
    "score",
    "markers",
    "engine",
    "measure",
    "select",
    "export",
    "training",
    "hub",
    "report",
    "testing",
    "cli",
]
ROOMS = sorted({path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py")} - {"__init__", "__pycache__"})
PACKAGES = [room for room in ROOMS if (PACKAGE / room).is_dir()]
MOST_NAMES = 15


def _rooms_imported(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source.name}:{node.lineno} is a relative import; write the full name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "whileai_hf":
                yield node.lineno, parts[1] if len(parts) > 1 else "whileai_hf"


def test_every_room_has_its_place():
    assert set(ROOMS) <= set(ORDER), "a new room goes into the order, at the floor where it belongs"


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_down(room, sources):
    allowed = {room, *ORDER[: ORDER.index(room)]}
    if room == "cli":  # the ground floor of a command is the public surface itself
        allowed |= {"whileai_hf", "__version__"}
    wrong = [
        f"{source.name}:{line} imports {name}"
        for source in sources
        if source.name.partition("/")[0] in (room, f"{room}.py")
        for line, name in _rooms_imported(source)
        if name not in allowed
    ]
    assert not wrong


def test_no_room_is_named_like_a_function():
    taken = {name: room for room in PACKAGES for name in importlib.import_module(f"whileai_hf.{room}").__all__}
    clashes = (set(taken) | set(whileai_hf.__all__)) & set(ROOMS)
    assert not clashes


@pytest.mark.parametrize("room", PACKAGES)
def test_front_door(room):
    module = importlib.import_module(f"whileai_hf.{room}")
    assert len(module.__all__) <= MOST_NAMES
    assert len(set(module.__all__)) == len(module.__all__)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert not missing
    assert module.__doc__, "a front door says what lives in the room, what does not, and why"


def test_every_module_says_what_it_is(sources):
    silent = [source.name for source in sources if not ast.get_docstring(source.tree)]
    assert not silent
