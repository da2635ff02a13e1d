"""From any source to tasks, datasets and rewards."""

import json
import pickle
import subprocess
import sys

import pytest
from datasets import Dataset, DatasetDict, List

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.export.environment import EnvironmentConfig, load_environment
from whileai_hf.measure.hygiene import split
from whileai_hf.rows import scrub
from whileai_hf.score.verify import ExactMatch
from whileai_hf.score.verify.reward import as_reward
from whileai_hf.spec import AgentSpec


COLUMNS = ["prompt", "scenario_id", "task_id", "seed", "world_state", "faults", "scenario_dimensions", "split"]


@pytest.fixture
def rollouts(agent, tools, policy):
    return wai.simulate(agent, tools=tools, system_prompt=policy, mode="rl", situations=6, repeats=2, avg_turns=2)


@pytest.fixture
def tasks(tools, policy):
    return wai.situations(tools=tools, system_prompt=policy, n=10, seed=2)


def one(row):
    return 1.0


def judged(spec, place=0, completion="Hello.", reward=0, **columns):
    """What the judge behind a reward function says about a completion of a training row."""
    row = spec.train_dataset[place]
    given = {name: [value] for name, value in row.items() if name != "prompt"}
    return spec.reward_funcs[reward](prompts=[row["prompt"]], completions=[completion], **given, **columns)


def test_rollouts_bring_their_tasks_tools_and_prompt(rollouts, tools, policy):
    spec = load_environment(rollouts, reward=one)
    data = spec.train_dataset
    assert data.column_names == COLUMNS
    assert len(data) == len(set(rollouts["prompt"])) < len(rollouts)
    assert data["scenario_id"][:] == list(dict.fromkeys(rollouts["scenario_id"]))
    for row in data:
        assert row["prompt"][0] == {"role": "system", "content": policy}
        assert [message["role"] for message in row["prompt"]] == ["system", "user"]
        assert (row["task_id"], row["split"]) == (row["scenario_id"], "train")
    assert spec.agents[0].openai_tools() == tools
    assert spec.eval_dataset is None
    assert "eval_dataset" not in spec.trainer_kwargs()


def test_a_source_in_all_its_forms(rollouts, tasks, tools, policy, tmp_path):
    rollouts.save_to_disk(str(tmp_path / "saved"))
    (tmp_path / "parquet").mkdir()
    rollouts.to_parquet(str(tmp_path / "parquet" / "rows.parquet"))
    rollouts.to_json(str(tmp_path / "rows.jsonl"))
    expected = load_environment(rollouts, reward=one).train_dataset.to_list()
    for source in (tmp_path / "saved", str(tmp_path / "parquet"), tmp_path / "rows.jsonl", list(rollouts)):
        assert load_environment(source, reward=one).train_dataset.to_list() == expected
    given = {"tools": tools, "system_prompt": policy, "reward": one}
    expected = load_environment(tasks, **given).train_dataset.to_list()
    assert load_environment(list(tasks), **given).train_dataset.to_list() == expected
    assert load_environment(tasks, tools=AgentSpec.from_tools(tools, policy), reward=one).train_dataset.to_list() == (
        expected
    )
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "agent" / "policy.md").write_text(policy)
    assert load_environment(tasks, tools=tmp_path / "agent", reward=one).train_dataset.to_list() == expected
    asks = load_environment(["Where is ORD-7?", "Refund ORD-8."], tools=tools, reward=one)
    assert [row["prompt"] for row in asks.train_dataset] == [
        [{"role": "user", "content": ask}] for ask in ("Where is ORD-7?", "Refund ORD-8.")
    ]
    assert asks.train_dataset["task_id"][:] == ["Where is ORD-7?", "Refund ORD-8."]
    with pytest.raises(SourceNotFoundError, match="neither an existing path"):
        load_environment("nobody/nothing-here", tools=tools)


