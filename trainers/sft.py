# /// script
# requires-python = ">=3.11"
# dependencies = ["whileai-hf[trl]"]
# ///
"""Supervised fine-tuning on the best rollout of every prompt.

    python trainers/sft.py --data graded.jsonl --model Qwen/Qwen3-0.6B --output_dir sft-out

`--data` is anything `whileai_hf.open_rows` opens: a file, a saved Dataset, a repo on the Hub. Every field of
`trl.SFTConfig` is a flag as well. Only the agent's own turns are in the loss.
"""

from dataclasses import dataclass, field

from trl import SFTConfig, SFTTrainer, TrlParser

import whileai_hf as wai


@dataclass
class Arguments:
    data: str = field(metadata={"help": "graded rollouts"})
    model: str = field(metadata={"help": "model to train: a repo on the Hub or a folder"})


def main(arguments: Arguments, config: SFTConfig) -> None:
    rows, report = wai.optimize(arguments.data, mode="sft")
    print(report)
    config.assistant_only_loss = True
    trainer = SFTTrainer(arguments.model, args=config, train_dataset=wai.to_trl(rows, "sft"))
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main(*TrlParser((Arguments, SFTConfig)).parse_args_and_config())
