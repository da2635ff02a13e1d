"""What cannot be exported is refused in one sentence, and nothing is written."""

import functools
import json
import sys

import pytest

from whileai_hf.errors import ConfigurationError, DataError, SourceNotFoundError
from whileai_hf.export.package import export_environment, load_package, load_reference
from whileai_hf.export.package.naming import package_name
from whileai_hf.score.verify import ExactMatch


TASKS = [{"prompt": f"Tell me about number {n}", "answer": str(n)} for n in range(6)]


def graded_by_me(row):
    return 1.0


IN_THIS_MODULE = ExactMatch()


@pytest.fixture
def export(tmp_path, tools):
    def run(data=TASKS, **knobs):
        return export_environment(data, tmp_path / "desk", **{"tools": tools, **knobs})

    yield run
    assert not list(tmp_path.glob(".desk*"))


def local():
    def inner(row):
        return 1.0

    return inner


@pytest.mark.parametrize(
    ("reward", "reason"),
    [
        (lambda row: 1.0, "lambda"),
        (local(), r"inside local\(\)"),
        (functools.partial(graded_by_me), "partial"),
        (ExactMatch(), "ExactMatch object that no module holds"),
        ("no_such_module_of_anyone:judge", "No module named"),
        ("whileai_hf.score.conduct:no_such_judge", "no_such_judge"),
        ("whileai_hf.score.conduct", "module:attr"),
        ("openai:gpt-x", "module:attr"),
        ("whileai_hf.score.conduct:__all__", "cannot be called"),
        ("whileai_hf.score.verify:Regex", "needs arguments"),
        (3, "not callable"),
    ],
)
def test_rewards_nobody_else_can_import(export, tmp_path, reward, reason):
    with pytest.raises(ConfigurationError, match=reason):
        export(reward=reward)
    assert not (tmp_path / "desk").exists()


def test_rewards_of_a_script(export, monkeypatch):
    monkeypatch.setattr(graded_by_me, "__module__", "__main__")
    with pytest.raises(ConfigurationError, match="script or notebook"):
        export(reward=graded_by_me)


def test_a_reward_by_file_goes_along(export, tmp_path):
    (tmp_path / "rewards.py").write_text("def judge(row):\n    return {'reward': 0.5}\n")
    report = export(reward="rewards:judge", include=[tmp_path / "rewards.py"])
    assert report.reward == "desk.rewards:judge"
    package = load_package(tmp_path / "desk")
    try:
        assert package.reward()({}) == {"reward": 0.5}
        assert load_reference("desk.rewards:judge")({}) == {"reward": 0.5}
    finally:
        sys.modules.pop("desk"), sys.modules.pop("desk.rewards")


@pytest.mark.parametrize(("include", "reason"), [(["no.py"], "no Python file"), ("rewards.py", "no list")])
def test_included_files(export, include, reason):
    with pytest.raises(ConfigurationError, match=reason):
        export(include=include)