def test_the_run_s_report_says_what_the_rows_do_not(rollouts, tools, policy):
    bare = rollouts.remove_columns(["messages", "tools"])
    spec = load_environment(bare, reward=one)
    assert spec.agents[0].openai_tools() == tools
    assert spec.agents[0].system_prompt == policy
    assert load_environment(bare, system_prompt="", reward=one).train_dataset[0]["prompt"][0]["role"] == "user"
    unknown = bare.map(lambda row: {"run_id": "run-elsewhere"})
    unknown.info.description = ""
    with pytest.raises(ConfigurationError, match="row 0 does not say which tools"):
        load_environment(unknown)


def test_nothing_privileged_is_on_a_row(tasks, tools, rollouts):
    hidden = {task["privileged"][name] for task in tasks for name in ("hidden_state", "reference")}
    assert all(hidden)
    spec = load_environment(tasks, tools=tools, reward=one, holdout=0.3)
    for data in (
        spec.train_dataset,
        spec.eval_dataset,
        *map(spec.trainer_kwargs(rollout=True).get, ["train_dataset"]),
    ):
        assert data.column_names == COLUMNS
        text = json.dumps(data.to_list())
        assert "privileged" not in text
        assert "expected_calls" not in text
        assert not [secret for secret in hidden if secret in text]
    for shown in (repr(spec), repr(spec.rollout_func), repr(spec.reward_funcs), repr(spec.environment_factory)):
        assert not [secret for secret in hidden if secret in shown]


def test_a_judge_finds_what_only_it_may_see(tasks, tools, rollouts):
    seen = []
    spec = load_environment(tasks, tools=tools, reward=lambda row: seen.append(row) or 1.0)
    assert judged(spec) == [1.0]
    assert seen[0]["privileged"] == tasks[0]["privileged"]
    assert seen[0]["expected_calls"] == tasks[0]["expected_calls"]
    # Of rollouts it is in the local store of the run, or in the tasks that are given.
    load = {"reward": lambda row: seen.append(row) or 1.0}
    judged(load_environment(rollouts, **load))
    assert seen[-1]["privileged"]["reference"]
    judged(load_environment(rollouts.map(lambda row: {"run_id": "run-elsewhere"}), **load))
    assert seen[-1].get("privileged") is None
    key = [
        {"scenario_id": rollouts[0]["scenario_id"], "prompt": rollouts[0]["prompt"], "privileged": {"reference": "7"}}
    ]
    judged(load_environment(rollouts, tasks=key, **load))
    assert seen[-1]["privileged"] == {"reference": "7"}


def test_gold_answers_ride_along_only_for_who_asks_by_name(tools):
    rows = [{"prompt": "6 * 7?", "answer": "42", "topic": "sums", "n": 3, "gold_reward": 1.0, "completions": "x"}]
    spec = load_environment(rows, tools=[], reward=ExactMatch())
    assert set(spec.train_dataset.column_names) - set(COLUMNS) == {"topic", "n"}
    assert judged(spec, completion="42") == [1.0]
    assert judged(spec, completion=[{"role": "assistant", "content": "41"}]) == [0.0]

    def own(prompts, completions, answer, **columns):
        return [float(text == right) for text, right in zip(completions, answer, strict=True)]

    spec = load_environment(rows, tools=[], reward=[ExactMatch(), own])
    assert set(spec.train_dataset.column_names) - set(COLUMNS) == {"topic", "n", "answer"}
    assert spec.reward_funcs[1] is own


def test_columns_of_the_user_s_tasks_that_describe_a_rollout_stay_behind(rollouts):
    rows = rollouts.add_column("place", [str(key) for key in rollouts["scenario_id"]])
    rows = rows.add_column("mine", list(range(len(rows))))
    data = load_environment(rows, reward=one).train_dataset
    assert data["place"][:] == data["scenario_id"][:]
    assert "mine" not in data.column_names


