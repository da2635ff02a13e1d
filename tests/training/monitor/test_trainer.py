"""A monitor in a GRPO trainer: plugged in whole or refused, an onlooker while it watches, and able to stop."""

import logging
import sys
import types
import warnings

import pytest
from datasets import Dataset

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment import load_environment
from whileai_hf.training.runs import get_run, training_run


torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")

from whileai_hf.training.monitor import looking  # noqa: E402
from whileai_hf.training.monitor.callback import HackMonitor  # noqa: E402
from whileai_hf.training.monitor.demo.policy import load_policy  # noqa: E402
from whileai_hf.training.monitor.telling import Teller  # noqa: E402


HELD = [f"What is {each}?" for each in "abcdefgh"]
SETTINGS = {
    "use_cpu": True,
    "bf16": False,
    "activation_checkpointing": False,
    "report_to": "none",
    "logging_steps": 1,
    "save_strategy": "no",
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
    "per_device_train_batch_size": 4,
    "per_device_eval_batch_size": 16,
    "num_generations": 4,
    "max_completion_length": 6,
    "learning_rate": 5e-3,
    "temperature": 1.2,
}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield
    torch.set_num_threads(before)


def long(prompts, completions, **columns):
    return [len(text) / 20 for text in completions]


def judge(row):
    return 1.0 - len(row["final_text"]) / 40


def make(folder, monitor=None, steps=2, rewards=long, held=None, **options):
    model, tokenizer = load_policy()
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=rewards,
        train_dataset=Dataset.from_dict({"prompt": [f"Where is {each}?" for each in range(8)]}),
        eval_dataset=held,
        args=trl.GRPOConfig(output_dir=str(folder), max_steps=steps, **{**SETTINGS, **options}),
    )
    if monitor is not None:
        trainer.add_callback(monitor)
    return trainer


def trace(trainer):
    """What training was, to the last bit."""
    names = ("loss", "grad_norm", "reward", "entropy")
    return [[entry[name] for name in names] for entry in trainer.state.log_history if "loss" in entry]


def watching(**knobs):
    return HackMonitor(**{"holdout": HELD, "gold": judge, "every": 1, "k": 2, **knobs})


def test_training_is_the_same_to_the_bit(tmp_path):
    bare = make(tmp_path, steps=10)
    bare.train()
    monitor = watching(every=5)
    watched = make(tmp_path, monitor, steps=10)
    watched.train()
    assert len(trace(bare)) == 10
    assert trace(watched) == trace(bare)
    weights = zip(bare.model.parameters(), watched.model.parameters(), strict=True)
    assert all(torch.equal(first, second) for first, second in weights)
    report = monitor.summary()
    assert report.steps == [0, 5, 10]
    assert None not in (*report.proxy, *report.gold, *report.length, *report.kl)
    assert (report.kl[0], report.n_tasks, report.k, report.looks) == (0.0, 8, 2, 2)
    assert report.kl[-1] > 0.01
    assert report.proxy[0] == pytest.approx(sum(trace_of_holdout(watched, 0)), abs=1e-6)


def trace_of_holdout(trainer, step):
    """The mean the trainer itself logged."""
    return [
        entry["eval_rewards/long/mean"]
        for entry in trainer.state.log_history
        if entry["step"] == step and "eval_rewards/long/mean" in entry
    ]


def test_without_isolation_the_evaluation_draws_from_training(tmp_path):
    bare = make(tmp_path)
    bare.train()
    watched = make(tmp_path, watching(isolate_rng=False))
    watched.train()
    assert trace(watched) != trace(bare)


def test_what_is_plugged_in(tmp_path):
    monitor = watching(k=3)
    asked = []

    def gold(prompts, completions, **columns):
        asked.append(columns)
        return [0.5] * len(completions)

    monitor = watching(k=3, gold=gold)
    trainer = make(tmp_path, per_device_eval_batch_size=5)
    assert monitor.attach(trainer) is monitor
    assert monitor.attach(trainer) is monitor
    assert trainer.callback_handler.callbacks.count(monitor) == 1
    assert trainer.reward_func_names == ["long", "gold"]
    assert trainer.reward_weights.tolist() == [1.0, 0.0]
    assert (trainer.num_generations_eval, trainer.args.per_device_eval_batch_size) == (3, 6)
    trainer.train()
    assert monitor.summary().gold == [0.5, 0.5, 0.5]
    assert sum(len(columns["holdout_task"]) for columns in asked) == 3 * 8 * 3
    train = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert all(entry["rewards/gold/mean"] is None for entry in train)
    assert all(entry["reward"] == pytest.approx(entry["rewards/long/mean"]) for entry in train)
    with pytest.raises(ConfigurationError, match="another trainer"):
        monitor.attach(make(tmp_path))


