"""The callback in trainers that end, stop, break off, are killed, and go on."""

import json
import math
import signal
import sys
import types
import warnings
from pathlib import Path

import pytest
from datasets import Dataset
from forked import run_forked

from whileai_hf.training.runs import get_run, list_runs, training_run


torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")

ROWS = [{"text": f"Order ORD-{i} is on its way. " * 3} for i in range(12)]
STEPS = 6

# A training that ends itself by SIGKILL in the middle of a step's log.
PROGRAM = """
import json, os, signal, sys
import torch, transformers, trl
from datasets import Dataset
from whileai_hf.training.callback import TrainerCallback
from whileai_hf.training.runs import training_run

plan = json.loads(sys.argv[1])
torch.set_num_threads(1)

class Killer(transformers.TrainerCallback):
    def on_log(self, args, state, control, **kwargs):
        if state.global_step == plan["kill_at"]:
            os.kill(os.getpid(), signal.SIGKILL)

run = training_run("killed", dataset=plan["rows"])
print(run.id, flush=True)
data = Dataset.from_list(plan["rows"])
trainer = trl.SFTTrainer(
    plan["model"],
    args=trl.SFTConfig(**plan["arguments"]),
    train_dataset=data,
    eval_dataset=data.select([0, 1]),
    processing_class=transformers.AutoTokenizer.from_pretrained(plan["model"]),
)
trainer.add_callback(TrainerCallback(run))
trainer.add_callback(Killer)
trainer.train()
"""


@pytest.fixture(autouse=True)
def quiet():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield
    torch.set_num_threads(before)


@pytest.fixture
def make(tiny, settings, tmp_path, store):
    """`make(run, callbacks, **arguments)`: a trainer with the callback."""
    from whileai_hf.training.callback import TrainerCallback

    def made(run, callbacks=(), **arguments):
        model, tokenizer = tiny
        data = Dataset.from_list(ROWS)
        config = trl.SFTConfig(
            **{
                **{"output_dir": str(tmp_path / "out"), "max_steps": STEPS, "per_device_train_batch_size": 2},
                **{"save_strategy": "no", **settings, **arguments},
            }
        )
        trainer = trl.SFTTrainer(
            model, args=config, train_dataset=data, eval_dataset=data.select([0, 1]), processing_class=tokenizer
        )
        for callback in (TrainerCallback(run), *callbacks):
            trainer.add_callback(callback)
        return trainer

    return made


def callback_of(**events):
    """A callback of Transformers with the given events."""
    import transformers

    methods = {f"on_{name}": event for name, event in events.items()}
    return type("Other", (transformers.TrainerCallback,), methods)()


def test_a_record_of_sft(make):
    run = training_run("sft", total_steps=99)
    trainer = make(run, eval_strategy="steps", eval_steps=3)
    trainer.train()
    read = get_run(run.id)
    history = trainer.state.log_history
    assert [point["step"] for point in read.series] == list(range(1, STEPS + 1))
    assert [point["loss"] for point in read.series] == [entry["loss"] for entry in history if "loss" in entry]
    assert [point["lr"] for point in read.series] == [e["learning_rate"] for e in history if "loss" in e]
    assert [point["step"] for point in read.series if "eval_loss" in point] == [3, 6]
    assert all({"grad_norm", "epoch", "entropy", "mean_token_accuracy"} <= set(point) for point in read.series)
    assert not any("train_runtime" in point or "dead_groups" in point for point in read.series)
    assert (read.status, read.total_steps, read.record.trainer) == ("done", STEPS, "SFTTrainer")
    assert read.summary["train_loss"] == pytest.approx(trainer.state.log_history[-1]["train_loss"])
    assert read.record.config["learning_rate"] == 1e-3
    trainer.evaluate()  # afterwards: joins the last step
    assert len(get_run(run.id).series) == STEPS and get_run(run.id).status == "done"


