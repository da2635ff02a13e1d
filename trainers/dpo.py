# /// script
# requires-python = ">=3.11"
# dependencies = ["whileai-hf[trl]", "trackio"]
#
# [tool.hf-jobs]
# flavor = "a10g-large"
# timeout = "3h"
# secrets = ["HF_TOKEN"]
# ///
"""Direct preference optimization on pairs of a better and a worse rollout of one task.

    python trainers/dpo.py --data graded.jsonl --model_name_or_path Qwen/Qwen3-0.6B --use_peft --output_dir out

`--data` holds graded rollouts, which are paired by task at the first turn where they part, or pairs (`chosen`,
`rejected`). Held-out tasks are played before and after; the card beside the weights says whether it worked. Flags:
those of `ProgramArguments`, `trl.ModelConfig` and `trl.DPOConfig`; see `trainers/README.md`.
"""

from trl import DPOConfig, DPOTrainer, ModelConfig, TrlParser, get_peft_config

import whileai_hf as wai
from whileai_hf.hub.models import push_adapter
from whileai_hf.training.launching import ProgramArguments, TrainingProgram


def main(argv: list[str] | None = None) -> None:
    parser = TrlParser((ProgramArguments, ModelConfig, DPOConfig))
    arguments, model, config = parser.parse_args_and_config(argv)
    with TrainingProgram("dpo", arguments, model, config, publish=push_adapter) as program:
        trainer = DPOTrainer(
            program.model,
            args=config,
            train_dataset=wai.to_trl(program.train, "preference", **program.shown),
            processing_class=program.tokenizer,
            peft_config=get_peft_config(model),
            callbacks=[program.callback],
        )
        program.fit(trainer)


if __name__ == "__main__":
    main()
