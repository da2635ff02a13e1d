"""The training programs from end to end on the shipped policy of 111,000 parameters, offline, on one core."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from datasets import load_from_disk
from forked import ForkedPopen
from huggingface_hub import constants

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError
from whileai_hf.training.launching import starting, train
from whileai_hf.training.launching.locating import find_program, read_header
from whileai_hf.training.monitor.demo import desk
from whileai_hf.training.recorder import RolloutRecorder
from whileai_hf.training.runs import get_run, list_runs


METHODS = ("sft", "dpo", "kto", "reward", "grpo")
# Small enough for a test, and nothing that a trainer would look for on this machine.
FLAGS = {
    "use_cpu": True, "bf16": False, "logging_steps": 1, "save_strategy": "no", "disable_tqdm": True,
    "dataloader_pin_memory": False, "holdout_tasks": 6, "holdout_tokens": 40, "holdout_turns": 3,
}  # fmt: skip
GRPO_FLAGS = {
    "num_generations": 2, "max_completion_length": 96, "max_tool_calling_iterations": 1, "monitor_every": 1,
    "monitor_k": 1, "per_device_eval_batch_size": 6,
}  # fmt: skip
MOST_LINES = 150
REWARDS = """
import json

from whileai_hf.training.monitor.demo import desk


def done(row):
    order = row["prompt"].rstrip("?").split()[-1]
    looked_up = any(step.get("arguments") == {"order_id": order} for step in row["steps"])
    return float(looked_up and (row["final_text"] or "").strip() == desk.answer(order))


def execute(tool, arguments):
    return json.loads(desk.OrderDesk().get_order(**arguments))
"""


def rollout(order, index, tools):
    """The right answer for every second rollout, a guess that gives nothing away for the others."""
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": order}}}
    result = desk.OrderDesk().get_order(order)
    text = desk.answer(order) if index % 2 else f"Order {order} is gone, I guess {index}."
    messages = [
        *desk.ask(order),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": result},
        {"role": "assistant", "content": text},
    ]
    steps = [{"tool": "get_order", "arguments": {"order_id": order}, "result": result}]
    row = {"scenario_id": order, "prompt": desk.ask(order)[1]["content"], "messages": messages, "tools": tools}
    return {**row, "steps": steps, "final_text": text, "rollout_index": index, "reward": float(index % 2)}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the model, graded rollouts of both sides, the agent and its judge."""
    pytest.importorskip("trl")
    import torch
    from transformers.utils import get_json_schema

    from whileai_hf.training.monitor.demo.policy import load_policy

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("programs")
    model, tokenizer = load_policy()
    model.save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    tools = [get_json_schema(desk.OrderDesk().get_order)]
    for name, orders in (("train", desk.TRAINED[:6]), ("holdout", desk.HELD_OUT[:6])):
        rows = [rollout(order, index, tools) for order in orders for index in range(4)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "agent.json").write_text(json.dumps({"tools": tools, "system_prompt": desk.SYSTEM}))
    (folder / "desk_rewards.py").write_text(REWARDS)
    yield folder
    torch.set_num_threads(threads)


@pytest.fixture
def start(place, tmp_path, monkeypatch):
    """Starts a program in this process; a store of runs to itself."""
    monkeypatch.setattr(constants, "HF_ASSETS_CACHE", str(tmp_path / "assets"))
    monkeypatch.setenv("HF_ASSETS_CACHE", str(tmp_path / "assets"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place))

    def started(method, where="inline", flags=None, **knobs):
        given = {"base_model": "base", "agent": "agent.json", "execute": "desk_rewards:execute", "steps": 2, **knobs}
        if method != "reward":
            given = {"reward": "desk_rewards:done", **given}
        extra = {**FLAGS, **(GRPO_FLAGS if method == "grpo" else {}), **(flags or {})}
        output = str(tmp_path / "out")
        return train(
            "train.jsonl", method, where=where, holdout="holdout.jsonl", k=2, batch_size=2, flags=extra, output=output,
            **given,
        )  # fmt: skip

    return started


