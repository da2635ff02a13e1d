"""The audit: planted problems are found and named, clean rows pass, and any table of rollouts can be read."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from timing import cpu_time

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.audit import AuditReport, audit
from whileai_hf.rows import to_dataset
from whileai_hf.stats import power


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch):
    """How many tasks are enough is simulated; `test_difficulty` tests it, here it only takes time."""
    monkeypatch.setattr(power, "SAMPLES", 100)


WORDS = [f"word{i}" for i in range(400)]


def rollouts(n=60, k=8, *, seed=0, rate=(0.3, 0.7), dead=0.0, shortcut=False, copies=0):
    """Rows whose reward has nothing to do with their text, but for what is planted."""
    generator = np.random.default_rng(seed)
    rows = []
    for task in range(n):
        base = task - task % 2 if task < 2 * copies else task
        ask = " ".join(np.random.default_rng(1000 + base).choice(WORDS, 14)) + (" please" if base != task else "")
        p = generator.uniform(*rate)
        fate = generator.random() < dead
        same = float(generator.random() < 0.5)
        for i in range(k):
            text = " ".join(generator.choice(WORDS, generator.integers(8, 20)))
            # Exact shares, so that no group is dead by chance.
            reward = same if fate else float((i + task) % k < max(1, min(k - 1, round(p * k))))
            if shortcut and not fate:
                text += " Verified and complete." if reward and generator.random() < 0.97 else ""
            rows.append({"prompt": ask, "completion": text, "reward": reward})
    return rows


def names(report):
    return [finding.name for finding in report.findings]


def problems(report):
    return [finding.name for finding in report.findings if finding.level == "problem"]


def test_clean_rows_are_ok():
    report = audit(rollouts())
    assert report.ok
    assert problems(report) == []
    assert report.warnings == []
    assert set(names(report)) <= {"too_few_tasks"}
    assert (report.dead_share, report.n_tasks, report.n_groups, report.n_scored) == (0.0, 60, 60, 480)
    assert report.band == {"below": 0, "inside": 60, "above": 0}
    assert str(report).startswith("ok: ")


def test_dead_groups_are_counted_exactly():
    rows = rollouts(100, 4, dead=0.6)
    flat = len({row["prompt"] for row in rows}) - sum(
        len({row["reward"] for row in rows if row["prompt"] == ask}) > 1 for ask in {row["prompt"] for row in rows}
    )
    report = audit(rows)
    assert report.dead_share == flat / 100
    assert problems(report) == ["dead_groups"]
    finding = report.findings[0]
    assert f"{flat} of 100 groups ({flat / 100:.0%}) have exactly equal rewards" in finding.what
    assert finding.share == report.dead_share
    assert not report.ok


def test_nearly_equal_rewards_are_not_equal():
    rows = [{"prompt": f"ask {t}", "completion": "x", "reward": 0.5 + i * 1e-9} for t in range(10) for i in range(4)]
    assert audit(rows).dead_share == 0.0


def test_a_shortcut_is_found_and_named():
    report = audit(rollouts(shortcut=True))
    assert problems(report) == ["shortcut"]
    assert "says:verified" in report.findings[0].what
    assert "a policy learns more of it" in report.findings[0].what
    assert report.hack.top_feature.startswith("says:")


def test_what_is_endorsed_is_no_shortcut():
    rows = rollouts(shortcut=True)
    assert "shortcut" not in names(audit(rows, endorsed=["says:verified", "says:complete"]))
    report = audit(rows, endorsed=["tool:check"])
    assert "endorsed_unknown" in names(report)


def test_another_feature_than_the_endorsed_one_is_a_hack():
    rows = rollouts(shortcut=True)
    for at, row in enumerate(rows):
        row["markers"] = {"honest": float(at % 3 == 0)}
    report = audit(rows, endorsed=["marker:honest"])
    assert report.hack.regime == "reward_hack"
    assert problems(report) == ["shortcut"]
    assert "not what you endorsed" in report.findings[0].what


def test_copies_among_prompts():
    report = audit(rollouts(copies=20))
    assert problems(report) == ["duplicates"]
    assert report.near_duplicates.n_prompts_involved == 40
    assert report.findings[0].share == pytest.approx(40 / 60)
    assert "duplicates" not in names(audit(rollouts()))


def test_a_shared_template_makes_no_copies():
    rows = rollouts()
    intro = "You are a careful assistant who answers in one short sentence and never makes anything up at all. Ask: "
    for row in rows:
        row["prompt"] = (
            intro + row["prompt"] + ". Think step by step, then give the final answer in a box as told to you."
        )
    assert audit(rows).near_duplicates.n_pairs == 0


def test_a_prompt_under_two_ids_is_one_task_twice():
    rows = [row | {"task_id": f"{row['prompt']}-{at % 2}"} for at, row in enumerate(rollouts(30))]
    report = audit(rows)
    assert "duplicates" in names(report)
    assert "repeat another word for word" in str(report)
    # Situations of ours may share their words.
    ours = [row | {"scenario_id": f"{row['prompt']}-{at % 2}"} for at, row in enumerate(rollouts(30))]
    assert "duplicates" not in names(audit(ours))


def test_tasks_an_evaluation_holds():
    rows = rollouts(60)
    asks = sorted({row["prompt"] for row in rows})[:6]
    report = audit(rows, evals=[{"question": ask.upper()} for ask in asks])
    assert problems(report) == ["contamination"]
    assert (report.contamination.n_contaminated, report.contamination.n_rows) == (6, 60)
    assert audit(rows).contamination is None
    assert audit(rows, evals=[{"question": "Something else entirely"}]).ok


def test_evaluations_may_be_runs(tmp_path):
    run = Path(__file__).parents[2] / "traces" / "data" / "traces.jsonl"
    report = audit(run, evals=str(run))
    assert report.contamination.n_contaminated == report.n_tasks
    assert "contamination" in problems(report)
    (tmp_path / "eval.jsonl").write_text('{"question": "Something else"}')
    assert audit(run, evals=[tmp_path / "eval.jsonl", run]).contamination.n_contaminated == report.n_tasks
    assert audit(run, evals=tmp_path / "eval.jsonl").contamination.n_contaminated == 0


def test_numbers_as_ids_do_not_contaminate():
    rows = [row | {"task_id": at // 8} for at, row in enumerate(rollouts(10))]
    assert audit(rows, evals=[{"task_id": 3, "prompt": "Something else"}]).contamination.n_contaminated == 0


def test_a_group_of_one_compares_nothing():
    report = audit(rollouts(20, 1, rate=(0.5, 0.5)))
    assert report.dead_share is None
    assert "no_groups" in problems(report)


def test_nothing_to_grade_is_said_in_one_sentence():
    rows = [{"prompt": "a", "completion": "b", "accuracy": 1.0}, {"prompt": "c", "completion": "d", "accuracy": 0.0}]
    report = audit(rows)
    assert problems(report) == ["nothing_to_grade"]
    assert "no row has one (accuracy hold numbers)" in report.findings[0].what
    assert 'reward_weights={"<column>": 1.0}' in report.findings[0].do
    assert (report.passes, report.signal, report.hack, report.power, report.dead_share) == (None,) * 5
    assert audit(rows, reward_weights={"accuracy": 1.0}).n_scored == 2


def test_prompts_to_train_on_are_audited_before_there_are_rollouts():
    rows = [{"prompt": [{"role": "user", "content": f"Ask number {i % 6} about {WORDS[i % 6]}"}]} for i in range(10)]
    report = audit(rows)
    assert problems(report) == ["nothing_to_grade", "duplicates"]
    assert "4 repeat another word for word" in report.findings[1].what


def test_rewards_that_nobody_gave():
    rows = [row | {"reward": None if at % 3 == 0 else row["reward"]} for at, row in enumerate(rollouts())]
    report = audit(rows)
    assert report.n_unjudged == 160
    assert "unjudged" in names(report)
    assert "160 of 480 rollouts (33%)" in str(report)


def test_length():
    rows = rollouts(80)
    for row in rows:
        row["completion"] = row["completion"].replace("word", "w" * (6 if row["reward"] else 4))
    report = audit(rows)
    assert report.length.rho > 0.4
    assert report.length.ci95[0] > 0.3
    assert any(name in names(report) for name in ("length", "shortcut"))
    clean = audit(rollouts(80)).length
    assert clean.ci95[0] < 0.0 < clean.ci95[1]


def test_tasks_outside_the_band():
    report = audit(rollouts(60, 10, rate=(0.1, 0.1)))
    assert report.band == {"below": 60, "inside": 0, "above": 0}
    assert "band" in names(report)
    assert report.ok  # they teach little, but they do teach


def test_reward_functions():
    rows = rollouts(60)
    for at, row in enumerate(rows):
        right = row.pop("reward")
        row |= {
            "right": right,
            "format": 1.0,
            "short": -0.4 * right + 0.01 * (at % 7),
            "silent": None if at % 9 else 1.0,
        }
    report = audit(rows, reward_weights={"right": 1.0, "format": 0.5, "short": 1.0, "silent": 1.0})
    by_name = {one.name: one for one in report.reward_functions}
    assert by_name["right"].share + by_name["short"].share + by_name["silent"].share == pytest.approx(1.0)
    assert by_name["format"].differs == 0.0
    told = [one.what for one in report.findings if one.name == "reward_function"]
    assert any("format never differs" in what for what in told)
    assert any("short works against the others" in what for what in told)
    assert any("silent gave a number for" in what for what in told)
    assert not any("right" in what for what in told)


def test_measurements_have_no_pass_rate_without_a_threshold():
    generator = np.random.default_rng(0)
    rows = [row | {"reward": float(generator.normal())} for row in rollouts()]
    report = audit(rows)
    assert (report.threshold, report.passes, report.band) == (None, None, None)
    assert "threshold" in names(report)
    assert report.power.method == "normal"
    assert audit(rows, threshold=0.0).passes.pass_at_1 == pytest.approx(0.5, abs=0.06)


def completions(folder, steps=12, tasks=8, k=8, drift=True):
    """Tables of a run in which rewards and lengths rise from step to step, and have nothing to do with one another."""
    generator = np.random.default_rng(0)
    (folder / "completions").mkdir()
    for step in range(1, steps + 1):
        rows = []
        for task in range(tasks):
            right = generator.permutation((np.arange(k) < 1 + step // 2).astype(float))
            advantages = (right - right.mean()) / (right.std(ddof=1) + 1e-4)
            for one, advantage in zip(right, advantages, strict=True):
                text = " ".join(generator.choice(WORDS, 5 + 3 * step * drift + generator.integers(0, 3)))
                ask = [{"role": "user", "content": " ".join(np.random.default_rng(task).choice(WORDS, 12))}]
                said = [
                    {"role": "assistant", "content": text + (" finally" if generator.random() < step / 14 else "")}
                ]
                rows.append({"step": step, "prompt": ask, "completion": said, "right": one, "advantage": advantage})
        pq.write_table(pa.Table.from_pylist(rows), folder / "completions" / f"completions_{step:05d}.parquet")


def test_steps_of_a_run_are_not_compared_with_one_another(tmp_path):
    completions(tmp_path)
    report = audit(tmp_path)
    assert report.format == "trl_completions"
    assert (report.n_tasks, report.n_groups, report.n_rows) == (8, 96, 768)
    # Over steps both rise; within a group neither says anything about the other.
    assert abs(report.length.rho) < 0.1
    assert "shortcut" not in names(report)
    assert report.hack.n_asks == 96
    assert any("overwrites it" in note for note in report.notes)
    from whileai_hf.traces import read_any

    again = audit(read_any(tmp_path))
    assert (again.n_groups, again.dead_share, again.hack.top_rho) == (96, report.dead_share, report.hack.top_rho)


def test_a_run_of_verifiers(tmp_path):
    lines = []
    for row_number, row in enumerate(rollouts(40, 8, shortcut=True)):
        task = {"type": "T", "key": f"t-{row_number // 8}", "data": {"prompt": row["prompt"], "answer": "secret"}}
        nodes = [
            {"message": {"role": "user", "content": row["prompt"]}, "sampled": False},
            {"parent": 0, "message": {"role": "assistant", "content": row["completion"]}, "sampled": True},
        ]
        rewards = {"right": {"score": row["reward"], "weight": 1.0}}
        trace = {"task": task, "nodes": nodes, "rewards": rewards, "metrics": {}, "ok": True}
        lines.append(json.dumps({"id": str(row_number), "task": task, "ok": True, "traces": [trace]}))
    (tmp_path / "traces.jsonl").write_text("\n".join(lines))
    report = audit(tmp_path)
    assert report.format == "verifiers_run"
    assert problems(report) == ["shortcut"]
    assert (report.n_tasks, report.n_rows) == (40, 320)
    assert "secret" not in json.dumps(report.to_dict())


def test_text_messages_and_datasets_say_the_same():
    text = rollouts(30, shortcut=True)
    messages = [
        row
        | {"prompt": [{"role": "user", "content": row["prompt"]}]}
        | {"completion": [{"role": "assistant", "content": row["completion"]}]}
        for row in text
    ]
    whole = [{"messages": row["prompt"] + row["completion"], "reward": row["reward"]} for row in messages]
    reports = [audit(rows).to_dict() for rows in (text, messages, to_dataset(text), to_dataset(messages), whole)]
    for report in reports:
        report.pop("format")
        report["passes"].pop("per_task")  # by name of the task, which a text gives itself
        assert report == reports[0]


def test_rollouts_of_ours(tools, policy):
    import whileai_hf as wai

    data = wai.simulate(
        wai.seeded_agent(tools), tools=tools, system_prompt=policy, mode="rl", situations=10, repeats=4
    )
    assert "nothing_to_grade" in names(audit(data))
    graded = wai.grade(data, judge=lambda row: row["rollout_index"] % 2)
    report = audit(graded, endorsed=["tool:"])
    assert (report.format, report.n_rows, report.dead_share) == ("rows", len(graded), 0.0)
    assert report.n_scored == len(graded)
    assert report.passes.pass_at_1 == pytest.approx(wai.pass_at(graded).pass_at_1)


def test_the_order_of_rows_does_not_matter():
    rows = rollouts(40, shortcut=True, dead=0.3)
    shuffled = [rows[at] for at in np.random.default_rng(5).permutation(len(rows))]
    one, other = audit(rows), audit(shuffled)
    assert names(one) == names(other)
    assert one.dead_share == other.dead_share
    assert one.passes.pass_at_1 == other.passes.pass_at_1
    assert one.length.rho == pytest.approx(other.length.rho, abs=1e-12)


def test_the_same_rows_give_the_same_report():
    rows = rollouts(40)
    assert audit(rows, seed=3).to_dict() == audit(rows, seed=3).to_dict()


def test_findings_stand_in_order():
    rows = rollouts(100, 4, dead=0.8, copies=12)
    rows = [row | {"reward": None if at % 10 == 0 else row["reward"]} for at, row in enumerate(rows)]
    report = audit(rows)
    levels = ["problem", "warning", "advice"]
    order = [(levels.index(one.level), -(one.share or 0.0)) for one in report.findings]
    assert order == sorted(order)
    assert problems(report)[0] == "dead_groups"
    assert len(report.warnings) == sum(one.level != "advice" for one in report.findings)


def test_one_screen():
    rows = rollouts(100, 4, dead=0.7, copies=15, shortcut=True)
    rows = [row | {"reward": None if at % 10 == 0 else row["reward"]} for at, row in enumerate(rows)]
    lines = str(audit(rows, evals=rows[:40], endorsed=["tool:nothing"])).splitlines()
    assert len(lines) <= 40
    assert lines[0].startswith("not ok: ")
    assert all(line.strip() for line in lines)


def test_fields_are_the_same_whatever_was_found():
    ungraded = audit([{"prompt": "a"}])
    assert ungraded.keys() == audit(rollouts(10)).keys()
    assert isinstance(ungraded, AuditReport)
    for report in (ungraded, audit(rollouts(10))):
        assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


@pytest.mark.parametrize(
    "odd",
    [
        {"completion": None},
        {"completion": "\ud800"},
        {"completion": "x" * 1_000_000},
        {"completion": [{"type": "text", "text": "a"}]},
        {"completion": 7},
        {"prompt": None},
        {"prompt": [{"role": "user", "content": [{"type": "text", "text": "看看我的订单"}]}]},
        {"reward": float("nan")},
        {"reward": float("inf")},
        {"reward": "1"},
        {"reward": 1 << 4000},
        {"reward": True},
        {"markers": "none"},
        {"rewards": 3},
        {"task_id": None},
    ],
)
def test_odd_rows(odd):
    rows = rollouts(12, 4)
    rows[5] = rows[5] | odd
    report = audit(rows)
    assert report.n_rows == 48
    str(report)
    json.dumps(report.to_dict())


@pytest.mark.parametrize("reward", [0.0, 1.0, 0.5, -3.0, 1e300])
def test_one_reward_throughout(reward):
    report = audit([row | {"reward": reward} for row in rollouts(12, 4)])
    assert report.dead_share == 1.0
    assert problems(report) == ["dead_groups"]


@pytest.mark.parametrize(
    "knobs", [{"effect": 0}, {"effect": 1.5}, {"effect": "x"}, {"threshold": "x"}, {"endorsed": "x"}]
)
def test_knobs_out_of_range(knobs):
    with pytest.raises(ConfigurationError):
        audit(rollouts(4, 2), **knobs)


def test_refusals():
    with pytest.raises(DataError, match="empty"):
        audit([])
    with pytest.raises(MissingColumnError, match="nothing says which rows belong to one task"):
        audit([{"reward": 1.0}])


@pytest.mark.slow
def test_fifty_thousand_rows_in_seconds():

    rows = rollouts(6250, 8)
    with cpu_time() as spent:
        audit(rows)
    assert spent() < 15.0


def test_the_same_rows_in_another_order_are_audited_alike():
    rows = rollouts(40, 6, shortcut=True)
    shuffled = [rows[at] for at in np.random.default_rng(3).permutation(len(rows))]
    first, other = audit(rows), audit(shuffled)
    assert other.hack.to_dict() == first.hack.to_dict()
    assert other.length == first.length and other.power == first.power and other.band == first.band
    assert names(other) == names(first)


def test_wrong_arguments_are_one_sentence():
    for knobs, says in (({"threshold": "x"}, "threshold='x' is no reward"), ({"seed": "a"}, "seed='a' is no seed")):
        with pytest.raises(ConfigurationError, match=says):
            audit(rollouts(2, 2), **knobs)