def test_held_out_tasks(tasks, tools):
    given = {"tools": tools, "reward": one}
    spec = load_environment(tasks, holdout=0.3, **given)
    parts = split(tasks, holdout=0.3)
    assert spec.train_dataset["scenario_id"][:] == parts["train"]["scenario_id"][:]
    assert spec.eval_dataset["scenario_id"][:] == parts["holdout"]["scenario_id"][:]
    assert set(spec.eval_dataset["split"][:]) == {"eval"}
    assert spec.eval_dataset.features == spec.train_dataset.features
    for same in (
        load_environment(parts, **given),
        load_environment(parts["train"], eval_data=parts["holdout"], **given),
        load_environment(DatasetDict(train=parts["train"], test=parts["holdout"]), **given),
    ):
        assert same.train_dataset.to_list() == spec.train_dataset.to_list()
        assert same.eval_dataset.to_list() == spec.eval_dataset.to_list()
    other = load_environment(tasks, holdout=0.3, seed=5, **given)
    assert other.eval_dataset["scenario_id"][:] != spec.eval_dataset["scenario_id"][:]
    with pytest.raises(DataError, match="1 of 1 tasks to evaluate on are trained on as well"):
        load_environment(tasks, eval_data=tasks.select([3]), **given)
    with pytest.raises(ConfigurationError, match="leave one"):
        load_environment(tasks, eval_data=tasks.select([3]), holdout=0.2, **given)
    with pytest.raises(ConfigurationError, match="leave one out"):
        load_environment(parts, holdout=0.2, **given)
    with pytest.raises(ConfigurationError, match="not a share"):
        load_environment(tasks, holdout=2, **given)
    with pytest.raises(DataError, match="the splits a, b, test"):
        load_environment(DatasetDict(a=tasks, b=tasks, test=tasks), **given)


def test_twins_stay_with_their_task(agent, tools, policy):
    """The same ask in the same world, once with a fault and once without: on one side, both of them."""
    rows = wai.simulate(
        agent, tools=tools, system_prompt=policy, budget=40, fault_rate=1.0, twins=True, avg_turns=2, seed=4
    )
    spec = load_environment(rows, reward=one, holdout=0.4)
    sides = [
        {row["twin_of"] or row["scenario_id"] for row in data} for data in (spec.train_dataset, spec.eval_dataset)
    ]
    assert all(sides)
    assert not sides[0] & sides[1]
    assert any(spec.eval_dataset["twin_of"][:])
    assert len(spec.train_dataset) + len(spec.eval_dataset) == len(set(rows["scenario_id"]))
    twins = rows.filter(lambda row: row["twin_of"] is not None)
    with pytest.raises(DataError, match="are trained on as well"):
        load_environment(rows.filter(lambda row: row["twin_of"] is None), eval_data=twins, reward=one)


def test_tasks_named_by_numbers_and_words_are_held_out_too(tools):
    rows = [{"prompt": f"Ask {n}", "task_id": n} for n in range(6)] + [{"prompt": f"Ask {n}"} for n in range(6, 9)]
    spec = load_environment(rows, tools=tools, reward=one, holdout=0.4)
    assert len(spec.train_dataset) + len(spec.eval_dataset) == 9
    numbered = load_environment(rows[:6], tools=tools, reward=one, holdout=0.4)
    assert numbered.eval_dataset["task_id"][:] == [str(n) for n in split(rows[:6], holdout=0.4)["holdout"]["task_id"]]


def test_asks_that_no_file_can_hold(tools):
    spec = load_environment(
        [{"prompt": "Hi \ud800 ORD-7", "task_id": "t\ud800"}], tools=tools, reward=one, rubric=None
    )
    assert judged(spec) == [1.0]


def test_a_saved_dataset_with_splits(tasks, tools, tmp_path):
    split(tasks, holdout=0.3).save_to_disk(str(tmp_path / "parts"))
    spec = load_environment(tmp_path / "parts", tools=tools, reward=one)
    assert len(spec.train_dataset) + len(spec.eval_dataset) == len(tasks)


