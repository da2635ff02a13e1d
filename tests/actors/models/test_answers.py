"""What a completion says, read from the many ways servers say it."""

import pytest
from openai_server import Reply, call

from whileai_hf.actors.models.reading import read_completion
from whileai_hf.errors import ModelError


def test_text_usage_and_finish(serve, connect, complete):
    made = complete(connect(serve([Reply("It shipped.", usage=(12, 3))])))
    assert made.message == {"role": "assistant", "content": "It shipped."}
    assert made.usage == {"input_tokens": 12, "output_tokens": 3}
    assert made.finish_reason == "stop"
    assert (made.logprob, made.n_tokens, made.token_logprobs) == (None, None, None)


def test_a_server_that_counts_nothing(serve, connect, complete):
    assert complete(connect(serve([Reply("Hi.", usage=())]))).usage == {}


@pytest.mark.parametrize(
    "reply",
    [
        Reply("Hello.", reasoning="They greet."),
        Reply("Hello.", reasoning="They greet.", reasoning_key="reasoning"),
        Reply("<think>They greet.</think>\n\nHello."),
        Reply("They greet.</think>Hello."),
    ],
)
def test_reasoning_is_kept_apart(reply, serve, connect, complete):
    made = complete(connect(serve([reply])))
    assert made.message == {"role": "assistant", "content": "Hello.", "reasoning_content": "They greet."}


def test_reasoning_that_was_cut_is_no_reply(serve, connect, complete):
    made = complete(connect(serve([Reply("<think>They gr", finish_reason="length")])))
    assert made.message == {"role": "assistant", "content": "", "reasoning_content": "They gr"}
    assert made.finish_reason == "length"


def test_calls_keep_their_arguments_as_written(serve, connect, complete):
    replies = [
        Reply(calls=[call("a", '{"x": '), call("b", {"y": 1}, "same"), call("c", "{}", "same"), call("d", "", None)])
    ]
    made = complete(connect(serve(replies)))
    calls = made.message["tool_calls"]
    assert [one["function"]["arguments"] for one in calls] == ['{"x": ', '{"y": 1}', "{}", ""]
    assert [one.get("id") for one in calls] == ["call_0_0", "same", "same", None]
    assert made.message["content"] == ""
    assert made.finish_reason == "tool_calls"


def test_logprobs_are_summed(serve, connect, complete):
    made = complete(connect(serve([Reply("Hi.", logprobs=[-0.5, -0.25, 0.0])])), logprobs=True)
    assert (made.logprob, made.n_tokens, made.token_logprobs) == (-0.75, 3, [-0.5, -0.25, 0.0])


def test_logprobs_that_were_not_returned():
    choice = {"message": {"content": "Hi."}, "finish_reason": "stop", "logprobs": None}
    made = read_completion({"choices": [choice]}, "the model")
    assert (made.logprob, made.n_tokens) == (None, None)


def test_a_sum_with_holes_is_no_sum():
    holes = {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": None}]}
    made = read_completion({"choices": [{"message": {"content": "Hi."}, "logprobs": holes}]}, "the model")
    assert (made.logprob, made.token_logprobs) == (None, None)


def test_nan_in_an_answer(serve, connect, complete):
    body = '{"choices": [{"message": {"content": "Hi."}, "logprobs": {"content": [{"logprob": NaN}]}}]}'
    made = complete(connect(serve([Reply(body=body)])), logprobs=True)
    assert made.message["content"] == "Hi." and made.logprob is None


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None}, ""),
        ({}, ""),
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": [{"type": "text", "text": "In "}, {"type": "text", "text": "blocks."}]}, "In blocks."),
    ],
)
def test_where_the_text_is(message, text):
    made = read_completion({"choices": [{"message": {"role": "assistant", **message}}]}, "the model")
    assert made.message["content"] == text


@pytest.mark.parametrize("reported", ["length", "max_tokens"])
def test_a_cut_answer(reported):
    made = read_completion({"choices": [{"message": {"content": "Once"}, "finish_reason": reported}]}, "the model")
    assert made.finish_reason == "length"


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "Hello.",
        {"role": "user", "content": "Hello."},
        {"choices": [None]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]},
    ],
)
def test_an_answer_that_is_none(answer):
    with pytest.raises(ModelError, match="the model gave an answer that cannot be read"):
        read_completion(answer, "the model")


def test_a_bare_message_brings_its_numbers():
    message = {
        "role": "assistant",
        "content": "Hi.",
        "usage": {"input_tokens": 4, "output_tokens": 2},
        "token_logprobs": [-1.0, -2.0],
        "finish_reason": "stop",
    }
    made = read_completion(message, "the model")
    assert made.message == {"role": "assistant", "content": "Hi."}
    assert (made.usage, made.logprob, made.n_tokens) == ({"input_tokens": 4, "output_tokens": 2}, -3.0, 2)
