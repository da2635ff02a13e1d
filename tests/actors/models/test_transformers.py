"""A model in this process: whole conversations, exact log probabilities, seeds, batches, and what is refused."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import logging
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import whileai_hf as wai
from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import ModelAgent, as_model
from whileai_hf.actors.models.generation import BatchGenerator, Generated
from whileai_hf.actors.models.model import Model
from whileai_hf.actors.models.templating import template_messages
from whileai_hf.actors.models.transformers import TransformersModel
from whileai_hf.errors import ConfigurationError, ModelError


torch = pytest.importorskip("torch")
pytest.importorskip("trl")
import transformers  # noqa: E402


DESK = "Look an order up before a refund."
ASK = "Please refund my order ORD-1042, it is late."
SCRIPT = [
    {"tool_calls": [{"name": "get_order", "arguments": {"order_id": "ORD-1042"}}]},
    {
        "content": "I see it.",
        "tool_calls": [{"name": "refund_order", "arguments": {"order_id": "ORD-1042", "reason": "late"}}],
    },
    "Order ORD-1042 is refunded.",
]
QUESTIONS = [[{"role": "user", "content": "Where is it? " * count}] for count in (1, 9, 4, 2, 7, 3)]


def _load_tiny_model():
    # The tests are no package, so a helper beside them is loaded by its path.
    spec = importlib.util.spec_from_file_location("tiny_model", Path(__file__).parents[2] / "tiny_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Matrices this small are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tiny():
    return _load_tiny_model()


@pytest.fixture
def tokenizer(tiny, tokenizers={}):  # noqa: B006
    if not tokenizers:
        tokenizers["made"] = tiny.make_tokenizer()
    return tokenizers["made"]


@pytest.fixture
def untrained(tiny, tokenizer):
    """A model that writes noise."""
    return tiny.make_model(tokenizer)


@pytest.fixture
def make(untrained, tokenizer):
    """`make(**knobs)`: the untrained model as a backend."""
    made = []

    def model(**knobs):
        made.append(TransformersModel("tiny", model=untrained, tokenizer=tokenizer, **{"max_tokens": 16, **knobs}))
        return made[-1]

    yield model
    for each in made:
        each._closing()


@pytest.fixture(scope="module")
def folder(tiny, tmp_path_factory):
    """A saved tiny model."""
    return tiny.save_tiny_model(tmp_path_factory.mktemp("run") / "checkpoint-5")


def ask_all(model, conversations=QUESTIONS, seeds=range(100), **options):
    async def together():
        calls = (model.complete(c, seed=s, **options) for c, s in zip(conversations, seeds, strict=False))
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(together())


def ask(model, conversation=QUESTIONS[0], **options):
    return asyncio.run(model.complete(conversation, **options))


def contents(completions):
    return [completion.message["content"] for completion in completions]


# ---- a whole conversation


def simulate(agent, tools, **knobs):
    options = {"situations": 1, "fault_rate": 0.0, "seed": 0, **knobs}
    return wai.simulate(agent, tools=tools, system_prompt=DESK, seeds=[ASK], **options)


def overfit(model, tokenizer, messages, tools):
    """Trains on the assistant's tokens of one conversation until each of them is the most likely one."""

    def render(part, **options):
        return tokenizer.apply_chat_template(part, tools=tools, tokenize=True, return_dict=True, **options)[
            "input_ids"
        ]

    tokens = render(messages)
    labels = [-100] * len(tokens)
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            start, end = len(render(messages[:place], add_generation_prompt=True)), len(render(messages[: place + 1]))
            labels[start:end] = tokens[start:end]
    inputs, wanted = torch.tensor([tokens]), torch.tensor([labels])
    learned = wanted[:, 1:] != -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(150):
        output = model(input_ids=inputs, labels=wanted)
        if bool((output.logits[:, :-1].argmax(-1) == wanted[:, 1:])[learned].all()):
            return
        output.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    pytest.fail("the tiny model did not learn one conversation")


@pytest.fixture
def brief(tools):
    """The tools of the desk in few words: every token costs training time."""
    for tool in tools:
        tool["function"]["description"] = "Do it."
        for schema in tool["function"]["parameters"]["properties"].values():
            schema.pop("description", None)
    return tools


