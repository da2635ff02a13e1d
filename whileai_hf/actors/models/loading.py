"""Causal language models from a folder, the cache or the Hub, and what is wrong with those that are something else."""

from __future__ import annotations

from typing import Any

from whileai_hf.errors import ConfigurationError


_INSTALL = "pip install 'whileai-hf[transformers]'"


def need_transformers() -> None:
    """
    Raises unless the libraries an in-process model needs are installed.

    Raises:
        ConfigurationError: Names what to install.
    """
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            f"an in-process model needs torch and transformers ({error}); install them with {_INSTALL}."
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def load(name_or_path: str, tokenizer: Any, device: str | None) -> tuple[Any, Any]:
    """
    Model and tokenizer of a folder or a Hub id.

    Args:
        name_or_path (`str`):
            What `from_pretrained` takes.
        tokenizer (`PreTrainedTokenizerBase` or `None`):
            Used instead of the one that is there.
        device (`str` or `None`):
            Where the model goes; a GPU if there is one, else the CPU.

    Raises:
        ConfigurationError: When nothing loads as a causal language model.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        tokenizer = tokenizer or AutoTokenizer.from_pretrained(name_or_path)
        model: Any = AutoModelForCausalLM.from_pretrained(name_or_path, dtype="auto")
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ConfigurationError(
            f"transformers:{name_or_path} does not load as a causal language model ({_first_line(error)}); pass a "
            "folder that save_pretrained wrote, or the id of a text model on the Hub that can be reached or was "
            "downloaded before."
        ) from error
    model.to(where)
    return model, tokenizer


def check(name: str, model: Any, tokenizer: Any) -> None:
    """Raises a ConfigurationError for what cannot hold a conversation in text."""
    from transformers import PreTrainedTokenizerBase

    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise ConfigurationError(
            f"{name} came with a {type(tokenizer).__name__}; the in-process backend plays text models and needs "
            "a tokenizer: pass tokenizer=processor.tokenizer, or serve the model and use vllm:<model>@<url>."
        )
    if not model.can_generate() or model.config.is_encoder_decoder:
        raise ConfigurationError(
            f"{name} is a {type(model).__name__}; the in-process backend needs a causal language model."
        )