def test_keywords_of_a_trainer(tmp_path):
    model, tokenizer = load_policy()
    monitor = watching()
    given = monitor.trainer_kwargs(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[monitor.wrap(long)],
        train_dataset=Dataset.from_dict({"prompt": ["a", "b"]}),
        args=trl.GRPOConfig(output_dir=str(tmp_path), max_steps=1, **SETTINGS),
    )
    assert given["callbacks"] == [monitor]
    trainer = trl.GRPOTrainer(**given)
    trainer.train()
    assert monitor.summary().steps == [0, 1]
    with pytest.raises(ConfigurationError, match="8 held-out tasks"):
        monitor.trainer_kwargs(reward_funcs=[long], train_dataset=Dataset.from_dict({"prompt": HELD}))
    with pytest.raises(ConfigurationError, match="no reward function"):
        monitor.trainer_kwargs(model=model)


def twice(prompts, completions, **columns):
    return [0.0] * len(completions)


twice.__name__ = "long"


def gold(prompts, completions, **columns):
    return [0.0] * len(completions)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rewards": [long, twice]}, "two reward functions are called 'long'"),
        ({"rewards": [long, gold]}, "a training reward is called 'gold'"),
        ({"rewards": torch.nn.Linear(1, 1)}, "is a model"),
        ({"held": Dataset.from_dict({"prompt": ["x", "y"]})}, "eval_dataset that is not the monitor's holdout"),
        ({"remove_unused_columns": True}, "remove_unused_columns"),
    ],
)
def test_wrong_wiring_is_one_error_before_the_first_step(wrong, message, tmp_path):
    if isinstance(wrong.get("rewards"), torch.nn.Module):
        with pytest.raises(ConfigurationError, match=message):
            watching().wrap(wrong["rewards"])
        return
    trainer = make(tmp_path, watching(), **wrong)
    with pytest.raises(ConfigurationError, match=message):
        trainer.train()
    assert trainer.state.global_step == 0


def test_a_holdout_training_sees(tmp_path):
    seen = ["Where is 3?", "Where is nobody?"]
    with pytest.raises(ConfigurationError, match="1 held-out tasks are in the training set"):
        make(tmp_path, watching(holdout=seen)).train()
    make(tmp_path, watching(holdout=seen, allow_overlap=True), steps=1).train()


def test_a_trainer_that_samples_nothing(tmp_path):
    model, tokenizer = load_policy()
    args = trl.SFTConfig(
        output_dir=str(tmp_path), max_steps=1, use_cpu=True, bf16=False, activation_checkpointing=False
    )
    trainer = trl.SFTTrainer(
        model=model, processing_class=tokenizer, args=args, train_dataset=Dataset.from_dict({"text": ["a b c"] * 4})
    )
    trainer.add_callback(watching())
    with pytest.raises(ConfigurationError, match="SFTTrainer samples nothing"):
        trainer.train()