def test_a_trained_model_plays_the_whole_conversation(tiny, tokenizer, brief):
    taught = simulate(ScriptedModel(SCRIPT), brief)[0]
    assert [m["role"] for m in taught["messages"]] == ["system", "user", *["assistant", "tool"] * 2, "assistant"]
    model = tiny.make_model(tokenizer)
    overfit(model, tokenizer, template_messages(taught["messages"]), brief)
    backend = TransformersModel("tiny", model=model, tokenizer=tokenizer, temperature=0, max_tokens=80)
    row = simulate(ModelAgent(backend, logprobs=True), brief)[0]
    calls = [step for step in row["steps"] if "tool" in step]
    assert [(step["tool"], step["arguments"], step["result"]["status"]) for step in calls] == [
        ("get_order", {"order_id": "ORD-1042"}, "ok"),
        ("refund_order", {"order_id": "ORD-1042", "reason": "late"}, "updated"),
    ]
    assert row["messages"] == taught["messages"]
    assert row["final_text"] == "Order ORD-1042 is refunded."
    assert row["finish_reason"] == "stop"
    # Cut short, the same model says so.
    cut = TransformersModel("tiny", model=model, tokenizer=tokenizer, temperature=0, max_tokens=6)
    assert ask(cut, template_messages(taught["messages"])[:-1], tools=brief).finish_reason == "length"


# ---- log probabilities


@pytest.fixture
def seen(monkeypatch):
    """Every prompt and what it was continued by."""
    rows = []
    generate = BatchGenerator.generate

    def spy(self, prompts):
        made = generate(self, prompts)
        rows.extend(zip(prompts, made, strict=True))
        return made

    monkeypatch.setattr(BatchGenerator, "generate", spy)
    return rows


@pytest.mark.parametrize("knobs", [{}, {"temperature": 0.5, "top_p": 0.8}, {"temperature": 0}])
def test_log_probabilities_are_those_of_a_forward_pass(make, untrained, seen, knobs):
    # What a checkpoint brings along must change neither the samples nor what is said about them.
    untrained.generation_config.repetition_penalty = 1.9
    untrained.generation_config.temperature = 0.1
    completions = ask_all(make(**knobs), logprobs=True)
    assert len(seen) == len(QUESTIONS)
    by_input = {len(prompt.tokens): (prompt, row) for prompt, row in seen}
    untrained.eval()
    for completion in completions:
        prompt, row = by_input[completion.usage["input_tokens"]]
        with torch.no_grad():
            logits = untrained(input_ids=torch.tensor([prompt.tokens + row.tokens])).logits[0]
        forced = logits[len(prompt.tokens) - 1 : -1].log_softmax(-1)
        expected = forced.gather(-1, torch.tensor(row.tokens)[:, None]).squeeze(-1).tolist()
        assert completion.token_logprobs == pytest.approx(expected, abs=1e-4)
        assert completion.logprob == pytest.approx(sum(expected), abs=1e-3)
        assert completion.n_tokens == completion.usage["output_tokens"] == len(row.tokens)
    plain = ask(make())
    assert (plain.logprob, plain.n_tokens, plain.token_logprobs) == (None, None, None)


def test_the_token_that_ends_a_message_counts_and_is_not_said(make, untrained, tokenizer, seen):
    ends = [tokenizer.eos_token_id, *range(100, 160)]
    untrained.generation_config.eos_token_id = ends
    completions = ask_all(make(max_tokens=60), logprobs=True)
    assert [completion.finish_reason for completion in completions] == ["stop"] * len(QUESTIONS)
    rows = {len(prompt.tokens): row for prompt, row in seen}
    for completion in completions:
        row = rows[completion.usage["input_tokens"]]
        assert [token for token in row.tokens if token in ends] == row.tokens[-1:]
        assert completion.n_tokens == completion.usage["output_tokens"] == len(row.tokens)
        assert completion.message["content"] == tokenizer.decode(row.tokens[:-1], skip_special_tokens=True)


# ---- seeds and batches


@pytest.mark.parametrize("knobs", [{}, {"temperature": 0.7, "top_p": 0.9}])
def test_an_answer_does_not_depend_on_its_batch(make, knobs):
    alone = contents(ask_all(make(batch_size=1, **knobs)))
    assert len(set(alone)) == len(alone)
    assert contents(ask_all(make(batch_size=8, **knobs))) == alone
    order = [3, 5, 0, 2, 4, 1]
    shuffled = ask_all(make(batch_size=3, **knobs), [QUESTIONS[i] for i in order], order)
    assert contents(shuffled) == [alone[i] for i in order]


