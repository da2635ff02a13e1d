"""An adapter and the model it sits on as one model, for a server that knows no adapters."""

from __future__ import annotations

import shutil
from pathlib import Path

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.serving.weights import Weights


def merge_adapter(weights: Weights, target: Path) -> None:
    """
    Writes the merged model, in the precision of the base.

    Args:
        weights ([`Weights`]):
            An adapter.
        target (`Path`):
            Folder to write; replaced.

    Raises:
        [`ConfigurationError`]: PEFT is missing, or the adapter and its base do not load.
    """
    try:
        from peft import AutoPeftModelForCausalLM
        from transformers import AutoTokenizer
    except ImportError as error:
        raise ConfigurationError(
            f"serving an adapter with transformers needs peft ({error}); pip install 'whileai-hf[trl]'"
        ) from error
    if target.is_symlink():
        target.unlink()
    shutil.rmtree(target, ignore_errors=True)
    try:
        model = AutoPeftModelForCausalLM.from_pretrained(weights.place, dtype="auto").merge_and_unload()
        tokenizer = AutoTokenizer.from_pretrained(weights.place)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the adapter in {weights.place} and its base {weights.base} do not load ({error}); a base model that was "
            "trained here has to be where it was"
        ) from error
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
