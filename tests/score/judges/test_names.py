"""Which names mean one model, and what a reason must not repeat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.score.judges import same_model
from whileai_hf.score.judges.masking import MASK, mask


@pytest.mark.parametrize(
    ("judge", "policy"),
    [
        ("vllm:Qwen/Qwen3-4B@http://127.0.0.1:8000/v1", "Qwen/Qwen3-4B"),
        ("hf:Qwen/Qwen3-4B:together", "Qwen/Qwen3-4B"),
        ("openai:gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"),
        ("http://127.0.0.1:8000/v1#Qwen/Qwen3-4B", "transformers:Qwen/Qwen3-4B"),
        ("ollama:qwen3:4b", "Qwen/Qwen3-4B"),
        ("Qwen/Qwen3-4B-AWQ", "qwen3-4b"),
        ("ollama:phi4:latest", "phi4"),
    ],
)
def test_one_model(judge, policy):
    assert same_model(judge, policy) and same_model(policy, judge)


@pytest.mark.parametrize(
    ("judge", "policy"),
    [
        ("openai:gpt-4.1", "openai:gpt-4.1-mini"),
        ("hf:Qwen/Qwen3-4B", "Qwen/Qwen3-8B"),
        ("hf:Qwen/Qwen3-4B", "Qwen/Qwen3-4B-Base"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"),
        (None, "Qwen/Qwen3-4B"),
        ("", ""),
    ],
)
def test_two_models(judge, policy):
    assert not same_model(judge, policy)


SECRETS = ["The order A1 was lost on Tuesday 7 May and must be reshipped.", "CX-551", "42"]


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        ("It did not say that THE ORDER A1 WAS LOST on Tuesday.", "LOST"),
        ("The parcel is CX-551.", "CX-551"),
        ("The answer is 42, not 17.", "42"),
        ("Lost on  Tuesday\n7 May and must be reshipped!", "reshipped"),
    ],
)
def test_quoted_secrets_are_masked(said, hidden):
    masked = mask(said, SECRETS, "Where is A1?")
    assert hidden not in masked and MASK in masked


@pytest.mark.parametrize(
    "said", ["It looked the order up and told the user.", "The answer is 420.", "Order A1 is on its way."]
)
def test_other_words_stay(said):
    assert mask(said, SECRETS, "Where is A1?") == said


@given(st.text(), st.lists(st.text(), max_size=3), st.text())
def test_any_text(text, secrets, shown):
    masked = mask(text, secrets, shown)
    assert masked == text or MASK in masked


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "eps"]), min_size=5, max_size=12))
def test_a_whole_sentence_never_survives(words):
    secret = " ".join(words)
    assert secret not in mask(f"As we know, {secret}, so it failed.", [secret], "Hello")
