"""A GRPO run of TRL's, recorded: every completion, what it was paid, and what the callback made of the logs."""

import asyncio
import math
import time
import warnings

import pytest
from datasets import Dataset
from huggingface_hub import constants

from whileai_hf.measure.compare import delta_report
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.measure.passes import pass_at
from whileai_hf.rows import view
from whileai_hf.training.recorder import RolloutRecorder
from whileai_hf.training.runs import get_run, training_run


torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")

STEPS, BATCH, GENERATIONS = 4, 4, 2
HELD_OUT = 2


def tasks(split, ids):
    ask = [{"role": "system", "content": "You help."}]
    return Dataset.from_list(
        [
            {
                "prompt": [*ask, {"role": "user", "content": f"Where is order {i}?"}],
                "task_id": i,
                "answer": "x",
                **({} if split is None else {"split": split}),
            }
            for i in ids
        ]
    )


class Watch:
    """Reward functions that keep what TRL handed them, beside what the recorder makes of it."""

    def __init__(self):
        self.calls = []
        self.step_times = []

    def length(self, prompts, completions, **columns):
        rewards = [len(c[0]["content"]) / 100 for c in completions]
        state = columns["trainer_state"].global_step
        sampled = [[dict(message) for message in c] for c in completions]
        self.calls.append((columns.get("split", [None])[0], state, columns["task_id"], sampled, rewards))
        for completion in completions:  # what a function does to them is not what was sampled
            completion[0]["note"] = "seen"
        return rewards

    async def gold(self, prompts, completions, task_id, **columns):
        await asyncio.sleep(0)
        return [None if at % 3 == 0 else float(at % 2) for at, _ in enumerate(task_id)]


def make_trainer(model, tokenizer, folder, rewards, settings, callbacks=(), labelled=True, **options):
    config = trl.GRPOConfig(
        output_dir=str(folder),
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        per_device_eval_batch_size=BATCH,
        num_generations=GENERATIONS,
        num_generations_eval=1,
        max_completion_length=12,
        reward_weights=[1.0, 0.5],
        **{"save_strategy": "no", "eval_strategy": "steps", "eval_steps": 2, **settings, **options},
    )
    return trl.GRPOTrainer(
        model,
        reward_funcs=rewards,
        args=config,
        train_dataset=tasks("train" if labelled else None, range(6)),
        eval_dataset=tasks("holdout" if labelled else None, range(100, 100 + BATCH)),
        processing_class=tokenizer,
        callbacks=list(callbacks),
    )


