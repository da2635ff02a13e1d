"""The built wheel, in a clean environment without extras, does the main job."""

import subprocess
import sys
import venv
import zipfile

import pytest


@pytest.mark.timeout(600)
def test_wheel_runs_the_demo(repo, tmp_path):
    pip_wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip_wheel, "-w", tmp_path, repo], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("whileai_hf-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("py.typed", "rows/schemas/row-v1.json", "cli/sample/tools.json", "cli/sample/policy.md"):
        assert f"whileai_hf/{name}" in names
    assert not [name for name in names if name.startswith(("tests/", "recipes/"))]

    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True, capture_output=True)
    absent = "import importlib.util as u; print([m for m in ('torch', 'trl', 'transformers') if u.find_spec(m)])"
    found = subprocess.run([python, "-c", absent], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout.strip() == "[]"
    demo = subprocess.run([home / "bin" / "whileai-hf", "demo"], capture_output=True, text=True, cwd=tmp_path)
    assert demo.returncode == 0, demo.stderr[-3000:]
    assert "pass@1" in demo.stdout
    assert (tmp_path / "demo-out" / "grpo.jsonl").stat().st_size > 0
    assert (
        "whileai-hf"
        in subprocess.run(
            [home / "bin" / "hf-whileai", "--version"], check=True, capture_output=True, text=True
        ).stdout
    )