def test_a_prompt_played_by_two_agents_is_refused(rollouts, agent, tools):
    again = wai.simulate(agent, tasks=rollouts.select([0]), tools=tools, system_prompt="Be brief.")
    mixed = [*rollouts, *again]
    with pytest.raises(DataError, match="two sets of tools or two system prompts"):
        load_environment(mixed, reward=one)
    spec = load_environment(mixed, reward=one, system_prompt="Be kind.")
    assert {row["prompt"][0]["content"] for row in spec.train_dataset} == {"Be kind."}


def test_two_tasks_of_one_name_are_refused(tools):
    rows = [{"prompt": "Hi", "task_id": 7}, {"prompt": "Hi", "scenario_id": "7"}]
    with pytest.raises(DataError, match="two tasks are called '7'"):
        load_environment(rows, tools=tools)


def test_twins_live_in_the_world_of_their_task(agent, tools, policy):
    rows = wai.simulate(
        agent, tools=tools, system_prompt=policy, budget=20, fault_rate=1.0, twins=True, avg_turns=2, seed=4
    )
    spec = load_environment(rows, reward=one)
    assert any(spec.train_dataset["twin_of"][:])
    environment = spec.environment_factory()
    by_task = {row["task_id"]: row for row in spec.train_dataset}
    twins = [row for row in rows if row["twin_of"]]
    assert twins
    for row in twins:
        environment.reset(**by_task[row["scenario_id"]])
        for step in row["steps"]:
            if "tool" in step:
                assert json.loads(getattr(environment, step["tool"])(**step["arguments"])) == step["result"]


def test_rewards_of_every_kind(tasks, tools):
    async def slow(row):
        return {"reward": 0.25, "reason": "so so"}

    spec = load_environment(tasks, tools=tools)
    assert [reward.__name__ for reward in spec.reward_funcs] == ["conduct_grade"]
    given = [one, ExactMatch(), as_reward(one, name="second", concurrency=3), slow, wai.ScriptedModel(["PASS"])]
    spec = load_environment(tasks, tools=tools, reward=given, rubric="Be right.")
    assert [reward.__name__ for reward in spec.reward_funcs] == ["one", "exact_match", "second", "slow", "judge"]
    assert spec.reward_funcs[2].concurrency == 3
    assert judged(spec, reward=2) == [1.0]
    with pytest.raises(ConfigurationError, match="two rewards are called 'one'"):
        load_environment(tasks, tools=tools, reward=[one, one])
    with pytest.raises(ConfigurationError, match="pass a judge"):
        load_environment(tasks, tools=tools, reward=7)
    with pytest.raises(ConfigurationError, match="names no reward"):
        load_environment(tasks, tools=tools, reward=[])

    class Pairs:
        async def judge_group(self, rows):
            return []

    with pytest.raises(ConfigurationError, match="compares whole groups"):
        load_environment(tasks, tools=tools, reward=Pairs())


def test_a_reward_of_another_dataset_is_no_reward(tasks, tools):
    spec = load_environment(tasks, tools=tools, reward=one)
    with pytest.raises(ConfigurationError, match="no task of this environment"):
        spec.reward_funcs[0](prompts=["Hello"], completions=["Hi"], task_id=["sc-other"])


def test_a_transcript_that_is_none(tasks, tools):
    """Whatever a policy writes, its row has a status and the batch goes on."""
    seen = []
    spec = load_environment(tasks, tools=tools, reward=lambda row: seen.append(row) or 1.0)
    broken = [{"role": "assistant", "tool_calls": [{"function": {"arguments": {}}}]}]
    assert judged(spec, completion=broken) == [None]
    assert not seen
    for completion in (None, "", [], [{}], [{"role": "tool", "content": "x"}], "\ud800", ["x"], {"content": "Hi"}):
        assert judged(spec, completion=completion) in ([1.0], [None])
    written = {"name": "get_order", "arguments": "no json"}
    said = [
        {"role": "assistant", "content": "a", "tool_calls": [{"type": "function", "function": written}]},
        {"role": "tool", "name": "get_order", "content": "{'error': 'x'}"},
        {"role": "assistant", "content": "<think>no</think>Done."},
    ]
    assert judged(spec, completion=said) == [1.0]
    row = seen[-1]
    assert row["steps"][1]["malformed"] is True
    assert (row["final_text"], row["state_changes"], row["finish_reason"]) == ("Done.", [], "stop")
    # A tool nobody has is answered by the trainer, in its own words.
    said[0]["tool_calls"][0]["function"] = {"name": "fly", "arguments": {}}
    assert judged(spec, completion=said) == [1.0]
    assert seen[-1]["steps"][1]["result"] == {"status": "unknown_tool", "error": "{'error': 'x'}"}
    assert seen[-1]["state_digest"] is not None  # the world is as it was, and that is known


