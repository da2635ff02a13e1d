"""Models out of what a user writes: a spec string, a callable, or a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from whileai_hf.actors.loop import wait_for
from whileai_hf.actors.models.agent import ModelAgent
from whileai_hf.actors.models.cache import CachedModel, ModelCache
from whileai_hf.actors.models.callables import CallableModel
from whileai_hf.actors.models.endpoint import FORMS, Endpoint, parse, served
from whileai_hf.actors.models.model import Model
from whileai_hf.actors.models.sampling import Sampling
from whileai_hf.errors import ConfigurationError


def _remote(endpoint: Endpoint, sampling: dict[str, Any]) -> Model:
    # Here, because the HTTP client takes half a second to import and most runs use none.
    from whileai_hf.actors.models.remote import RemoteModel, served_models

    knobs = Sampling.of(sampling)
    if not endpoint.model:
        names = wait_for(served_models(endpoint))
        if len(names) != 1:
            there = f"serves {len(names)} models: {', '.join(names[:10])}" if names else "lists no model"
            raise ConfigurationError(
                f"{endpoint.shown} {there}; name one as {endpoint.shown}#{names[0] if names else '<model>'}."
            )
        endpoint = replace(endpoint, model=names[0])
    return RemoteModel(endpoint, knobs)


def _in_process(name: str, sampling: dict[str, Any]) -> Model:
    from whileai_hf.actors.models.transformers import TransformersModel

    if not name:
        raise ConfigurationError("model 'transformers:' names no model; write transformers:<repo or path>.")
    model: Model = TransformersModel(name, **sampling)
    return model


def _model(source: Any, api_key: str | None, sampling: dict[str, Any]) -> Model:
    if isinstance(source, ModelAgent):
        source = source.model
    if isinstance(source, str):
        if source.startswith("transformers:"):
            return _in_process(source.partition(":")[2], sampling)
        endpoint = parse(source)
        return _remote(replace(endpoint, key=api_key) if api_key else endpoint, sampling)
    if isinstance(source, Model) and not isinstance(source, type):
        if sampling:
            raise ConfigurationError(
                f"model {source.name} is made already and samples as {source.sampling}; give {', '.join(sampling)} "
                "where it is made."
            )
        return source
    if callable(source) and not isinstance(source, type):
        return CallableModel(source, Sampling.of(sampling))
    raise ConfigurationError(
        f"model is {source!r:.60}; pass a model, a chat callable (messages, tools) or one of {', '.join(FORMS)}."
    )


def as_model(
    source: Any,
    *,
    cache: ModelCache | str | os.PathLike[str] | None = None,
    api_key: str | None = None,
    **sampling: Any,
) -> Model:
    """
    The model a user means.

    Args:
        source (`str`, [`Model`] or `Callable`):
            `hf:<model>[:provider]` (Inference Providers, with `HF_TOKEN`), `vllm:<model>@<url>`, `openai:<model>`
            (`OPENAI_API_KEY`, `OPENAI_BASE_URL`), `ollama:<model>` (`OLLAMA_HOST`), `transformers:<repo or path>` (in
            this process), the URL of any OpenAI-compatible server with `#<model>` when it serves several; a model; or
            a chat callable `(messages, tools)`, sync or async.
        cache ([`ModelCache`] or `str`, *optional*):
            Where to keep calls and look them up.
        api_key (`str`, *optional*):
            Key of the endpoint, instead of the one in the environment.
        sampling (*optional*):
            `temperature`, `top_p`, `max_tokens`, `seed`, `stop`, `timeout` (seconds of one try), `thinking`.

    Returns:
        [`Model`]: Ready to be asked. Nothing is sent yet, except that a URL without a model is asked which it serves.

    Raises:
        ConfigurationError: When the string is none of the forms, or a knob does not exist or is out of range.

    Examples:
    ```python
    >>> from whileai_hf.actors.models import as_model
    >>> as_model("vllm:Qwen/Qwen3-4B@http://127.0.0.1:8000/v1", temperature=0.7).sampling
    {'model': 'Qwen/Qwen3-4B', 'temperature': 0.7}

    ```
    """
    model = _model(source, api_key, sampling)
    if cache is None:
        return model
    return CachedModel(model, cache if isinstance(cache, ModelCache) else ModelCache(cache))


def local_model(
    endpoint: str,
    name: str,
    *,
    tools: Sequence[Any] | None = None,
    system: str | None = None,
    thinking: bool | None = None,
    api_key: str | None = None,
    **sampling: Any,
) -> ModelAgent:
    """
    A model you serve yourself, as an agent.

    Args:
        endpoint (`str`):
            Base URL of the server, `http://127.0.0.1:8000/v1`.
        name (`str`):
            The model's name there.
        tools (`list`, *optional*):
            Tools bound to it, used when the run names none.
        system (`str`, *optional*):
            System prompt bound to it, used when the run names none.
        thinking (`bool`, *optional*):
            Switches the reasoning of models whose chat template knows `enable_thinking`.
        api_key (`str`, *optional*):
            The server's key; `VLLM_API_KEY` when left out.
        sampling (*optional*):
            `temperature`, `top_p`, `max_tokens`, `seed`, `stop`, `timeout`.

    Returns:
        [`ModelAgent`]: Pass it as `agent=`.

    Examples:
    ```python
    >>> from whileai_hf.actors.models import local_model
    >>> local_model("http://127.0.0.1:8000/v1", "Qwen/Qwen3-4B", thinking=False).sampling
    {'model': 'Qwen/Qwen3-4B', 'thinking': False}

    ```
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError(f"name is {name!r}; pass the model's name as the server lists it.")
    knobs = sampling if thinking is None else {**sampling, "thinking": thinking}
    return ModelAgent(_remote(served(endpoint, name, api_key), knobs), tools=tools, system=system)
