"""What an exported environment consists of, and what is kept out of it."""

import json
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter

import pytest
from datasets import DatasetDict

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export.package import export_environment, load_package, reading
from whileai_hf.spec import AgentSpec


def lines_of(folder, split, module="desk"):
    text = (folder / module / "data" / f"{split}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def rollouts():
    """Eight tasks: two always solved, two never, four in between; no two asks alike."""
    asks = [f"Please look up order number ORD-{n}{n}{n} for me today" for n in range(8)]
    solved = [
        (1, 1, 1, 1),
        (1, 1, 1, 1),
        (0, 0, 0, 0),
        (0, 0, 0, 0),
        (1, 0, 0, 0),
        (1, 1, 0, 0),
        (0, 1, 1, 1),
        (0, 1, 1, 0),
    ]
    return [
        {
            "scenario_id": f"sc-{place}",
            "prompt": ask,
            "messages": [{"role": "user", "content": ask}, {"role": "assistant", "content": f"Reply {n}"}],
            "final_text": f"Reply {n}",
            "reward": float(reward),
        }
        for place, (ask, rewards) in enumerate(zip(asks, solved, strict=True))
        for n, reward in enumerate(rewards)
    ]


def test_files(graded, tools, policy, tmp_path):
    report = export_environment(graded, tmp_path / "desk", band=None)
    folder = tmp_path / "desk"
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    assert project["project"]["name"] == "desk"
    assert "verifiers>=0.4,<0.5" in project["project"]["dependencies"]
    assert project["tool"]["hatch"]["build"]["ignore-vcs"] is True
    spec = json.loads((folder / "desk" / "spec.json").read_text())
    assert spec["schema"] == "whileai-hf/environment-1"
    assert spec["tools"] == AgentSpec.from_tools(tools).openai_tools()
    assert spec["tools"][1]["function"]["parameters"] == tools[1]["parameters"]
    assert spec["system_prompt"] == policy
    assert (spec["reward"], spec["world"]) == ("whileai_hf.score.conduct:task_checklist", None)
    readme = (folder / "README.md").read_text()
    assert (
        "--no-push" in readme and '-a \'{"split": "holdout"}\'' in readme and "--env.taskset.split holdout" in readme
    )
    assert report.n_train == len(lines_of(folder, "train")) and report.n_holdout == len(lines_of(folder, "holdout"))
    compile((folder / "desk" / "__init__.py").read_text(), "__init__.py", "exec")


def test_lines_hold_the_task_and_hide_the_key(graded, tasks, tmp_path):
    export_environment(graded, tmp_path / "desk", band=None)
    lines = [line for split in ("train", "holdout") for line in lines_of(tmp_path / "desk", split)]
    by_id = {line["scenario_id"]: line for line in lines}
    assert len(lines) == len(by_id) == len(tasks)
    for task in tasks:
        line = by_id[task["scenario_id"]]
        assert line["prompt"] == task["prompt"]
        assert line["info"]["privileged"] == task["privileged"]
        assert line["info"].get("faults") == task["faults"]
        assert line["info"]["seed"] == task["seed"]
        assert line["info"]["calibration"]["n"] == 4
        assert set(line) == {"task_id", "scenario_id", "prompt", "info"}
        assert not [text for text in task["privileged"].values() if text in line["prompt"]]


def test_the_gate_drops_what_has_no_advantage(rollouts, tools, tmp_path):
    report = export_environment(rollouts, tmp_path / "desk", tools=tools, holdout=0)
    assert report.dropped == {
        "ungraded": 0, "too_easy": 2, "too_hard": 2, "unanimous": 0, "in_both": 0, "near_copy": 0,
    }  # fmt: skip
    assert (report.n_train, report.n_holdout, report.graded_mixed) == (4, 0, 4)
    narrow = export_environment(rollouts, tmp_path / "desk", tools=tools, holdout=0, band=(0.4, 0.6), overwrite=True)
    assert (narrow.n_train, narrow.dropped["too_easy"], narrow.dropped["too_hard"]) == (2, 3, 3)
    every = export_environment(rollouts, tmp_path / "all", tools=tools, holdout=0, band=None)
    assert every.n_train == 8


def test_unjudged_rollouts_are_no_failures(rollouts, tools, tmp_path):
    for row in rollouts[16:20]:  # one reward of four is known, and it is a pass
        row["reward"] = row["reward"] or None
    report = export_environment(rollouts, tmp_path / "desk", tools=tools, holdout=0)
    line = next(line for line in lines_of(tmp_path / "desk", "train") if line["scenario_id"] == "sc-4")
    assert line["info"]["calibration"] | {"task_id": "sc-4"} == {
        "task_id": "sc-4", "n": 1, "pass_rate": 1.0, "mean_reward": 1.0,
    }  # fmt: skip
    assert any("played once" in warning for warning in report.warnings)


@pytest.mark.parametrize("share", (0.01, 0.2, 0.5, 0.99))
@pytest.mark.parametrize("seed", range(4))
def test_a_holdout_is_never_empty(rollouts, tools, tmp_path, share, seed):
    report = export_environment(
        rollouts, tmp_path / "desk", tools=tools, holdout=share, seed=seed, overwrite=True, band=None
    )
    train, held = (lines_of(tmp_path / "desk", split) for split in ("train", "holdout"))
    assert train and held
    assert not {line["task_id"] for line in train} & {line["task_id"] for line in held}
    assert len(train) + len(held) + report.dropped["near_copy"] == 8


def test_a_task_in_both_is_dropped_from_train(rollouts, tools, tmp_path):
    held = [row for row in rollouts if row["scenario_id"] in ("sc-4", "sc-0")]
    report = export_environment(rollouts, tmp_path / "desk", tools=tools, holdout=held)
    assert (report.dropped["in_both"], report.n_train, report.n_holdout) == (1, 3, 2)
    assert not {"sc-4", "sc-0"} & {line["scenario_id"] for line in lines_of(tmp_path / "desk", "train")}


def test_a_copy_under_another_name_is_dropped_from_train(rollouts, tools, tmp_path):
    copy = {**rollouts[20], "scenario_id": "other", "prompt": rollouts[20]["prompt"].upper() + "!"}
    report = export_environment(rollouts, tmp_path / "desk", tools=tools, holdout=[copy])
    assert (report.dropped["near_copy"], report.dropped["in_both"]) == (1, 0)
    assert "sc-5" not in {line["scenario_id"] for line in lines_of(tmp_path / "desk", "train")}


def test_splits_of_a_source_are_kept(rollouts, tools, tmp_path):
    from whileai_hf.rows import to_dataset

    parts = DatasetDict(train=to_dataset(rollouts[16:28]), test=to_dataset(rollouts[28:]))
    report = export_environment(parts, tmp_path / "desk", tools=tools)
    assert (report.n_train, report.n_holdout) == (3, 1)


def test_wordings_of_one_situation_stay_together_and_apart(tools, tmp_path):
    tasks = [
        {"scenario_id": f"sc-{n}", "phrasing": p, "prompt": f"{'Find' if p else 'Show'} me number {n}"}
        for n in range(10)
        for p in range(2)
    ]
    export_environment(tasks, tmp_path / "desk", tools=tools, holdout=0.3)
    train, held = (lines_of(tmp_path / "desk", split) for split in ("train", "holdout"))
    assert len({line["task_id"] for line in train + held}) == 20
    assert not {line["scenario_id"] for line in train} & {line["scenario_id"] for line in held}
    assert set(Counter(line["scenario_id"] for line in train + held).values()) == {2}


def test_a_twin_goes_where_its_original_goes(tools, tmp_path):
    tasks = [{"scenario_id": f"sc-{n}", "prompt": f"Find number {n} in the books"} for n in range(12)]
    tasks += [{**task, "scenario_id": f"twin-{task['scenario_id']}", "twin_of": task["scenario_id"]} for task in tasks]
    export_environment(tasks, tmp_path / "desk", tools=tools, holdout=0.4)
    for split in ("train", "holdout"):
        names = {line["scenario_id"] for line in lines_of(tmp_path / "desk", split)}
        assert names and all(f"twin-{name}" in names for name in names if not name.startswith("twin-"))


def test_gold_is_a_rollout_that_passed(rollouts, tools, tmp_path):
    export_environment(rollouts, tmp_path / "desk", tools=tools, holdout=0)
    golds = {line["scenario_id"]: line["info"]["gold"] for line in lines_of(tmp_path / "desk", "train")}
    assert golds["sc-6"] == [{"role": "assistant", "content": "Reply 1"}]


def test_tasks_nobody_played(tasks, tools, policy, tmp_path):
    report = export_environment(tasks, tmp_path / "desk", tools=tools, system_prompt=policy)
    assert report.graded_mixed is None and report.band is None
    assert any("difficulty was not measured" in warning for warning in report.warnings)


def test_bare_tasks_are_warned_about(rollouts, tools, tmp_path):
    report = export_environment(rollouts, tmp_path / "desk", tools=tools, holdout=0)
    assert any("4 of 4 tasks say nothing of their situation" in warning for warning in report.warnings)
    other = export_environment(
        rollouts, tmp_path / "other", tools=tools, holdout=0, reward="whileai_hf.score.conduct:conduct_grade"
    )
    assert not other.warnings
    assert "Tasks say nothing" not in (tmp_path / "other" / "README.md").read_text()


def test_same_rows_same_files(rollouts, tools, tmp_path):
    for name in ("a", "b"):
        export_environment(rollouts, tmp_path / name / "desk", tools=tools)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 6
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_wheel_holds_the_tasks(rollouts, tools, tmp_path):
    folder = tmp_path / "repo" / "desk"
    export_environment(rollouts, folder, tools=tools)
    (tmp_path / "repo" / ".gitignore").write_text("*.jsonl\ndata/\n")
    subprocess.run(["git", "init", "-q", tmp_path / "repo"], check=True)
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=folder, capture_output=True
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = (folder / "dist").glob("desk-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("__init__.py", "spec.json", "data/train.jsonl", "data/holdout.jsonl"):
        assert f"desk/{name}" in names


def test_opened_again(graded, tools, tmp_path):
    export_environment(graded, tmp_path / "desk", band=None, max_turns=5)
    for path in (tmp_path / "desk", tmp_path / "desk" / "desk"):
        package = load_package(path)
        assert (package.name, package.module, package.max_turns) == ("desk", "desk", 5)
        assert package.agent.names == ("get_order", "refund-order")
        assert len(package.lines("train")) + len(package.lines("holdout")) == 24
    with pytest.raises(ConfigurationError, match="split='dev'"):
        package.lines("dev")


def test_hints_about_tools_come_along(rollouts, tools, tmp_path):
    noted = [{"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]
    export_environment(rollouts, tmp_path / "desk", tools=noted, holdout=0)
    assert load_package(tmp_path / "desk").agent.tools[0].annotations == {"readOnlyHint": True}


def test_opened_from_the_hub(rollouts, tools, tmp_path, monkeypatch):
    export_environment(rollouts, tmp_path / "desk", tools=tools)
    asked = []
    monkeypatch.setattr(
        reading, "snapshot_download", lambda repo, **knobs: asked.append(repo) or str(tmp_path / "desk")
    )
    assert load_package("someone/desk").name == "desk"
    assert asked == ["someone/desk"]


def test_rows_of_two_agents(rollouts, tools, tmp_path):
    mixed = [
        {**row, "tools": AgentSpec.from_tools(tools[: 1 + (row["scenario_id"] > "sc-5")]).openai_tools()}
        for row in rollouts
    ]
    with pytest.raises(DataError, match="2 agents"):
        export_environment(mixed, tmp_path / "desk")
    assert not (tmp_path / "desk").exists()
