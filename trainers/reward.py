# /// script
# requires-python = ">=3.11"
# dependencies = ["whileai-hf[trl]", "trackio"]
#
# [tool.hf-jobs]
# flavor = "a10g-small"
# timeout = "2h"
# secrets = ["HF_TOKEN"]
# ///
"""A reward model from pairs: which of two rollouts of a task is the better one.

    python trainers/reward.py --data graded.jsonl --model_name_or_path Qwen/Qwen3-0.6B --output_dir out

`--data` holds graded rollouts, which are paired by task, or pairs (`chosen`, `rejected`). Held-out pairs are scored
before and after: how many of them it puts the right way round. `wai.reward_model("out")` is the result as a judge; a
LoRA adapter is merged for that. Flags: those of `ProgramArguments`, `trl.ModelConfig` and `trl.RewardConfig`.
"""

from trl import ModelConfig, RewardConfig, RewardTrainer, TrlParser, get_peft_config

import whileai_hf as wai
from whileai_hf.hub.models import push_adapter
from whileai_hf.training.launching import ProgramArguments, TrainingProgram


def main(argv: list[str] | None = None) -> None:
    parser = TrlParser((ProgramArguments, ModelConfig, RewardConfig))
    arguments, model, config = parser.parse_args_and_config(argv)
    model.lora_task_type = "SEQ_CLS"  # one score, whose head is trained and saved with the adapter
    with TrainingProgram("reward", arguments, model, config, publish=push_adapter) as program:
        held_out = None if program.held_out is None else wai.to_trl(program.held_out, "reward", **program.shown)
        trainer = RewardTrainer(
            program.model,
            args=config,
            train_dataset=wai.to_trl(program.train, "reward", **program.shown),
            eval_dataset=held_out,
            processing_class=program.tokenizer,
            peft_config=get_peft_config(model),
            callbacks=[program.callback],
        )
        program.fit(trainer)


if __name__ == "__main__":
    main()
