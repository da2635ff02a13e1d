"""Reward models from a folder, a training run's folder, the cache or the Hub, and what is wrong with other models."""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

from whileai_hf.actors.models.loading import need_transformers
from whileai_hf.errors import ConfigurationError


_ADAPTER = "adapter_config.json"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
# Bytes of the hash of the weights, as many as name a version elsewhere.
_VERSION_BYTES = 6


def find_model(given: str | os.PathLike[str]) -> str:
    """
    The folder that holds the model, or the id as it is.

    Args:
        given (`str` or `PathLike`):
            A folder with a model, the output folder of a run (its last checkpoint counts when it holds no model
            itself), or the id of a repo.

    Raises:
        ConfigurationError: When the folder holds neither, or nothing is named.
    """
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise ConfigurationError(
            f"reward_model({given!r:.80}) names no model; pass a folder a reward trainer saved, or the id of a repo"
        )
    folder = Path(given)
    if not folder.is_dir():
        return os.fspath(given)
    if (folder / "config.json").is_file() or (folder / _ADAPTER).is_file():
        return str(folder)
    found = {match: path for path in folder.iterdir() if path.is_dir() and (match := _CHECKPOINT.fullmatch(path.name))}
    if not found:
        raise ConfigurationError(
            f"{folder} holds neither a model (config.json) nor checkpoints of one; pass the folder that "
            "trainer.save_model wrote"
        )
    return str(found[max(found, key=lambda match: int(match[1]))])


def load(name_or_path: str, device: str | None, dtype: str, revision: str | None) -> tuple[Any, Any]:
    """
    Model and tokenizer.

    Args:
        name_or_path (`str`):
            What `from_pretrained` takes.
        device (`str` or `None`):
            Where the model goes; a GPU if there is one, else the CPU.
        dtype (`str`):
            Precision of the weights; `"auto"` for the stored one.
        revision (`str` or `None`):
            Branch, tag or commit on the Hub.

    Raises:
        ConfigurationError: When nothing loads, or what loads gives no single trained score.
    """
    need_transformers()
    import torch
    from safetensors import SafetensorError
    from transformers import AutoTokenizer

    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        tokenizer = AutoTokenizer.from_pretrained(name_or_path, revision=revision)
        is_adapter = (Path(name_or_path) / _ADAPTER).is_file()
        model = (_load_adapter if is_adapter else _load_model)(name_or_path, dtype, revision)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ConfigurationError(
            f"{name_or_path} does not load as a reward model ({line}); pass the folder a reward trainer saved, or the "
            "id of a sequence classification model on the Hub that can be reached or was downloaded before"
        ) from error
    if model.config.num_labels != 1:
        raise ConfigurationError(
            f"{name_or_path} has {model.config.num_labels} outputs; a reward model has one (num_labels=1)"
        )
    model.to(where).eval().requires_grad_(False)
    return model, tokenizer


def _load_model(name_or_path: str, dtype: str, revision: str | None) -> Any:
    from transformers import AutoModelForSequenceClassification

    model, report = AutoModelForSequenceClassification.from_pretrained(
        name_or_path, dtype=dtype, revision=revision, output_loading_info=True
    )
    untrained = sorted(report["missing_keys"])
    if untrained:  # transformers fills them with noise
        raise ValueError(f"it has no weights for {', '.join(untrained[:3])}, so it was not trained to score")
    return model


def _load_adapter(name_or_path: str, dtype: str, revision: str | None) -> Any:
    """An adapter with the head that was trained beside it, merged into the model it was made for."""
    try:
        from peft import AutoPeftModelForSequenceClassification, PeftConfig
    except ImportError as error:
        raise ImportError(f"an adapter needs peft ({error}): pip install 'whileai-hf[trl]'") from error
    if PeftConfig.from_pretrained(name_or_path).task_type != "SEQ_CLS":
        raise ValueError("the adapter was not trained for sequence classification and has no scoring head")
    model = AutoPeftModelForSequenceClassification.from_pretrained(name_or_path, dtype=dtype, num_labels=1)
    return model.merge_and_unload()


def version_of(model: Any, tokenizer: Any) -> str:
    """
    What the model computes, as a hash: the commit where it comes from the Hub, else of weights and chat template.

    Args:
        model (`PreTrainedModel`):
            The model.
        tokenizer (`PreTrainedTokenizerBase`):
            Its tokenizer.

    Returns:
        `str`: 12 hexadecimal characters.
    """
    import torch

    commit = model.config.to_dict().get("_commit_hash")
    if isinstance(commit, str):
        return commit[: 2 * _VERSION_BYTES]
    state = blake2b(digest_size=_VERSION_BYTES)
    for name, weights in sorted(model.state_dict().items()):
        state.update(f"{name} {tuple(weights.shape)} {weights.dtype}".encode())
        state.update(weights.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    state.update(str(tokenizer.chat_template).encode("utf-8", "surrogatepass"))
    return state.hexdigest()
