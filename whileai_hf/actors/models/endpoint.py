"""Where a model is served: spec strings read into an address, a model name and a key."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from whileai_hf.errors import ConfigurationError


FORMS = (
    "hf:<model>[:provider]",
    "vllm:<model>@<url>",
    "openai:<model>",
    "ollama:<model>",
    "transformers:<repo or path>",
    "http://<host>:<port>/v1[#model]",
)
_OPENAI_HOST = "api.openai.com"
_OLLAMA_PORT = 11434
# Servers without keys want a header all the same, or ignore it. It is never left out: the HTTP client of
# huggingface_hub would be free to fill the gap with the token of the Hub, and send that to a stranger.
NO_KEY = "none"


@dataclass(frozen=True)
class Endpoint:
    """
    An OpenAI-compatible chat endpoint.

    Args:
        url (`str`):
            Base URL, ending before `/chat/completions`.
        model (`str`):
            The model's name as rows keep it.
        provider (`str`, *optional*):
            The inference provider, for models of the Hub.
        key (`str`, *optional*):
            Never shown.
        key_hint (`str`, *optional*):
            What to do about a missing or wrong key. A non-empty `needs_key` says that calls without one are pointless.
        on_hub (`bool`, *optional*, defaults to `False`):
            Whether it is the Hub's own router, which offline mode rules out.
    """

    url: str
    model: str
    provider: str | None = None
    key: str | None = field(default=None, repr=False)
    key_hint: str = "pass api_key="
    needs_key: bool = False
    on_hub: bool = False

    @property
    def sent_model(self) -> str:
        """The model's name as the server wants it."""
        return f"{self.model}:{self.provider}" if self.provider else self.model

    @property
    def shown(self) -> str:
        """The address without user, password and query."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        return urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, parts.path, "", ""))


def _base_url(url: str, where: str) -> str:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine:
        raise ConfigurationError(f"{where} has the address {url!r:.80}; expected http://<host>:<port>/v1.")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", parts.query, ""))


def _named(model: str, source: str) -> str:
    if not model.strip():
        raise ConfigurationError(f"model {source!r} names no model; the forms are {', '.join(FORMS)}.")
    return model.strip()


def _hub_token() -> str | None:
    from huggingface_hub import get_token

    return get_token()


def _hub(rest: str, source: str) -> Endpoint:
    from huggingface_hub import constants

    model, _, provider = rest.partition(":")
    url = constants.INFERENCE_PROXY_TEMPLATE.format(provider="v1")
    hint = "set HF_TOKEN or run `hf auth login`"
    return Endpoint(url, _named(model, source), provider or None, _hub_token(), hint, needs_key=True, on_hub=True)


def _vllm(rest: str, source: str) -> Endpoint:
    model, at, address = rest.rpartition("@")
    if not at:
        raise ConfigurationError(f"model {source!r} has no address; expected vllm:<model>@<url>.")
    return served(address, _named(model, source))


def _openai(rest: str, source: str) -> Endpoint:
    if "@http" in rest:
        raise ConfigurationError(f"model {source!r} has an address; write vllm:<model>@<url>, or set OPENAI_BASE_URL.")
    base = os.environ.get("OPENAI_BASE_URL") or f"https://{_OPENAI_HOST}/v1"
    key = os.environ.get("OPENAI_API_KEY") or None
    needed = urlsplit(base).hostname == _OPENAI_HOST
    url = _base_url(base, "OPENAI_BASE_URL")
    return Endpoint(url, _named(rest, source), key=key, key_hint="set OPENAI_API_KEY", needs_key=needed)


def _ollama(rest: str, source: str) -> Endpoint:
    host = os.environ.get("OLLAMA_HOST") or f"127.0.0.1:{_OLLAMA_PORT}"
    address = host if "://" in host else f"http://{host}"
    # Servers listen on 0.0.0.0; nobody can call it there.
    parts = urlsplit(address.replace("//0.0.0.0", "//127.0.0.1"))
    netloc = parts.netloc if parts.port or parts.scheme == "https" else f"{parts.netloc}:{_OLLAMA_PORT}"
    url = _base_url(urlunsplit((parts.scheme, netloc, parts.path, "", "")), "OLLAMA_HOST")
    return Endpoint(url, _named(rest, source), key_hint="check OLLAMA_HOST")


_SCHEMES: dict[str, Callable[[str, str], Endpoint]] = {
    "hf": _hub,
    "vllm": _vllm,
    "openai": _openai,
    "ollama": _ollama,
}


def served(address: str, model: str, key: str | None = None) -> Endpoint:
    """
    The endpoint at an address.

    Args:
        address (`str`):
            `http://<host>:<port>/v1`; `/v1` is added to an address without a path.
        model (`str`):
            Name of the model; empty when the server is to be asked.
        key (`str`, *optional*):
            Its key; `VLLM_API_KEY` when left out, and the Hub's token for the Hub's own hosts.

    Examples:
    ```python
    >>> served("http://127.0.0.1:8000", "Qwen/Qwen3-4B").url
    'http://127.0.0.1:8000/v1'

    ```
    """
    url = _base_url(address, "the model")
    host = urlsplit(url).hostname or ""
    if host.endswith((".huggingface.cloud", ".huggingface.co", ".hf.space")):
        hint = "set HF_TOKEN, run `hf auth login` or pass api_key="
        return Endpoint(url, model, key=key or _hub_token(), key_hint=hint)
    return Endpoint(url, model, key=key or os.environ.get("VLLM_API_KEY") or None, key_hint="set VLLM_API_KEY")


def parse(source: str) -> Endpoint:
    """
    The endpoint a spec string names; its model is empty when a bare URL does not say.

    Raises:
        ConfigurationError: When it is none of the known forms.

    Examples:
    ```python
    >>> parse("vllm:Qwen/Qwen3-4B@http://127.0.0.1:8000/v1").model
    'Qwen/Qwen3-4B'

    ```
    """
    if source.startswith(("http://", "https://")):
        address, _, model = source.partition("#")
        return served(address, model)
    scheme, colon, rest = source.partition(":")
    read = _SCHEMES.get(scheme) if colon else None
    if read is None:
        hint = f" Did you mean hf:{source}?" if source.count("/") == 1 and not colon else ""
        raise ConfigurationError(f"model {source!r:.80} is no known form; use one of {', '.join(FORMS)}.{hint}")
    return read(rest, source)