def test_two_files_of_one_name(export, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rewards.py").write_text("")
    files = [tmp_path / "a" / "rewards.py", tmp_path / "b" / "rewards.py"]
    with pytest.raises(ConfigurationError, match="another file has"):
        export(include=files)
    assert export(include=[files[0], files[0]]).name == "desk"


def test_a_reference_to_nothing_in_an_included_file(export, tmp_path):
    (tmp_path / "rewards.py").write_text("def judge(row):\n    return 1.0\n")
    with pytest.raises(ConfigurationError, match="has no 'juge'"):
        export(reward="rewards:juge", include=[tmp_path / "rewards.py"])


def test_rollouts_without_rewards(export):
    rows = [{**task, "final_text": "Hello"} for task in TASKS]
    with pytest.raises(ConfigurationError, match=r"grade them first.*band=None"):
        export(rows)
    assert export(rows, band=None).n_train > 0


def test_a_band_for_tasks_nobody_played(export):
    with pytest.raises(ConfigurationError, match="tasks nobody played"):
        export(band=(0.2, 0.8))


def test_nothing_passes_the_gate(export, tmp_path):
    rows = [{**task, "final_text": f"{n}", "reward": 1.0} for task in TASKS for n in range(3)]
    with pytest.raises(DataError, match=r"drops all 6 tasks \(6 too easy\)"):
        export(rows)
    rows = [{**task, "final_text": f"{n}", "reward": None} for task in TASKS for n in range(3)]
    with pytest.raises(ConfigurationError, match="without rewards"):
        export(rows)
    assert not (tmp_path / "desk").exists()


def test_a_holdout_of_everything(export):
    with pytest.raises(DataError, match=r"all 6 training tasks are in the holdout too \(6 by name"):
        export(holdout=TASKS)


def test_one_task_cannot_be_split(export):
    with pytest.raises(DataError, match="cannot be on both sides"):
        export(TASKS[:1])
    assert export(TASKS[:1], holdout=0).n_train == 1


def test_folders(export, tmp_path):
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(ConfigurationError, match="empty or a new folder"):
            export(overwrite=overwrite)
    assert (folder / "thesis.tex").read_text() == "years of work"
    (folder / "thesis.tex").unlink()
    export()
    with pytest.raises(ConfigurationError, match="overwrite=True to replace"):
        export()
    (folder / "left.over").write_text("")
    export(overwrite=True)
    assert not (folder / "left.over").exists()


def test_a_failed_export_leaves_what_was_there(export, tmp_path):
    export()
    before = {path: path.read_bytes() for path in (tmp_path / "desk").rglob("*") if path.is_file()}
    with pytest.raises(DataError):
        export(holdout=TASKS, overwrite=True)
    assert before == {path: path.read_bytes() for path in (tmp_path / "desk").rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("json", "standard library"),
        ("datasets", "installed already"),
        ("whileai-hf", "installed already"),
        ("pytest", "installed already"),
        ("openenv", "of verifiers itself"),
        ("2nd-desk", "cannot import"),
        ("class", "cannot import"),
        ("  ", "no name"),
        ("東京", "cannot import"),
    ],
)
def test_names(export, name, reason):
    with pytest.raises(ConfigurationError, match=reason):
        export(name=name)


def test_names_are_lower_case(tmp_path):
    name = package_name(tmp_path / "My Order_Desk", None)
    assert (name.distribution, name.module, name.title) == ("my-order-desk", "my_order_desk", "MyOrderDesk")


@pytest.mark.parametrize(
    "knobs",
    [
        {"holdout": 1.0},
        {"holdout": -0.1},
        {"holdout": True},
        {"holdout": float("nan")},
        {"band": (0.8, 0.2)},
        {"band": 0.5},
        {"max_turns": 0},
        {"seed": "1"},
        {"bands": (0, 1)},
    ],
)
def test_knobs(export, knobs):
    with pytest.raises(ConfigurationError):
        export(**knobs)


def test_odd_tool_names_stay_as_they_are(export, tmp_path):
    tools = [
        {"name": name, "parameters": {"type": "object", "properties": {"from": {}}}}
        for name in ("a-b", "1st", "class")
    ]
    export(tools=tools)
    spec = json.loads((tmp_path / "desk" / "desk" / "spec.json").read_text())
    assert [tool["function"]["name"] for tool in spec["tools"]] == ["a-b", "1st", "class"]


def test_asks_in_any_language_and_shape(export, tmp_path):
    asks = ["你好", "a" * 200_000, "lone \ud800 surrogate", "line\u2028separator", "tab\tand\nnewline", "{}"]
    report = export([{"prompt": ask} for ask in asks], holdout=0)
    lines = load_package(tmp_path / "desk").lines("train")
    assert report.n_train == len(lines) == len(asks)
    assert [line["prompt"] for line in lines][:2] == asks[:2] and lines[3]["prompt"] == asks[3]


@pytest.mark.parametrize("source", ("no/such/environment", "nowhere", "/nowhere/at/all", "someone/desk", "a b/c"))
def test_nothing_to_open(source):
    with pytest.raises(SourceNotFoundError, match="no exported environment"):
        load_package(source)


def test_a_broken_spec(export, tmp_path):
    export()
    spec = tmp_path / "desk" / "desk" / "spec.json"
    spec.write_text('{"schema": "whileai-hf/environment-1", "name": "desk"}')
    with pytest.raises(DataError, match="lacks system_prompt, tools"):
        load_package(tmp_path / "desk")
    spec.write_text('{"schema": "whileai-hf/environment-1"')
    with pytest.raises(DataError, match="no JSON"):
        load_package(tmp_path / "desk")