def test_seeds_decide(make):
    model = make()
    one, again, other = contents(ask_all(model, QUESTIONS[:1] * 3, [7, 7, 8]))
    assert one == again != other
    assert len(set(contents(ask_all(model, QUESTIONS[:1] * 3, [None] * 3)))) > 1
    assert len(set(contents(ask_all(make(seed=3), QUESTIONS[:1] * 3, [None] * 3)))) == 1
    assert len(contents(ask_all(model, QUESTIONS[:2], [-1, 2**80]))) == 2  # any integer is a seed


def test_the_sampler_draws_from_the_distribution_it_says():
    from whileai_hf.actors.models.generation import Prompt, RowSampler

    count, temperature = 4000, 2.0
    logits = torch.tensor([2.0, 0.0, 1.0, -1.0, -30.0])
    prompts = [Prompt([0], 1, seed=seed) for seed in range(count)]
    for top_p, inside in ((1.0, [0, 1, 2, 3, 4]), (0.6, [0, 2])):
        sampler = RowSampler(prompts, temperature, top_p, "cpu")
        left = sampler(None, logits.repeat(count, 1))
        assert bool(((left == 0).sum(-1) == 1).all()) and bool(((left == float("-inf")).sum(-1) == 4).all())
        drawn = torch.bincount(left.argmax(-1), minlength=5) / count
        expected = torch.zeros(5)
        expected[inside] = (logits / temperature)[inside].softmax(-1)
        error = (expected * (1 - expected) / count).sqrt()
        assert bool(((drawn - expected).abs() <= 4.5 * error + 1e-9).all())


def test_requests_of_one_moment_are_one_batch_and_the_loop_goes_on(make, untrained, monkeypatch):
    sizes = []
    generate = untrained.generate

    def counted(**options):
        sizes.append(len(options["input_ids"]))
        return generate(**options)

    monkeypatch.setattr(untrained, "generate", counted)
    model = make(max_tokens=60)
    ticks = 0

    async def run():
        nonlocal ticks
        calls = asyncio.gather(*(model.complete(QUESTIONS[i % 6], seed=i) for i in range(12)))
        while not calls.done():
            await asyncio.sleep(0.002)
            ticks += 1
        return await calls

    assert len(asyncio.run(run())) == 12
    assert sizes == [8, 4]
    assert ticks > 5


def test_a_batch_too_large_for_memory_is_halved(make, untrained, monkeypatch):
    generate, sizes = untrained.generate, []

    def small(**options):
        sizes.append(len(options["input_ids"]))
        if sizes[-1] > 2:
            raise torch.OutOfMemoryError("no room")
        return generate(**options)

    expected = contents(ask_all(make()))
    monkeypatch.setattr(untrained, "generate", small)
    assert contents(ask_all(make())) == expected
    assert sizes == [6, 3, 1, 2, 3, 1, 2]


def test_a_failed_batch_is_an_error_of_its_calls(make, untrained, monkeypatch):
    model = make()
    with monkeypatch.context() as patch:
        patch.setattr(untrained, "generate", lambda **_: 1 / 0)
        with pytest.raises(ModelError, match="transformers:tiny failed to generate: ZeroDivisionError") as failure:
            ask(model)
        assert isinstance(failure.value.__cause__, ZeroDivisionError)
    assert ask(model).message["role"] == "assistant"


def test_nobody_waits_for_a_cancelled_answer(make, untrained, monkeypatch):
    steps, begun = [], threading.Event()
    forward = untrained.forward

    def counted(*args, **options):
        steps.append(1)
        begun.set()
        return forward(*args, **options)

    monkeypatch.setattr(untrained, "forward", counted)
    model = make(max_tokens=1500, temperature=0)

    async def run():
        task = asyncio.create_task(model.complete(QUESTIONS[0]))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    model._closing()  # waits for the thread
    assert 0 < len(steps) < 1000


