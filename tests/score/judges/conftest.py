import pytest
from huggingface_hub import constants


@pytest.fixture(autouse=True)
def no_verdicts_from_other_tests(tmp_path, monkeypatch):
    """A store of its own for each test: equal requests of two tests must not share an answer."""
    monkeypatch.setattr(constants, "HF_ASSETS_CACHE", str(tmp_path / "assets"))
    monkeypatch.delenv("WHILEAI_JUDGE", raising=False)
