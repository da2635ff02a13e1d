# /// script
# requires-python = ">=3.11"
# dependencies = ["whileai-hf[trl]"]
# ///
"""GRPO on the prompts whose rollouts disagree.

    python trainers/grpo.py --data graded.jsonl --model Qwen/Qwen3-0.6B --reward my_rewards:concise

`--reward` names a TRL reward function, `reward(prompts, completions, **columns) -> list[float]`. The policy answers in
one turn, without the tool world. Every field of `trl.GRPOConfig` is a flag as well.
"""

import importlib
import sys
from dataclasses import dataclass, field

from trl import GRPOConfig, GRPOTrainer, TrlParser

import whileai_hf as wai


@dataclass
class Arguments:
    data: str = field(metadata={"help": "graded rollouts, several for each prompt"})
    model: str = field(metadata={"help": "model to train: a repo on the Hub or a folder"})
    reward: str = field(metadata={"help": "reward function as module:attr, importable from the working directory"})


def main(arguments: Arguments, config: GRPOConfig) -> None:
    rows, report = wai.optimize(arguments.data, mode="rl")
    print(report)
    module, _, name = arguments.reward.partition(":")
    sys.path.insert(0, ".")
    reward = getattr(importlib.import_module(module), name)
    trainer = GRPOTrainer(arguments.model, reward_funcs=reward, args=config, train_dataset=wai.to_trl(rows, "grpo"))
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main(*TrlParser((Arguments, GRPOConfig)).parse_args_and_config())