def test_what_is_lent_comes_back_as_it_was(make, untrained, tokenizer):
    untrained.train()
    untrained.model.layers[0].eval()
    modes = [module.training for module in untrained.modules()]
    state = (tokenizer.padding_side, tokenizer.pad_token, tokenizer.chat_template, tokenizer.truncation_side)
    weights = {name: value.clone() for name, value in untrained.state_dict().items()}
    config = untrained.generation_config.to_dict()
    ask_all(make())
    assert [module.training for module in untrained.modules()] == modes
    now = (tokenizer.padding_side, tokenizer.pad_token, tokenizer.chat_template, tokenizer.truncation_side)
    assert now == state
    assert untrained.generation_config.to_dict() == config
    assert all(torch.equal(weights[name], value) for name, value in untrained.state_dict().items())
    untrained(input_ids=torch.tensor([[1, 2]]), labels=torch.tensor([[1, 2]])).loss.backward()  # still trains


def test_the_thread_goes_with_the_model(untrained, tokenizer):
    model = TransformersModel("tiny", model=untrained, tokenizer=tokenizer, max_tokens=2)
    before = set(threading.enumerate())
    ask(model)
    (own,) = [thread for thread in set(threading.enumerate()) - before if thread.name != "whileai-loop"]
    del model
    gc.collect()
    own.join(10)
    assert not own.is_alive()


# ---- reading what was written


@pytest.fixture
def says(make, tokenizer, monkeypatch):
    """`says(text, ended=True)`: a model that writes exactly this."""

    def model(text, *, ended=True, **knobs):
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id] * ended
        monkeypatch.setattr(
            BatchGenerator,
            "generate",
            lambda self, prompts: [Generated(tokens, [0.0] * len(tokens), ended)] * len(prompts),
        )
        return make(**knobs)

    return model


CALL = '<tool_call>\n{"name": "get_order", "arguments": {"order_id": "A1"}}\n</tool_call>'


@pytest.mark.parametrize("described", [False, True])
def test_text_becomes_a_message(says, tokenizer, tools, described, monkeypatch):
    from trl import chat_template_utils

    if described:
        monkeypatch.setattr(tokenizer, "response_template", chat_template_utils.qwen3_template, raising=False)
    done = ask(says(f"<think>\nA1?\n</think>\n\nOne moment.\n{CALL}\n{CALL}"), tools=tools)
    call = {"type": "function", "function": {"name": "get_order", "arguments": {"order_id": "A1"}}}
    assert done.message == {
        "role": "assistant",
        "content": "One moment.",
        "reasoning_content": "A1?",
        "tool_calls": [{**call, "id": "call_0"}, {**call, "id": "call_1"}],
    }
    assert done.finish_reason == "tool_calls"
    assert ask(says("It is due."), tools=tools).message == {"role": "assistant", "content": "It is due."}
    # Broken or cut calls are no reason to lose the message.
    broken = ask(says('<tool_call>\n{"name": "get_order", "arguments": {A1}}\n</tool_call>'), tools=tools)
    assert broken.message["tool_calls"][0]["function"] == {"name": "get_order", "arguments": "{A1}}"}
    cut = ask(says('Wait.\n<tool_call>\n{"name": "get_order", "argum', ended=False), tools=tools)
    assert cut.finish_reason == "length" and cut.message["content"] == "Wait."
    assert ask(says(CALL)).message == {"role": "assistant", "content": CALL}  # no tools, so no call
    assert ask(says("", ended=False)).message == {"role": "assistant", "content": ""}


def test_ids_go_on_where_the_conversation_is(says, tools):
    earlier = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "get_order", "arguments": {}}}],
    }
    done = ask(says(CALL), [*QUESTIONS[0], earlier, {"role": "tool", "content": "ok"}], tools=tools)
    assert done.message["tool_calls"][0]["id"] == "call_1"


def test_special_tokens_stay_out_of_what_is_said(says):
    assert ask(says("A<|endoftext|>B")).message["content"] == "AB"


