"""The built wheel, in a clean environment without extras, does the main job."""

import os
import subprocess
import sys
import venv
import zipfile

import pytest


# Folders whose files are read at run time, and which must therefore hold some.
DATA = (
    "score/judges/prompts/*.txt",
    "score/rubrics/prompts/*.txt",
    "score/pairs/prompts/*.txt",
    "markers/style/rules/*.txt",
    "score/reading/data/*.json",
    "scenarios/data/*",
    "export/package/*.txt",
    "hub/cards/*.md",
    "training/monitor/fixture/*",
)


def _data_files(repo):
    """Everything in the package that is no Python, as the wheel names it."""
    package = repo / "whileai_hf"
    for pattern in DATA:
        assert list(package.glob(pattern)), f"nothing is at whileai_hf/{pattern}"
    files = [path for path in package.rglob("[!.]*") if path.is_file() and "__pycache__" not in path.parts]
    return sorted(path.relative_to(repo).as_posix() for path in files if path.suffix not in (".py", ".pyc"))


@pytest.mark.timeout(600)
def test_wheel_runs_the_demo(repo, tmp_path):
    pip_wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip_wheel, "-w", tmp_path, repo], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("whileai_hf-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    sample = ("cli/sample/spec.json", "cli/sample/policy.md")
    for name in ("py.typed", "rows/schemas/row-v1.json", *sample, "_trainers/grpo.py"):
        assert f"whileai_hf/{name}" in names
    for name in _data_files(repo):
        assert name in names, f"{name} is not shipped"
    assert not [name for name in names if name.startswith(("tests/", "recipes/"))]

    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # the wheel, not the checkout
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)

    def run(program, *arguments):
        result = subprocess.run(
            [home / "bin" / program, *arguments], capture_output=True, text=True, cwd=tmp_path, env=env
        )
        assert result.returncode == 0, result.stderr[-3000:]
        return result.stdout

    run("python", "-m", "pip", "install", "--quiet", wheel)
    find = "import importlib.util as u; print([m for m in ('torch', 'trl', 'transformers') if u.find_spec(m)])"
    assert run("python", "-c", find).strip() == "[]"
    assert "pass@1" in run("whileai-hf", "demo")
    assert (tmp_path / "demo-out" / "grpo.jsonl").stat().st_size > 0
    assert run("hf-whileai", "--version").startswith("whileai-hf ")
