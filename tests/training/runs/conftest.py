"""Every test has a store of training runs to itself."""

import pytest
from huggingface_hub import constants


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """The folder that holds the store, named in the environment too, for the programs a test starts."""
    monkeypatch.setattr(constants, "HF_ASSETS_CACHE", str(tmp_path / "assets"))
    monkeypatch.setenv("HF_ASSETS_CACHE", str(tmp_path / "assets"))
    monkeypatch.delenv("RANK", raising=False)
    return tmp_path / "assets"
