"""One policy, one set of tasks, three ways to play it: `simulate`, the environment, the rollout function."""

import json
import warnings

import pytest

import whileai_hf as wai
from whileai_hf.export.environment import load_environment, rollout_of
from whileai_hf.score.conduct import conduct_grade, no_collateral, task_checklist


torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")

SETTINGS = {
    "use_cpu": True,
    "bf16": False,
    "activation_checkpointing": False,
    "report_to": "none",
    "logging_steps": 1,
    "save_strategy": "no",
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
    "learning_rate": 1e-4,
    "num_generations": 2,
    "per_device_train_batch_size": 4,
    "seed": 0,
}
JUDGES = [conduct_grade, task_checklist, no_collateral()]


@pytest.fixture(autouse=True)
def quiet():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield
    torch.set_num_threads(before)


@pytest.fixture
def tasks(tools, policy):
    return wai.situations(tools=tools, system_prompt=policy, n=12, fault_rate=0.7, seed=3)


class Seen:
    """A judge that keeps what it is shown, by task."""

    def __init__(self):
        self.rows = {}

    def __call__(self, row):
        self.rows.setdefault((row["scenario_id"], row["rollout_index"] or 0), row)
        return {"reward": 1.0}


def trainer_of(tiny, tokenizer, folder, given, **options):
    args = trl.GRPOConfig(output_dir=str(folder), **{**SETTINGS, "max_completion_length": 900, **options})
    return trl.GRPOTrainer(str(tiny), args=args, processing_class=tokenizer, **given)


def results_of(messages):
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


COMPARED = ("prompt", "steps", "final_text", "state_digest", "state_changes", "faults_fired", "tools", "privileged")


def assert_same_row(row, simulated):
    assert [m["role"] for m in row["messages"]] == [m["role"] for m in simulated["messages"]]
    for name in (*COMPARED, "expected_calls", "world_state", "faults", "seed", "scenario_dimensions"):
        assert row[name] == simulated[name], name


def test_three_ways_to_play_one_policy(tiny_model_dir, tokenizer, token_policy, agent, tasks, tools, policy, tmp_path):
    """Same tool results, same final world, same reward."""
    simulated, judged = Seen(), {}
    for judge in JUDGES:
        rows = wai.simulate(
            agent, tasks=tasks, tools=tools, system_prompt=policy, avg_turns=2, grader=judge, repeat_policy="fixed"
        )
        judged[judge] = dict(zip(rows["scenario_id"], rows["reward"], strict=True))
    wai.simulate(agent, tasks=tasks, tools=tools, system_prompt=policy, avg_turns=2, grader=simulated)
    assert any(row["faults_fired"] for row in simulated.rows.values())
    assert any(row["state_changes"] for row in simulated.rows.values())
    assert len({reward for rewards in judged.values() for reward in rewards.values()}) > 1

    for rollout in (False, True):
        seen, live, rewards = Seen(), {}, []

        def spy(prompts, completions, scenario_id, environments=None, trajectory=None, *, live=live, **columns):
            for place, name in enumerate(scenario_id):
                said = completions[place] if trajectory is None else trajectory[place]
                digest = None if environments is None else rollout_of(environments[place]).session.state_digest()
                live[name] = (results_of(said), digest)
            return [None] * len(prompts)

        spec = load_environment(
            tasks, reward=[seen, *JUDGES, spy], tools=tools, system_prompt=policy, avg_turns=2, max_turns=12
        )
        trainer = trainer_of(
            tiny_model_dir,
            tokenizer,
            tmp_path,
            spec.trainer_kwargs(rollout=rollout),
            max_steps=3,
            per_device_train_batch_size=8,
        )
        trainer._generate_single_turn = token_policy()
        calculate = trainer._calculate_rewards

        def keep(inputs, *rest, calculate=calculate, rewards=rewards):
            made = calculate(inputs, *rest)
            rewards += [(row["scenario_id"], values) for row, values in zip(inputs, made.tolist(), strict=True)]
            return made

        trainer._calculate_rewards = keep
        trainer.train()
        assert trainer.state.global_step == 3
        assert set(live) == set(tasks["scenario_id"])
        assert len(seen.rows) == len(tasks) * (2 if rollout else 1)
        for name, (results, digest) in live.items():
            expected = simulated.rows[name, 0]
            assert results == [step["result"] for step in expected["steps"] if "tool" in step]
            assert digest in (None, expected["state_digest"])
            assert_same_row(seen.rows[name, 0], expected)
        assert any(digest for _, digest in live.values()) != rollout
        for name, (one, *rest) in rewards:
            assert one == 1.0
            assert rest[:3] == [judged[judge][name] for judge in JUDGES]


