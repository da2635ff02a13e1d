"""An agent's pass rate in a test suite: the interval decides."""

from importlib.metadata import entry_points

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.rng import unit
from whileai_hf.sandbox import current_rollout
from whileai_hf.testing import assert_pass_at


pytest_plugins = ["pytester"]


def agent_that_passes(share):
    def agent(message):
        now = current_rollout()
        passed = unit(0, now.scenario_id, now.rollout_index, "passes") < share
        return {"steps": [], "final_text": "done" if passed else "failed"}

    return agent


def check(share, **settings):
    return assert_pass_at(
        agent_that_passes(share), system_prompt="Do it.", judge=lambda row: row["final_text"] == "done", **settings
    )


def test_an_agent_that_is_good_enough():
    report = check(0.97, at_least=0.8)
    assert report.n_tasks == 40
    assert report.k == 4
    assert report.ci95[0] >= 0.8


def test_the_point_is_not_enough():
    """The point lies above 0.8, its interval over 40 tasks does not."""
    with pytest.raises(AssertionError, match=r"at least 0.8 is not shown; measure more tasks"):
        check(0.88, at_least=0.8)
    report = check(0.88, at_least=0.8, require="not_refuted")
    assert report.ci95[0] < 0.8 < report.pass_at_1


def test_an_agent_below_the_floor_fails_either_way():
    for require in ("shown", "not_refuted"):
        with pytest.raises(AssertionError, match=r"below 0\.8"):
            check(0.4, at_least=0.8, require=require)


def broken(row):
    raise RuntimeError("out of order")


@pytest.mark.parametrize(
    ("agent", "judge", "said"),
    [
        (agent_that_passes(1.0), lambda row: None, "no rollout was judged"),
        (agent_that_passes(1.0), broken, "out of order"),
        (broken, lambda row: 1, "out of order"),
    ],
)
def test_one_that_was_not_measured_does_not_pass(agent, judge, said):
    with pytest.raises(AssertionError, match="could not be measured") as caught:
        assert_pass_at(agent, system_prompt="Do it.", judge=judge, budget=8)
    assert said in str(caught.value)


def test_knobs_of_the_simulation_are_taken():
    report = check(1.0, at_least=0.5, mode="rl", repeats=2, repeat_policy="fixed", budget=40, seed=3)
    assert (report.n_tasks, report.n_rows) == (20, 40)


@pytest.mark.parametrize(
    "bad", [{"at_least": 80}, {"at_least": True}, {"at_least": "x"}, {"at_least": 1.0}, {"require": "yes"}]
)
def test_what_is_no_floor(bad):
    with pytest.raises(ConfigurationError):
        check(1.0, **bad)


def test_the_plugin_shows_what_was_measured(pytester):
    pytester.makepyfile(
        """
        def agent(message):
            return {"steps": [], "final_text": "done" if "e" in message else "failed"}

        def passes(row):
            return row["final_text"] == "done"

        def test_good(assert_pass_at):
            assert_pass_at(agent, at_least=0.1, judge=passes, system_prompt="Do it.", seed=1)

        def test_bad(assert_pass_at):
            assert_pass_at(lambda message: {"steps": [], "final_text": "failed"}, judge=passes, system_prompt="Do it.")
        """
    )
    # Where the package is installed, pytest has found the plugin by itself.
    known = any(point.name == "whileai_hf" for point in entry_points(group="pytest11"))
    result = pytester.runpytest_inprocess(*(() if known else ("-p", "whileai_hf.testing.plugin")), "-q")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*pass rates*", "*test_good*pass@1*", "*test_bad*pass@1 is 0.000*below 0.8*"])
