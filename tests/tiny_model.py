"""A tool-calling model small enough to train on one CPU core, made from nothing: no weights, no network.

The architecture and the chat template are Qwen3's, so that TRL treats it like the real one; the tokenizer is a byte
level BPE learnt from the template and a few sentences. About 100,000 parameters, a second to build.
"""

from pathlib import Path
from typing import Any


TEMPLATE = "qwen3_instruct_2507"  # keeps earlier turns unchanged when the conversation grows, which GRPO needs
VOCABULARY = 600  # 256 bytes, the specials, and some merges: sequences about half as long as plain bytes
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
LONGEST = 2048  # tokens
CORPUS = [
    'You help with orders. {"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"',
    '{"name": "refund_order", "arguments": {"order_id": "ORD-1042", "amount": 12.5}} {"status": "ok", "data": {}}',
    "Where is order ORD-1042? Please refund it. Order ORD-1042 is on its way. I could not find that order.",
]


def chat_template(name: str = TEMPLATE) -> str:
    """The text of a chat template that TRL ships and knows by heart."""
    import trl

    return (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")


def make_tokenizer(template: str = TEMPLATE) -> Any:
    """A tokenizer with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learn = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    core.train_from_iterator([chat_template(), *CORPUS * 8], learn)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        padding_side="left",
        model_max_length=LONGEST,
    )
    tokenizer.add_tokens(MARKS)  # ordinary tokens: they must survive decoding without the special ones
    tokenizer.chat_template = chat_template(template)
    return tokenizer


def make_model(tokenizer: Any, hidden: int = 64, seed: int = 0) -> Any:
    """An untrained Qwen3 over the tokenizer's vocabulary."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=hidden // 4,
        max_position_embeddings=LONGEST,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen3ForCausalLM(config)


def save_tiny_model(folder: Path) -> Path:
    """Writes model and tokenizer to `folder`, as `from_pretrained` reads them."""
    tokenizer = make_tokenizer()
    make_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
