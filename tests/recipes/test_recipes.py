"""The recipes, in their order, as a newcomer runs them: each reads what the one before wrote."""

import re
import subprocess
import sys

import pytest


NAMES = ("01-simulate", "02-grade", "03-measure", "04-select", "05-export")


@pytest.fixture(scope="module")
def outputs(repo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    found = {}
    for name in NAMES:
        result = subprocess.run(
            [sys.executable, str(repo / "recipes" / name / "run.py")], cwd=folder, capture_output=True, text=True
        )
        assert result.returncode == 0, f"{name}\n{result.stderr[-3000:]}"
        found[name] = result.stdout
    return found


@pytest.mark.parametrize("name", NAMES)
def test_recipe_prints_what_its_readme_promises(outputs, repo, name):
    text = (repo / "recipes" / name / "README.md").read_text(encoding="utf-8")
    assert f"python recipes/{name}/run.py" in text
    (expected,) = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    # How long it took is the one thing that differs between machines.
    timing = re.compile(r", [\d.]+ s \([\d,.]+ rows/s\)")
    assert timing.sub("", expected).strip() == timing.sub("", outputs[name]).strip()
