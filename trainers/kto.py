# /// script
# requires-python = ">=3.11"
# dependencies = ["whileai-hf[trl]", "trackio"]
#
# [tool.hf-jobs]
# flavor = "a10g-large"
# timeout = "3h"
# secrets = ["HF_TOKEN"]
# ///
"""Kahneman-Tversky optimization on rollouts that passed and rollouts that failed; no pairs are needed.

    python trainers/kto.py --data graded.jsonl --model_name_or_path Qwen/Qwen3-0.6B --use_peft --output_dir out

Held-out tasks are played before and after; the card beside the weights says whether it worked. Flags: those of
`ProgramArguments`, `trl.ModelConfig` and `trl.KTOConfig`; see `trainers/README.md`.
"""

from trl import KTOConfig, KTOTrainer, ModelConfig, TrlParser, get_peft_config

import whileai_hf as wai
from whileai_hf.hub.models import push_adapter
from whileai_hf.training.launching import ProgramArguments, TrainingProgram


def main(argv: list[str] | None = None) -> None:
    parser = TrlParser((ProgramArguments, ModelConfig, KTOConfig))
    arguments, model, config = parser.parse_args_and_config(argv)
    with TrainingProgram("kto", arguments, model, config, publish=push_adapter) as program:
        trainer = KTOTrainer(
            program.model,
            args=config,
            train_dataset=wai.to_trl(program.train, "kto", **program.shown),
            processing_class=program.tokenizer,
            peft_config=get_peft_config(model),
            callbacks=[program.callback],
        )
        program.fit(trainer)


if __name__ == "__main__":
    main()