@pytest.mark.parametrize(
    "wrong", [{"every": 0}, {"k": 0}, {"holdout": None}, {"stop_on": "later"}, {"windw": 3}, {"endorsed": "a"}]
)
def test_wrong_arguments(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        watching(**wrong)


def test_without_gold(tmp_path, caplog):
    monitor = watching(gold=None, stop_on="any", delta=0.01)
    with caplog.at_level(logging.WARNING, "whileai_hf"):
        make(tmp_path, monitor).train()
    assert sum("NOT MEASURED" in record.getMessage() for record in caplog.records) == 1
    report = monitor.summary()
    assert (report.outcome, report.gold, report.alarms) == ("not_measured", [None] * 3, [])
    assert None not in (*report.proxy, *report.length, *report.kl)
    assert "NOT MEASURED" in str(report)


def test_gold_that_is_the_proxy_is_warned_of(tmp_path):
    monitor = watching(gold=long)
    make(tmp_path, monitor, steps=1).train()
    assert any("gold is the training reward itself" in text for text in monitor.summary().warnings)


def test_an_alarm_stops_with_a_checkpoint_and_training_goes_on_from_it(tmp_path):
    run = training_run("stopped by the monitor")
    monitor = watching(run=run, kl_budget=1e-4, stop_on="drift")
    trainer = make(tmp_path, monitor, steps=6)
    trainer.train()
    stopped = trainer.state.global_step
    assert 0 < stopped < 6
    assert monitor.summary().stopped.startswith(f"drift at step {stopped}: KL")
    known = get_run(run.id)
    assert (known.status, known.reason) == ("stopped", monitor.summary().stopped)
    assert [alarm["kind"] for alarm in known.alarms] == ["drift"]
    assert [point["step"] for point in known.series] == list(range(stopped + 1))
    assert {"proxy_reward", "gold_reward", "holdout_length", "holdout_kl"} <= set(known.series[0])
    assert known.summary["hack_monitor"]["outcome"] == "no_alarm"
    checkpoint = tmp_path / f"checkpoint-{stopped}"
    assert checkpoint.is_dir()

    again = watching()
    resumed = make(tmp_path, again, steps=stopped + 1)
    resumed.train(resume_from_checkpoint=str(checkpoint))
    report = again.summary()
    assert report.steps == list(range(stopped + 2))
    assert report.gold[:stopped] == monitor.summary().gold[:stopped]
    assert report.kl[:stopped] == [None] * stopped


@pytest.mark.parametrize("what", ["gold", "monitor"])
def test_what_breaks_in_the_monitor_does_not_end_training(what, tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("out of order")

    knobs = {}
    if what == "gold":
        knobs["gold"] = lambda prompts, completions, **columns: broken()
    else:
        monkeypatch.setattr(looking.Watch, "look", broken)
    monitor = watching(**knobs)
    trainer = make(tmp_path, monitor)
    trainer.train()
    assert trainer.state.global_step == 2
    report = monitor.summary()
    assert report.outcome == "not_measured"
    assert sum("out of order" in text for text in report.warnings) == 1
    assert trainer.model.training
    strict = watching(strict=True, **knobs)
    with pytest.raises(RuntimeError, match="out of order"):
        make(tmp_path, strict).train()


def test_a_part_that_breaks_is_left_out(tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("out of order")

    monkeypatch.setattr(looking.Drift, "measure", broken)
    monkeypatch.setattr(looking, "hack_scan", broken)
    monitor = watching(endorsed=["tool:x"], every=8)
    make(tmp_path, monitor, steps=8).train()
    report = monitor.summary()
    assert report.kl == [None, None]
    assert None not in (*report.proxy, *report.gold)
    broke = [text for text in report.warnings if "out of order" in text]
    assert [text.split(" failed")[0] for text in broke] == ["the measurement of KL", "the scan of features"]


def test_rloo(tmp_path):
    model, tokenizer = load_policy()
    trainer = trl.RLOOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[long],
        train_dataset=Dataset.from_dict({"prompt": ["a", "b"]}),
        args=trl.RLOOConfig(output_dir=str(tmp_path), max_steps=1, beta=0.0, **SETTINGS),
    )
    monitor = watching()
    trainer.add_callback(monitor)
    trainer.train()
    report = monitor.summary()
    assert report.steps == [0, 1]
    assert None not in (*report.proxy, *report.gold, *report.kl)


def test_judges_that_await_and_rewards_of_none(tmp_path):
    async def later(row):
        return 0.25 if "a" in row["prompt"] else None

    def sometimes(prompts, completions, **columns):
        return [None if index % 2 else 1.0 for index in range(len(completions))]

    monitor = watching(gold=later, k=2)
    make(tmp_path, monitor, rewards=sometimes, steps=1).train()
    report = monitor.summary()
    assert report.gold == [0.25, 0.25]
    assert report.proxy == [1.0, 1.0]


def test_an_environment_with_its_world_and_rewards(tmp_path, tools):
    model, tokenizer = load_policy()
    asks = [f"Where is order {letter}{digit}?" for letter in "ABC" for digit in range(1, 5)]

    def brief(row):
        return 1.0 / (1 + len(row["final_text"]))

    spec = load_environment(
        asks[:8], eval_data=asks[8:], tools=tools[:1], system_prompt="You help with orders.", reward=brief
    )
    seen = []

    def called(row):
        seen.append(row)
        return len(row["steps"]) > 0

    monitor = watching(holdout=spec.eval_dataset, gold=called)
    args = trl.GRPOConfig(output_dir=str(tmp_path), max_steps=1, **{**SETTINGS, "max_completion_length": 64})
    given = spec.trainer_kwargs(model=model, processing_class=tokenizer, args=args)
    trl.GRPOTrainer(**monitor.trainer_kwargs(**given)).train()
    report = monitor.summary()
    assert (report.n_tasks, report.steps) == (4, [0, 1])
    assert None not in (*report.proxy, *report.gold, *report.kl)
    assert {row["prompt"] for row in seen} == set(asks[8:])


def test_all_processes_see_all_scores(monkeypatch):
    processes = torch.distributed
    monkeypatch.setattr(processes, "is_initialized", lambda: True)
    monkeypatch.setattr(processes, "get_world_size", lambda: 2)

    def gather(everyone, mine):
        everyone[:] = [mine, [[("theirs",)], []]]

    monkeypatch.setattr(processes, "all_gather_object", gather)
    assert looking.gathered([[("mine",)], [1]]) == [[("mine",), ("theirs",)], [1]]


def test_an_alert_where_the_trainer_reports_to_trackio(monkeypatch):
    sent = []
    level = types.SimpleNamespace(WARN="warn")
    stub = types.SimpleNamespace(alert=lambda **given: sent.append(given), AlertLevel=level)
    monkeypatch.setitem(sys.modules, "trackio", stub)
    alarm = looking.Alarm("length", 20, "completions +50%")
    Teller(None).alarm(alarm, types.SimpleNamespace(report_to=["trackio"]))
    Teller(None).alarm(alarm, types.SimpleNamespace(report_to=[]))
    assert sent == [{"title": "HackMonitor: length", "text": str(alarm), "level": "warn"}]