def test_a_killed_training_goes_on_without_gaps_or_duplicates(make, tiny, settings, tmp_path, store):
    """Killed for real at step 6, two steps behind its checkpoint; the record is that of a run nobody killed."""
    arguments = {
        **{"max_steps": 9, "per_device_train_batch_size": 2, "save_strategy": "steps", "save_steps": 4},
        **{"eval_strategy": "steps", "eval_steps": 2, **settings},
    }
    plan = {
        "rows": ROWS,
        "model": tiny[0],
        "kill_at": 6,
        "arguments": {**arguments, "output_dir": str(tmp_path / "out")},
    }
    killed = run_forked([sys.executable, "-c", PROGRAM, json.dumps(plan)])
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    run_id = killed.stdout.split()[0]
    broken = get_run(run_id)
    assert broken.status == "failed" and broken.reason.startswith("crashed")
    # The point of step 6 was written before the log that killed it; evaluations are at 2 and 4.
    assert [point["step"] for point in broken.series] == [1, 2, 3, 4, 5, 6]
    assert [point["step"] for point in broken.series if "eval_loss" in point] == [2, 4]
    assert all(math.isfinite(point["loss"]) for point in broken.series)

    run = training_run("killed", dataset=ROWS)
    assert run.id != run_id
    make(run, **arguments).train(resume_from_checkpoint=True)
    assert run.id == run_id
    assert [each.id for each in list_runs()] == [run_id]
    read = get_run(run_id)
    assert (read.status, read.reason) == ("done", None)
    assert [point["step"] for point in read.series] == list(range(1, 10))

    whole = training_run("whole")
    make(whole, **arguments, output_dir=str(tmp_path / "whole")).train()
    # Seconds differ, and TRL counts tokens anew after a checkpoint.
    other = {"eval_runtime", "eval_samples_per_second", "eval_steps_per_second", "num_tokens", "eval_num_tokens"}
    for point, expected in zip(read.series, whole.series, strict=True):
        assert set(point) == set(expected)
        for name in set(expected) - other:
            assert point[name] == pytest.approx(expected[name], rel=1e-5), (point["step"], name)
    # Nothing was taken back from the file: what the killed attempt had logged is still in it.
    lines = [json.loads(line) for line in (read.folder / "points.jsonl").read_text().splitlines()]
    assert sum(line.get("step") == 6 and "loss" in line for line in lines) == 2


def test_stopped_before_the_last_step(make):
    def stop(self, args, state, control, **kwargs):
        control.should_training_stop = state.global_step == 2

    run = training_run("early")
    make(run, [callback_of(step_end=stop)]).train()
    read = get_run(run.id)
    assert (read.status, read.reason) == ("stopped", f"training ended at step 2 of {STEPS}")
    assert read.summary["steps"] == 2


def test_a_reason_given_by_somebody_else_stays(make):
    run = training_run("alarm")

    def stop(self, args, state, control, **kwargs):
        if state.global_step == 2:
            run.finish("stopped", reason="divergence at step 2")
            control.should_training_stop = True

    make(run, [callback_of(step_end=stop)]).train()
    assert (get_run(run.id).status, get_run(run.id).reason) == ("stopped", "divergence at step 2")


@pytest.mark.parametrize("where", ["step_begin", "evaluate", "save"])
def test_a_loop_that_breaks_off_has_failed(make, where):
    run = training_run("broken")

    def fail(self, args, state, control, **kwargs):
        if state.global_step >= 1:
            raise RuntimeError("it broke")

    often = {"save_strategy": "steps", "save_steps": 2, "eval_strategy": "steps", "eval_steps": 2}
    with pytest.raises(RuntimeError):
        make(run, [callback_of(**{where: fail})], **often).train()
    assert (get_run(run.id).status, get_run(run.id).reason) == ("failed", "RuntimeError: it broke")


def test_once_more_after_it_broke_off(make):
    """The same trainer and the same run: what the broken attempt logged counts no more."""
    run = training_run("again")
    trainer = make(run)
    collate, calls = trainer.data_collator, []
    trainer.data_collator = lambda rows: collate(rows) if calls.append(1) or len(calls) < 4 else 1 / 0
    with pytest.raises(ZeroDivisionError):
        trainer.train()
    read = get_run(run.id)
    assert (read.status, read.reason) == ("failed", "ZeroDivisionError: division by zero")
    assert 1 <= len(read.series) <= 3
    trainer.data_collator = collate
    trainer.train()
    read = get_run(run.id)
    assert (read.status, read.reason, len(read.series)) == ("done", None, STEPS)


