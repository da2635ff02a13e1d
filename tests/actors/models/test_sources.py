"""Spec strings, URLs, callables: which model is meant, and what is said about those that are none."""

import asyncio
import pickle

import pytest
from openai_server import Reply

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import Model, ModelAgent, as_model, local_model
from whileai_hf.actors.models.endpoint import FORMS, parse
from whileai_hf.errors import ConfigurationError, ModelError, ModelStopError


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "VLLM_API_KEY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("source", "model", "sent", "host"),
    [
        ("hf:Qwen/Qwen3-4B", "Qwen/Qwen3-4B", "Qwen/Qwen3-4B", "router.huggingface.co/v1"),
        ("hf:Qwen/Qwen3-4B:together", "Qwen/Qwen3-4B", "Qwen/Qwen3-4B:together", "router.huggingface.co/v1"),
        ("vllm:Qwen/Qwen3-4B@http://gpu.example:8000/v1", "Qwen/Qwen3-4B", "Qwen/Qwen3-4B", "gpu.example:8000/v1"),
        ("vllm:me@home@http://gpu.example:8000", "me@home", "me@home", "gpu.example:8000/v1"),
        ("openai:some-model", "some-model", "some-model", "api.openai.com/v1"),
        ("ollama:qwen3:4b", "qwen3:4b", "qwen3:4b", "127.0.0.1:11434/v1"),
        ("http://gpu.example:8000/v1#small", "small", "small", "gpu.example:8000/v1"),
        ("https://gpu.example/api/v1/chat/completions#small", "small", "small", "gpu.example/api/v1"),
    ],
)
def test_forms(source, model, sent, host):
    endpoint = parse(source)
    assert (endpoint.model, endpoint.sent_model) == (model, sent)
    assert endpoint.shown.split("://")[1] == host
    assert as_model(source).name == model


def test_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy.example/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    endpoint = parse("openai:m")
    assert (endpoint.url, endpoint.key, endpoint.needs_key) == ("http://proxy.example/v1", "sk-1", False)
    # A key goes to the server it is for.
    assert parse("vllm:m@http://gpu.example/v1").key is None
    for host, url in {
        "0.0.0.0:9999": "http://127.0.0.1:9999/v1",
        "gpu.example": "http://gpu.example:11434/v1",
        "https://gpu.example": "https://gpu.example/v1",
    }.items():
        monkeypatch.setenv("OLLAMA_HOST", host)
        assert parse("ollama:m").url == url
    monkeypatch.setenv("HF_TOKEN", "hf_1")
    assert parse("https://" + "abc.endpoints.huggingface.cloud/v1#m").key == "hf_1"
    assert parse("https://huggingface.co.example/v1#m").key is None


def test_an_unknown_form_lists_the_known_ones():
    with pytest.raises(ConfigurationError) as caught:
        as_model("gpt:large")
    assert all(form in str(caught.value) for form in FORMS)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Qwen/Qwen3-4B", "Did you mean hf:Qwen/Qwen3-4B"),
        ("", "no known form"),
        ("hf:", "names no model"),
        ("vllm:Qwen/Qwen3-4B", "has no address"),
        ("vllm:@http://gpu.example/v1", "names no model"),
        ("vllm:m@gpu:8000", "expected http://<host>"),
        ("vllm:m@http://gpu.example:eight/v1", "expected http://<host>"),
        ("openai:m@http://gpu.example/v1", "OPENAI_BASE_URL"),
        ("transformers:", "names no model"),
        (None, "pass a model"),
        (7, "pass a model"),
        (ScriptedModel, "pass a model"),
    ],
)
def test_what_is_no_model(source, words):
    with pytest.raises(ConfigurationError, match=words):
        as_model(source)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"temprature": 1}, "did you mean 'temperature'"),
        ({"max_token": 1}, "did you mean 'max_tokens'"),
        ({"qqq": 1}, "the knobs are temperature"),
        ({"temperature": 3}, "temperature is 3; pass a number from 0 to 2"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_p": 0}, "top_p is 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"timeout": 0}, "timeout is 0"),
        ({"thinking": "no"}, "thinking is 'no'"),
        ({"stop": [""]}, "stop is"),
    ],
)
def test_wrong_knobs(knobs, words):
    with pytest.raises(ConfigurationError, match=words):
        as_model("vllm:m@http://gpu.example/v1", **knobs)


def test_a_bare_url_takes_the_only_model(serve):
    server = serve("Hello.", models=["only/one"])
    model = as_model(server.url)
    assert model.name == "only/one"
    with pytest.raises(ConfigurationError, match=r"serves 2 models: a, b; name one as .*#a"):
        as_model(serve(models=["a", "b"]).url)
    with pytest.raises(ModelStopError, match="wants another key"):
        as_model(serve(key="sk-1").url)
    assert as_model(serve(models=["a"], key="sk-1").url, api_key="sk-1").name == "a"
    with pytest.raises(ModelStopError, match="does not answer"):
        as_model("http://127.0.0.1:9/v1")


def test_a_model_comes_back_as_it_is():
    model = as_model("vllm:m@http://gpu.example/v1")
    assert isinstance(model, Model)
    assert as_model(model) is model
    assert as_model(ModelAgent(model)) is model
    with pytest.raises(ConfigurationError, match="is made already"):
        as_model(model, temperature=1)


def _chat(messages, tools):
    return {"role": "assistant", "content": f"{len(messages)} and {len(tools)}"}


def _chat_keyword(messages, *, tools):
    return _chat(messages, tools)


async def _chat_async(messages, tools):
    await asyncio.sleep(0)
    return _chat(messages, tools)


@pytest.mark.parametrize("function", [_chat, _chat_keyword, _chat_async, ScriptedModel(lambda m, t: "1 and 1")])
def test_callables(function, complete):
    model = as_model(function, temperature=0.5)
    assert isinstance(model, Model)
    made = complete(model, tools=[{"type": "function"}])
    assert made.message == {"role": "assistant", "content": "1 and 1"}
    assert model.sampling == {"model": model.name, "temperature": 0.5}
    assert "0x" not in model.name


def test_callables_that_fail(complete):
    def broken(messages, tools):
        raise KeyError("choices")

    with pytest.raises(ModelError, match="raised KeyError: 'choices'"):
        complete(as_model(broken))
    with pytest.raises(ModelError, match="cannot be read"):
        complete(as_model(lambda messages, tools: "Hello."))
    with pytest.raises(ConfigurationError, match=r"takes \(\)"):
        as_model(lambda: None)


def test_callables_give_whole_completions_too(complete):
    body = {"choices": [{"message": {"content": "Hi."}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    assert complete(as_model(lambda messages, tools: body)).usage == {"input_tokens": 3, "output_tokens": 1}


def test_local_model(serve, tools, policy):
    server = serve([Reply("Hello.")])
    agent = local_model(server.url, "small", tools=tools, system=policy, thinking=False, temperature=0.2)
    assert agent.name == "small"
    assert agent.sampling == {"model": "small", "temperature": 0.2, "thinking": False}
    assert (agent.spec_tools, agent.system_prompt) == (tools, policy)
    with pytest.raises(ConfigurationError, match="name is ''"):
        local_model(server.url, "")
    with pytest.raises(ConfigurationError, match="did you mean 'temperature'"):
        local_model(server.url, "small", temperatur=1)
    assert pickle.loads(pickle.dumps(agent)).agent_id == agent.agent_id
