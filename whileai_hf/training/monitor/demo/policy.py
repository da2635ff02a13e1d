"""The shipped policy: a language model of 113,000 parameters that has learnt to call one tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any


FIXTURE = Path(__file__).parents[1] / "fixture"
# Keeps earlier turns unchanged when a conversation grows, which training with tools needs.
TEMPLATE = "qwen3_instruct_2507"


def chat_template() -> str:
    """The text of the chat template, as TRL ships it."""
    import trl

    return (Path(trl.__file__).parent / "chat_templates" / f"{TEMPLATE}.jinja").read_text(encoding="utf-8")


def load_policy(folder: str | Path = FIXTURE) -> tuple[Any, Any]:
    """
    The policy and its tokenizer.

    Args:
        folder (`str` or `Path`, *optional*):
            Where they lie.

    Returns:
        `tuple`: A `Qwen3ForCausalLM` in single precision, and a `PreTrainedTokenizerFast`.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = chat_template()
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), tokenizer
