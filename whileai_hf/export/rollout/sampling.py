"""How the policy is sampled: through the trainer, whatever generates for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError


Tokens = list[int]
Sampled = tuple[list[Tokens], list[list[float]] | None]
# Asked for one completion of each of some prompts of tokens; says the tokens, and their log probabilities if it knows.
Sampler = Callable[[Any, Sequence[Tokens]], Sampled]


def sample_with(trainer: Any, prompts: Sequence[Tokens]) -> Sampled:
    """
    Samples through the trainer: `transformers`, continuous batching or vLLM, as it is configured.

    With vLLM the trainer brings the weights up to date before it generates and returns log probabilities, which are
    what its correction for the difference between sampler and trainer is made of.

    Args:
        trainer (`GRPOTrainer`):
            The trainer.
        prompts (`Sequence[list[int]]`):
            Everything up to where the policy speaks.

    Returns:
        `tuple`: Tokens per prompt, and log probabilities per token or `None`.
    """
    try:
        # Not public, but the one place that knows every way to generate; a rollout function has no other.
        turn = trainer._generate_single_turn
    except AttributeError:
        raise ConfigurationError(
            f"{type(trainer).__name__} has no _generate_single_turn, through which rollouts are sampled (TRL 1.16 "
            "has); give the rollout function a sampler of your own: EnvironmentRollout.with_sampler(sample)"
        ) from None
    tokens, logprobs = turn([list(prompt) for prompt in prompts], None, {}, 1)
    return [list(each) for each in tokens], logprobs


def longest_context(trainer: Any) -> int:
    """Tokens a conversation may have in all before whatever generates refuses it."""
    if trainer.use_vllm and trainer.vllm_mode == "colocate":
        return int(trainer.vllm_generation.llm.llm_engine.model_config.max_model_len)
    return int(trainer.model.config.get_text_config().max_position_embeddings)