def test_conversations_with_a_user_are_those_of_simulate(
    tiny_model_dir, tokenizer, token_policy, agent, tasks, tools, policy, tmp_path
):
    """The rollout function plays on where the user answers: the same turns, tokens that are the conversation's."""
    simulated, seen = Seen(), Seen()
    wai.simulate(
        agent, tasks=tasks, tools=tools, system_prompt=policy, mode="rl", repeats=2, repeat_policy="fixed",
        grader=simulated,
    )  # fmt: skip
    spec = load_environment(tasks, reward=seen, tools=tools, system_prompt=policy)
    kwargs = spec.trainer_kwargs(rollout=True)
    trainer = trainer_of(tiny_model_dir, tokenizer, tmp_path, kwargs, max_completion_length=1800)
    sampler = token_policy()
    trainer._generate_single_turn = sampler
    prompts = [prompt for prompt in kwargs["train_dataset"]["prompt"][:] for _ in range(2)]
    made = spec.rollout_func(prompts, trainer)
    columns = {name: [value for value in spec.train_dataset[name][:] for _ in range(2)] for name in ("task_id",)}
    extras = {name: made[name] for name in ("trajectory", "rollout")}
    spec.reward_funcs[0](prompts=prompts, completions=["x"] * len(prompts), **columns, **extras)
    more = 0
    for key, row in seen.rows.items():
        expected = simulated.rows[key]
        assert_same_row(row, expected)
        for name in ("user_model", "ended_by", "sim_ok", "sim_reasons", "finish_reason", "rollout_index"):
            assert row[name] == expected[name], name
        more += row["user_model"] is not None
    assert more > len(tasks)  # most of them go on after the first answer
    for place, prompt in enumerate(prompts):
        ids, mask = made["completion_ids"][place], made["env_mask"][place]
        assert len(ids) == len(mask)
        opening = [*prompt[:-1], {"role": "user", "content": prompt[-1]["content"]}]
        whole = tokenizer.apply_chat_template(
            [*opening, *made["trajectory"][place]], tools=tools, tokenize=True, return_dict=False
        )
        assert tokenizer.decode(made["prompt_ids"][place] + ids) == tokenizer.decode(whole).rstrip("\n")
        written = tokenizer.decode([token for token, own in zip(ids, mask, strict=True) if own])
        assert "<tool_response>" not in written
        assert written.count("<|im_end|>") == sum(m["role"] == "assistant" for m in made["trajectory"][place])


def test_two_steps_in_each_way(tiny_model_dir, tokenizer, tasks, tools, policy, tmp_path):
    """The policy samples its own tokens, and a held-out set is evaluated through the same environment."""
    for rollout in (False, True):
        seen = []
        spec = load_environment(
            tasks,
            reward=[conduct_grade, lambda row, seen=seen: seen.append(row) or 1.0],
            tools=tools,
            system_prompt=policy,
            holdout=0.3,
        )
        trainer = trainer_of(
            tiny_model_dir,
            tokenizer,
            tmp_path,
            spec.trainer_kwargs(rollout=rollout),
            max_steps=2,
            max_completion_length=24,
            per_device_eval_batch_size=2,
        )
        trainer.train()
        assert trainer.state.global_step == 2
        assert "rewards/conduct_grade/mean" in trainer.state.log_history[0]
        assert "eval_rewards/conduct_grade/mean" in trainer.evaluate()
        assert "length" in {row["finish_reason"] for row in seen}  # 24 tokens of an untrained policy


