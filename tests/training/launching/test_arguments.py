"""Flags, references to functions, and what `train` makes of its knobs."""

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.launching import ProgramArguments, TrainConfig
from whileai_hf.training.launching.arguments import find_judge, find_object, is_reference, reference_of
from whileai_hf.training.launching.command import program_flags
from whileai_hf.training.launching.config import METHODS, method_of


def paid(row):
    return 1.0


def flags_of(method, **knobs):
    words = program_flags(method, "rows", "base", TrainConfig(**knobs), run="run-1", name="n", here=False)
    found, name = {}, None
    for word in words:
        if word.startswith("--"):
            name = word[2:]
            found[name] = []
        else:
            found[name].append(word)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("rewards:short", True), ("a.b.c:D.e", True), ("hf:Qwen/Qwen3-4B", False), ("openai:gpt", False), ("x", False)],
)
def test_what_names_an_object(text, wanted):
    assert is_reference(text) is wanted


def test_a_reference_there_and_back():
    import json

    assert reference_of(json.dumps, "reward", here=False) == "json:dumps"
    assert find_object("json:dumps", "reward") is json.dumps
    assert find_judge("hf:Qwen/Qwen3-4B", "reward") == "hf:Qwen/Qwen3-4B"
    assert find_judge(None, "reward") is None


def test_modules_of_the_working_directory_are_found(tmp_path, monkeypatch):
    (tmp_path / "rewards_of_mine.py").write_text("def short(row):\n    return 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in __import__("sys").path if path])
    assert find_object("rewards_of_mine:short", "reward")({}) == 1


@pytest.mark.parametrize("value", [lambda row: 1, type("Judge", (), {"__call__": lambda self, row: 1})(), 3])
def test_what_another_process_cannot_find_is_refused(value):
    with pytest.raises(ConfigurationError, match="reward"):
        reference_of(value, "reward", here=False)


def test_a_missing_function_is_one_sentence():
    with pytest.raises(ConfigurationError, match=r"json:nothing.*module:name"):
        find_object("json:nothing", "reward")


def test_knobs_become_the_flags_of_trl():
    made = flags_of("grpo", steps=7, generations=4, beta=0.02, seed=3, learning_rate=5e-6, batch_size=8, k=2)
    assert made == {
        "data": "rows",
        "model_name_or_path": "base",
        "name": "n",
        "run": "run-1",
        "max_steps": "7",
        "num_generations": "4",
        "beta": "0.02",
        "seed": "3",
        "learning_rate": "5e-06",
        "per_device_train_batch_size": "8",
        "holdout_k": "2",
        "use_peft": "true",
    }


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_length(method):
    made = flags_of(method)
    assert {"max_steps", "num_train_epochs"} & set(made)
    assert flags_of(method, flags={"max_steps": 3})["max_steps"] == "3"
    assert "max_steps" not in flags_of(method, epochs=1)


def test_a_knob_the_method_does_not_heed_is_refused():
    with pytest.raises(ConfigurationError, match="generations= is for grpo"):
        flags_of("sft", generations=4)


def test_flags_override_and_lists_spread():
    made = flags_of("sft", lora=False, push_to="me/out", flags={"endorsed": ["a", "b"], "bf16": False, "seed": 9})
    assert made["endorsed"] == ["a", "b"]
    assert (made["bf16"], made["seed"], made["push_to_hub"], made["hub_model_id"]) == ("false", "9", "true", "me/out")
    assert "use_peft" not in made


def test_methods():
    assert method_of("rm") == "reward"
    with pytest.raises(ConfigurationError, match="'ppo'"):
        method_of("ppo")


@pytest.mark.parametrize(
    "knobs", [{"epochs": 1, "steps": 2}, {"steps": 0}, {"k": -1}, {"learning_rate": True}, {"flags": ["--bf16"]}]
)
def test_impossible_knobs(knobs):
    with pytest.raises(ConfigurationError):
        TrainConfig(**knobs)


@pytest.mark.parametrize("knobs", [{"holdout_share": 1.0}, {"holdout_k": 0}, {"holdout_tasks": -1}])
def test_impossible_flags(knobs):
    with pytest.raises(ConfigurationError, match=next(iter(knobs))):
        ProgramArguments(data="x", **knobs)
