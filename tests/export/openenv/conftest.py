"""Two of the environments that are checked in, and a policy that does what passed before."""

from pathlib import Path

import pytest

from whileai_hf.export.package import load_package


FOLDER = Path(__file__).resolve().parents[3] / "environments"


@pytest.fixture(params=("order-desk", "file-clerk"))
def package(request):
    made = load_package(FOLDER / request.param)
    made.imported()
    return made


@pytest.fixture
def clerk():
    made = load_package(FOLDER / "file-clerk")
    made.imported()
    return made