@pytest.mark.timeout(600)
@pytest.mark.parametrize("method", METHODS)
def test_program_trains_and_says_whether_it_worked(method, start, tmp_path):
    lora = method in ("sft", "reward")
    run = start(method, lora=lora, flags={"lora_r": 4} if lora else {}, gold="desk_rewards:done")
    assert (run.status, run["trainer"], run.series[-1]["step"]) == ("done", method, 2)
    assert {"loss", "lr"} <= set(run.series[-1])
    out = tmp_path / "out"
    assert (out / ("adapter_model.safetensors" if lora else "model.safetensors")).exists()
    assert run["adapter"] == str(out)

    block = run.holdout_summary
    assert block["metric"] == ("pair_accuracy" if method == "reward" else "pass_at_1")
    assert block["ci95"][0] <= block["delta"] <= block["ci95"][1]
    assert run.word == "About the same"  # nobody learns in two steps of six tasks
    card = (out / "README.md").read_text(encoding="utf-8")
    assert yaml.safe_load(card.split("---")[1])["tags"][:3] == ["whileai-hf", "trl", method]
    assert f"| after | {block['after']['value']:.3g} |" in card
    if method != "reward":
        sides = [load_from_disk(str(run.folder / f"holdout-{when}")) for when in ("before", "after")]
        assert [len(rows) for rows in sides] == [12, 12]
        assert wai.pass_at(sides[1]).pass_at_1 == pytest.approx(block["after"]["value"])
        assert set(sides[0]["scenario_id"][:]) == set(desk.HELD_OUT[:6])
    else:
        assert wai.reward_model(str(out)).name
    if method == "grpo":
        recorded = RolloutRecorder(run).dataset()
        assert set(recorded["phase"][:]) == {"train", "eval"}
        assert sum(phase == "train" for phase in recorded["phase"]) == 4
        assert {"proxy_reward", "gold_reward"} <= {name for point in run.series for name in point}
        assert run.summary["hack_monitor"]["outcome"] == "no_alarm"


@pytest.mark.timeout(300)
def test_a_program_in_a_process_of_its_own_with_a_config_file(start, place, monkeypatch):
    # Forked: what is its own is the process and the command line; TRL is imported already.
    monkeypatch.setattr(starting, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": ForkedPopen}))
    (place / "sft.yaml").write_text("learning_rate: 0.001\nholdout_share: 0.0\nweight_decay: 0.25\n")
    run = start("sft", where="subprocess", flags={"config": "sft.yaml", "learning_rate": 0.002}).wait(280)
    assert run.status == "done", (run.folder / "output.log").read_text()[-3000:]
    assert run["config"]["weight_decay"] == 0.25
    assert run["config"]["learning_rate"] == 0.002


def test_a_base_model_that_is_not_there_fails_the_run(start):
    with pytest.raises(ConfigurationError, match="no-such-model"):
        start("sft", base_model="no-such-model")
    run = list_runs()[0]
    assert run.status == "failed"
    assert "no-such-model" in run["reason"]


@pytest.mark.parametrize("method", METHODS)
def test_programs_are_short_and_carry_their_launch(method):
    text = find_program(method).read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    assert "whileai-hf[trl]" in read_header(text)["dependencies"]


@pytest.mark.parametrize("method", ["sft", "grpo"])
def test_a_job_of_it_could_be_started(method, repo, tmp_path):
    hf = Path(sys.executable).with_name("hf")
    if not hf.is_file():
        hf = Path(shutil.which("hf") or pytest.skip("no hf program"))
    command = [str(hf), "jobs", "uv", "run", "--dry-run", str(repo / "trainers" / f"{method}.py"), "--data", "me/rows"]
    env = {**os.environ, "HF_TOKEN": "hf_made_up", "HF_HOME": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    launch = read_header(find_program(method).read_text(encoding="utf-8"))["tool"]["hf-jobs"]
    assert launch["flavor"] in result.stdout + result.stderr


LAUNCHERS = {
    1: ["accelerate.commands.launch", "--cpu", "--num_processes", "1", "--num_machines", "1",
        "--mixed_precision", "no",
        "--dynamo_backend", "no"],
    2: ["torch.distributed.run", "--standalone", "--nproc_per_node", "2"],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("processes", LAUNCHERS)
def test_launchers_start_grpo(processes, place, repo, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_ASSETS_CACHE", str(tmp_path / "assets"))
    flags = {
        **FLAGS, **GRPO_FLAGS, "data": "train.jsonl", "holdout": "holdout.jsonl", "agent": "agent.json",
        "reward": "desk_rewards:done", "execute": "desk_rewards:execute", "model_name_or_path": "base",
        "max_steps": 2, "per_device_train_batch_size": 2, "holdout_k": 1, "output_dir": str(tmp_path / "out"),
    }  # fmt: skip
    if processes > 1:
        flags["ddp_backend"] = "gloo"
    words = [word for name, value in flags.items() for word in (f"--{name}", str(value).lower())]
    env = {**os.environ, "HF_ASSETS_CACHE": str(tmp_path / "assets"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *LAUNCHERS[processes], str(repo / "trainers" / "grpo.py"), *words]
    result = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    (run,) = list_runs()
    assert (run.status, run.series[-1]["step"]) == ("done", 2)
    assert get_run(run.id).holdout_summary["after"]["n_tasks"] == 6
    phases = RolloutRecorder(run).dataset()["phase"][:]
    assert phases.count("train") == 2 * 2 * processes  # steps, rollouts of a process in one
    assert all("gold_reward" not in point for point in run.series)
    assert run.summary["hack_monitor"]["outcome"] == "not_measured"
