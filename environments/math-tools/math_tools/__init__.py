"""math-tools: an environment of a tool-using agent. The classes are those of whileai_hf; here are the tasks."""

from functools import cache
from pathlib import Path


__all__ = ["Env", "Harness", "Taskset"]  # what verifiers 0.4 picks its plugins from, made on first use

_HERE = Path(__file__).parent


def load_environment(split="train", **knobs):
    """The environment for verifiers before 0.4, and for whatever calls its `load_environment`."""
    from whileai_hf.export.verifiers.v0 import load_environment as load

    return load(_HERE, split=split, **knobs)


@cache
def _classes():
    from whileai_hf.export.verifiers.v1 import build

    return build(_HERE)


def __getattr__(name):
    if name in __all__:
        return _classes()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
