"""The files of an adapter: which belong to it, and what in them is of this machine."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import orjson

from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.hub.pushing.hiding import Hiding


ADAPTER_CONFIG = "adapter_config.json"
_BASE = "base_model_name_or_path"
_WEIGHTS = "adapter_model*.safetensors"
# What a reader of the repo needs. Checkpoints keep much else beside it: optimizer states, pickled arguments with paths
# and host names, a card that names local folders.
_BELONGS = (
    ADAPTER_CONFIG,
    _WEIGHTS,
    "adapter_model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
    "chat_template.jin*",
    "chat_template.json",
    "generation_config.json",
)
# Keys of these files that name places on the machine they were written on.
_PLACES = frozenset({"name_or_path", "_name_or_path", "tokenizer_file", "special_tokens_map_file", "vocab_file"})
_REPO = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclasses.dataclass(frozen=True)
class AdapterFolder:
    """
    An adapter on disk.

    Args:
        files (`dict[str, Path | bytes]`):
            Path in the repo to a file, or to its content where that had to be changed.
        config (`dict`):
            Its `adapter_config.json`, as it is pushed.
        base_model (`str`):
            The model it adapts.
        left_out (`list[str]`):
            Files of the folder that are not pushed.
    """

    files: Mapping[str, Path | bytes]
    config: dict[str, Any]
    base_model: str
    left_out: list[str]

    @property
    def kind(self) -> str:
        """`LoRA` and the like."""
        kind = self.config.get("peft_type")
        return {"LORA": "LoRA"}.get(kind, kind) if isinstance(kind, str) and kind else "PEFT"


def read_adapter(given: str | os.PathLike[str], base_model: str | None = None) -> AdapterFolder:
    """
    An adapter in a folder, as PEFT and TRL save it.

    Args:
        given (`str` or `PathLike`):
            The folder.
        base_model (`str`, *optional*):
            The model it adapts, as the Hub names it; left out, what the adapter itself says.

    Raises:
        [`SourceNotFoundError`]: No such folder.
        [`DataError`]: The folder holds no adapter.
        [`ConfigurationError`]: The base model is none on the Hub.
    """
    if "://" in str(given):
        raise ConfigurationError(f"the adapter is at {given}; download it and pass the folder it is in")
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise SourceNotFoundError(f"{folder} is no folder; pass the one an adapter was saved to, or a run")
    config = _json(folder / ADAPTER_CONFIG)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    kept = [name for name in names if any(fnmatch(name, pattern) for pattern in _BELONGS) and "/" not in name]
    if not any(fnmatch(name, _WEIGHTS) for name in kept):
        raise DataError(
            f"{folder} holds no {_WEIGHTS}; save the adapter with model.save_pretrained(folder) of PEFT, which writes "
            "safetensors"
        )
    base = _base_model(base_model, config.get(_BASE))
    files: dict[str, Path | bytes] = {name: folder / name for name in kept}
    hiding = Hiding(narrow=True)
    config = {**hiding.value(_portable(config)), _BASE: base}
    files[ADAPTER_CONFIG] = _bytes(config)
    for name in kept:
        if name.endswith("_config.json") and name != ADAPTER_CONFIG:
            files[name] = _bytes(hiding.value(_portable(_json(folder / name))))
        elif name.startswith("chat_template."):
            files[name] = hiding.bytes((folder / name).read_bytes())
    return AdapterFolder(files, config, base, [name for name in names if name not in kept])


def _json(path: Path) -> dict[str, Any]:
    try:
        read = orjson.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise DataError(
            f"{path.parent} holds no {path.name}, so it is no adapter; pass the folder of trainer.save_model() or of "
            "a checkpoint"
        ) from error
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path} is not JSON ({error}); save the adapter anew") from error
    if not isinstance(read, dict):
        raise DataError(f"{path} holds a {type(read).__name__}; expected an object")
    return read


def _bytes(config: Mapping[str, Any]) -> bytes:
    return orjson.dumps(config, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _portable(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config without places on this machine."""
    return {
        key: value
        for key, value in config.items()
        if key not in _PLACES or not isinstance(value, str) or _is_repo(value)
    }


def _is_repo(name: str) -> bool:
    return bool(_REPO.fullmatch(name)) and not name.startswith(".") and not Path(name).exists()


def _base_model(given: str | None, said: Any) -> str:
    if given is not None:
        if not isinstance(given, str) or not _is_repo(given):
            raise ConfigurationError(f"base_model={given!r:.80} is no model repo; pass 'namespace/name'")
        return given
    if isinstance(said, str) and _is_repo(said):
        return said
    what = f"a folder of this machine ({Path(said).name})" if isinstance(said, str) and said else "no base model"
    raise ConfigurationError(
        f"the adapter names {what}; pass base_model='namespace/name', the model it was trained on"
    )