@pytest.fixture(scope="module")
def trained(tiny, settings, tmp_path_factory):
    from whileai_hf.training.callback import TrainerCallback

    folder = tmp_path_factory.mktemp("grpo")
    patch = pytest.MonkeyPatch()
    patch.setattr(constants, "HF_ASSETS_CACHE", str(folder / "assets"))
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    model, tokenizer = tiny
    watch = Watch()
    run = training_run("grpo", dataset=tasks("train", range(6)), trainer="trl")
    recorder = RolloutRecorder(run)
    rewards = [recorder.wrap(watch.length), recorder.wrap(watch.gold)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        trainer = make_trainer(model, tokenizer, folder, rewards, settings, [TrainerCallback(run)])
        began = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - began
    yield trainer, run, recorder, watch, seconds
    torch.set_num_threads(before)
    patch.undo()


def test_every_completion_is_a_row(trained):
    _, _, recorder, watch, _ = trained
    rows = list(view(recorder.dataset()).rows())
    sampled = [
        (split, step, task, completion, reward)
        for split, step, ids, completions, rewards in watch.calls
        for task, completion, reward in zip(ids, completions, rewards, strict=True)
    ]
    assert len(rows) == len(sampled) == STEPS * BATCH + HELD_OUT * BATCH == recorder.n_rows
    for row, (split, step, task, completion, reward) in zip(rows, sampled, strict=True):
        assert (row["split"], row["step"], row["task_id"]) == (split, step, task)
        assert row["messages"] == [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": f"Where is order {task}?"},
            *completion,
        ]
        assert row["prompt"] == f"Where is order {task}?"
        assert row["final_text"] == completion[0]["content"]
        assert row["rewards"]["length"] == pytest.approx(reward)
        assert row["phase"] == ("eval" if split == "holdout" else "train")
        assert "answer" not in row


def test_the_reward_is_the_trainer_s_sum(trained):
    trainer, _, recorder, _, _ = trained
    rows = list(view(recorder.dataset("train")).rows())
    for row in rows:
        gold = row["rewards"]["gold"]
        assert row["reward"] == pytest.approx(row["rewards"]["length"] + 0.5 * (gold or 0.0))
    logged = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    for step, mean in enumerate(logged):
        own = [row["reward"] for row in rows if row["step"] == step]
        assert sum(own) / len(own) == pytest.approx(mean, rel=1e-5)
    assert {row["rewards"]["gold"] for row in rows} == {None, 0.0, 1.0}


def test_cut_off_completions_say_so(trained):
    trainer, _, recorder, _, _ = trained
    for step in range(STEPS):
        rows = [row for row in view(recorder.dataset("train")).rows() if row["step"] == step]
        cut = sum(row["finish_reason"] == "length" for row in rows) / len(rows)
        logged = [e["completions/clipped_ratio"] for e in trainer.state.log_history if "reward" in e]
        assert cut == pytest.approx(logged[step])


def test_measures_read_the_rows(trained):
    _, run, recorder, _, _ = trained
    from whileai_hf.markers.trajectory import trace_flag_report

    rows = recorder.dataset()
    report = pass_at(rows, threshold=0.3)
    assert (report.n_rows, report.n_duplicates) == (len(rows), 0)
    assert report.n_tasks == len(set(rows["task_id"]))
    held = recorder.dataset("eval")
    assert held["step"] == [2] * BATCH + [4] * BATCH
    early, late = (held.filter(lambda row, at=at: row["step"] == at) for at in (2, 4))
    assert delta_report(early, late, target="reward").n_paired == BATCH
    assert hack_scan(recorder.dataset("train")) is not None
    assert trace_flag_report(rows) is not None
    assert set(rows["policy_version"]) == {f"{run.id}@{step}" for step in range(STEPS + 1)}
    assert set(rows["run_id"]) == {run.id}


def test_the_latest_rows(trained):
    _, _, recorder, _, _ = trained
    everything = list(view(recorder.dataset()).rows())
    latest = recorder.latest(6)
    assert [row["messages"] for row in latest] == [row["messages"] for row in everything[-6:]]
    assert {row["phase"] for row in recorder.latest(100, "train")} == {"train"}
    assert len(recorder.latest(100, "train")) == STEPS * BATCH


def test_one_point_a_step_with_what_the_trainer_logs(trained):
    trainer, run, _, _, _ = trained
    series = get_run(run.id).series
    assert [point["step"] for point in series] == [1, 2, 3, 4]
    for point in series:
        logged = {k: v for e in trainer.state.log_history if e["step"] == point["step"] for k, v in e.items()}
        assert point["lr"] == logged["learning_rate"]
        for name in ("loss", "grad_norm", "epoch", "reward", "rewards/length/mean", "entropy", "num_tokens"):
            assert point[name] == pytest.approx(logged[name])
        assert point["completions/mean_length"] == logged["completions/mean_length"]
        assert ("eval_reward" in point) == (point["step"] % 2 == 0)
    assert series[1]["eval_rewards/length/mean"] > 0


def test_dead_groups_and_what_they_cost(trained):
    _, run, _, _, _ = trained
    spent = 0
    for point in run.series:
        tokens = point["num_tokens"] - spent
        spent = point["num_tokens"]
        assert point["dead_groups"] == point["frac_reward_zero_std"]
        assert point["dead_tokens"] == round(point["dead_groups"] * tokens)
    summary = get_run(run.id).summary
    assert summary["dead_tokens"] == sum(point["dead_tokens"] for point in run.series)


def test_the_run_ends_with_the_training(trained):
    _, run, _, _, _ = trained
    read = get_run(run.id)
    assert (read.status, read.reason, read.total_steps) == ("done", None, STEPS)
    assert read.summary["steps"] == STEPS and read.summary["train_runtime"] > 0
    assert read.record.config["num_generations"] == GENERATIONS
    assert read.record.trainer == "trl"


def test_recording_costs_next_to_nothing(trained):
    """Time spent in our code, not a difference of two noisy runs: under 3% of the steps of a model this small."""
    trainer, _, recorder, _, seconds = trained
    (callback,) = (c for c in trainer.callback_handler.callbacks if type(c).__module__.startswith("whileai_hf"))
    assert 0 < recorder.seconds + callback.seconds < 0.03 * seconds


def test_training_is_the_same_with_and_without(trained, tiny, settings, tmp_path):
    """Nothing is drawn at random, and functions return what they returned."""
    trainer, _, _, _, _ = trained
    watch = Watch()
    model, tokenizer = tiny
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        plain = make_trainer(model, tokenizer, tmp_path, [watch.length, watch.gold], settings)
        plain.train()

    def losses(one):
        return [(e["loss"], e["reward"], e["grad_norm"]) for e in one.state.log_history if "loss" in e]

    assert losses(plain) == losses(trainer)
    assert plain.reward_func_names == trainer.reward_func_names == ["length", "gold"]


def test_a_trainer_that_is_there_already(trained, tiny, settings, tmp_path, store):
    """Attached afterwards: the same rows, weights of the trainer, and its phase without a split column."""
    watch = Watch()
    model, tokenizer = tiny
    recorder = RolloutRecorder(tmp_path / "rows")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        trainer = make_trainer(model, tokenizer, tmp_path, [watch.length, watch.gold], settings, labelled=False)
        recorder.attach(trainer)
        recorder.attach(trainer)  # twice is once
        trainer.train()
    first = list(view(trained[2].dataset()).rows())
    rows = list(view(recorder.dataset()).rows())
    for name in ("messages", "reward", "rewards", "phase", "step", "finish_reason"):
        assert [row[name] for row in rows] == [row[name] for row in first]


def test_a_reward_that_raises_fails_the_run(tiny, settings, tmp_path, store):
    from whileai_hf.training.callback import TrainerCallback

    run = training_run("broken")
    recorder = RolloutRecorder(run)

    def fine(prompts, completions, **columns):
        return [1.0] * len(completions)

    def broken(prompts, completions, trainer_state, **columns):
        if trainer_state.global_step == 1:
            raise ValueError("no more rewards")
        return [math.nan] * len(completions)

    model, tokenizer = tiny
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        trainer = make_trainer(
            model, tokenizer, tmp_path, [recorder.wrap(fine), recorder.wrap(broken)], settings, [TrainerCallback(run)]
        )
        with pytest.raises(ValueError, match="no more rewards"):
            trainer.train()
    read = get_run(run.id)
    assert (read.status, read.reason) == ("failed", "ValueError: no more rewards")
    assert [point["step"] for point in read.series] == [1]
    assert read.series[0]["dead_groups"] == 1.0 and read.series[0]["dead_tokens"] == read.series[0]["num_tokens"]
    rows = list(view(recorder.dataset()).rows())
    # The batch whose second function raised was sampled, and its reward is not known.
    assert [(row["step"], row["reward"]) for row in rows] == [(0, 1.0)] * BATCH + [(1, None)] * BATCH
    assert rows[-1]["judge_status"] == "missing_reward"
    assert rows[-1]["rewards"] == {"fine": 1.0}


class Desk:
    """An environment of TRL's that pays for itself."""

    def reset(self, **row):
        self.task = row["task_id"]

    def get_order(self, order_id: str):
        """Look up an order.

        Args:
            order_id: Its number.
        """
        return "{}"

    def get_reward(self) -> float:
        return float(self.task)


def test_an_environment_s_own_reward(tiny, settings, tmp_path, store):
    model, tokenizer = tiny
    recorder = RolloutRecorder(tmp_path / "rows")

    def constant(prompts, completions, **columns):
        return [1.0] * len(completions)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        trainer = trl.GRPOTrainer(
            model,
            reward_funcs=recorder.wrap(constant),
            args=trl.GRPOConfig(
                output_dir=str(tmp_path),
                max_steps=1,
                per_device_train_batch_size=2,
                num_generations=2,
                max_completion_length=8,
                save_strategy="no",
                **settings,
            ),
            train_dataset=tasks("train", range(3, 6)),
            processing_class=tokenizer,
            environment_factory=Desk,
        )
        recorder.attach(trainer)
        trainer.train()
    rows = list(view(recorder.dataset()).rows())
    assert [row["rewards"] for row in rows] == [{"constant": 1.0, "Desk": float(row["task_id"])} for row in rows]
    assert [row["reward"] for row in rows] == [1.0 + row["task_id"] for row in rows]
    assert trainer.state.log_history[0]["rewards/Desk/mean"] == rows[0]["task_id"]
