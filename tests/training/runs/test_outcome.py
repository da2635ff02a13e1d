"""Did it work: the word, the block it comes from, and what each side says."""

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare import delta_report
from whileai_hf.measure.passes import pass_at
from whileai_hf.training.runs import attach_delta, attach_holdout, get_run, training_run
from whileai_hf.training.runs.outcome import holdout_block


def rows(passes, tasks=40, k=2):
    return [
        {"scenario_id": f"sc-{task}", "prompt": f"p{task}", "reward": float(task < passes), "rollout_index": index}
        for task in range(tasks)
        for index in range(k)
    ]


@pytest.mark.parametrize(
    ("before", "after", "metric", "word"),
    [
        (0.42, 0.58, "pass_at_1", "Better"),
        (0.58, 0.42, "pass_at_1", "Worse"),
        (0.50, 0.51, "pass_at_1", "About the same"),
        (0.50, 0.52, "pass_at_1", "Better"),
        (2.0, 1.5, "loss", "Better"),
        (1.5, 2.0, "loss", "Worse"),
        (2.0, 1.999, "loss", "About the same"),
        (2.0, 2.0, "eval_loss", "About the same"),
        (0, 1, "accuracy", "Better"),
    ],
)
def test_two_numbers(before, after, metric, word):
    with training_run("numbers") as run:
        run.holdout(before=before, after=after, metric=metric)
    assert get_run(run.id).word == word
    assert run.holdout_summary["ci95"] is None
    assert "no interval" in run.holdout_summary["notes"][0]
    assert run.training == {"metric": metric, "before": before, "after": after}


def test_the_word_is_that_of_the_interval():
    """The same difference is a change on many tasks, and none on few."""
    words = {n: holdout_block(0.42, 0.58, "pass_at_1", n_tasks=n)["word"] for n in (20, 50, 200, 1000)}
    assert words == {20: "About the same", 50: "About the same", 200: "Better", 1000: "Better"}
    block = holdout_block(0.42, 0.58, "pass_at_1", n_tasks=200, k=4)
    # statsmodels confint_proportions_2indep(116, 200, 84, 200, method="newcomb") gives (0.0619, 0.2537).
    assert block["ci95"] == pytest.approx([0.0619, 0.2537], abs=2e-4)
    assert block["before"]["k"] == 4 and block["before"]["n_tasks"] == 200


def test_reports_bring_their_interval():
    before, after = pass_at(rows(8)), pass_at(rows(30))
    block = training_run("reports").holdout(before, after)
    assert block["before"] == {"value": 0.2, "n_tasks": 40, "k": 2, "ci95": list(before.ci95)}
    assert block["after"]["ci95"] == list(after.ci95)
    assert block["word"] == "Better" and block["ci95"][0] > 0 and block["notes"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        (42, 58),
        (0.4, None),
        (0.4, "much"),
        (float("nan"), 0.5),
        (True, 0.5),
        (0.4, 0.5, ""),
        (pass_at(rows(3)), 0.5, "loss"),
        (pass_at([{"prompt": "p", "reward": None}]), 0.5),
    ],
)
def test_what_is_no_evaluation(arguments):
    run = training_run("wrong")
    with pytest.raises(ConfigurationError):
        run.holdout(*arguments)
    assert run.refresh().holdout_summary is None and run.word is None


@pytest.mark.parametrize(
    ("passes", "word", "verdict"),
    [
        (38, "Better", "moved_unreplicated"),
        (10, "About the same", "no_change_detected"),
        (0, "Worse", "moved_the_wrong_way"),
    ],
)
def test_a_delta_fills_both_sides(passes, word, verdict):
    before, after = rows(10), rows(passes)
    with training_run("delta") as run:
        report = run.delta(before, after, target="pass_at_1")
    assert report == delta_report(before, after)
    read = get_run(run.id)
    assert read.word == word and read.holdout_summary["verdict"] == verdict == report.verdict
    assert read.holdout_summary["before"] == {
        "value": 0.25,
        "n_tasks": 40,
        "k": 2,
        "ci95": pytest.approx(pass_at(before).ci95),
    }
    assert read.holdout_summary["after"]["value"] == passes / 40
    assert read.summary["holdout"] == read.holdout_summary
    assert read.record.delta["verdict"] == verdict
    assert str(read).startswith(f"{word}: pass_at_1 0.25 -> ")


def test_too_few_tasks_have_no_word():
    run = training_run("few")
    run.delta(rows(1, tasks=3), rows(3, tasks=3))
    assert run.word is None
    assert run.holdout_summary["verdict"] == "insufficient_data"
    assert "too few shared tasks" in run.holdout_summary["notes"][0]


def test_after_the_run_has_ended():
    with training_run("ended") as run:
        run.log(1, loss=1.0)
    attach_holdout(run.id, before=2.0, after=1.0, metric="loss")
    assert get_run(run.id).word == "Better"
    attach_delta(run.id, rows(30), rows(2))
    read = get_run(run.id)
    assert (read.word, read.status) == ("Worse", "done")
    assert read.series == [{"step": 1, "loss": 1.0}]