def test_a_completion_that_ran_out_of_room(tasks, tools):
    class Trainer:
        def __init__(self):
            self.eos_token_ids = [7]

        def log_metric(self, name, value):
            pass

    seen = []
    spec = load_environment(tasks, tools=tools, reward=lambda row: seen.append(row["finish_reason"]) or 1.0)
    for ids in ([1, 7], [1, 2], []):
        judged(spec, completion_ids=[ids], log_metric=Trainer().log_metric)
    judged(spec, completion_ids=[[1, 2]], log_metric=print)
    assert seen == ["stop", "length", "stop", "stop"]


def test_answers_of_another_world_are_no_state(tasks, tools):
    seen = []
    spec = load_environment(tasks, tools=tools, reward=lambda row: seen.append(row) or 1.0)
    call = {"type": "function", "function": {"name": "refund_order", "arguments": {"order_id": "ORD-7"}}}
    said = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "refund_order", "content": '{"status": "somewhere else"}'},
        {"role": "assistant", "content": "Done."},
    ]
    judged(spec, completion=said)
    assert seen[0]["steps"][0]["result"] == {"status": "somewhere else"}
    assert (seen[0]["state_digest"], seen[0]["state_changes"], seen[0]["faults_fired"]) == (None, None, [])


def test_rewards_can_be_sent_to_another_process(tasks, tools):
    spec = load_environment(tasks, tools=tools, reward=[ExactMatch(field="privileged.reference")])
    again = pickle.loads(pickle.dumps(spec.reward_funcs[0]))
    row = spec.train_dataset[0]
    secret = tasks[0]["privileged"]["reference"]
    assert again(prompts=[row["prompt"]], completions=[secret], task_id=[row["task_id"]]) == [1.0]


def test_a_rubric_of_the_agent_s_reaches_its_judge(tasks, tools):
    seen = []
    agent = AgentSpec.from_tools(tools, "Be kind.", rubric="Kindness counts.")
    spec = load_environment(tasks, tools=agent, reward=lambda row: seen.append(row) or 1.0)
    judged(spec)
    assert seen[0]["privileged"]["rubric"] == "Kindness counts."
    assert seen[0]["messages"][0] == {"role": "system", "content": "Be kind."}


def test_a_further_judge_sees_what_the_others_see(tasks, tools):
    seen = []
    spec = load_environment(tasks, tools=tools, reward=one)
    gold = spec.as_reward(lambda row: seen.append(row) or 0.5, name="gold")
    row = spec.train_dataset[0]
    assert gold(prompts=[row["prompt"]], completions=["Hi"], task_id=[row["task_id"]]) == [0.5]
    assert (gold.__name__, seen[0]["privileged"]) == ("gold", tasks[0]["privileged"])
    assert spec.as_reward(one).__name__ == "one"
    assert [reward.__name__ for reward in spec.reward_funcs] == ["one"]

    def own(prompts, completions, **columns):
        return [0.0] * len(prompts)

    with pytest.raises(ConfigurationError, match="with its own"):
        spec.as_reward(own, name="gold")


def test_a_repo_with_a_held_out_split(tasks, tools, monkeypatch):
    parts = split(tasks, holdout=0.3)
    monkeypatch.setattr("whileai_hf.export.environment.loading.load_dataset", {"me/desk": parts}.__getitem__)
    spec = load_environment("me/desk", tools=tools, reward=one)
    assert spec.train_dataset["scenario_id"][:] == parts["train"]["scenario_id"][:]
    assert spec.eval_dataset["scenario_id"][:] == parts["holdout"]["scenario_id"][:]


