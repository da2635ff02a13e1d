"""The columns of each export, and the names a trainer would take for something else.

The columns of a kind never vary with the data, so that splits, shards and versions of an export share one schema.
"""

from __future__ import annotations

from functools import cache

from datasets import Features, Json, List, Value


# What SFTTrainer, DPOTrainer and KTOTrainer look for by name. A column of one of these names changes how a row is
# read: `prompt` beside `messages` trains on the bare ask, `images` makes it a vision dataset, `input_ids` a tokenised
# one, `conversations` is converted, `chat_template_kwargs` reaches the template.
_READ_BY_TRAINERS = frozenset(
    "messages prompt completion chosen rejected label labels conversations text image images input_ids attention_mask"
    " assistant_masks completion_mask position_ids seq_lengths chat_template_kwargs tools margin".split()
)
# What GRPOTrainer itself passes to reward functions or reads as a switch; a column of that name is overwritten, or
# stops the run.
_PASSED_BY_GRPO = frozenset(
    "prompts completions completion_ids trainer_state log_metric log_extra environment environments".split()
)
TAKEN = _READ_BY_TRAINERS | _PASSED_BY_GRPO


@cache
def sft_features() -> Features:
    """Columns of the `"sft"` export."""
    return Features(
        {
            "messages": List(Json()),
            "tools": List(Json()),
            "prompt_text": Value("string"),
            "task_id": Value("string"),
            "scenario_id": Value("string"),
            "run_id": Value("string"),
            "reward": Value("float64"),
        }
    )


@cache
def grpo_features() -> Features:
    """Columns of the `"grpo"` export, before columns of the user's own tasks."""
    return Features(
        {
            "prompt": List(Json()),
            "tools": List(Json()),
            "prompt_text": Value("string"),
            "task_id": Value("string"),
            "scenario_id": Value("string"),
            "world_state": Value("string"),
            "faults": Json(),
            "scenario_dimensions": Json(),
            "seed": Value("int64"),
            "pass_rate": Value("float64"),
            "n_rollouts": Value("int64"),
            "n_judged": Value("int64"),
        }
    )
