"""The tiny model, and a store of training runs for every test."""

import importlib.util
from pathlib import Path

import pytest
from huggingface_hub import constants


# What every trainer here is told: one thread, no reports, a line for each step.
SETTINGS = {
    "use_cpu": True,
    "bf16": False,
    "activation_checkpointing": False,
    "report_to": "none",
    "logging_steps": 1,
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
    "learning_rate": 1e-3,
    "seed": 0,
}


@pytest.fixture(scope="session")
def settings():
    """Arguments of a trainer that works on any machine."""
    return dict(SETTINGS)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A folder with a tiny model, and its tokenizer."""
    pytest.importorskip("trl")
    spec = importlib.util.spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = module.save_tiny_model(tmp_path_factory.mktemp("tiny"))
    return str(folder), module.make_tokenizer()


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store of training runs to itself, for the programs a test starts too."""
    monkeypatch.setattr(constants, "HF_ASSETS_CACHE", str(tmp_path / "assets"))
    monkeypatch.setenv("HF_ASSETS_CACHE", str(tmp_path / "assets"))
    monkeypatch.delenv("RANK", raising=False)
    return tmp_path / "assets"
