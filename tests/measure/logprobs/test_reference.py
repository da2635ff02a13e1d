"""Scoring under a reference: the very numbers of a forward pass, over the very tokens the policy wrote."""

import importlib.util
import json
import math
from pathlib import Path

import pytest
from aiohttp import web

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.logprobs import mean_kl, reference_logprobs


def _load_tiny_model():
    """The file beside the tests' root, which is no package on the path."""
    spec = importlib.util.spec_from_file_location("tiny_model", Path(__file__).parents[2] / "tiny_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TINY = _load_tiny_model()
CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": "ORD-1042"}}}
ROWS = [
    {
        "task_id": 1,
        "messages": [
            {"role": "system", "content": "You help with orders."},
            {"role": "user", "content": "Where is order ORD-1042?"},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"status": "ok"}'},
            {"role": "assistant", "content": "Order ORD-1042 is on its way."},
        ],
        "finish_reason": "stop",
    },
    {"task_id": 2, "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello there."}]},
    {"task_id": 3, "messages": [{"role": "user", "content": "Hi"}]},
    {"task_id": 4, "messages": None, "prompt": "Please refund it.", "final_text": "I could not find that order."},
]


@pytest.fixture(scope="module")
def tiny():
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices this small are slower on several
    tokenizer = TINY.make_tokenizer()
    yield TINY.make_model(tokenizer), tokenizer
    torch.set_num_threads(before)


