# /// script
# requires-python = ">=3.11"
# dependencies = ["whileai-hf[trl]", "trackio"]
#
# [tool.hf-jobs]
# flavor = "a10g-small"
# timeout = "3h"
# secrets = ["HF_TOKEN"]
# ///
"""Supervised fine-tuning on the best rollouts of every prompt.

    python trainers/sft.py --data graded.jsonl --model_name_or_path Qwen/Qwen3-0.6B --use_peft --output_dir out
    python trainers/sft.py --config sft.yaml
    hf jobs uv run trainers/sft.py --data me/refunds --model_name_or_path Qwen/Qwen3-0.6B --use_peft \
        --push_to_hub --hub_model_id me/refunds-sft

Only the agent's own turns are in the loss. Held-out tasks are played before and after; the card beside the weights
says whether it worked. Flags: those of `ProgramArguments`, `trl.ModelConfig` and `trl.SFTConfig`; see
`trainers/README.md`.
"""

from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser, get_peft_config

import whileai_hf as wai
from whileai_hf.hub.models import push_adapter
from whileai_hf.training.launching import ProgramArguments, TrainingProgram


def main(argv: list[str] | None = None) -> None:
    parser = TrlParser((ProgramArguments, ModelConfig, SFTConfig))
    arguments, model, config = parser.parse_args_and_config(argv)
    with TrainingProgram("sft", arguments, model, config, publish=push_adapter) as program:
        rows = program.train
        if arguments.select:
            rows, report = wai.optimize(rows, mode="sft")
            print(report)
        config.assistant_only_loss = True
        trainer = SFTTrainer(
            program.model,
            args=config,
            train_dataset=wai.to_trl(rows, "sft", **program.shown),
            processing_class=program.tokenizer,
            peft_config=get_peft_config(model),
            callbacks=[program.callback],
        )
        program.fit(trainer)


if __name__ == "__main__":
    main()
