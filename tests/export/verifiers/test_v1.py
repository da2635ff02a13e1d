"""An exported environment under verifiers 0.4: evaluated, resumed, graded again, validated, and read back."""

import json
from pathlib import Path

import pytest
from openai_server import Server

import whileai_hf as wai
from whileai_hf.export.verifiers import from_traces
from whileai_hf.score.conduct import conduct_grade


pytestmark = pytest.mark.timeout(1200)
EVAL = "verifiers.v1.cli.eval.main:main"
REPLAY = "verifiers.v1.cli.replay:main"
VALIDATE = "verifiers.v1.cli.validate:main"
QUIET = ("--no-push", "--no-rich")
# What a rollout is, whoever played it.
SAME = (
    "scenario_id", "prompt", "messages", "steps", "final_text", "finish_reason", "tools", "faults", "faults_fired",
    "state_digest", "state_changes", "world_state", "scenario_dimensions", "seed", "rollout_status",
)  # fmt: skip


def episodes_of(run):
    return [json.loads(line) for line in (Path(run) / "traces.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def policy(scripted):
    with Server(scripted[1], key="sk-desk") as server:
        yield server


@pytest.fixture(scope="module")
def broken(home, policy):
    """A run during which the judge was down for some."""
    out = home.run(
        EVAL, "order-desk-test", "--env.taskset.split", "holdout", "-m", "scripted", "--client.base-url", policy.url,
        "--client.api-key-var", "DESK_KEY", "-n", 4, "-r", 2, *QUIET, "-o", "outputs", "--run.name", "desk",
        DESK_JUDGE_DOWN="1",
    )  # fmt: skip
    assert "desk" in out
    return episodes_of(home.folder / "outputs" / "desk")


@pytest.fixture(scope="module")
def run(home, broken):
    """The same run, resumed when the judge was up again."""
    folder = home.folder / "outputs" / "desk"
    home.run(EVAL, "@", folder / "configs" / "resolved" / "eval.json", "--resume")
    return folder


def test_a_judge_that_is_down_fails_its_rollouts(broken):
    """The command ends well either way, so the record has to tell."""
    assert len(broken) == 8
    odd = [len(episode["task"]["data"]["prompt"]) % 2 for episode in broken]
    assert 0 < sum(odd) < 8
    for episode, down in zip(broken, odd, strict=True):
        (trace,) = episode["traces"]
        assert episode["ok"] is not bool(down)
        assert (
            (trace.get("rewards") or {}).get("reward") is None if down else trace["rewards"]["reward"]["weight"] == 1
        )
        assert trace["metrics"]["judge_ok"] == float(not down)
        if down:
            assert "the judge is down" in trace["errors"][-1]["message"]


def test_resuming_heals_them(run):
    episodes = episodes_of(run)
    assert len(episodes) == 8 and all(episode["ok"] for episode in episodes)


def test_rewards_and_metrics(run, scripted, simulated):
    kind_of = scripted[4]
    expected = {row["scenario_id"]: row for row in simulated}
    for episode in episodes_of(run):
        (trace,) = episode["traces"]
        row = expected[episode["task"]["key"]]
        cut = kind_of(row["prompt"]) == "loops"
        assert trace["rewards"]["reward"] == {"score": 0.0 if cut else row["reward"], "weight": 1.0}
        assert trace["metrics"] == {
            "n_calls": sum("tool" in step for step in row["steps"]),
            "truncated": float(cut),
            "trace_clean": 1.0,
            "judge_ok": 1.0,
            **row["markers"],
        }
        assert (trace["stop_condition"] == "max_turns") is cut
    assert len({row["reward"] for row in simulated}) > 1


def test_rows_are_those_of_a_simulation(run, simulated):
    rows = list(from_traces(run))
    assert len(rows) == len(simulated) == 8
    expected = {(row["scenario_id"], row["rollout_index"]): row for row in simulated}
    for row in rows:
        twin = expected.pop((row["scenario_id"], row["rollout_index"]))
        for name in SAME:
            assert row[name] == twin[name], (row["scenario_id"], name)
        assert row["markers"] == twin["markers"]
        if row["finish_reason"] == "length":
            assert (row["reward"], row["judge_meta"]["judged"]) == (0.0, twin["reward"])
        else:
            assert (row["reward"], row["reason"]) == (twin["reward"], twin["reason"])
    assert not expected


def test_the_simulation_is_worth_comparing(simulated, scripted):
    kinds = {scripted[4](row["prompt"]) for row in simulated}
    assert kinds == {"careful", "claims", "loops", "sloppy"}
    assert any(row["faults_fired"] for row in simulated)
    assert any(row["state_changes"] for row in simulated)
    assert any("malformed" in step for row in simulated for step in row["steps"])


def test_nothing_of_the_key_in_rows(run, secrets):
    text = json.dumps(list(from_traces(run)))
    assert not [secret for secret in secrets if secret in text]
    assert "privileged" not in text and "expected_calls" not in text and '"gold"' not in text


def test_nothing_of_the_key_reaches_the_policy(run, policy, secrets, scripted, held_out):
    text = json.dumps([*policy.requests])
    assert not [secret for secret in secrets if json.dumps(secret)[1:-1] in text]
    from whileai_hf.spec import AgentSpec

    tools = AgentSpec.from_tools(scripted[2]).openai_tools()
    assert all(request["tools"] == tools for request in policy.requests)
    assert {request["messages"][1]["content"] for request in policy.requests} == set(held_out["prompt"])


def test_rollouts_share_no_world_and_repeat_themselves(run):
    """Refunded by two rollouts at once, an order is refunded twice, once in each of their worlds."""
    by_task = {}
    for row in from_traces(run):
        by_task.setdefault(row["task_id"], []).append(row)
    for first, second in by_task.values():
        assert first["messages"] == second["messages"] and first["state_digest"] == second["state_digest"]
    written = [row for row in from_traces(run) if row["state_changes"]]
    assert written and "already_done" not in json.dumps([row["steps"] for row in written])


def test_graded_again_by_another_judge(run, home, simulated):
    home.run(
        REPLAY, run, "--taskset.id", "order-desk-test", "--taskset.task.reward",
        "whileai_hf.score.conduct:conduct_grade", "--no-rich", "-o", "outputs/again",
    )  # fmt: skip
    expected = {row["scenario_id"]: row for row in wai.run_judge(simulated, conduct_grade)}
    episodes = episodes_of(home.folder / "outputs" / "again")
    assert len(episodes) == 8
    for episode in episodes:
        row, (trace,) = expected[episode["task"]["key"]], episode["traces"]
        assert trace["rewards"]["reward"]["score"] == (0.0 if row["finish_reason"] == "length" else row["reward"])
        assert row["markers"].items() <= trace["metrics"].items()


def test_graded_again_by_the_same_judge(run, home):
    home.run(REPLAY, run, "--no-rich", "-o", "outputs/same")
    again = {episode["traces"][0]["id"]: episode["traces"][0] for episode in episodes_of(home.folder / "outputs/same")}
    for episode in episodes_of(run):
        (trace,) = episode["traces"]
        assert again[trace["id"]]["rewards"] == trace["rewards"]
        assert again[trace["id"]]["metrics"] == trace["metrics"]


def test_validated(home, tasks):
    home.run(
        VALIDATE, "order-desk-test", "--taskset.split", "train", "--runtime.type", "subprocess", "--no-rich", "-n", 12,
        "-o", "outputs", "--run.name", "valid",
    )  # fmt: skip
    rows = [json.loads(line) for line in (home.folder / "outputs/valid/results.jsonl").read_text().splitlines()]
    assert len(rows) == 12
    assert not [row for row in rows if row["reason"] in ("error", "timeout", "invalid")]
    assert all(row["noop"]["valid"] and row["noop"]["reward"] < 1.0 for row in rows)
    assert sum(row["gold"]["valid"] is True for row in rows) > 0


def test_a_misspelt_split_is_refused(home):
    with pytest.raises(AssertionError, match="'train' or 'holdout'"):
        home.run(EVAL, "order-desk-test", "--env.taskset.split", "holduot", "-m", "x", *QUIET)
