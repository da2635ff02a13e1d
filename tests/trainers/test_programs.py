"""The training programs, on a tiny model made on the spot. They need torch, transformers and TRL."""

import os
import subprocess
import sys

import pytest

import whileai_hf as wai


@pytest.fixture(scope="module")
def model(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    program = shared / "proofs" / "trl" / "tiny.py"
    subprocess.run([sys.executable, str(program), str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture
def graded(tmp_path, tools, policy):
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt=policy, mode="rl", situations=4, repeats=4)
    path = tmp_path / "graded"
    wai.grade(data, judge=lambda row: row["rollout_index"] % 2).save_to_disk(str(path))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sft", "grpo"])
def test_program_trains(repo, model, graded, tmp_path, name):
    (tmp_path / "short_reward.py").write_text(
        "def short(completions, **columns):\n    return [-float(len(str(reply))) for reply in completions]\n"
    )
    extra = ["--per_device_train_batch_size", "2"]
    if name == "grpo":
        extra += ["--reward", "short_reward:short", "--num_generations", "2", "--max_completion_length", "8"]
    command = [sys.executable, str(repo / "trainers" / f"{name}.py"), "--data", str(graded), "--model", str(model)]
    command += ["--output_dir", str(tmp_path / "out"), "--max_steps", "2", "--use_cpu", "true", "--bf16", "false"]
    result = subprocess.run([*command, *extra], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert result.returncode == 0, result.stderr[-3000:]
    assert (tmp_path / "out" / "model.safetensors").exists()