def test_stop_texts_end_a_message(make):
    whole = ask_all(make(max_tokens=40), logprobs=True)
    text = whole[0].message["content"]
    stop = text[len(text) // 2 : len(text) // 2 + 3]
    # The other one is what the prompts end with: only what the model writes can stop it.
    cut = ask_all(make(max_tokens=40, stop=[stop, "assistant\n"]), logprobs=True)
    assert cut[0].message["content"] == text[: text.index(stop)]
    assert cut[0].finish_reason == "stop" and cut[0].n_tokens < whole[0].n_tokens
    assert cut[0].token_logprobs == pytest.approx(whole[0].token_logprobs[: cut[0].n_tokens], abs=1e-4)
    untouched = [i for i, completion in enumerate(whole) if stop not in completion.message["content"]]
    assert untouched and [contents(cut)[i] for i in untouched] == [contents(whole)[i] for i in untouched]


# ---- limits


def test_a_conversation_too_long_costs_itself_only(make):
    long = [{"role": "user", "content": "x" * 5000}]
    short, refused = ask_all(make(), [QUESTIONS[0], long])
    assert short.message["role"] == "assistant"
    assert isinstance(refused, ModelError) and "and transformers:tiny takes 2048" in str(refused)


def test_an_answer_ends_with_the_context(make, tiny):
    used = ask(make(max_tokens=1)).usage["input_tokens"]
    full = [{"role": "user", "content": QUESTIONS[0][0]["content"] + "\x7f" * (tiny.LONGEST - used - 3)}]
    # One batch: the row that has room goes on.
    long, short = ask_all(make(max_tokens=9, temperature=0), [full, QUESTIONS[0]], logprobs=True)
    assert long.usage == {"input_tokens": tiny.LONGEST - 3, "output_tokens": 3}
    assert (long.finish_reason, long.n_tokens) == ("length", 3)
    assert short.usage == {"input_tokens": used, "output_tokens": 9}


# ---- loading and names


def test_a_folder_loads_and_travels_without_its_weights(folder):
    model = as_model(f"transformers:{folder}", temperature=0, max_tokens=5, device="cpu")
    assert isinstance(model, TransformersModel) and isinstance(model, Model)
    assert model.name == "transformers:run0/checkpoint-5"
    assert model.sampling == {
        "model": "transformers:run0/checkpoint-5",
        "temperature": 0,
        "top_p": 1.0,
        "max_tokens": 5,
    }
    there = pickle.dumps(model)
    assert len(there) < 2000
    assert contents(ask_all(pickle.loads(there))) == contents(ask_all(model))


def test_a_lent_model_travels_with_its_weights(make):
    model = make(temperature=0)
    assert contents(ask_all(pickle.loads(pickle.dumps(model)))) == contents(ask_all(model))


def test_nothing_heavy_is_imported_early():
    heavy = "print('torch' in sys.modules, 'transformers' in sys.modules)"
    code = f"import sys, whileai_hf.actors.models.transformers; {heavy}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_missing_libraries_are_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigurationError, match=r"pip install 'whileai-hf\[transformers\]'"):
        TransformersModel("tiny")


@pytest.mark.parametrize("source", ["no/such-model", "/no/such/folder", "nowhere"])
def test_what_does_not_exist_is_one_sentence(source):
    with pytest.raises(ConfigurationError, match=f"^transformers:{source} does not load") as refused:
        TransformersModel(source)
    assert "\n" not in str(refused.value)


def test_other_kinds_of_model_are_refused(tmp_path, tokenizer, untrained):
    config = transformers.T5Config(vocab_size=32, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    translator = transformers.T5ForConditionalGeneration(config)
    translator.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ConfigurationError, match="does not load as a causal language model"):
        TransformersModel(str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"T5ForConditionalGeneration; .* needs a causal language model"):
        TransformersModel("t5", model=translator, tokenizer=tokenizer)
    with pytest.raises(ConfigurationError, match=r"tokenizer=processor.tokenizer"):
        TransformersModel("vision", model=untrained, tokenizer=object())


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"temprature": 1}, "'temperature'"),
        ({"temperature": -1}, "temperature is -1"),
        ({"top_p": 0}, "top_p is 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"timeout": 3}, "timeout is for endpoints"),
        ({"device": "cpu"}, "stays where it is"),
        ({"tokenizer": None}, "needs its tokenizer="),
    ],
)
def test_wrong_knobs(untrained, tokenizer, knobs, says):
    with pytest.raises(ConfigurationError, match=says):
        TransformersModel("tiny", **{"model": untrained, "tokenizer": tokenizer, **knobs})


def test_defaults_are_those_log_probabilities_hold_for(make):
    assert make(max_tokens=None).sampling == {
        "model": "transformers:tiny",
        "temperature": 1.0,
        "top_p": 1.0,
        "max_tokens": 512,
    }


def test_generation_is_quiet(make, caplog):
    with caplog.at_level(logging.WARNING):
        ask_all(make(temperature=0.3, top_p=0.5, stop=["zz"]))
    assert not caplog.records
