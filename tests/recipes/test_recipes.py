"""The recipes as a newcomer runs them: the numbered ones in their order, each of the others in an empty folder.

They run as forks, which spares each of them the imports; the first of all, and `verifiers` without its extra, start as
a newcomer's do.
"""

import os
import re
import subprocess
import sys

import pytest
from forked import run_forked


LOOP = ("01-simulate", "02-grade", "03-measure", "04-select", "05-export")
ALONE = ("verifiers", "judges", "behaviour", "character", "before-after", "reward-hacking")
AIRLINE = ("real", "trajectories", "tau_v1_gpt4o_airline.jsonl")
# A recipe takes seconds; this is for a machine that does much else.
PATIENCE_S = 120


def run(repo, name, folder, *arguments, forked=True):
    command = [sys.executable, str(repo / "recipes" / name / "run.py"), *arguments]
    # Nothing to talk to: a recipe that needs a key or the network fails here.
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    environment = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
    how = {"cwd": folder, "timeout": PATIENCE_S, "env": {**environment, **offline}}
    started = run_forked(command, **how) if forked else subprocess.run(command, capture_output=True, text=True, **how)
    assert started.returncode == 0, f"{name}\n{started.stderr[-3000:]}"
    return started.stdout


def check(repo, name, output, place=0):
    """`UPDATE_EXPECTED=1 pytest tests/recipes` writes the new numbers, for a reader to judge in the diff."""
    readme = repo / "recipes" / name / "README.md"
    text = readme.read_text(encoding="utf-8")
    assert f"python recipes/{name}/run.py" in text
    block = list(re.finditer(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL))[place]
    if os.environ.get("UPDATE_EXPECTED"):
        readme.write_text(text[: block.start(1)] + output + text[block.end(1) :], encoding="utf-8")
        return
    # How long it took is the one thing that differs between machines.
    timing = re.compile(r", [\d.]+ s \([\d,.]+ rows/s\)")
    assert timing.sub("", block.group(1)) == timing.sub("", output)


@pytest.fixture(scope="module")
def outputs(repo, tmp_path_factory):
    """What the numbered recipes print; each reads what the one before wrote."""
    folder = tmp_path_factory.mktemp("loop")
    return {name: run(repo, name, folder, forked=name != LOOP[0]) for name in LOOP}


@pytest.mark.parametrize("name", LOOP)
def test_a_numbered_recipe_prints_what_its_readme_promises(outputs, repo, name):
    check(repo, name, outputs[name])


@pytest.mark.parametrize("name", ALONE)
def test_a_recipe_of_its_own_prints_what_its_readme_promises(repo, tmp_path, name):
    if name == "verifiers":
        pytest.importorskip("math_verify", reason="without the extra `math` the recipe leaves one table out")
    check(repo, name, run(repo, name, tmp_path))


def test_the_verifiers_recipe_says_so_without_the_extra(repo, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'math_verify' else found(name, *rest)\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    assert "left out: MathEqual needs pip install 'whileai-hf[math]'" in run(repo, "verifiers", tmp_path, forked=False)


def test_the_behaviour_recipe_reads_recorded_runs(repo, shared, tmp_path):
    check(repo, "behaviour", run(repo, "behaviour", tmp_path, str(shared.joinpath(*AIRLINE))), place=1)
