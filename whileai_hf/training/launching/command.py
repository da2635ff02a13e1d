"""From the knobs of `train` to the flags of a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.launching.arguments import reference_of
from whileai_hf.training.launching.config import DEFAULT_LENGTH, TrainConfig


# Knobs of `train` under the names TRL has for them, and the methods that know them.
_TRL = {
    "epochs": "num_train_epochs",
    "steps": "max_steps",
    "learning_rate": "learning_rate",
    "batch_size": "per_device_train_batch_size",
    "beta": "beta",
    "generations": "num_generations",
    "seed": "seed",
}
_ONLY = {"beta": ("dpo", "kto", "grpo"), "generations": ("grpo",), "reward": ("sft", "dpo", "kto", "grpo")}
_OURS = {"holdout": "holdout", "k": "holdout_k", "agent": "agent"}
_FUNCTIONS = ("reward", "gold", "execute")


def program_flags(
    method: str, data: str, base_model: str, config: TrainConfig, *, run: str | None, name: str, here: bool
) -> list[str]:
    """
    The command line of a program.

    Args:
        method (`str`):
            The method.
        data (`str`):
            Path or repo.
        base_model (`str`):
            Model to start from.
        config ([`TrainConfig`]):
            The knobs.
        run (`str`, *optional*):
            Id of the run it goes into.
        name (`str`):
            Name of the run.
        here (`bool`):
            Whether it runs in this process.

    Raises:
        [`ConfigurationError`]: A knob that this method does not heed.

    Examples:
    ```python
    >>> flags = program_flags("dpo", "pairs", "base", TrainConfig(beta=0.1), run=None, name="first", here=False)
    >>> " ".join(flags)
    '--data pairs --model_name_or_path base --name first --max_steps 100 --beta 0.1 --use_peft true'

    ```
    """
    flags: dict[str, Any] = {"data": data, "model_name_or_path": base_model, "name": name, "run": run}
    for knob, methods in _ONLY.items():
        if getattr(config, knob) is not None and method not in methods:
            raise ConfigurationError(f"{knob}= is for {', '.join(methods)}; method={method!r} does not heed it")
    for knob, flag in {**_TRL, **_OURS}.items():
        flags[flag] = getattr(config, knob)
    for knob in _FUNCTIONS:
        value = getattr(config, knob)
        flags[knob] = None if value is None else reference_of(value, knob, here=here)
    flags["output_dir"] = config.output
    if config.lora:
        flags["use_peft"] = True
    if config.push_to is not None:
        flags |= {"push_to_hub": True, "hub_model_id": config.push_to}
    if config.epochs is None and config.steps is None and not {"max_steps", "num_train_epochs"} & set(config.flags):
        flags |= DEFAULT_LENGTH[method]
    return _words({**flags, **config.flags})


def _words(flags: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in flags.items():
        if value is None:
            continue
        words.append(f"--{name}")
        if isinstance(value, bool):
            words.append(str(value).lower())
        elif isinstance(value, list | tuple):
            words += [str(each) for each in value]
        else:
            words.append(str(value))
    return words
