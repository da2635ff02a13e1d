"""Whole conversations: simulated turns, scripted turns, assertions, caps, and what the row says afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from whileai_hf.actors import Played, ScriptedModel, adapt, play
from whileai_hf.actors.users import SimulatedUser, TemplateUser, UserContext, as_user, make_user, read_script
from whileai_hf.errors import AgentError, ConfigurationError, DataError
from whileai_hf.spec import AgentSpec


SPEC = AgentSpec.from_tools([{"name": "get_order"}, {"name": "refund_order"}], "You help with orders.")
CALL = {"tool_calls": [{"name": "refund_order", "arguments": {"order_id": "ORD-4412"}}]}
TASK = {
    "scenario_id": "sc-1",
    "prompt": "I'd like my money back for the kettle.",
    "expected_calls": [{"tool": "refund_order", "arguments": {"order_id": "ORD-4412"}}],
}


class World:
    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"status": "ok"}


class Says:
    """A simulated user with a list of lines."""

    name = "says"

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.seen: list[tuple[int, list[Any]]] = []

    async def next(self, messages: Any, context: UserContext) -> str | None:
        await asyncio.sleep(0)
        self.seen.append((context.turn, list(messages)))
        return self.lines[context.turn - 1] if context.turn <= len(self.lines) else None


def converse(
    replies: Any, user_model: Any = None, script: Any = None, avg_turns: int = 12, max_turns: int = 12
) -> Played:
    task = {**TASK, "script": script}
    user = make_user(user_model, task, avg_turns=avg_turns)
    return play(ScriptedModel(replies), TASK["prompt"], spec=SPEC, session=World(), max_turns=max_turns, user=user)


def texts(played: Played, role: str = "user") -> list[str]:
    return [m["content"] for m in played.messages if m["role"] == role]


def test_a_question_is_answered_and_the_agent_goes_on() -> None:
    played = converse(["Which order?", CALL, "Refunded."])
    assert [m["role"] for m in played.messages] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    answer = played.messages[2]["content"]
    assert "ORD-4412" in answer
    assert played.steps == [
        {"text": "Which order?"},
        {"user": answer},
        {"tool": "refund_order", "arguments": {"order_id": "ORD-4412"}, "result": {"status": "ok"}},
    ]
    assert (played.final_text, played.finish_reason) == ("Refunded.", "stop")
    assert played.extra == {"ended_by": "user", "user_model": "template", "sim_ok": True, "sim_reasons": []}


def test_an_agent_that_answers_is_left_alone() -> None:
    replies = [CALL, "Refunded. Anything else?"]
    without = play(ScriptedModel(replies), TASK["prompt"], spec=SPEC, session=World())
    played = converse(replies)
    assert (played.steps, played.messages, played.final_text) == (without.steps, without.messages, without.final_text)
    assert played.extra == {"ended_by": "agent"}  # nobody simulated anything: no user_model
    assert without.extra == {}


def test_the_model_sees_the_whole_conversation() -> None:
    seen: list[list[dict[str, Any]]] = []

    def agent(messages: list[dict[str, Any]], tools: Any) -> dict[str, Any]:
        seen.append([dict(m) for m in messages])
        return {"role": "assistant", "content": f"Reply {len(seen)}"}

    user = make_user(Says("First.", "Second."), TASK)
    played = play(agent, TASK["prompt"], spec=SPEC, session=World(), user=user)
    assert [m["content"] for m in seen[-1]] == [
        "You help with orders.",
        TASK["prompt"],
        "Reply 1",
        "First.",
        "Reply 2",
        "Second.",
    ]
    assert played.final_text == "Reply 3"


@pytest.mark.parametrize(("avg_turns", "spoken"), [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3), (12, 6)])
def test_the_person_speaks_half_of_the_turns(avg_turns: int, spoken: int) -> None:
    played = converse(lambda messages, tools: "Go on.", Says(*["And?"] * 50), avg_turns=avg_turns)
    assert len(texts(played)) == spoken
    assert played.extra["ended_by"] == ("turns" if spoken > 1 else "agent")
    assert played.messages[-1]["role"] == "assistant"


def test_the_agents_turns_run_out() -> None:
    played = converse(lambda messages, tools: "Go on.", Says(*["And?"] * 50), max_turns=3)
    assert (len(texts(played)), played.extra["ended_by"], played.finish_reason) == (3, "turns", "stop")
    played = converse(lambda messages, tools: CALL, Says("x"), max_turns=3)
    assert (played.finish_reason, played.extra["ended_by"]) == ("length", "turns")


def test_a_cut_reply_ends_the_conversation() -> None:
    played = converse([{"content": "Which or", "finish_reason": "length"}], Says("What?"))
    assert (played.finish_reason, played.extra["ended_by"], len(texts(played))) == ("length", "turns", 1)


def test_sync_and_async_agents_have_the_same_conversation() -> None:
    replies = ["Which order?", "Shall I refund ORD-4412?", CALL, "Done."]
    script = ScriptedModel(replies)

    async def agent(messages: Any, tools: Any) -> Any:
        await asyncio.sleep(0)
        return script(messages, tools)

    first = converse(replies)
    assert len(texts(first)) == 3
    for one in (agent, script):
        again = asyncio.run(adapt(one).arun(TASK["prompt"], spec=SPEC, session=World(), user=make_user(None, TASK)))
        assert again == first


def test_a_faulty_user_is_on_the_row() -> None:
    played = converse(["Which order?", "Hm?", "Done."], Says("It's ORD-9999.", "How can I help you today?"))
    assert played.extra["sim_ok"] is False
    assert played.extra["sim_reasons"] == ["invented_fact", "contradicts_ask", "gave_up_early", "role_swap"]
    left = converse(["Which order?"], Says(None))
    assert left.extra == {
        "ended_by": "agent",
        "user_model": "says",
        "sim_ok": False,
        "sim_reasons": ["gave_up_early"],
    }


def test_fixed_turns_are_said_in_order() -> None:
    played = converse(["One.", "Two.", "Three."], Says("never"), [{"user": "A"}, {"user": "B"}])
    assert texts(played)[1:] == ["A", "B"]
    assert played.extra == {"ended_by": "script", "user_model": "script"}


def test_fixed_and_simulated_turns_and_assertions() -> None:
    script = [
        {"expect": {"no_calls": True, "says": "which order"}},
        {"user": "Guess."},
        {"expect": {"not_says": "/ORD-\\d+/"}},
        {"expect": {"tool": "refund_order"}},
        {"simulate": True},
        {"expect": {"tool": "refund_order", "arguments": {"order_id": "ORD-4412"}}},
        {"user": "Thanks."},
        {"expect": {"says": ["welcome", "bye"]}},
    ]
    replies = ["Which order?", "I cannot guess. Which order number is it?", CALL, "Done.", "You are welcome, bye."]
    played = converse(replies, None, script)
    assert texts(played)[1] == "Guess." and "ORD-4412" in texts(played)[2] and texts(played)[3] == "Thanks."
    met = [(entry["met"], entry["turn"]) for entry in played.extra["expectations"]]
    assert met == [(True, 1), (True, 2), (False, 2), (True, 3), (True, 4)]
    assert [entry["expect"] for entry in played.extra["expectations"]] == [
        e["expect"] for e in script if "expect" in e
    ]
    assert (played.extra["ended_by"], played.extra["user_model"], played.extra["sim_ok"]) == (
        "script",
        "template",
        True,
    )


def test_a_number_of_simulated_turns() -> None:
    user = Says("a", "b", "c", "d", "e")
    played = converse(lambda m, t: "Go on.", user, [{"simulate": 2}, {"user": "X"}, {"simulate": 1}])
    assert texts(played)[1:] == ["a", "b", "X", "d"]
    assert played.extra["ended_by"] == "script"


def test_fixed_turns_do_not_fall_under_the_cap() -> None:
    script = [*[{"user": str(n)} for n in range(4)], {"simulate": True}]
    played = converse(lambda m, t: "Go on.", Says(*"abcdef"), script, avg_turns=4)
    assert texts(played)[1:] == ["0", "1", "2", "3"]
    assert played.extra["ended_by"] == "turns"


def test_assertions_that_were_never_reached_are_not_unmet() -> None:
    script = [{"user": "A"}, {"user": "B"}, {"expect": {"says": "x"}}]
    played = converse(lambda m, t: CALL, None, script, max_turns=2)
    assert played.extra["expectations"] == [{"expect": {"says": "x"}, "met": None, "turn": None}]


def test_agents_of_a_single_message() -> None:
    def agent(message: str) -> dict[str, Any]:
        return {"steps": [], "final_text": "Which order?"}

    def run(script: Any) -> Played:
        return play(agent, TASK["prompt"], spec=SPEC, user=make_user(None, {**TASK, "script": script}))

    assert run(None).extra == {}
    assert run([{"expect": {"says": "order"}}]).extra["expectations"][0]["met"] is True
    with pytest.raises(AgentError, match="the task's script has 1 more user turns, and the agent takes a single"):
        run([{"user": "A"}])


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("hi", "script is 'hi'; make it a list"),
        ([{"say": "x"}], r"script\[0\] is \{'say': 'x'\}; make it a \{\"user\": text\}"),
        ([{"user": "a"}, {"user": ""}], r"script\[1\] has user ''"),
        ([{"user": "a", "expect": {}}], r"script\[0\] is"),
        ([{"simulate": False}], r"script\[0\] has simulate False; make it true or a number"),
        ([{"simulate": 0}], r"has simulate 0"),
        ([{"expect": {"speaks": "x"}}], r"script\[0\] expects 'speaks', which is none of tool, arguments, says"),
        ([{"expect": {}}], r"script\[0\] expects \{\}"),
        ([{"expect": {"says": 3}}], "expects says=3; make it a string"),
        ([{"expect": {"says": "/(/"}}], "no regular expression"),
        ([{"expect": {"arguments": {"a": 1}}}], "beside the tool's name"),
        ([{"expect": {"no_calls": "yes"}}], "make it true or false"),
    ],
)
def test_a_wrong_script_gets_one_sentence(script: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        read_script(script)


def test_what_a_user_model_may_be() -> None:
    assert as_user(None).name == as_user("template").name == "template"
    mine = Says()
    assert isinstance(mine, SimulatedUser) and as_user(mine) is mine
    with pytest.raises(ConfigurationError, match="user_model is the class TemplateUser"):
        as_user(TemplateUser)


def numbers(text: Any, **more: Any) -> dict[str, Any]:
    message = text if isinstance(text, dict) else {"content": text}
    return {"role": "assistant", "content": "", **message, **more}


def agent_of(replies: list[dict[str, Any]]) -> Callable[..., Any]:
    return lambda messages, tools: replies[sum(m["role"] == "assistant" for m in messages)]


CALLS = {"tool_calls": [{"name": "get_order", "arguments": {"i": i}} for i in range(2)]}


def test_the_numbers_of_a_turn_are_on_its_first_step_and_summed_on_the_row() -> None:
    seen: list[Any] = []
    replies = [
        numbers(CALLS, usage={"prompt_tokens": 10, "completion_tokens": 3}, logprob=-1.5, n_tokens=3),
        numbers("Which order?", usage={"input_tokens": 20, "output_tokens": 4}, logprob=-0.5, n_tokens=4),
        numbers("Done.", usage={"input_tokens": 30, "output_tokens": 1}, logprob=-0.25, n_tokens=1),
    ]

    def agent(messages: list[dict[str, Any]], tools: Any) -> dict[str, Any]:
        seen.append(messages)
        return agent_of(replies)(messages, tools)

    played = play(agent, TASK["prompt"], spec=SPEC, session=World(), user=make_user(None, TASK))
    first, second, third, answer, last = played.steps
    assert (first["logprob"], first["n_tokens"], first["input_tokens"], first["output_tokens"]) == (-1.5, 3, 10, 3)
    assert "logprob" not in second
    assert third == {"text": "Which order?", "logprob": -0.5, "n_tokens": 4, "input_tokens": 20, "output_tokens": 4}
    assert list(answer) == ["user"]
    assert last == {"text": "Done.", "logprob": -0.25, "n_tokens": 1, "input_tokens": 30, "output_tokens": 1}
    assert played.extra["usage"] == {"input_tokens": 60, "output_tokens": 8}
    assert (played.extra["logprob"], played.extra["n_tokens"]) == (-2.25, 8)
    assert "token_logprobs" not in played.extra
    assert played.final_text == "Done." and texts(played, "assistant")[-1] == "Done."
    # Numbers are nobody's message: they do not go back to the model.
    assert not any({"usage", "logprob", "n_tokens"} & m.keys() for messages in seen for m in messages)


def test_text_before_calls_carries_the_numbers() -> None:
    replies = [numbers({**CALLS, "content": "Looking."}, logprob=-1.0), numbers("Done.", logprob=-1.0)]
    played = play(agent_of(replies), "hi", spec=SPEC, session=World())
    assert [("logprob" in step, next(iter(step))) for step in played.steps] == [
        (True, "text"),
        (False, "tool"),
        (False, "tool"),
        (True, "text"),
    ]


def test_a_log_probability_missing_for_one_turn_is_missing_for_the_row() -> None:
    played = play(
        agent_of([numbers(CALLS, logprob=-1.0, n_tokens=2), numbers("Done.")]), "hi", spec=SPEC, session=World()
    )
    assert played.steps[0]["logprob"] == -1.0
    assert played.extra == {}


def test_token_log_probabilities_are_one_list() -> None:
    replies = [numbers(CALLS, token_logprobs=[-0.5, -0.25]), numbers("Done.", token_logprobs=[-1])]
    played = play(agent_of(replies), "hi", spec=SPEC, session=World())
    assert played.extra == {"token_logprobs": [-0.5, -0.25, -1.0], "logprob": -1.75, "n_tokens": 3}
    assert played.steps[0]["token_logprobs"] == [-0.5, -0.25]


def test_whole_completions_carry_theirs_too() -> None:
    content = [{"token": "D", "logprob": -0.5}, {"token": "one", "logprob": -0.25}]
    choice = {"message": {"content": "Done"}, "finish_reason": "length", "logprobs": {"content": content}}
    answer = {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}}
    played = play(lambda messages, tools: answer, "hi", spec=SPEC, session=World())
    assert played.finish_reason == "length"
    assert played.steps == [
        {
            "text": "Done",
            "input_tokens": 7,
            "output_tokens": 2,
            "logprob": -0.75,
            "n_tokens": 2,
            "token_logprobs": [-0.5, -0.25],
            "truncated": True,
        }
    ]
    assert played.extra["usage"] == {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}


def test_a_call_that_was_cut_is_marked_and_the_conversation_goes_on() -> None:
    cut = {"tool_calls": [{"function": {"name": "get_order", "arguments": '{"order'}}]}
    played = play(
        agent_of([numbers(cut, finish_reason="length"), numbers("Sorry.")]), "hi", spec=SPEC, session=World()
    )
    assert (played.steps[0]["truncated"], played.steps[0]["malformed"], played.finish_reason) == (True, True, "stop")


@pytest.mark.parametrize(
    "junk", [{"usage": "none"}, {"logprob": "x"}, {"logprob": float("nan")}, {"token_logprobs": 3}]
)
def test_what_is_no_number_is_left_out(junk: dict[str, Any]) -> None:
    played = play(agent_of([numbers("Done.", **junk)]), "hi", spec=SPEC, session=World())
    assert (played.steps, played.extra) == ([], {})


def test_a_chat_callable_can_play_the_user() -> None:
    def person(messages: list[dict[str, Any]], tools: Any = None) -> dict[str, Any]:
        asked = messages[-1]["content"]
        return {"role": "assistant", "content": "<think>hm</think>ORD-4412" if "?" in asked else "[[END]]"}

    played = converse(["Which order?", CALL, "Done."], as_user(person))
    assert texts(played)[1:] == ["ORD-4412"]
    assert (played.extra["ended_by"], played.extra["sim_ok"]) == ("user", True)
    assert played.extra["user_model"] not in (None, "template")
