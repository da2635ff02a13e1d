"""What comparisons promise, against the committed results of `compare.py`, and that simulation as a slow test."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest


HERE = Path(__file__).parent
MOST_FALSE = 0.055


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("simulations_compare", HERE / "compare.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def check(found, slack=0.0):
    for cells in found["false_positives"].values():
        for cell in cells.values():
            assert cell["compare_runs"] <= MOST_FALSE + slack
            assert cell["moved"] <= MOST_FALSE + slack
            assert cell["disagreements"] == 0
    for cells in found["power_at_detectable_effect"].values():
        for cell in cells.values():
            assert cell["power"] is None or abs(cell["power"] - 0.8) <= 0.05 + slack
    for cells in found["false_positives_with_unlike_repeats"].values():
        assert all(rate <= MOST_FALSE + slack for rate in cells.values())


def test_committed_results(program):
    found = json.loads(program.RESULTS.read_text(encoding="utf-8"))
    assert found["trials"] == 10_000
    assert {name: set(cells) for name, cells in found["false_positives"].items()} == {
        name: {str(n) for n in program.SIZES} for name in program.POPULATIONS
    }
    check(found)


def test_small_version(program):
    found = program.false_positives(program.POPULATIONS["rate 0.5, k=4"], 8, 400, 0)
    assert found["compare_runs"] <= 0.08 and found["moved"] <= 0.08
    assert found["disagreements"] == 0


@pytest.mark.slow
def test_whole_simulation(program):
    check(program.simulate(), slack=0.005)
