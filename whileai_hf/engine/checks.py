"""What the knobs of a simulation must be, each said in one sentence."""

from __future__ import annotations

import inspect
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai_hf.engine.topology import MODES, REPEAT_POLICIES
from whileai_hf.errors import ConfigurationError


if TYPE_CHECKING:
    from whileai_hf.engine.config import SimulationConfig

_COUNTS = ("budget", "situations", "phrasings", "repeats", "probe", "concurrency", "avg_turns", "max_turns", "runs")
_SWITCHES = ("reproducible", "twins")


def check_config(config: SimulationConfig) -> None:
    """
    Checks every knob, and the combinations that contradict themselves.

    Raises:
        [`ConfigurationError`]: The first knob that cannot be honoured, with what it may be.
    """
    _choice("mode", config.mode, MODES)
    if config.repeat_policy is not None:
        _choice("repeat_policy", config.repeat_policy, REPEAT_POLICIES)
    _choice("until", config.until, ("compute", "saturation"))
    _choice("engine", config.engine, ("local", "ray"))
    for name in _COUNTS:
        value = getattr(config, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ConfigurationError(f"{name}={value!r} is not a whole number above 0; pass 1 or more")
    for name in _SWITCHES:
        if not isinstance(getattr(config, name), bool):
            raise ConfigurationError(f"{name}={getattr(config, name)!r} is neither true nor false")
    _check_files(config)
    _check_rates(config)
    _check_time(config)
    _check_asks(config)
    _check_models(config)
    _check_own_world(config)
    _check_adaptive(config)


def _check_adaptive(config: SimulationConfig) -> None:
    """The adaptive mode divides its rows by itself."""
    given = [name for name in ("situations", "phrasings", "repeat_policy") if getattr(config, name) is not None]
    given += ["runs"] if config.runs > 1 else []
    if config.mode == "adaptive" and given:
        raise ConfigurationError(
            f"{given[0]}={getattr(config, given[0])!r} with mode='adaptive': it finds out by itself what to ask how "
            "often; limit it with budget and repeats, or use another mode"
        )


def _choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigurationError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_rates(config: SimulationConfig) -> None:
    rate = config.fault_rate
    if not _number(rate) or not 0 <= rate <= 1:
        raise ConfigurationError(f"fault_rate={rate!r} is not between 0 and 1; 0 switches faults off")
    explore = config.explore_rate
    if explore is not None and (not _number(explore) or not 0 <= explore <= 1):
        raise ConfigurationError(f"explore_rate={explore!r} is not between 0 and 1; 1 fills every prompt to k")


def _check_files(config: SimulationConfig) -> None:
    for name in ("output", "resume"):
        path = getattr(config, name)
        if path is not None and not isinstance(path, str | os.PathLike):
            raise ConfigurationError(f"{name}={path!r} is not a path; give that of a JSONL file")
        if path is not None and Path(path).suffix in (".parquet", ".arrow", ".csv"):
            raise ConfigurationError(
                f"{name}={str(path)!r}: rows are written as JSON lines; give the path of a .jsonl file and use the "
                "Dataset's own to_parquet or to_csv"
            )


def _check_time(config: SimulationConfig) -> None:
    limit = config.time_budget
    if limit is not None and (not _number(limit) or limit < 0):
        raise ConfigurationError(f"time_budget={limit!r} is not a number of seconds; leave it out for no clock")
    if not _number(config.stop_grace) or config.stop_grace < 0:
        raise ConfigurationError(f"stop_grace={config.stop_grace!r} is not a number of seconds, 0 or more")
    if limit and config.reproducible:
        raise ConfigurationError(
            f"time_budget={limit!r} with reproducible=True: what lands before a clock runs out differs from run to "
            "run; limit the run with budget, or drop reproducible"
        )


def _check_asks(config: SimulationConfig) -> None:
    asks = config.seeds
    if not isinstance(asks, list | tuple) or not all(isinstance(ask, str) and ask.strip() for ask in asks):
        raise ConfigurationError("seeds must be a list of non-empty asks, each a string")


def _check_models(config: SimulationConfig) -> None:
    if config.logprobs not in (False, True, "tokens"):
        raise ConfigurationError(f"logprobs={config.logprobs!r} is not False, True or 'tokens'")
    if config.simulator is True:
        raise ConfigurationError("simulator=True names no model; pass one, such as 'openai:<model>', or 'template'")
    if isinstance(config.user_model, bool):
        raise ConfigurationError(f"user_model={config.user_model!r} names no model; pass one, or 'template'")
    if config.sampling is not None and not isinstance(config.sampling, dict):
        raise ConfigurationError(f"sampling={config.sampling!r:.80} is not a dict such as {{'temperature': 0.7}}")


def _check_own_world(config: SimulationConfig) -> None:
    if inspect.iscoroutinefunction(config.execute):
        raise ConfigurationError("execute= is an async function; the world answers at once, pass a sync one")
    if config.execute is not None and not callable(config.execute):
        raise ConfigurationError(f"execute={config.execute!r} is not callable; pass a function (tool, arguments)")
