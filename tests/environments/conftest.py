"""The generator, the environments it writes, and those that are checked in."""

import importlib.util
import sys
from pathlib import Path

import pytest

from whileai_hf.export.package import load_package


FOLDER = Path(__file__).resolve().parents[2] / "environments"
NAMES = ("file-clerk", "math-tools", "order-desk")


@pytest.fixture(scope="session")
def checked_in():
    """Where the environments are."""
    return FOLDER


@pytest.fixture(scope="session")
def generator():
    """`environments/generate.py`, which puts its own folder on the path."""
    found = importlib.util.spec_from_file_location("environments_generate", FOLDER / "generate.py")
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="session", params=NAMES)
def generated(request, generator, tmp_path_factory):
    """An environment written anew: its folder, and what the generator measured."""
    parent = tmp_path_factory.mktemp("environments")
    return parent / request.param, generator.generate(request.param, parent)


@pytest.fixture(params=NAMES)
def package(request):
    """An environment as it is checked in."""
    made = load_package(FOLDER / request.param)
    made.imported()
    return made


@pytest.fixture
def clerk():
    """The clerk's package."""
    made = load_package(FOLDER / "file-clerk")
    made.imported()
    return made
