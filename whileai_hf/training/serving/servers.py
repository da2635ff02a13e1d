"""Programs that serve a model with the OpenAI API on this machine, and the command line of each."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.serving.weights import Weights


# What `transformers serve` needs besides transformers itself.
_TRANSFORMERS = ("transformers", "fastapi", "uvicorn", "openai", "pydantic")
Command = Callable[[Weights, str, str, int], list[str]]


def vllm_command(weights: Weights, name: str, host: str, port: int) -> list[str]:
    """The base model once, with the adapter beside it under its own name."""
    at = ["--host", host, "--port", str(port)]
    tools = ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"]
    if weights.is_adapter:
        return [_program("vllm"), "serve", weights.base, *at, *tools, "--enable-lora", "--lora-modules",
                f"{name}={weights.place}"]  # fmt: skip
    return [_program("vllm"), "serve", weights.place, *at, *tools, "--served-model-name", name]


def transformers_command(weights: Weights, name: str, host: str, port: int) -> list[str]:
    """
    One model for all requests. It goes by the path it was given, so it is given one with the name: the working folder
    of a server has a link, or the merged model of an adapter. A whole model on the Hub goes by its own name.
    """
    model = shown_name("transformers", weights, name)
    return [_program("transformers"), "serve", model, "--host", host, "--port", str(port)]


SERVERS: Mapping[str, Command] = {"vllm": vllm_command, "transformers": transformers_command}
# Servers that answer under the name the caller chose, wherever the weights lie.
_NAMING = frozenset({"vllm"})


def installed(server: str) -> bool:
    """Whether a server can be started here."""
    needed = ("vllm",) if server == "vllm" else _TRANSFORMERS
    return all(importlib.util.find_spec(module) is not None for module in needed)


def choose_server(where: str) -> str:
    """
    The server that is meant.

    Args:
        where (`str`):
            `"auto"`, `"vllm"` or `"transformers"`.

    Raises:
        [`ConfigurationError`]: It is not installed.
    """
    wanted = list(SERVERS) if where == "auto" else [where]
    found = next((server for server in wanted if installed(server)), None)
    if found is None:
        raise ConfigurationError(
            f"{' and '.join(wanted)} cannot serve here; pip install 'transformers[serving]' or pip install vllm, or "
            "pass where='endpoint', or command=[...] for a server of your own"
        )
    return found


def shown_name(server: str, weights: Weights, name: str) -> str:
    """The `model` that requests have to name."""
    return name if server in _NAMING or weights.is_local or weights.is_adapter else weights.place


def own_command(words: Sequence[str], weights: Weights, name: str, host: str, port: int) -> list[str]:
    """
    The command of a server of the user's own.

    Examples:
    ```python
    >>> own_command(["my-server", "{weights}", "--port", "{port}"], Weights("out", "base"), "refunds", "localhost", 80)
    ['my-server', 'out', '--port', '80']

    ```
    """
    filled = {"{weights}": weights.place, "{base}": weights.base, "{name}": name, "{host}": host, "{port}": str(port)}
    made = []
    for word in map(str, words):
        for mark, value in filled.items():
            word = word.replace(mark, value)
        made.append(word)
    return made


def _program(name: str) -> str:
    """The program beside this Python, which need not be on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.is_file() else shutil.which(name) or name