def test_the_model_reads_the_tools_own_words(tiny_model_dir, tokenizer, tmp_path, token_policy):
    """What the template is given is the schema, nested properties and all, and no function's paraphrase of it."""
    lines = {
        "type": "array",
        "items": {"type": "object", "properties": {"sku": {"type": "string", "pattern": "^S"}}, "required": ["sku"]},
    }
    parameters = {
        "type": "object",
        "properties": {"from": {"type": "string"}, "lines": lines, "gift": {"type": "boolean", "default": False}},
        "required": ["from"],
        "additionalProperties": False,
    }
    given = {"name": "reset", "description": "Place an order.\nReturns: nothing.", "parameters": parameters}
    calls = []

    def execute(tool, arguments):
        calls.append((tool, arguments, wai.current_rollout().rollout_index))
        return {"placed": len(calls)}

    def write(ask, said, last_user):
        if said:
            return {"role": "assistant", "content": "Placed."}
        arguments = {"from_": "Ada", "lines": [{"sku": "S1"}]}
        call = {"type": "function", "function": {"name": "reset_", "arguments": arguments}}
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    seen = Seen()
    spec = load_environment(["Order S1 for Ada, please."], tools=[given], reward=seen, execute=execute)
    assert [str(name) for name in spec.renamed] == [
        "tool 'reset' is shown as 'reset_'",
        "parameter 'from' of 'reset' is shown as 'from_'",
    ]
    trainer = trainer_of(
        tiny_model_dir, tokenizer, tmp_path, spec.trainer_kwargs(), max_steps=1, per_device_train_batch_size=2
    )
    sampler = trainer._generate_single_turn = token_policy(write)
    trainer.train()
    shown = tokenizer.decode(sampler.asked[0])
    renamed = {
        **parameters,
        "properties": {"from_": {"type": "string"}, "lines": lines, "gift": {"type": "boolean", "default": False}},
        "required": ["from_"],
    }
    schema = {"name": "reset_", "description": given["description"], "parameters": renamed}
    assert json.dumps({"type": "function", "function": schema}) in shown
    arguments = {"from": "Ada", "lines": [{"sku": "S1"}]}
    assert calls == [("reset", arguments, 0), ("reset", arguments, 1)]
    (row,) = seen.rows.values()
    assert row["steps"] == [{"tool": "reset", "arguments": arguments, "result": {"placed": 1}}]
    call = row["messages"][1]["tool_calls"][0]["function"]
    assert (call["name"], call["arguments"], row["messages"][2]["name"]) == ("reset", arguments, "reset")
    assert row["state_digest"] is None  # what became of another world is not known here


def test_tasks_of_several_tools_become_environments_by_name(tiny_model_dir, tokenizer, tools, agent, policy, tmp_path):
    """Each prompt shows its own tools, in both ways to play."""
    other = [{"name": "book_room", "description": "Book a room.", "parameters": {"properties": {}}}]
    first = wai.simulate(agent, tools=tools, system_prompt=policy, budget=2, avg_turns=2)
    second = wai.simulate(lambda message: {"steps": [], "final_text": "No."}, tools=other, budget=2)
    rows = [*first.select_columns(["scenario_id", "prompt", "messages", "tools", "seed", "final_text"])]
    rows += [*second.select_columns(["scenario_id", "prompt", "messages", "tools", "seed", "final_text"])]
    spec = load_environment(rows, reward=lambda row: float(len(row["tools"])))
    assert sorted(spec.environment_factory) == ["tools-0", "tools-1"]
    assert spec.train_dataset["environment"][:] == ["tools-0"] * 2 + ["tools-1"] * 2
    assert [m["role"] for m in spec.train_dataset[0]["prompt"]] == ["system", "user"]
    assert [m["role"] for m in spec.train_dataset[2]["prompt"]] == ["user"]
    for rollout in (False, True):
        kwargs = spec.trainer_kwargs(rollout=rollout)
        trainer = trainer_of(tiny_model_dir, tokenizer, tmp_path, kwargs, max_steps=2, max_completion_length=8)
        prompts = []
        generate = trainer._generate_single_turn

        def keep(ids, *rest, generate=generate, prompts=prompts):
            prompts.extend(ids)
            return generate(ids, *rest)

        trainer._generate_single_turn = keep
        trainer.train()
        texts = [tokenizer.decode(ids) for ids in prompts]
        assert {("book_room" in text, "refund_order" in text) for text in texts} == {(True, False), (False, True)}


