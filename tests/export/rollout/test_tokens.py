"""The tokens of a conversation grow and never change, whatever the chat template."""

import copy

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment import check_tokenizer
from whileai_hf.export.rollout import TurnTokens


pytest.importorskip("trl")

EXACT = [
    "gemma4_v5", "glm4moe", "lfm2_2_5", "lfm2_v2", "llama3_1", "llama3_2", "qwen2_5", "qwen3", "qwen3_8",
    "qwen3_instruct_2507", "qwen3_vl",
]  # fmt: skip
# These take the thoughts out of earlier turns once the user goes on, so a conversation has no one rendering.
THINKING = ["qwen3_5_think", "qwen3_6", "nemotron_3_nano"]
NO_TOOLS = ["gemma3", "llama3", "phi3", "cohere2"]
UNREAD = ["deepseekv3", "muse_glimmer"]

OPENING = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Where is A1?"}]
RESULTS = [
    {"role": "tool", "tool_call_id": f"call_{place}", "name": "get_order", "content": f'{{"status":"ok","n":{place}}}'}
    for place in range(2)
]
ANSWER = {"role": "assistant", "content": "It is on its way."}
MORE = [{"role": "user", "content": "Thanks. And <A2>?"}]


def calls(number=1):
    made = [
        {"id": f"call_{place}", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": "A1"}}}
        for place in range(number)
    ]
    return {"role": "assistant", "content": "", "tool_calls": made}


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    # Of its own: trainers tell the tokenizers they are given how calls are written.
    return tiny_model.make_tokenizer()


@pytest.fixture
def with_template(tokenizer, tiny_model):
    def make(name):
        made = copy.copy(tokenizer)
        made.chat_template = tiny_model.chat_template(name)
        return made

    return make


def turn_of(turns, before, message, ids, tools):
    """The tokens a policy would write for a message."""
    written = turns._render([*before, message], tools, opening=False)[len(ids) :]
    return turns._ended(written)


@pytest.mark.parametrize("name", EXACT)
def test_a_conversation_s_tokens_are_those_of_its_rendering(name, with_template, tools):
    tokenizer = with_template(name)
    check_tokenizer(tokenizer)
    turns = TurnTokens(tokenizer)
    said = list(OPENING)
    ids = turns.opening(said, tools)
    for message, follows in ((calls(), RESULTS[:1]), (ANSWER, MORE), (calls(), RESULTS[:1]), (ANSWER, MORE)):
        ids = ids + turn_of(turns, said, message, ids, tools) + turns.between(follows)
        said += [message, *follows]
        assert ids == turns._render(said, tools, opening=True)


@pytest.mark.parametrize("name", ["qwen2_5", "qwen3_instruct_2507", "glm4moe"])
def test_results_of_several_calls(name, with_template, tools):
    turns = TurnTokens(with_template(name))
    ids = turns.opening(OPENING, tools)
    ids = ids + turn_of(turns, OPENING, calls(2), ids, tools) + turns.between(RESULTS)
    assert ids == turns._render([*OPENING, calls(2), *RESULTS], tools, opening=True)


@pytest.mark.parametrize("name", THINKING)
def test_a_template_that_drops_thoughts(name, with_template, tools):
    """Only what comes in between is added: the turn stands as it was sampled."""
    tokenizer = with_template(name)
    turns = TurnTokens(tokenizer)
    told = tokenizer.decode(turns.between(MORE))
    whole = tokenizer.decode(turns._render([*OPENING, ANSWER, *MORE], tools, opening=True))
    assert whole.endswith(told)
    assert told.count("<|im_start|>") == 2
    assert told.lstrip().startswith("<|im_start|>user\nThanks. And <A2>?<|im_end|>")


@pytest.mark.parametrize("name", NO_TOOLS)
def test_a_template_without_tools(name, with_template):
    for check in (check_tokenizer, TurnTokens):
        with pytest.raises(ConfigurationError, match=r"leaves out tool calls.*Qwen2\.5, Qwen3.*Llama 3\.1"):
            check(with_template(name))


@pytest.mark.parametrize("name", UNREAD)
def test_a_template_whose_calls_nobody_reads(name, with_template):
    with pytest.raises(ConfigurationError, match=r"does not know how this chat template writes.*Qwen3"):
        check_tokenizer(with_template(name))


def test_a_turn_without_a_fixed_end(with_template):
    with pytest.raises(ConfigurationError, match="ends a turn of the agent in another way"):
        TurnTokens(with_template("gptoss"))
    check_tokenizer(with_template("gptoss"))  # with calls alone it does


def test_no_template_at_all(tokenizer):
    bare = copy.copy(tokenizer)
    bare.chat_template = None
    for check in (check_tokenizer, TurnTokens):
        with pytest.raises(ConfigurationError, match="no chat template"):
            check(bare)
    unknown = copy.copy(tokenizer)
    unknown.chat_template = tokenizer.chat_template + "{# edited #}"
    with pytest.raises(ConfigurationError, match="set tokenizer"):
        check_tokenizer(unknown)


def test_the_trainer_s_tokenizer_is_left_as_it_is(with_template):
    tokenizer = with_template("qwen3")
    before = dict(vars(tokenizer))
    check_tokenizer(tokenizer)
    TurnTokens(tokenizer)
    assert vars(tokenizer) == before


def test_calls_are_read_with_the_types_of_their_schema(with_template, tools):
    tokenizer = with_template("qwen2_5")
    turns = TurnTokens(tokenizer)
    ids = turns.opening(OPENING, tools)
    message = turns.read(turn_of(turns, OPENING, calls(), ids, tools), ids, tools)
    assert message["tool_calls"][0]["function"] == calls()["tool_calls"][0]["function"]
    broken = tokenizer.encode('<tool_call>\n{"name": "get_order", "argu\n</tool_call><|im_end|>')
    assert "tool_calls" not in turns.read(broken, ids, tools)
    assert "get_order" in turns.read(broken, ids, tools)["content"]


def test_without_tools_a_template_needs_none(with_template):
    tokenizer = with_template("smolvlm")
    turns = TurnTokens(tokenizer, tools=False)
    ids = turns.opening(OPENING[1:], [])
    assert turns.read(tokenizer.encode("Hello."), ids, []) == {"role": "assistant", "content": "Hello."}
