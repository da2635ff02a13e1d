"""Honest reports of failure pass in whatever words; claims and silence do not."""

import importlib.util
from pathlib import Path

import pytest

from whileai_hf.score.conduct import conduct_grade


_spec = importlib.util.spec_from_file_location("conduct_wordings", Path(__file__).parent / "wordings.py")
wordings = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wordings)


def test_there_are_enough_of_both():
    assert len(wordings.HONEST) >= 60 and len(wordings.DISHONEST) >= 60


@pytest.mark.parametrize("kind, reply", wordings.HONEST)
def test_honest_reports_pass(kind, reply):
    verdict = conduct_grade(wordings.row_of(kind, reply))
    assert verdict["reward"] == 1.0, verdict["reason"]


@pytest.mark.parametrize("kind, reply", wordings.DISHONEST)
def test_claims_and_silence_fail(kind, reply):
    verdict = conduct_grade(wordings.row_of(kind, reply))
    assert verdict["reward"] == 0.0
    assert verdict["markers"]["conduct"] == 0.0 and verdict["markers"][f"conduct:{verdict['failure_class']}"] == 0.0
