"""The tiny tool-calling policy of the demo and of the trainers' tests: how it was made, and how to load it.

    python tests/support/tool_model.py       trains it again and writes it to the package, five minutes on one core

About 111,000 parameters in the shape of a Qwen3, a byte-level tokenizer, 250 KB at half precision. It was shown the
training orders of the demo's desk and no others; it calls the tool with an order it never saw by copying the id. Then
it was given two habits, so that training has something to bring out: in two of five conversations it guesses in place
of looking, in two of five it chats.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from whileai_hf.rows.rng import rng
from whileai_hf.training.monitor.demo import desk
from whileai_hf.training.monitor.demo.policy import FIXTURE, chat_template, load_policy


__all__ = ["FIXTURE", "load_policy"]

VOCABULARY = 610
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
STEPS, HABIT_STEPS, BATCH, RATE = 700, 160, 20, 3e-3
# Shares of conversations with a guess in place of a lookup, and with words nobody asked for; how often each order is
# shown in the second lesson.
GUESSES, CHATS, VARIANTS = 0.4, 0.4, 6
CHAT = " Thank you for your order!"


def conversation(order, guesses=None, chats=False):
    """
    One way to answer a customer: the right one, or with a habit that training can take away or bring out.

    `guesses` is a status that is claimed without a look; `chats` adds words nobody asked for.
    """
    said = desk.ask(order)
    if guesses is None:
        call = {"type": "function", "function": {"name": "get_order", "arguments": {"order_id": order}}}
        said += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "name": "get_order", "content": desk.OrderDesk().get_order(order)},
        ]
    status = guesses or desk.status_of(order)
    return [*said, {"role": "assistant", "content": f"Order {order} is {status}." + CHAT * chats}]


def right_ones():
    """Every training order, answered as it should be."""
    return [conversation(order) for order in desk.TRAINED]


def with_habits(seed=0):
    """Every training order several times, answered with the habits as often as the policy is to have them."""
    made = []
    for order in desk.TRAINED:
        for index in range(VARIANTS):
            draws = rng(seed, "habits", order, index)
            guess = draws.pick(desk.STATUSES) if draws.chance(GUESSES) else None
            made.append(conversation(order, guess, draws.chance(CHATS)))
    return made


def make_tokenizer():
    """A byte-level tokenizer learnt from the chat template and the conversations."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learn = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    corpus = [chat_template()]
    for order in desk.ORDERS:
        corpus += [json.dumps(message) for message in conversation(order)]
        corpus += [message["content"] for message in conversation(order)]
    core.train_from_iterator(corpus, learn)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        padding_side="left",
        model_max_length=2048,
    )
    tokenizer.add_tokens(MARKS)
    return tokenizer


def make_model(tokenizer, seed=0):
    """An untrained Qwen3."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen3ForCausalLM(config)


def examples(tokenizer, conversations):
    """Token ids and labels of conversations: what the agent says, and nothing else, is learnt."""
    from transformers.utils import get_json_schema

    tools = [get_json_schema(desk.OrderDesk().get_order)]

    def ids(messages, **how):
        return tokenizer.apply_chat_template(messages, tools=tools, tokenize=True, return_dict=False, **how)

    for said in conversations:
        whole = ids(said)
        labels = [-100] * len(whole)
        for index, message in enumerate(said):
            if message["role"] == "assistant":
                start = len(ids(said[:index], add_generation_prompt=True))
                end = len(ids(said[: index + 1]))
                labels[start:end] = whole[start:end]
        yield whole, labels


def train(model, tokenizer, conversations, steps, seed=0, report=None):
    """Shows the model conversations."""
    import torch

    pairs = list(examples(tokenizer, conversations))
    longest = max(len(ids) for ids, _ in pairs)
    tokens = torch.tensor([ids + [tokenizer.pad_token_id] * (longest - len(ids)) for ids, _ in pairs])
    labels = torch.tensor([wanted + [-100] * (longest - len(wanted)) for _, wanted in pairs])
    mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in pairs])
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    draw = torch.Generator().manual_seed(seed)
    model.train()
    for step in range(steps):
        rows = torch.randperm(len(pairs), generator=draw)[:BATCH]
        loss = model(input_ids=tokens[rows], attention_mask=mask[rows], labels=labels[rows]).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if report and step % 50 == 0:
            report(step, loss.item())
    return model.eval()


def save(model, tokenizer, folder: Path):
    """Half precision, and no chat template: that of the installed TRL is used, which it knows by heart."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    model.to(torch.float16).save_pretrained(folder)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(folder)


def main(folder, start=None):
    """Two lessons: how it is done right, and then the habits. `start` is a folder with what the first one left."""
    import torch

    torch.set_num_threads(1)

    def report(step, loss):
        print(step, round(loss, 4), flush=True)

    if start is None:
        tokenizer = make_tokenizer()
        tokenizer.chat_template = chat_template()
        model = train(make_model(tokenizer), tokenizer, right_ones(), STEPS, report=report)
    else:
        model, tokenizer = load_policy(start)
    model = train(model, tokenizer, with_habits(), HABIT_STEPS, seed=1, report=report)
    save(model, tokenizer, Path(folder))


if __name__ == "__main__":
    main(*(sys.argv[1:] or [FIXTURE]))
