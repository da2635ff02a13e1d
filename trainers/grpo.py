# /// script
# requires-python = ">=3.11"
# dependencies = ["whileai-hf[trl]", "trackio"]
#
# [tool.hf-jobs]
# flavor = "a10g-large"
# timeout = "6h"
# secrets = ["HF_TOKEN"]
# ///
"""GRPO in the simulated world, watched: is the reward being hacked right now?

    python trainers/grpo.py --data tasks.jsonl --agent spec.json --reward rewards:resolved --gold rewards:order_right \
        --model_name_or_path Qwen/Qwen3-0.6B --use_peft --stop_on divergence --output_dir out
    accelerate launch trainers/grpo.py --config grpo.yaml
    hf jobs uv run trainers/grpo.py --data me/refunds --push_to_hub --hub_model_id me/refunds-grpo ...

`--data` holds tasks, or graded rollouts, of which the prompts that disagree are taken. The policy calls the tools of
the simulated world; `--reward` is any judge (`module:name` of a row to a verdict, or a judge model), or a reward
function as TRL has them; the floor of `grade` without one. `--gold` is a judge that training does not see: with one,
the monitor says whether the reward is being hacked, and without, that this is not measured. Every sampled rollout is
recorded in the run's folder. Flags: those of `GRPOArguments`, `trl.ModelConfig` and `trl.GRPOConfig`; see
`trainers/README.md`.
"""

from dataclasses import dataclass, field

from trl import GRPOConfig, GRPOTrainer, ModelConfig, TrlParser, get_peft_config

import whileai_hf as wai
from whileai_hf.hub.models import push_adapter
from whileai_hf.training.launching import ProgramArguments, TrainingProgram
from whileai_hf.training.monitor import HackMonitor
from whileai_hf.training.recorder import RolloutRecorder


@dataclass
class GRPOArguments(ProgramArguments):
    monitor_every: int = field(default=10, metadata={"help": "steps between two looks at the held-out tasks; 0: none"})
    monitor_k: int = field(default=4, metadata={"help": "completions of every held-out task at each look"})
    stop_on: str | None = field(
        default=None, metadata={"help": "alarm that stops training: divergence, length, drift, feature or any"}
    )
    endorsed: list[str] = field(default_factory=list, metadata={"help": "what the reward is meant to track"})
    kl_budget: float | None = field(default=None, metadata={"help": "KL from the start that may not be exceeded"})


def main(argv: list[str] | None = None) -> None:
    parser = TrlParser((GRPOArguments, ModelConfig, GRPOConfig))
    arguments, model, config = parser.parse_args_and_config(argv)
    with TrainingProgram("grpo", arguments, model, config, publish=push_adapter) as program:
        rows = program.train
        if arguments.select and "reward" in rows.column_names:
            rows, report = wai.optimize(rows, mode="rl")
            print(report)
        spec = program.environment(rows)
        given = spec.trainer_kwargs(
            model=program.model,
            args=config,
            processing_class=program.tokenizer,
            peft_config=get_peft_config(model),
            callbacks=[program.callback],
        )
        trainer = GRPOTrainer(**given)
        monitor = None
        if spec.eval_dataset is not None and arguments.monitor_every:
            monitor = HackMonitor(
                program.run,
                holdout=spec.eval_dataset,
                gold=None if program.gold is None else spec.as_reward(program.gold),
                every=arguments.monitor_every,
                k=arguments.monitor_k,
                endorsed=arguments.endorsed,
                stop_on=arguments.stop_on,
                kl_budget=arguments.kl_budget,
            )
            monitor.attach(trainer)
        RolloutRecorder(program.run).attach(trainer)
        program.fit(trainer)
        if monitor is not None and trainer.is_world_process_zero():
            print(monitor.summary())


if __name__ == "__main__":
    main()
