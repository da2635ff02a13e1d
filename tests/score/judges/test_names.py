"""Which names mean one model, and what a reason must not repeat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import cpu_time

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
        ("hf:meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Meta-Llama-3.3-70B-Instruct"),
        ("unsloth/Qwen3-4B-unsloth-bnb-4bit", "vllm:Qwen/Qwen3-4B@http://host.example/v1"),
        ("ollama:qwen3:4b-q4_K_M", "Qwen3-4B-Q4_K_M.gguf"),
        ("RedHatAI/Qwen3-4B-quantized.w4a16", "RedHatAI/Qwen3-4B-FP8-dynamic"),
        ("Qwen/Qwen3-4B@abc123def", "transformers:/models/Qwen3-4B/"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/"),
        ("bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("transformers:runs/a/final", "runs/a/final"),
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
        ("transformers:runs/a/final", "transformers:runs/b/final"),
        ("transformers:/out/policy/checkpoint-500", "transformers:/out/judge/checkpoint-500"),
        ("org1/my-agent", "org2/my-agent"),
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


@pytest.mark.parametrize(
    ("secret", "said", "masked"),
    [
        ("Maria Lopez", "It is Maria Lopez's order.", "It is [privileged] order."),
        ("the owner is Maria Lopez of Ghent", "It must name Maria Lopez.", "It must name [privileged]."),
        ("password: swordfish", "The password was swordfish.", "The password was [privileged]."),
        ("it costs 1204.50 dollars", "It costs 1,204.50 or $1204.5.", "It costs [privileged] or $[privileged]."),
        ("\u9e7f\u7279\u4e39\u6e2f\u53e3", "\u662f\u9e7f\u7279\u4e39\u6e2f\u53e3\u3002", "\u662f[privileged]\u3002"),
        ("vip_customer gold", "It is a vip_customer.", "It is a [privileged]."),
        ("Rotterdam", "owner:Rotterdam, not Paris", "owner:[privileged], not Paris"),
    ],
)
def test_secrets_in_other_forms(secret, said, masked):
    assert mask(said, [secret], "Where? In Paris?") == masked


def test_long_texts_take_no_time():
    with cpu_time() as spent:
        for secret in ("a: " * 20000, "A\n" * 20000, ":" * 60000, " " * 60000):
            mask("word " * 1000, [secret], "")
    assert spent() < 5
