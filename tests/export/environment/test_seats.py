"""A judge sees the world and the task whatever it is wrapped in, or is refused."""

import asyncio
import functools
import inspect
import json

import pytest

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment import load_environment
from whileai_hf.export.package import export_environment, load_package, trainer_environment
from whileai_hf.score.conduct import task_checklist
from whileai_hf.score.verify import Includes
from whileai_hf.score.verify.reward import as_reward, rows_of


@pytest.fixture(scope="module")
def desk():
    """Tasks with faults, hidden references and an answer, and their tools."""
    tools = [
        {"name": name, "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}
        for name in ("get-order", "refund-order")
    ]
    tasks = wai.situations(tools=tools, system_prompt="Look before you refund.", n=12, seed=5, fault_rate=1.0)
    return tools, [{**task, "answer": task["privileged"]["reference"]} for task in tasks]


def batch(spec):
    """Every training task once, played in its world, in the columns the trainer hands to a reward function."""
    rows = list(spec.train_dataset)
    completions = []
    for row in rows:
        environment = spec.environment_factory()
        environment.reset(**row)
        said = []
        for tool in ("get_order", "refund_order"):
            arguments = {"order_id": "ORD-7"}
            call = {"type": "function", "function": {"name": tool, "arguments": arguments}}
            said.append({"role": "assistant", "content": "", "tool_calls": [call]})
            said.append({"role": "tool", "name": tool, "content": getattr(environment, tool)(**arguments)})
        completions.append([*said, {"role": "assistant", "content": "I have refunded ORD-7, as you asked."}])
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
    return {"prompts": [row["prompt"] for row in rows], "completions": completions, **columns}


def paid(desk, reward):
    tools, tasks = desk
    spec = load_environment(tasks, tools=tools, reward=reward)
    (function,) = spec.reward_funcs
    rewards = function(**batch(spec))
    return asyncio.run(rewards) if inspect.isawaitable(rewards) else rewards


def looks(seen):
    def judge(row):
        seen.append(row)
        return float(any(step.get("tool") == "refund-order" for step in row["steps"]))

    return judge


def looks_later(seen):
    inner = looks(seen)

    async def judge(row):
        return inner(row)

    return judge


@pytest.mark.parametrize("make", (looks, looks_later))
def test_a_wrapped_judge_sees_the_same_rows(desk, make):
    rows, rewards = [], []
    for wrap in (lambda judge: judge, as_reward, functools.partial(as_reward, name="other", concurrency=2)):
        seen = []
        rewards.append(paid(desk, wrap(make(seen))))
        rows.append(sorted(seen, key=lambda row: row["scenario_id"]))
    assert rows[0] == rows[1] == rows[2] and rewards[0] == rewards[1] == rewards[2]
    # It is the world's row, not the transcript: own names of the tools, the hidden task, what became of the world.
    assert set(rewards[0]) == {1.0}
    assert all(row["privileged"]["reference"] == row["answer"] for row in rows[1])
    assert all(row["state_digest"] for row in rows[1]) and any(row["faults_fired"] for row in rows[1])


@pytest.mark.parametrize("judge", (Includes(field="privileged.reference"), Includes(field="answer"), task_checklist))
def test_a_wrapped_verifier_pays_the_same(desk, judge):
    bare = paid(desk, judge)
    assert None not in bare
    assert paid(desk, as_reward(judge)) == bare
    if isinstance(judge, Includes):
        assert paid(desk, judge.as_reward()) == bare


def test_the_same_of_a_judge_of_another_environment(desk):
    """What `spec.as_reward` made for one environment is a judge of the next one."""
    tools, tasks = desk
    seen = []
    elsewhere = load_environment([{"prompt": "Hi"}], tools=tools).as_reward(looks(seen), name="gold")
    assert paid(desk, elsewhere) == [1.0] * len(tasks)
    assert len(seen) == len(tasks)


def recorded(tmp_path):
    return wai.RolloutRecorder(tmp_path).wrap


class Timed:
    """A decorator that is a class."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, prompts, completions, **columns):
        return self.function(prompts=prompts, completions=completions, **columns)


@pytest.mark.parametrize("wrap", ("recorder", "partial", "both", "decorator", "class", "method", "judge", "monitor"))
def test_something_around_it_that_hides_it(desk, tmp_path, wrap):
    def decorator(function):
        @functools.wraps(function)
        def called(prompts, completions, **columns):
            return function(prompts=prompts, completions=completions, **columns)

        return called

    def kind(row):
        return 1.0

    reward = as_reward(kind)
    recorder = recorded(tmp_path)
    made = {
        "recorder": lambda: recorder(reward),
        "partial": lambda: functools.partial(reward, limit=3),
        "both": lambda: functools.partial(recorder(reward), limit=3),
        "decorator": lambda: decorator(decorator(reward)),
        "class": lambda: Timed(reward),
        "method": lambda: reward.__call__,
        "judge": lambda: recorder(kind),
        "monitor": lambda: wai.HackMonitor(holdout=["Where is it?"]).wrap(kind),
    }[wrap]()
    with pytest.raises(
        ConfigurationError, match=r"reward='kind' is a judge with something around it.*spec\.reward_funcs"
    ):
        paid(desk, made)


def test_rows_of_its_own(desk):
    def rows(prompts, completions, columns):
        return rows_of(prompts, completions, columns)

    with pytest.raises(ConfigurationError, match=r"reward='kind' was made by as_reward\(\.\.\., rows=\)"):
        paid(desk, as_reward(lambda row: 1.0, name="kind", rows=rows))


def test_a_judge_that_a_decorator_keeps_a_judge_is_fine(desk):
    def timed(function):
        @functools.wraps(function)
        def called(*arguments, **named):
            return function(*arguments, **named)

        return called

    seen = []
    assert paid(desk, timed(looks(seen))) == paid(desk, functools.partial(looks(seen))) == [1.0] * len(desk[1])
    assert all(row["privileged"]["reference"] for row in seen)


def test_what_is_recorded_around_the_environment_s_own_is_fine(desk, tmp_path):
    tools, tasks = desk
    spec = load_environment(tasks, tools=tools, reward=lambda row: float(row["state_digest"] is not None))
    again = load_environment(tasks, tools=tools, reward=recorded(tmp_path)(spec.reward_funcs[0]))
    assert again.reward_funcs[0](**batch(again)) == [1.0] * len(tasks)


def test_a_reward_function_of_the_trainer_s_shape_stays_as_it_is(desk, tmp_path):
    def own(prompts, completions, answer, **columns):
        return [float(len(text)) for text in answer]

    tools, tasks = desk
    function = recorded(tmp_path)(own)
    spec = load_environment(tasks, tools=tools, reward=function)
    assert spec.reward_funcs == [function]
    assert spec.reward_funcs[0](**batch(spec)) == [float(len(task["answer"])) for task in tasks]


def test_a_package_that_names_one(desk, tmp_path):
    """In a package the judge inside is named and graded with, wherever it is played."""
    tools, tasks = desk
    (tmp_path / "rewards.py").write_text(
        "from whileai_hf.score.verify import Includes\nJUDGE = Includes(field='answer')\nREWARD = JUDGE.as_reward()\n"
    )
    export_environment(
        tasks, tmp_path / "named-desk", tools=tools, reward="rewards:REWARD", include=[tmp_path / "rewards.py"]
    )
    package = load_package(tmp_path / "named-desk")
    reward = package.reward()
    assert reward({"final_text": "It shipped.", "answer": "shipped"})["reward"] == 1.0
    spec = trainer_environment(package)
    assert spec.reward_funcs[0](**batch(spec)) == [0.0] * len(spec.train_dataset)
    assert json.loads((package.folder / "spec.json").read_text())["reward"] == "named_desk.rewards:REWARD"