def by_hand(model, tokenizer, before, message):
    """One turn, one pass, no batch."""
    import torch

    shown = tokenizer.apply_chat_template(before, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template([*before, message], tokenize=False)
    prompt = tokenizer(shown, add_special_tokens=False)["input_ids"]
    said = tokenizer(whole[len(shown) :].rstrip("\n"), add_special_tokens=False)["input_ids"]
    model.eval()
    with torch.no_grad():
        scores = model(torch.tensor([prompt + said])).logits[0].log_softmax(-1)
    return [scores[len(prompt) + k - 1, token].item() for k, token in enumerate(said)]


def test_equals_a_forward_pass(tiny):
    model, tokenizer = tiny
    model.train()
    scored = reference_logprobs(ROWS, model, tokenizer=tokenizer, batch_size=3)
    assert model.training  # lent, and given back as it was
    messages = ROWS[0]["messages"]
    expected = [
        by_hand(model, tokenizer, messages[:2], messages[2]) + by_hand(model, tokenizer, messages[:4], messages[4]),
        by_hand(model, tokenizer, *_split(ROWS[1]["messages"])),
        None,
        by_hand(
            model,
            tokenizer,
            [{"role": "user", "content": ROWS[3]["prompt"]}],
            {"role": "assistant", "content": ROWS[3]["final_text"]},
        ),
    ]
    for row, values in zip(scored, expected, strict=True):
        if values is None:
            assert row["ref_logprob"] is None and "no token of the policy" in row["ref_error"]
            continue
        assert row["ref_token_logprobs"] == pytest.approx(values, abs=1e-4)
        assert row["ref_logprob"] == pytest.approx(math.fsum(values), abs=1e-3)
        assert row["ref_n_tokens"] == len(values) and row["ref_error"] is None
        assert row["ref_model"] == "transformers:Qwen3ForCausalLM"


def _split(messages):
    return messages[:-1], messages[-1]


def test_the_same_model_is_its_own_reference(tiny):
    model, tokenizer = tiny
    scored = reference_logprobs(ROWS, model, tokenizer=tokenizer)
    own = scored.rename_columns(
        {"ref_logprob": "logprob", "ref_n_tokens": "n_tokens", "ref_token_logprobs": "token_logprobs"}
    ).remove_columns(["ref_model", "ref_error"])
    again = mean_kl(reference_logprobs(own, model, tokenizer=tokenizer, batch_size=1))
    assert again.n_used == 3 and again.k1 == pytest.approx(0, abs=1e-5) and again.k3 == pytest.approx(0, abs=1e-8)
    other = mean_kl(reference_logprobs(own, TINY.make_model(tokenizer, seed=1), tokenizer=tokenizer))
    assert other.k3 > 0.001


def test_a_message_cut_at_the_limit_has_no_end(tiny):
    model, tokenizer = tiny
    whole = reference_logprobs(ROWS[1:2], model, tokenizer=tokenizer)
    cut = reference_logprobs([{**ROWS[1], "finish_reason": "length"}], model, tokenizer=tokenizer)
    assert cut["ref_n_tokens"][0] == whole["ref_n_tokens"][0] - 1
    assert cut["ref_token_logprobs"][0] == pytest.approx(whole["ref_token_logprobs"][0][:-1], abs=1e-5)


def test_a_folder(tmp_path, tiny):
    folder = TINY.save_tiny_model(tmp_path / "tiny")
    model, tokenizer = tiny
    expected = reference_logprobs(ROWS, model, tokenizer=tokenizer)["ref_logprob"]
    for source in (str(folder), f"transformers:{folder}"):
        assert reference_logprobs(ROWS, source)["ref_logprob"] == pytest.approx(expected, abs=1e-3)


def test_a_conversation_beyond_the_context_is_said(tiny):
    model, tokenizer = tiny
    long = [{"role": "user", "content": "word " * 5000}, {"role": "assistant", "content": "No."}]
    scored = reference_logprobs([{"messages": long}, ROWS[1]], model, tokenizer=tokenizer)
    assert "tokens long" in scored["ref_error"][0] and scored["ref_logprob"][1] is not None


def test_bad_input(tiny):
    model, tokenizer = tiny
    with pytest.raises(ConfigurationError, match="tokenizer="):
        reference_logprobs(ROWS, model)
    with pytest.raises(ConfigurationError, match="cannot score given text"):
        reference_logprobs(ROWS, "openai:gpt-x")
    with pytest.raises(ConfigurationError, match="batch_size"):
        reference_logprobs(ROWS, model, tokenizer=tokenizer, batch_size=0)
    with pytest.raises(ConfigurationError, match="model is None"):
        reference_logprobs(ROWS, None)
    with pytest.raises(MissingColumnError, match="nothing a reference could score"):
        reference_logprobs([{"reward": 1}], model, tokenizer=tokenizer)
    with pytest.raises(DataError):
        reference_logprobs([], model, tokenizer=tokenizer)


class FakeVLLM:
    """The two routes of a vLLM server that scoring needs, over characters as tokens."""

    def __init__(self, scores=True):
        self.scores, self.failures, self.keys = scores, 1, set()

    @staticmethod
    def render(body):
        text = "".join(f"<{m['role']}>{m.get('content') or ''}\x03\n" for m in body["messages"])
        return text + ("<assistant>" if body["add_generation_prompt"] else "")

    async def tokenize(self, request):
        body = await request.json()
        self.keys.add(request.headers["Authorization"])
        return web.json_response({"tokens": [ord(c) for c in self.render(body)]})

    async def complete(self, request):
        body = await request.json()
        if self.failures:
            self.failures -= 1
            return web.json_response({"error": "busy"}, status=503)
        entries = [None, *({str(t): {"logprob": -t / 100, "decoded_token": chr(t)}} for t in body["prompt"][1:])]
        choice = {"prompt_logprobs": entries} if self.scores else {}
        return web.Response(text=json.dumps({"choices": [choice]}), content_type="application/json")


@pytest.fixture
def vllm():
    import asyncio
    import threading

    running = []

    def start(fake):
        loop, ready, address = asyncio.new_event_loop(), threading.Event(), []

        async def serve():
            app = web.Application()
            app.router.add_post("/tokenize", fake.tokenize)
            app.router.add_post("/v1/completions", fake.complete)
            runner = web.AppRunner(app)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            address.append(site._server.sockets[0].getsockname()[1])
            ready.set()

        thread = threading.Thread(target=lambda: (loop.run_until_complete(serve()), loop.run_forever()), daemon=True)
        thread.start()
        assert ready.wait(10)
        running.append(loop)
        return f"vllm:tiny@http://127.0.0.1:{address[0]}/v1"

    yield start
    for loop in running:
        loop.call_soon_threadsafe(loop.stop)


def test_a_server(vllm):
    fake = FakeVLLM()
    rows = [ROWS[1], {**ROWS[1], "finish_reason": "length"}, ROWS[2]]
    scored = reference_logprobs(rows, vllm(fake), api_key="secret")
    said = "Hello there."
    expected = [-ord(c) / 100 for c in said + "\x03"]
    assert scored["ref_token_logprobs"][0] == pytest.approx(expected)
    assert scored["ref_token_logprobs"][1] == pytest.approx(expected[:-1])
    assert scored["ref_logprob"][2] is None
    assert scored["ref_model"][0] == "vllm:tiny" and fake.keys == {"Bearer secret"} and fake.failures == 0


def test_a_server_that_scores_nothing_is_named(vllm):
    with pytest.raises(ConfigurationError, match="prompt_logprobs"):
        reference_logprobs(ROWS[1:2], vllm(FakeVLLM(scores=False)))
