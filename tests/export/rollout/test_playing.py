"""Rollouts by a stand-in for the trainer: limits, users, samplers, processes."""

import itertools

import pytest

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, ModelStopError
from whileai_hf.export.environment import load_environment
from whileai_hf.export.rollout import sample_with


pytest.importorskip("trl")

ASK = "Please refund order ORD-7."
PLAIN = {"role": "assistant", "content": "Done."}


def loaded(tools, ask=ASK, **knobs):
    seen = []
    spec = load_environment([ask], tools=tools, reward=lambda row: seen.append(row) or 1.0, **knobs)
    return spec, spec.trainer_kwargs(rollout=True)["train_dataset"]["prompt"][:], seen


def judge(spec, prompts, made):
    extras = {name: made[name] for name in ("trajectory", "rollout")}
    names = [prompt[-1]["task_id"] for prompt in prompts]
    return spec.reward_funcs[0](prompts=prompts, completions=[""] * len(prompts), task_id=names, **extras)


def lengths(made, place=0):
    return len(made["completion_ids"][place]), len(made["env_mask"][place]), sum(made["env_mask"][place])


def test_what_comes_back(tools, token_policy, stand_in):
    spec, prompts, seen = loaded(tools, avg_turns=2)
    policy = token_policy()
    made = spec.rollout_func(prompts * 2, stand_in(policy))
    assert sorted(made) == ["completion_ids", "env_mask", "logprobs", "prompt_ids", "rollout", "trajectory"]
    assert made["logprobs"] is None
    assert made["completion_ids"][0] == made["completion_ids"][1]
    total, masked, own = lengths(made)
    assert total == masked > own
    assert [message["role"] for message in made["trajectory"][0]] == [
        "assistant", "tool", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert [about["rollout_index"] for about in made["rollout"]] == [0, 1]
    assert "task_id" not in policy.tokenizer.decode(made["prompt_ids"][0])
    assert judge(spec, prompts * 2, made) == [1.0, 1.0]
    assert [row["rollout_index"] for row in seen] == [0, 1]
    assert seen[0]["finish_reason"] == "stop"
    assert seen[0]["metadata"] is None


def test_all_conversations_of_a_batch_are_sampled_together(tools, token_policy, stand_in):
    rows = [{"prompt": "Hello there."}, {"prompt": ASK}, {"prompt": "Where is ORD-8?"}]
    spec = load_environment(rows, tools=tools, reward=lambda row: 1.0, avg_turns=2)
    prompts = spec.trainer_kwargs(rollout=True)["train_dataset"]["prompt"][:]
    policy, batches = token_policy(), []

    def sample(ids):
        batches.append(len(ids))
        return policy(ids)

    spec.rollout_func(prompts, stand_in(sample))
    assert batches == [3, 2, 2]  # the first asks back, and nobody answers


def test_log_probabilities_of_a_sampler_that_knows_them(tools, token_policy, stand_in):
    """The interface vLLM answers through: one number per sampled token, 0 where nothing was sampled."""
    spec, prompts, _ = loaded(tools, avg_turns=2)
    policy = token_policy()
    numbers = itertools.count(1)

    def sample(prompts):
        tokens, _ = policy(prompts)
        return tokens, [[-float(next(numbers)) for _ in each] for each in tokens]

    made = spec.rollout_func(prompts, stand_in(sample))
    logprobs, mask = made["logprobs"][0], made["env_mask"][0]
    assert len(logprobs) == len(mask)
    assert [value for value, own in zip(logprobs, mask, strict=True) if not own] == [0.0] * mask.count(0)
    assert [-value for value, own in zip(logprobs, mask, strict=True) if own] == list(range(1, sum(mask) + 1))


@pytest.mark.parametrize("room", range(20, 200, 9))
def test_a_completion_never_outgrows_its_room(room, tools, token_policy, stand_in):
    """Wherever it ends, tokens, mask and messages tell the same story, and the reward goes by it."""
    spec, prompts, seen = loaded(tools)
    policy = token_policy()
    made = spec.rollout_func(prompts, stand_in(policy, room=room))
    total, masked, _ = lengths(made)
    assert total == masked <= room
    text = policy.tokenizer.decode(made["completion_ids"][0])
    said = made["trajectory"][0]
    assert text.count("<tool_response>\n") == sum(message["role"] == "tool" for message in said)
    for message in said:
        if message["role"] == "tool":
            assert message["content"] in text
    assert judge(spec, prompts, made) == [1.0]
    refunded = any(message.get("name") == "refund_order" for message in said)
    assert bool(seen[0]["state_changes"]) == refunded
    if said[-1]["role"] != "assistant" or said[-1].get("tool_calls") or not text.endswith("<|im_end|>"):
        assert seen[0]["finish_reason"] == "length"


def test_a_cut_turn_ends_the_conversation(tools, token_policy, stand_in):
    spec, prompts, seen = loaded(tools)
    policy = token_policy()

    def sample(ids):
        tokens, _ = policy(ids)
        return [each[:-4] for each in tokens], None  # generation stopped before the end of the turn

    made = spec.rollout_func(prompts, stand_in(sample))
    assert len(made["trajectory"][0]) == 1
    judge(spec, prompts, made)
    assert seen[0]["finish_reason"] == "length"
    assert seen[0]["steps"] == []


def test_a_context_that_is_full_ends_the_conversation(tools, token_policy, stand_in):
    spec, prompts, _ = loaded(tools)
    policy = token_policy()
    opening = len(spec.rollout_func(prompts, stand_in(policy))["prompt_ids"][0])
    made = spec.rollout_func(prompts, stand_in(policy, context=opening + 90))
    assert lengths(made)[0] < 90
    assert made["rollout"][0]["finish_reason"] == "length"


def test_turns_run_out(tools, token_policy, stand_in, write):
    """As in `simulate`: the calls of the last turn are made, and nobody reads their results."""
    again = lambda ask, said, last: write("", ("refund_order", {"order_id": "ORD-7", "reason": "late"}))  # noqa: E731
    spec, prompts, seen = loaded(tools, max_turns=2)
    made = spec.rollout_func(prompts, stand_in(token_policy(again)))
    judge(spec, prompts, made)

    def agent(messages, tools):
        return again(None, None, None)

    played = wai.simulate(agent, tasks=[{"prompt": ASK}], tools=tools, max_turns=2)[0]
    for name in ("steps", "final_text", "finish_reason", "state_digest", "state_changes"):
        assert seen[0][name] == played[name], name
    assert seen[0]["finish_reason"] == "length"
    assert len(seen[0]["steps"]) == 2


def test_a_user_of_your_own_answers(tools, token_policy, stand_in):
    class Brief:
        name = "brief"

        async def next(self, messages, context):
            return None if context.turn > 2 else f"And ORD-{context.rollout_index}{context.turn}, please."

    spec, prompts, seen = loaded(tools, user_model=Brief())
    made = spec.rollout_func(prompts * 2, stand_in(token_policy()))
    judge(spec, prompts * 2, made)
    users = [[m["content"] for m in said if m["role"] == "user"] for said in made["trajectory"]]
    assert users == [["And ORD-01, please.", "And ORD-02, please."], ["And ORD-11, please.", "And ORD-12, please."]]
    assert [row["user_model"] for row in seen] == ["brief", "brief"]
    assert seen[0]["ended_by"] == "user"
    asked = [step["arguments"]["order_id"] for step in seen[1]["steps"] if step.get("tool") == "get_order"]
    assert "ORD-11" in asked
    assert seen[0]["state_digest"] is not None


def test_a_user_that_breaks_down_ends_its_own_conversation(tools, token_policy, stand_in):
    class Frail:
        name = "frail"

        async def next(self, messages, context):
            if context.rollout_index:
                raise TimeoutError("no answer")
            return None

    spec, prompts, seen = loaded(tools, user_model=Frail())
    made = spec.rollout_func(prompts * 2, stand_in(token_policy()))
    assert judge(spec, prompts * 2, made) == [1.0, None]
    assert made["rollout"][1]["error"] == "TimeoutError: no answer"
    assert len(seen) == 1

    class Spent(Frail):
        async def next(self, messages, context):
            raise ModelStopError("the quota is spent", "quota_spent")

    spec, prompts, _ = loaded(tools, user_model=Spent())
    with pytest.raises(ModelStopError):
        spec.rollout_func(prompts, stand_in(token_policy()))


def test_a_script_is_said(tools, token_policy, stand_in):
    script = [{"user": "And ORD-9?"}, {"expect": {"tool": "refund_order"}}]
    seen = []
    spec = load_environment(
        [{"prompt": ASK, "scenario_id": "sc-1", "script": script}],
        tools=tools,
        reward=lambda row: seen.append(row) or 1.0,
    )
    assert "script" not in spec.train_dataset.column_names
    prompts = spec.trainer_kwargs(rollout=True)["train_dataset"]["prompt"][:]
    made = spec.rollout_func(prompts, stand_in(token_policy()))
    judge(spec, prompts, made)
    assert [m["content"] for m in made["trajectory"][0] if m["role"] == "user"] == ["And ORD-9?"]
    assert seen[0]["metadata"]["expectations"][0]["expect"] == {"tool": "refund_order"}


def test_a_world_of_your_own_knows_which_rollout_it_answers(tools, token_policy, stand_in):
    seen = []

    def execute(tool, arguments):
        seen.append((wai.current_rollout().rollout_index, tool, arguments["order_id"]))
        return {"done": tool}

    spec, prompts, rows = loaded(tools, execute=execute, avg_turns=2)
    made = spec.rollout_func(prompts * 2, stand_in(token_policy()))
    assert {index for index, *_ in seen} == {0, 1}
    judge(spec, prompts * 2, made)
    assert rows[0]["steps"][0]["result"] == {"done": "get_order"}
    assert rows[0]["state_digest"] is None


def test_every_process_plays_its_share_of_a_group(tools, token_policy, stand_in, monkeypatch):
    """Repeats are numbered through, and who is done samples along until all are."""
    spec, prompts, _ = loaded(tools, avg_turns=2)
    policy, asked = token_policy(), []
    rounds = iter([[True, True], [True, True], [True, True], [False, True], [False, False]])
    given = []

    def gather(values):
        given.append(values)
        return next(rounds)

    def sample(ids):
        asked.append(len(ids))
        return policy(ids)

    monkeypatch.setattr("accelerate.utils.gather_object", gather)
    alone = spec.rollout_func(prompts * 2, stand_in(policy))
    made = spec.rollout_func(prompts * 2, stand_in(sample, processes=2, process=1))
    assert [about["rollout_index"] for about in made["rollout"]] == [2, 3]
    assert given == [[True], [True], [True], [False], [False]]
    assert asked == [2, 2, 2, 1]
    assert made["completion_ids"] == alone["completion_ids"]


def test_a_prompt_of_another_dataset(tools, token_policy, stand_in):
    spec, _, _ = loaded(tools)
    for prompt in (spec.train_dataset["prompt"][0], [{"role": "user", "content": "Hi", "task_id": "x"}], "Hi", []):
        with pytest.raises(ConfigurationError, match="names no task of this environment"):
            spec.rollout_func([prompt], stand_in(token_policy()))


def test_a_trainer_that_plays_calls_itself(tools, token_policy, stand_in):
    spec, prompts, _ = loaded(tools)
    trainer = stand_in(token_policy())
    trainer.tools = [print]
    with pytest.raises(ConfigurationError, match="beside this rollout function"):
        spec.rollout_func(prompts, trainer)


def test_a_trainer_that_cannot_be_sampled_through(tools, token_policy, stand_in):
    class Other:
        pass

    with pytest.raises(ConfigurationError, match="with_sampler"):
        sample_with(Other(), [[1]])
    spec, prompts, _ = loaded(tools, avg_turns=2)
    policy = token_policy()
    trainer = stand_in(None)
    made = spec.rollout_func.with_sampler(lambda given, ids: policy(ids))(prompts, trainer)
    assert len(made["trajectory"][0]) == 6