def test_an_interrupted_loop_was_stopped(make):
    run = training_run("interrupted")

    def interrupt(self, args, state, control, **kwargs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(run, [callback_of(step_end=interrupt)]).train()
    assert (get_run(run.id).status, get_run(run.id).reason) == ("stopped", "interrupted")


def test_going_on_in_the_same_run_object(make):
    run = training_run("twice", dataset=ROWS)
    first = make(run, save_strategy="steps", save_steps=2, max_steps=4)
    first.train()
    losses = [point["loss"] for point in run.series]
    again = training_run("twice", dataset=ROWS)
    again.holdout(0.1, 0.2)
    again.note("second attempt")
    assert again.id != run.id
    make(again, save_strategy="steps", save_steps=2, max_steps=STEPS).train(resume_from_checkpoint=True)
    assert again.id == run.id and again.status == "done"
    read = get_run(run.id)
    assert [point["step"] for point in read.series] == list(range(1, STEPS + 1))
    assert [point["loss"] for point in read.series[:4]] == losses
    # What the new record held already came along.
    assert read.notes == ["second attempt"] and read.word == "Better"
    assert [r.id for r in list_runs()] == [run.id]


def test_another_name_is_another_run(make):
    run = training_run("first")
    make(run, save_strategy="steps", save_steps=2, max_steps=4).train()
    other = training_run("fine-tuned further")
    make(other, save_strategy="steps", save_steps=2, max_steps=STEPS).train(resume_from_checkpoint=True)
    assert other.id != run.id
    assert [point["step"] for point in get_run(other.id).series] == [5, 6]
    assert get_run(other.id).notes == [f"goes on from step 4 of {run.id} (first), which stays a record of its own"]
    assert len(get_run(run.id).series) == 4


def test_a_checkpoint_of_a_run_without_a_record(make, tmp_path):
    run = training_run("first")
    trainer = make(run, save_strategy="steps", save_steps=2, max_steps=4)
    trainer.train()
    state = tmp_path / "out" / "checkpoint-4" / "trainer_state.json"
    plain = json.loads(state.read_text())
    assert plain["stateful_callbacks"].pop("whileai_hf_run")["attributes"] == {"run": run.id}
    state.write_text(json.dumps(plain))
    other = training_run("second")
    make(other, save_strategy="steps", save_steps=2, max_steps=STEPS).train(resume_from_checkpoint=True)
    assert [point["step"] for point in get_run(other.id).series] == [5, 6]
    assert get_run(other.id).status == "done"


def test_only_the_first_process_writes(make):
    import transformers

    from whileai_hf.training.callback import TrainerCallback

    run = training_run("ranks")
    trainer = make(run)
    callback = TrainerCallback(run)
    state = transformers.TrainerState(is_world_process_zero=False, max_steps=4, global_step=0)
    callback.on_train_begin(trainer.args, state, trainer.control)
    state.global_step = 1
    callback.on_log(trainer.args, state, trainer.control, logs={"loss": 1.0})
    callback.on_train_end(trainer.args, state, trainer.control)
    assert (get_run(run.id).series, get_run(run.id).status) == ([], "running")


def test_values_of_every_kind(make):
    from whileai_hf.training.callback import TrainerCallback

    run = training_run("values")
    trainer = make(run)
    callback = TrainerCallback(run)
    state = types.SimpleNamespace(is_world_process_zero=True, global_step=3, max_steps=4)
    logs = {
        "loss": math.nan,
        "reward": None,
        "kl": torch.tensor(0.25),
        "step": 7,
        "table": [1, 2],
        "eval_reward": 0.5,
        "frac_reward_zero_std": None,
        "text": "x",
    }
    callback.on_log(trainer.args, state, trainer.control, logs=logs)
    callback.on_log(trainer.args, state, trainer.control, logs=None)
    assert run.series == [{"step": 3, "loss": None, "kl": 0.25, "eval_reward": 0.5, "text": "x"}]


def test_a_record_that_cannot_be_written_ends_no_training(make, monkeypatch, caplog):
    from whileai_hf.training.runs import run as run_module

    run = training_run("full disk")

    class Full:
        def __init__(self, *args, **kwargs):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_module, "Journal", Full)
    trainer = make(run)
    trainer.train()
    assert trainer.state.global_step == STEPS
    assert caplog.text.count("is not recorded any more") == 1


def test_the_trainer_s_own_reporter_is_not_doubled(make, monkeypatch):
    sent = []
    module = types.ModuleType("trackio")
    module.init = lambda **options: None
    module.log = lambda values, step=None: sent.append(step)
    module.finish = lambda: None
    monkeypatch.setitem(sys.modules, "trackio", module)
    run = training_run("reported", report_to="trackio")
    trainer = make(run)
    trainer.train()
    assert sent == list(range(1, STEPS + 1))
    sent.clear()
    again = training_run("reported twice", report_to="trackio")
    trainer = make(again)
    trainer.args.report_to = ["trackio"]
    trainer.train()
    assert sent == [] and len(again.series) == STEPS


def test_a_run_that_is_ended_by_its_program(make):
    from whileai_hf.training.callback import TrainerCallback

    run = training_run("program")
    trainer = make(run)
    trainer.remove_callback(TrainerCallback)
    trainer.add_callback(TrainerCallback(run.id, finish=False))
    trainer.train()
    read = get_run(run.id)
    assert read.status == "running" and read.summary["steps"] == STEPS
    read.finish(summary={"final": 1}, adapter=str(Path("out")))
    assert get_run(run.id).summary["steps"] == STEPS