def test_a_call_that_did_not_fit_has_not_happened(tiny_model_dir, tokenizer, token_policy, tools, tmp_path):
    """TRL runs a call, finds its result too long and takes the message back; the reward goes by the message."""

    def write(ask, said, last_user):
        call = {"type": "function", "function": {"name": "refund_order", "arguments": {"order_id": "ORD-7"}}}
        return {"role": "assistant", "content": "At once.", "tool_calls": [call]}

    live = []

    def spy(prompts, completions, environments, **columns):
        live.extend(rollout_of(environment).session.writes for environment in environments)
        return [0.0] * len(prompts)

    for rollout in (False, True):
        seen = Seen()
        rewards = seen if rollout else [seen, spy]
        spec = load_environment(["Refund ORD-7, please."], tools=tools, reward=rewards)
        trainer = trainer_of(
            tiny_model_dir,
            tokenizer,
            tmp_path,
            spec.trainer_kwargs(rollout=rollout),
            max_steps=1,
            per_device_train_batch_size=2,
            max_completion_length=80,
        )
        trainer._generate_single_turn = token_policy(write)
        trainer.train()
        row = next(iter(seen.rows.values()))
        assert row["steps"] == []
        assert (row["state_changes"], row["finish_reason"]) == ([], "length")
        assert row["final_text"] == "At once."
    assert live
    assert all(live)  # the environment's own world has moved on


def test_a_reward_of_none_and_one_that_awaits(tiny_model_dir, tokenizer, tasks, tools, policy, tmp_path):
    async def unsure(row):
        return None

    spec = load_environment(tasks, tools=tools, system_prompt=policy, reward=[unsure, lambda row: 0.5])
    kwargs = spec.trainer_kwargs(processing_class=tokenizer)
    assert kwargs.pop("processing_class") is tokenizer
    trainer = trainer_of(tiny_model_dir, tokenizer, tmp_path, kwargs, max_steps=1, max_completion_length=8)
    trainer.train()
    logged = trainer.state.log_history[0]
    assert logged["rewards/unsure/mean"] is None or logged["rewards/unsure/mean"] != logged["rewards/unsure/mean"]
    assert logged["reward"] == 0.5
    assert logged["unsure/unjudged"] == 1.0


def test_rollouts_that_vllm_samples(tiny_model_dir, tokenizer, token_policy, tasks, tools, policy, tmp_path):
    """The way of TRL to vLLM, with a stand-in for the engine: weights in step, a log probability per sampled token."""

    class Engine:
        def __init__(self):
            self.policy, self.synced, self.sampled = token_policy(), 0, 0

        def sync_weights(self):
            self.synced += 1

        def generate(self, prompts, images, num_generations, profiler):
            assert (images, num_generations) == (None, 1)
            tokens, _ = self.policy(prompts)
            self.sampled += sum(map(len, tokens))
            return prompts, tokens, [[[-0.5] for _ in each] for each in tokens], None

    spec = load_environment(tasks, tools=tools, system_prompt=policy, reward=lambda row: float(len(row["messages"])))
    kwargs = spec.trainer_kwargs(rollout=True)
    trainer = trainer_of(tiny_model_dir, tokenizer, tmp_path, kwargs, max_steps=2)
    engine = trainer.vllm_generation = Engine()
    trainer.use_vllm, trainer.vllm_mode, trainer._last_loaded_step = True, "server", -1
    made = spec.rollout_func(kwargs["train_dataset"]["prompt"][:2], trainer)
    assert engine.synced == 1
    for logprobs, mask in zip(made["logprobs"], made["env_mask"], strict=True):
        assert logprobs == [-0.5 if own else 0.0 for own in mask]
    assert engine.sampled == sum(map(sum, made["env_mask"]))
    trainer.train()
    assert trainer.state.global_step == 2
    assert engine.synced == 2  # once more, after the first step
    assert "sampling/importance_sampling_ratio/mean" in trainer.state.log_history[0]
