"""What goes over the wire, and what a server that takes less makes of it."""

import asyncio
import json
import pickle

import pytest
from openai_server import Reply, Server

from whileai_hf.actors.models.endpoint import parse, served
from whileai_hf.actors.models.remote import RemoteModel
from whileai_hf.actors.models.sampling import Sampling
from whileai_hf.errors import ModelError


SCHEMA = {"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]}


def test_the_knobs_of_a_call(serve, connect, complete, tools):
    server = serve('{"mood": "calm"}')
    model = connect(server, temperature=0.3, top_p=0.9, max_tokens=64, stop="END", thinking=False)
    complete(model, tools=tools, logprobs=True, schema=SCHEMA, seed=11)
    request = server.requests[-1]
    assert request == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.3,
        "top_p": 0.9,
        "max_tokens": 64,
        "stop": "END",
        "chat_template_kwargs": {"enable_thinking": False},
        "tools": tools,
        "logprobs": True,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
        "seed": 11,
    }
    assert model.sampling == {
        "model": "scripted",
        "temperature": 0.3,
        "top_p": 0.9,
        "max_tokens": 64,
        "stop": "END",
        "thinking": False,
    }


def test_what_is_left_out_is_left_to_the_server(serve, connect, complete):
    server = serve()
    complete(connect(server))
    assert set(server.requests[-1]) == {"model", "messages"}


def test_a_call_s_seed_goes_before_the_model_s(serve, connect, complete):
    server = serve()
    complete(connect(server, seed=5))
    complete(connect(server, seed=5), seed=0)
    assert [request["seed"] for request in server.requests] == [5, 0]


def test_the_token_of_the_hub_stays_at_home(serve, complete, monkeypatch):
    """A server that needs no key must not be sent one, least of all somebody else's."""
    for name in ("HF_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "hf_secret")
    server = serve()
    complete(RemoteModel(parse(server.spec)))
    assert "hf_secret" not in json.dumps(list(server.headers))


def test_keys(serve, complete, monkeypatch):
    server = serve(key="sk-mine")
    assert complete(RemoteModel(served(server.url, "m", "sk-mine"))).message["content"] == "Done."
    monkeypatch.setenv("VLLM_API_KEY", "sk-mine")
    model = RemoteModel(parse(server.spec))
    assert complete(model).message["content"] == "Done."
    assert "sk-mine" not in f"{model!r} {model.endpoint!r} {model.name} {model.sampling}"


def test_conversations_go_back_in_the_shape_of_the_api(serve, connect, complete):
    server = serve()
    history = [
        {"role": "system", "content": "Be brief.", "sha": "1"},
        {"role": "user", "content": "Where is A1?"},
        {
            "role": "assistant",
            "content": None,
            "usage": {"input_tokens": 3},
            "logprob": -1.0,
            "finish_reason": "tool_calls",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": {"id": "Ä1"}}},
                {"id": "c2", "function": {"name": "get_order", "arguments": '{"id": '}, "index": 1},
                {"id": "c3", "function": {"name": "ping", "arguments": ""}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": "{}"},
    ]
    complete(connect(server), history)
    sent = server.requests[-1]["messages"]
    assert sent[0] == {"role": "system", "content": "Be brief."}
    assert set(sent[2]) == {"role", "content", "tool_calls"}
    arguments = [json.loads(call["function"]["arguments"]) for call in sent[2]["tool_calls"]]
    assert arguments == [{"id": "Ä1"}, {"malformed": '{"id": '}, {}]
    assert [call["id"] for call in sent[2]["tool_calls"]] == ["c1", "c2", "c3"]
    assert all(set(call) == {"id", "type", "function"} for call in sent[2]["tool_calls"])
    assert sent[3] == {"role": "tool", "tool_call_id": "c1", "content": "{}"}
    assert history[2]["content"] is None


def _refusing(field, message):
    def behave(request, n):
        return Reply.error(400, message) if field in request else '{"mood": "calm"}'

    return behave


def test_a_server_without_schemas_is_asked_without_from_then_on(serve, connect, complete_all):
    server = serve(_refusing("response_format", "response_format of type json_schema is not available"))
    model = connect(server)
    for _ in range(2):
        ask = [[{"role": "user", "content": "How are you?"}]]
        assert complete_all(model, ask, schema=SCHEMA)[0].message["content"] == '{"mood": "calm"}'
    assert [("response_format" in request) for request in server.requests] == [True, False, False]


def test_a_schema_is_not_given_up_for_another_fault(serve, connect, complete):
    """When leaving the schema out does not help, it was not the schema."""
    server = serve(lambda request, n: Reply.error(400, "too long") if n < 2 else "Done.")
    model = connect(server)
    with pytest.raises(ModelError, match="too long"):
        complete(model, schema=SCHEMA)
    complete(model, schema=SCHEMA)
    assert "response_format" in server.requests[-1]


def test_a_server_that_calls_the_cap_differently(serve, connect, complete):
    server = serve(_refusing("max_tokens", "Unsupported parameter: use 'max_completion_tokens' instead."))
    model = connect(server, max_tokens=9)
    complete(model)
    complete(model)
    assert [request.get("max_completion_tokens") for request in server.requests] == [None, 9, 9]


def test_a_server_without_seeds(serve, connect, complete):
    server = serve(_refusing("seed", "Unknown field: seed"))
    complete(connect(server), seed=1)
    assert "seed" not in server.requests[-1]


@pytest.mark.parametrize(
    ("options", "message", "advice"),
    [
        ({"logprobs": True}, "logprobs are not supported with this model", "run without logprobs="),
        (
            {"tools": [{"type": "function"}]},
            '"auto" tool choice requires --enable-auto-tool-choice',
            "it takes no tools",
        ),
        ({"tools": [{"type": "function"}]}, "this model does not support tools", "it takes no tools"),
    ],
)
def test_what_cannot_be_left_out_is_said(options, message, advice, serve, connect, complete):
    with pytest.raises(ModelError, match=advice):
        complete(connect(serve(lambda request, n: Reply.error(400, message))), **options)


def test_thinking_that_the_server_does_not_know(serve, connect, complete):
    server = serve(lambda request, n: Reply.error(400, "Unrecognized request argument: chat_template_kwargs"))
    with pytest.raises(ModelError, match="leave thinking= out"):
        complete(connect(server, thinking=True))


def test_clients_travel_between_processes(serve, complete):
    server = serve()
    model = RemoteModel(parse(server.spec), Sampling(temperature=0.5))
    complete(model)
    twin = pickle.loads(pickle.dumps(model))
    assert complete(twin).message["content"] == "Done."
    assert twin.sampling == model.sampling


def test_connections_are_closed_on_request(serve):
    server = serve()
    model = RemoteModel(parse(server.spec))

    async def run():
        await model.complete([{"role": "user", "content": "a"}])
        await model.close()
        return await model.complete([{"role": "user", "content": "b"}])

    assert asyncio.run(run()).message["content"] == "Done."


def test_the_server_lists_its_models():
    with Server(models=["a", "b"]) as server:
        assert server.spec.startswith("vllm:a@http://127.0.0.1:")
