"""The exports train: no conversion, no warning that our data causes, and what is learnt is the conversation."""

import logging
import warnings
from contextlib import contextmanager

import pytest

from whileai_hf.export import to_trl
from whileai_hf.rows import to_dataset


# Warnings of the libraries about themselves, whatever the data. Everything else is an error.
UPSTREAM = [
    # transformers, about the name of a property that TRL reads while it generates
    (FutureWarning, "`is_gradient_checkpointing` is deprecated"),
]
COMMON = {
    "use_cpu": True,
    "bf16": False,
    "activation_checkpointing": False,
    "report_to": "none",
    "logging_steps": 1,
    "save_strategy": "no",
    "disable_tqdm": True,
    "dataloader_pin_memory": False,  # torch warns about it where there is no accelerator
    "learning_rate": 1e-3,
}


@pytest.fixture(autouse=True)
def one_thread():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@contextmanager
def strict():
    """Turns warnings that are not listed above into errors, and lets nothing be logged as one either."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = records.append
    loggers = [logging.getLogger(name) for name in ("trl", "transformers", "datasets", "accelerate", "whileai_hf")]
    for logger in loggers:
        logger.addHandler(handler)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category, message in UPSTREAM:
            warnings.filterwarnings("ignore", message, category)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeHandler(handler)
    assert not [record.getMessage() for record in records]


def test_sft_trains_on_what_the_template_renders(rollouts, tools, tokenizer, tiny_model_dir, tmp_path):
    from trl import SFTConfig, SFTTrainer

    other = {"type": "function", "function": {"name": "other", "parameters": {"properties": {"secret_key": {}}}}}
    rollouts[5]["tools"] = [other]  # a second agent in the same Dataset must not show in the first one's text
    rollouts[6]["tools"] = None
    with strict():
        data = to_trl(to_dataset(rollouts), "sft")
    config = SFTConfig(
        output_dir=str(tmp_path), max_steps=3, per_device_train_batch_size=2, max_length=1024, seed=0, **COMMON
    )
    with strict():
        trainer = SFTTrainer(str(tiny_model_dir), args=config, train_dataset=data, processing_class=tokenizer)
        trainer.train()
    for index in (0, 1):
        text = tokenizer.decode(trainer.train_dataset[index]["input_ids"])
        assert text == tokenizer.apply_chat_template(rollouts[index]["messages"], tools=tools, tokenize=False)
        assert "secret_key" not in text
        for unwanted in ("null", "None", "\\\\"):
            assert unwanted not in text
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == 3
    assert losses[-1] < losses[0]


def test_sft_on_the_agent_s_turns_only(rollouts, tokenizer, tiny_model_dir, tmp_path):
    from trl import SFTConfig, SFTTrainer

    data = to_trl(rollouts[:4], "sft", tools=[])
    config = SFTConfig(output_dir=str(tmp_path), max_length=1024, assistant_only_loss=True, **COMMON)
    with strict():
        trainer = SFTTrainer(str(tiny_model_dir), args=config, train_dataset=data, processing_class=tokenizer)
    row = trainer.train_dataset[0]
    learnt = tokenizer.decode(
        [token for token, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100]
    )
    assert '{"name": "get_order", "arguments": {"order_id": "ORD-1040"}}' in learnt
    assert rollouts[0]["final_text"] in learnt
    assert "order desk" not in learnt
    assert '{"status"' not in learnt


def test_grpo_asks_the_prompts_and_rewards_get_the_columns(rollouts, tokenizer, tiny_model_dir, tmp_path):
    from trl import GRPOConfig, GRPOTrainer

    data = to_trl(to_dataset(rollouts), "grpo")
    seen = []

    def brevity(prompts, completions, task_id, faults, answer, pass_rate, **columns):
        seen.extend(zip(prompts, task_id, faults, answer, pass_rate, strict=True))
        return [-float(len(completion[0]["content"])) for completion in completions]

    config = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=8,
        **COMMON,
    )
    with strict():
        trainer = GRPOTrainer(
            str(tiny_model_dir), reward_funcs=brevity, args=config, train_dataset=data, processing_class=tokenizer
        )
        trainer.train()
    assert trainer.state.global_step == 2
    expected = {row["task_id"]: row for row in data.to_list()}
    assert len(seen) == 8
    for prompt, task, faults, answer, rate in seen:
        row = expected[task]
        assert (prompt, faults, answer, rate) == (row["prompt"], row["faults"], row["answer"], row["pass_rate"])
