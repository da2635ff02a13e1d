"""A package in a trainer of TRL: the same tasks, world and reward as were exported."""

import sys

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.package import export_environment, load_package, trainer_environment


WORLD = """
def answer(tool, arguments):
    return {"status": "ok", "tool": tool, **arguments}


def judge(row):
    return {"reward": float(row["steps"][0]["result"]["tool"] == "get_order"), "markers": {"calls": len(row["steps"])}}
"""


@pytest.fixture
def package(graded, tmp_path):
    export_environment(graded, tmp_path / "desk", band=None, max_turns=7)
    yield load_package(tmp_path / "desk")
    for name in ("desk", "desk.world"):
        sys.modules.pop(name, None)


def test_tasks_and_tools(package, tasks, tools, policy):
    spec = trainer_environment(package)
    assert len(spec.train_dataset) == len(package.lines("train"))
    assert len(spec.eval_dataset) == len(package.lines("holdout"))
    asked = {row["scenario_id"]: row["prompt"] for row in spec.train_dataset}
    for task in tasks:
        if task["scenario_id"] in asked:
            assert asked[task["scenario_id"]] == [
                {"role": "system", "content": policy},
                {"role": "user", "content": task["prompt"]},
            ]
    assert spec.agents[0].openai_tools() == package.spec["tools"]
    assert spec.config.max_turns == 7


def test_judged_as_before(package, graded):
    """What an agent earned when the rows were graded it earns in the trainer."""
    spec = trainer_environment(package)
    rewards = {(row["scenario_id"], row["final_text"]): row["reward"] for row in graded}
    judged = 0
    for row in spec.train_dataset:
        for (scenario, text), reward in rewards.items():
            if scenario == row["scenario_id"]:
                said = [{"role": "assistant", "content": text}]
                cells = {"task_id": [row["task_id"]], "seed": [row["seed"]]}
                assert spec.reward_funcs[0](prompts=[row["prompt"]], completions=[said], **cells) == [reward]
                judged += 1
    assert judged >= len(spec.train_dataset)


def test_a_world_of_the_packages_own(tasks, tools, tmp_path):
    (tmp_path / "world.py").write_text(WORLD)
    report = export_environment(
        tasks,
        tmp_path / "desk",
        tools=tools,
        world="world:answer",
        reward="world:judge",
        include=[tmp_path / "world.py"],
    )
    assert (report.world, report.reward) == ("desk.world:answer", "desk.world:judge")
    try:
        spec = trainer_environment(load_package(tmp_path / "desk"))
        environment = spec.environment_factory()
        row = spec.train_dataset[0]
        environment.reset(**row)
        told = environment.get_order(order_id="ORD-1")
        assert '"tool":"get_order"' in told and '"order_id":"ORD-1"' in told
    finally:
        for name in ("desk", "desk.world"):
            sys.modules.pop(name, None)


def test_a_name_that_is_imported_already(package, graded, tmp_path):
    package.imported()
    export_environment(graded, tmp_path / "other" / "desk", band=None, max_turns=3)
    with pytest.raises(ConfigurationError, match="another module of that name"):
        trainer_environment(load_package(tmp_path / "other" / "desk"))
    assert package.imported() is sys.modules["desk"]


def test_a_reward_that_is_gone(package, tmp_path):
    spec = tmp_path / "desk" / "desk" / "spec.json"
    spec.write_text(spec.read_text().replace("whileai_hf.score.conduct:task_checklist", "rewards_of_my_laptop:judge"))
    with pytest.raises(ConfigurationError, match=r"cannot be imported in this process .*include="):
        trainer_environment(load_package(tmp_path / "desk"))
