import json

import pytest


REWARDS = """
def accuracy(completions, answer, **kwargs):
    return [float(c[-1]["content"].strip() == a) for c, a in zip(completions, answer)]


def length(completions, **kwargs):
    return [len(c[-1]["content"]) / 100 for c in completions]


def needs_sql(completions, sql, **kwargs):
    return [0.0 for _ in completions]


both = [accuracy, length]
not_callable = 3
"""


@pytest.fixture
def rewards(workdir, monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "cli_rewards", raising=False)
    (workdir / "cli_rewards.py").write_text(REWARDS)
    return workdir


def _names(out):
    return [function["name"] for function in json.loads(out)["functions"]]


def test_a_sound_reward_exits_0(run, rewards):
    status, out, err = run("check-reward", "cli_rewards:accuracy")
    assert status == 0, err
    assert "reward check: ok" in out
    assert "must not pay" in out


def test_a_reward_that_pays_for_nothing_exits_1(run, rewards):
    status, out, _ = run("check-reward", "cli_rewards.py:length", "--json")
    assert status == 1
    report = json.loads(out)
    assert report["ok"] is False
    assert {"exploitable", "length"} <= {item["kind"] for item in report["findings"] if item["severity"] == "error"}


def test_several_rewards_are_summed(run, rewards):
    status, out, _ = run("check-reward", "cli_rewards:accuracy", "cli_rewards:length", "--json")
    assert status == 1
    assert _names(out) == ["accuracy", "length", "total"]
    assert _names(run("check-reward", "cli_rewards:both", "--json")[1]) == ["accuracy", "length", "total"]
    # Weighted down, length adds nothing that a right answer would not earn more of.
    weights = ["--weights", "1", "0.001"]
    assert run("check-reward", "cli_rewards:accuracy", "cli_rewards:length", *weights)[0] == 0


def test_data_and_yaml(run, rewards):
    rows = [{"prompt": f"What is {n} + {n}?", "value": str(n + n)} for n in range(20)]
    (rewards / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (rewards / "check.yaml").write_text("reward_funcs: [cli_rewards:length]\ndata: train.jsonl\ngold: value\nn: 3\n")
    status, out, err = run("check-reward", "--config", "check.yaml", "--json")
    assert status == 1, err
    assert json.loads(out)["n_tasks"] == 3


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["cli_rewards:nothing"], "has no 'nothing'"),
        (["cli_rewards:not_callable"], "cannot be called"),
        (["cli_rewards:needs_sql"], "needs_sql needs the column 'sql'"),
        (["cli_rewards:accuracy", "--data", "nowhere.jsonl"], "nowhere.jsonl"),
        (["cli_rewards:accuracy", "--n", "0"], "n=0"),
        (["cli_rewards:accuracy", "--weights", "1", "2"], "2 weights for 1"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(run, rewards, argv, message):
    status, _, err = run("check-reward", *argv)
    assert status == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_no_function_at_all_is_wrong_usage(run, rewards):
    assert run("check-reward")[0] == 2
