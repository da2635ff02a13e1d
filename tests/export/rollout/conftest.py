import importlib.util
from pathlib import Path

import pytest


def _load_desk():
    # The scripted policy of the environment's tests, which are no package either.
    path = Path(__file__).parents[1] / "environment" / "conftest.py"
    spec = importlib.util.spec_from_file_location("scripted_desk", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


desk = _load_desk()


@pytest.fixture
def token_policy(tokenizer):
    """Makes the policy as a sampler of tokens."""
    return lambda decide=desk.decide: desk.TokenPolicy(tokenizer, decide)


@pytest.fixture
def write():
    """An assistant message with calls."""
    return desk._calls


class StandIn:
    """What a rollout function reads of a trainer, without a model."""

    class _Of:
        def __init__(self, **values):
            self.__dict__.update(values)

    def __init__(self, tokenizer, sample, room=1800, context=4000, processes=1, process=0):
        config = self._Of(max_position_embeddings=context)
        config.get_text_config = lambda: config
        self.processing_class = tokenizer
        self.chat_template_kwargs = {}
        self.max_completion_length = room
        self.eos_token_ids = [tokenizer.eos_token_id]
        self.use_vllm, self.vllm_mode, self.tools = False, "server", []
        self.model = self._Of(config=config)
        self.accelerator = self._Of(num_processes=processes, process_index=process)
        self.sample = sample

    def _generate_single_turn(self, prompts, images, fields, number):
        assert (images, fields, number) == (None, {}, 1)
        return self.sample(prompts)


@pytest.fixture
def stand_in(tokenizer):
    """Makes a trainer without a model."""
    return lambda sample, **options: StandIn(tokenizer, sample, **options)
