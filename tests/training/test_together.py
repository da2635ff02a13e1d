"""Environment, monitor, recorder and callback in one GRPO trainer, plugged in in any order."""

import warnings

import pytest
from huggingface_hub import constants

from whileai_hf.export.environment import load_environment
from whileai_hf.markers.trajectory import trace_flag_report
from whileai_hf.measure.compare import delta_report
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.measure.passes import pass_at
from whileai_hf.rows import view
from whileai_hf.training.recorder import RolloutRecorder
from whileai_hf.training.runs import get_run, training_run


torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")

from whileai_hf.training.callback import TrainerCallback  # noqa: E402
from whileai_hf.training.monitor.callback import HackMonitor  # noqa: E402
from whileai_hf.training.monitor.demo import desk  # noqa: E402
from whileai_hf.training.monitor.demo.policy import load_policy  # noqa: E402


STEPS, HELD, K = 2, 6, 2
SETTINGS = {
    "use_cpu": True,
    "bf16": False,
    "activation_checkpointing": False,
    "report_to": "none",
    "logging_steps": 1,
    "save_strategy": "no",
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
    "per_device_train_batch_size": 8,
    "num_generations": 4,
    "max_completion_length": 128,
    "learning_rate": 1e-4,
    "seed": 0,
}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Look up an order by id.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "description": "Order id."}},
            "required": ["order_id"],
        },
    },
}


@pytest.fixture(autouse=True)
def quiet():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield
    torch.set_num_threads(before)


def short(row):
    return 1.0 - min(len(row["final_text"]), 50) / 50


class Judge:
    """The gold: keeps what it is shown."""

    def __init__(self, tool):
        self.tool, self.rows = tool, []

    def __call__(self, row):
        self.rows.append(row)
        return float(any(step.get("tool") == self.tool for step in row["steps"]))


def plug(order, spec, run, recorder, monitor, args, rollout):
    """A trainer with everything in it."""
    model, tokenizer = load_policy()
    given = {"model": model, "args": args, "processing_class": tokenizer, **spec.trainer_kwargs(rollout=rollout)}
    if order == "rewards first":
        given["reward_funcs"] = [recorder.wrap(reward) for reward in given["reward_funcs"]]
        trainer = trl.GRPOTrainer(**monitor.trainer_kwargs(**given))
        trainer.add_callback(TrainerCallback(run))
    elif order == "one around the other":
        given["reward_funcs"] = [recorder.wrap(monitor.wrap(reward)) for reward in given["reward_funcs"]]
        trainer = trl.GRPOTrainer(callbacks=[TrainerCallback(run)], **given)
        monitor.attach(trainer)
    elif order == "recorder last":
        trainer = trl.GRPOTrainer(callbacks=[monitor, TrainerCallback(run)], **given)
        monitor.attach(trainer)
        recorder.attach(trainer)
    else:
        trainer = trl.GRPOTrainer(callbacks=[TrainerCallback(run), monitor], **given)
        recorder.attach(trainer)
    return trainer


@pytest.mark.parametrize(
    ("order", "rollout"),
    [
        ("rewards first", False),
        ("recorder last", True),
        pytest.param("one around the other", False, marks=pytest.mark.slow),
        pytest.param("callbacks alone", True, marks=pytest.mark.slow),
        pytest.param("callbacks alone", False, marks=pytest.mark.slow),
    ],
)
def test_all_of_it_in_one_trainer(order, rollout, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_ASSETS_CACHE", str(tmp_path / "assets"))
    # No method can be called that, so an environment shows the policy the name it has learnt; a rollout function shows
    # tools as they are.
    name = "get_order" if rollout else "get-order"
    tool = {**TOOL, "function": {**TOOL["function"], "name": name}}
    tasks = [
        {"prompt": f"Where is order {order_id}?", "task_id": order_id, "privileged": {"answer": order_id}}
        for order_id in desk.ORDERS[: 8 + HELD]
    ]
    spec = load_environment(
        tasks[:8], eval_data=tasks[8:], tools=[tool], system_prompt=desk.SYSTEM, reward=short, avg_turns=2
    )
    assert [rename.shown for rename in spec.renamed] == ([] if rollout else ["get_order"])
    run, judge = training_run("together"), Judge(name)
    recorder = RolloutRecorder(run)
    monitor = HackMonitor(run, holdout=spec.eval_dataset, gold=judge, every=1, k=K, strict=True)
    args = trl.GRPOConfig(output_dir=str(tmp_path), max_steps=STEPS, **SETTINGS)
    plug(order, spec, run, recorder, monitor, args, rollout).train()

    report = monitor.summary()
    assert report.steps == [0, 1, 2]
    assert None not in (*report.proxy, *report.gold, *report.length)
    assert 0 < max(report.gold) <= 1  # the gold finds the tool under its own name
    # And sees what the training judge sees: the world, and what only judges may see.
    assert len(judge.rows) == (STEPS + 1) * HELD * K
    assert all(row["privileged"]["answer"] == row["task_id"] for row in judge.rows)
    assert any(row["tools"] and row["state_digest"] for row in judge.rows)

    rows = recorder.dataset()
    assert len(rows) == STEPS * SETTINGS["per_device_train_batch_size"] + len(judge.rows)
    read = list(view(rows).rows())
    called = {step["tool"] for row in read for step in row["steps"] if "tool" in step}
    answered = {message["name"] for row in read for message in row["messages"] if message["role"] == "tool"}
    assert called == answered == {name}
    assert all("task_id" not in message for row in read for message in row["messages"])
    assert {message["role"] for row in read for message in row["messages"]} == {"system", "user", "assistant", "tool"}
    held = [row for row in read if row["phase"] == "eval"]
    for row, judged in zip(held, judge.rows, strict=True):
        assert row["task_id"] == judged["task_id"]
        assert row["final_text"] == judged["final_text"]
    for step, proxy, length in zip(report.steps, report.proxy, report.length, strict=True):
        own = [row for row in held if row["step"] == step]
        assert sum(row["reward"] for row in own) / len(own) == pytest.approx(proxy, abs=1e-6)
        assert length < 400  # what the policy wrote, not what tools and the template added
    trained_on = STEPS * SETTINGS["per_device_train_batch_size"] // SETTINGS["num_generations"]
    assert pass_at(rows, threshold=0.5).n_tasks == trained_on + HELD
    assert hack_scan(rows) is not None
    assert trace_flag_report(rows) is not None
    early, late = (recorder.dataset("eval").filter(lambda row, at=at: row["step"] == at) for at in (0, STEPS))
    assert delta_report(early, late, target="reward").n_paired == HELD
    assert (get_run(run.id).status, [point["step"] for point in run.series]) == ("done", [0, 1, 2])
