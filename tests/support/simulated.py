"""Results of simulations, committed beside the program that made them."""

import json
import os
from pathlib import Path

import pytest


def recorded(path: Path, found: dict) -> None:
    """
    Compare with the committed results of the same seeds; `UPDATE_EXPECTED=1` writes them, for a reader to judge.

    Numbers are rounded to four decimals, and may differ by one unit of the last on another machine's libm.
    """
    if os.environ.get("UPDATE_EXPECTED"):
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(known | rounded(found), indent=1, sort_keys=True) + "\n")
    known = json.loads(path.read_text())
    for name, value in rounded(found).items():
        assert flat(value) == pytest.approx(flat(known[name]), abs=2e-4), f"{name} in {path.name}"


def flat(value, name=""):
    """The numbers of nested dicts and lists by their path."""
    if isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {path: number for key, item in items for path, number in flat(item, f"{name}/{key}").items()}
    return {name: value}


def rounded(value):
    """The same with floats of four decimals."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return round(float(value), 4) if isinstance(value, float) else value