def test_trainer_kwargs(tasks, tools):
    spec = load_environment(tasks, tools=tools, reward=one, holdout=0.3)
    kwargs = spec.trainer_kwargs(model="m")
    assert sorted(kwargs) == ["environment_factory", "eval_dataset", "model", "reward_funcs", "train_dataset"]
    kwargs["reward_funcs"].append(len)
    assert spec.reward_funcs != kwargs["reward_funcs"]
    rollout = spec.trainer_kwargs(rollout=True)
    assert sorted(rollout) == ["eval_dataset", "reward_funcs", "rollout_func", "train_dataset"]
    for name in ("train_dataset", "eval_dataset"):
        assert rollout[name]["prompt"][0][-1]["task_id"] == rollout[name]["task_id"][0]
        assert "task_id" not in kwargs[name]["prompt"][0][-1]
        assert isinstance(rollout[name].features["prompt"], List)
        assert rollout[name].remove_columns("prompt").to_list() == kwargs[name].remove_columns("prompt").to_list()
    for name in ("reward_funcs", "tools", "environment_factory", "rollout_func", "train_dataset"):
        with pytest.raises(ConfigurationError, match="which the environment answers for"):
            spec.trainer_kwargs(**{name: []})
    without = load_environment(tasks, tools=[], reward=one)
    assert "environment_factory" not in without.trainer_kwargs()


def test_knobs(tasks, tools):
    assert load_environment(tasks, tools=tools, config=EnvironmentConfig(seed=4)).config.seed == 4
    with pytest.raises(ConfigurationError, match="did you mean 'max_turns'"):
        load_environment(tasks, tools=tools, max_turn=3)
    for wrong in ({"avg_turns": 0}, {"max_turns": 1.5}, {"seed": "x"}, {"execute": 3}):
        with pytest.raises(ConfigurationError):
            EnvironmentConfig(**wrong)
    with pytest.raises(ConfigurationError, match="pass text"):
        load_environment(tasks, tools=tools, system_prompt=3)


def test_a_task_without_a_seed_takes_the_environment_s(tools):
    rows = Dataset.from_list([{"prompt": "Where is ORD-7?", "scenario_id": "sc-1"}])
    told = []
    for seed in (0, 1):
        environment = load_environment(rows, tools=tools, seed=seed).environment_factory()
        environment.reset(**scrub(rows[0]))
        told.append(environment.get_order(order_id="ORD-7"))
    assert told[0] != told[1]


def test_scripted_users_need_the_rollout_function(tools):
    rows = [{"prompt": "Hi", "script": [{"user": "Bye"}]}, {"prompt": "Hello", "script": [{"expect": {"tool": "x"}}]}]
    spec = load_environment(rows, tools=tools, reward=one)
    with pytest.raises(ConfigurationError, match="1 of 2 tasks have further user turns"):
        spec.trainer_kwargs()
    assert "rollout_func" in spec.trainer_kwargs(rollout=True)


def test_tools_read_from_local_functions(tasks):
    def look(order_id: str) -> str:
        """Look.

        Args:
            order_id: The order.
        """
        return order_id

    spec = load_environment(tasks, tools=[look], reward=ExactMatch())
    pickle.loads(pickle.dumps((spec.environment_factory, spec.reward_funcs)))


def test_torch_is_not_needed_before_a_trainer_is_there(tools):
    code = (
        "import sys\n"
        "from whileai_hf.export.environment import load_environment\n"
        f"spec = load_environment(['Where is ORD-7?'], tools={tools!r}, reward=lambda row: 1.0)\n"
        "environment = spec.environment_factory()\n"
        "environment.reset(**spec.train_dataset[0])\n"
        "environment.get_order(order_id='ORD-7')\n"
        "spec.trainer_kwargs(), spec.trainer_kwargs(rollout=True)\n"
        "assert not {'torch', 'transformers', 'trl'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
