"""The columns of each export, and the names a trainer would take for something else.

The columns of a kind never vary with the data, so that splits, shards and versions of an export share one schema.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from datasets import Features, Json, List, Value


# What SFTTrainer, DPOTrainer and KTOTrainer look for by name. A column of one of these names changes how a row is
# read: `prompt` beside `messages` trains on the bare ask, `images` makes it a vision dataset, `input_ids` a tokenised
# one, `conversations` is converted, `chat_template_kwargs` reaches the template.
_READ_BY_TRAINERS = frozenset(
    "messages prompt completion chosen rejected label labels conversations text image images input_ids attention_mask"
    " assistant_masks completion_mask position_ids seq_lengths chat_template_kwargs tools margin"
    " privileged_context".split()
)
# What GRPOTrainer itself passes to reward functions or reads as a switch; a column of that name is overwritten, or
# stops the run.
_PASSED_BY_GRPO = frozenset(
    "prompts completions completion_ids trainer_state log_metric log_extra environment environments".split()
)
TAKEN = _READ_BY_TRAINERS | _PASSED_BY_GRPO


_SHARED = ("prompt_text", "task_id", "scenario_id", "run_id")


def _features(*json_lists: str, **others: Any) -> Features:
    texts = dict.fromkeys(json_lists, List(Json()))
    return Features({**texts, **dict.fromkeys(_SHARED, Value("string")), **others})


@cache
def sft_features() -> Features:
    """Columns of the `"sft"` export."""
    return _features("messages", "tools", reward=Value("float64"))


@cache
def completion_features() -> Features:
    """Columns of the `"sft"` export with loss on one turn."""
    return _features("prompt", "completion", "tools", reward=Value("float64"))


@cache
def token_features() -> Features:
    """Columns of the `"sft"` export with a tokenizer."""
    return Features(
        {**dict.fromkeys(("input_ids", "labels"), List(Value("int32"))), **_features(reward=Value("float64"))}
    )


@cache
def wire_features() -> Features:
    """Columns of training rows in the shape of the OpenAI API."""
    texts = dict.fromkeys(("messages", "tools"), List(Json()))
    names = dict.fromkeys(("prompt", *_SHARED[1:]), Value("string"))
    return Features({**texts, "loss_mask": List(Value("int8")), **names, "reward": Value("float64")})


SFT_SHAPES: dict[str, Callable[[], Features]] = {
    "messages": sft_features,
    "completion": completion_features,
    "tokens": token_features,
    "wire": wire_features,
}


@cache
def pair_features() -> Features:
    """Columns of the `"preference"` and `"reward"` exports."""
    number = Value("float64")
    return _features(
        "prompt",
        "chosen",
        "rejected",
        "tools",
        chosen_reward=number,
        rejected_reward=number,
        reward_margin=number,
        length_delta=Value("int64"),
    )


@cache
def wire_pair_features() -> Features:
    """Columns of pairs in the shape of the OpenAI API: the ask, and whole conversations on both sides."""
    rest = {name: kind for name, kind in pair_features().items() if name not in ("prompt", "prompt_text")}
    return Features({"prompt": Value("string"), **rest})


@cache
def kto_features() -> Features:
    """Columns of the `"kto"` export."""
    return _features("prompt", "completion", "tools", label=Value("bool"), reward=Value("float64"))


_WORLD = {"world_state": Value("string"), "faults": Json(), "scenario_dimensions": Json(), "seed": Value("int64")}


def _prompt_features(**others: Any) -> Features:
    names = ("prompt_text", "task_id", "scenario_id")
    return Features(
        {"prompt": List(Json()), "tools": List(Json()), **dict.fromkeys(names, Value("string")), **_WORLD, **others}
    )


@cache
def grpo_features() -> Features:
    """Columns of the `"grpo"` export, before columns of the user's own tasks."""
    counts = dict.fromkeys(("n_rollouts", "n_judged"), Value("int64"))
    return _prompt_features(pass_rate=Value("float64"), **counts)


@cache
def eval_features() -> Features:
    """Columns of the `"eval"` export, before columns of the user's own tasks."""
    return Features({**grpo_features(), "split": Value("string")})


@cache
def opd_features() -> Features:
    """Columns of the `"opd"` export, before columns of the user's own tasks."""
    return _prompt_features()


@cache
def opsd_features() -> Features:
    """Columns of the `"opsd"` export, before columns of the user's own tasks."""
    return _prompt_features(privileged_context=Value("string"))
