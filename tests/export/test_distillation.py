"""Prompts for distillation: what a teacher may read, and that nobody else reads it."""

import pytest

import whileai_hf as wai
from whileai_hf.errors import DataError, MissingColumnError
from whileai_hf.export import export_report, to_trl
from whileai_hf.export.formats import eval_features, grpo_features, opd_features, opsd_features
from whileai_hf.rows import to_dataset


@pytest.fixture
def bare(rollouts):
    """Rollouts as a run leaves them: without what is privileged."""
    return [{k: v for k, v in row.items() if k not in ("privileged", "expected_calls")} for row in rollouts]


@pytest.fixture
def tasks(rollouts, secret):
    made = {}
    for row in rollouts:
        hidden = f"{secret} This is {row['scenario_id']}."
        made[row["scenario_id"]] = {
            "scenario_id": row["scenario_id"],
            "prompt": row["prompt"],
            "privileged": {"hidden_state": hidden, "reference": "A right agent refunds it."},
            "expected_calls": [{"tool": "refund_order", "arguments": {"reason": "late"}}],
        }
    return list(made.values())


def test_the_teacher_s_column_and_no_other(bare, tasks, secret):
    data = to_trl(to_dataset(bare), "opsd", tasks=to_dataset(tasks))
    assert set(opsd_features()) <= set(data.column_names)
    assert len(data) == 3
    for row, task in zip(data, tasks, strict=True):
        assert row["privileged_context"] == (
            f"{task['privileged']['hidden_state']}\nA right agent refunds it.\n"
            'Expected call: refund_order {"reason":"late"}'
        )
        others = {name: value for name, value in row.items() if name != "privileged_context"}
        assert secret not in str(others)
    assert any("do not publish" in note for note in export_report(data).notes)


def test_from_the_run_s_own_store(tools, policy):
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt=policy, situations=3, seed=5)
    made = to_trl(data, "opsd")
    assert len(made) == export_report(made).n_rows > 0
    assert all(context.strip() for context in made["privileged_context"])
    assert "privileged" not in data.column_names


def test_rows_that_carry_it_themselves(rollouts, secret):
    data = to_trl(rollouts, "opsd")
    assert all(secret in context for context in data["privileged_context"])


def test_tasks_nothing_is_known_about_are_left_out(bare, tasks):
    data = to_trl(bare, "opsd", tasks=tasks[1:])
    report = export_report(data)
    assert (report.n_rows, report.left_out["no_teacher_context"]) == (2, 4)
    assert report.n_input == report.n_rows + report.collapsed + report.n_left_out
    with pytest.raises(DataError, match="nothing privileged is known"):
        to_trl(bare, "opsd")
    with pytest.raises(MissingColumnError, match="no column 'privileged'"):
        to_trl(bare, "opsd", tasks=[{"scenario_id": "sc-0000000000", "prompt": "q"}])


@pytest.mark.parametrize(
    ("kind", "features"), [("opd", opd_features), ("eval", eval_features), ("grpo", grpo_features)]
)
def test_other_prompts_hold_no_secret(rollouts, kind, features, secret):
    data = to_trl(rollouts, kind)
    assert len(data) == 3
    assert set(features()) <= set(data.column_names)
    assert secret not in str(data.to_list())
    assert data["answer"][:] == ["answer to 0", "answer to 1", "answer to 2"]
    assert data["prompt"][:] == to_trl(rollouts, "grpo")["prompt"][:]
    assert ("pass_rate" in data.column_names) == (kind != "opd")
    assert ("split" in data.column_names) == (kind == "eval")
